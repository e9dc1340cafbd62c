package buckets_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
)

func TestMembersTakeTheMessagesThatAnOwnerCannotSend(t *testing.T) {
	t.Parallel()
	self := buckets.Member{ProcessID: "me", Modes: []string{"email", "sms"}}
	member := func(id string, modes ...string) buckets.MemberState {
		return buckets.MemberState{Member: buckets.Member{ProcessID: id, Modes: modes}}
	}
	v := buckets.View{Members: []buckets.MemberState{
		member("all", "email", "sms"), {Member: buckets.Member{ProcessID: "bare",
			Modes: []string{}}}, {Member: self}, member("old"), member("texts", "sms"),
	}}
	v.Leases[1] = buckets.LeaseState{Owner: "all", Epoch: 1}
	v.Leases[2] = buckets.LeaseState{Owner: "bare", Epoch: 5}
	v.Leases[3] = buckets.LeaseState{Owner: "me", Epoch: 1}
	v.Leases[4] = buckets.LeaseState{Owner: "old", Epoch: 1}
	v.Leases[5] = buckets.LeaseState{Owner: "texts", Epoch: 7}
	v.Leases[6] = buckets.LeaseState{Owner: "gone", Epoch: 1}
	require.Equal(t, []buckets.StandIn{
		{Lease: buckets.Lease{Bucket: 2, Epoch: 5}, Modes: []string{"email", "sms"}}, {Lease: buckets.Lease{Bucket: 5,
			Epoch: 7}, Modes: []string{"email"}},
	}, buckets.StandInsOf(&v, self), "a member of an older release, which does not say, counts as serving every mode")

	v.Members[2].Draining = true
	require.Empty(t, buckets.StandInsOf(&v, self), "others serve both modes")
	v.Members[0].Age, v.Members[3].Age = time.Minute, time.Minute
	require.Equal(t, []buckets.StandIn{
		{Lease: buckets.Lease{Bucket: 2, Epoch: 5}, Modes: []string{"email"}}, {Lease: buckets.Lease{Bucket: 5,
			Epoch: 7}, Modes: []string{"email"}},
	}, buckets.StandInsOf(&v, self), "nobody else serves e-mail")
}
