package runner

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/users"
)

func TestDigestsUseTheModeChosenByThePerson(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	flood := func(user users.ID) Release {
		return Release{Key: escalation.AggregationKey{PlanID: 1, ApplicationID: 5, Priority: users.High, UserID: user},
			Lease: g.memory.leases[1], At: noon}
	}
	g.memory.floods = []Release{flood(1), flood(77)}
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Len(t, g.memory.digests, 2)
	first, second := g.memory.digests[0], g.memory.digests[1]
	require.Equal(t, []string{"shop", "demo-plan", "sms", "demo@sms"},
		[]string{first.Application, first.Plan, string(first.Mode), first.Destination})
	require.Regexp(t, `^[0-9a-f]{32}$`, first.Batch)
	require.NotEqual(t, first.Batch, second.Batch)
	require.Equal(t, buckets.Of(1), g.woken, "delivery does not wait for its next look")
	require.Empty(t, second.Mode, "somebody who is gone is left to delivery, which finds somebody else")
}

func TestAFailedReleaseOfAFloodDelaysNoOther(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{RetryMin: time.Hour, RetryMax: time.Hour, Now: func() time.Time { return noon }})
	bad := Release{Key: escalation.AggregationKey{PlanID: 1, ApplicationID: 5, Priority: users.High, UserID: 1},
		Lease: g.memory.leases[1]}
	good := bad
	good.Key.UserID = 9
	g.memory.floods = []Release{bad, good}
	tries := 0
	g.memory.releaseErr = func(d Digest) error {
		if d.Key == bad.Key {
			tries++
			return errors.New("cannot be stored")
		}
		return nil
	}
	require.NoError(t, g.runner.Pass(t.Context()))
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Len(t, g.memory.digests, 1)
	require.Equal(t, good.Key, g.memory.digests[0].Key)
	require.Equal(t, 1, tries, "it is left alone for a while")
}

func TestAFloodWhoseLeaseWasLostIsLeftToTheNewHolder(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.memory.floods = []Release{{Key: escalation.AggregationKey{PlanID: 1, ApplicationID: 5, Priority: users.High,
		UserID: 1}, Lease: g.memory.leases[1]}}
	g.memory.releaseErr = func(Digest) error { return &buckets.LostError{Buckets: buckets.Of(1)} }
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Equal(t, buckets.Of(1), g.memory.lost)
	require.Empty(t, g.logs.FilterLevelExact(zap.ErrorLevel).All())
}
