package incidents

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestCheckSnooze(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for after, valid := range map[time.Duration]bool{
		-time.Hour: false, 0: false, time.Second: true, MaxSnooze: true, MaxSnooze + time.Second: false,
	} {
		err := CheckSnooze(now.Add(after), now)
		require.Equal(t, valid, err == nil, after)
		require.True(t, valid || fault.Is(err, fault.Invalid))
	}
}

func TestNextRestart(t *testing.T) {
	t.Parallel()
	now := time.Now()
	require.Equal(t, now, NextRestart(nil, now))
	require.Equal(t, now, NextRestart([]time.Time{now.Add(-RestartPause)}, now))
	require.Equal(t, now.Add(time.Minute), NextRestart([]time.Time{now.Add(time.Minute - RestartPause)}, now))
	var many []time.Time
	for k := range RestartsPerDay {
		many = append(many, now.Add(-23*time.Hour+time.Duration(k)*time.Minute))
	}
	require.Equal(t, now.Add(time.Hour), NextRestart(many, now))
}
