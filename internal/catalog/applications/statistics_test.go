package applications_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/users"
)

func TestStatisticsOfAnHour(t *testing.T) {
	t.Parallel()
	s := applications.NewStatistics(time.Unix(3600, 0))
	one, two := s.Of(1), s.Of(2)
	require.Same(t, one, s.Of(1))
	one.Incidents, two.Incidents = applications.Weekly{1, 2, 0, 0, 0, 0, 3, 4}, applications.Weekly{5}
	one.Mode(users.Call).Sent, one.Mode(users.Call).Delivered = applications.Weekly{4}, applications.Weekly{1}
	one.Mode(users.Call).Failed, one.Mode(users.Call).Tried = applications.Weekly{2}, applications.Weekly{8}
	two.Mode(users.Drop).Sent, two.Mode(users.SMS).Sent = applications.Weekly{9}, applications.Weekly{1}

	require.Equal(t, int64(10), one.Incidents.Total(0))
	require.Equal(t, int64(7), one.Incidents.Total(6))
	all := s.All()
	require.Equal(t, int64(15), all.Incidents.Total(0))
	require.Equal(t, applications.Weekly{5}, all.Sent(), "what was dropped did not leave")
	success, fail, other, known := one.Mode(users.Call).Shares(users.Call, 0)
	require.True(t, known)
	require.Equal(t, []float64{12.5, 25, 62.5}, []float64{success, fail, other})
	success, _, _, _ = one.Mode(users.Call).Shares(users.SMS, 0)
	require.InDelta(t, 50.0, success, 0.001, "a text that left is all that we hear of")
	_, _, _, known = one.Mode(users.Email).Shares(users.Email, 0)
	require.False(t, known)
	require.Negative(t, one.ClaimMedian[0])
}

func TestPercentIsBetweenZeroAndOneHundred(t *testing.T) {
	t.Parallel()
	_, known := applications.Percent(0, 0)
	require.False(t, known)
	third, _ := applications.Percent(1, 3)
	require.InDelta(t, 33.33, third, 1e-9)
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.Int64Range(1, 1<<40).Draw(t, "all")
		n := rapid.Int64Range(0, all).Draw(t, "n")
		p, known := applications.Percent(n, all)
		require.True(t, known)
		require.GreaterOrEqual(t, p, 0.0)
		require.LessOrEqual(t, p, 100.0)
		d := applications.Delivered{Sent: applications.Weekly{n}, Tried: applications.Weekly{all}}
		success, fail, other, _ := d.Shares(users.SMS, 0)
		require.InDelta(t, 100, success+fail+other, 0.02)
	})
}
