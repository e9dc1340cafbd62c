package pg_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	_ "github.com/iris-oncall/iris/internal/dev/golden" // defines -update
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/pg"
	"github.com/iris-oncall/iris/internal/intake/receiving"
)

func TestTheRateOfAnIntegrationHoldsForAllServers(t *testing.T) {
	t.Parallel()
	store := pg.NewIntegrations(pgtest.New(t), nil)
	from := intake.Integration{ID: 1, Content: intake.Content{Name: "am", RatePerMinute: 1}}
	var allowed atomic.Int64
	var servers sync.WaitGroup
	for range 4 {
		server, err := receiving.NewActivity(store, zap.NewNop(), nil, nil)
		require.NoError(t, err)
		servers.Go(func() {
			for range 30 {
				if server.Allow(t.Context(), from, time.Now()) == nil {
					allowed.Add(1)
				}
			}
		})
	}
	servers.Wait()
	require.EqualValues(t, 20, allowed.Load(), "the burst of 20, for all servers together")
}

func TestAnAllowanceGrowsUpToItsBurst(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	store := pg.NewIntegrations(db, nil)
	rate := receiving.Rate{PerSecond: 0.01, Burst: 20}
	take := func(wanted, want int) {
		t.Helper()
		granted, _, err := store.TakeAllowance(t.Context(), 7, rate, wanted)
		require.NoError(t, err)
		require.Equal(t, want, granted)
	}
	take(15, 15)
	take(10, 5)
	take(10, 0)
	for since, want := range map[string]int{"540 seconds": 5, "1 day": 20} {
		_, err := db.Pool().Exec(t.Context(),
			`update integration_rates set tokens = 0, taken_at = clock_timestamp() - $1::interval`, since)
		require.NoError(t, err)
		take(100, want)
	}
}
