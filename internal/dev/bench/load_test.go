package bench

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/legacy/apiclient"
)

func TestBurstPostsEachRequestOnceAndRetriesThrottledOnes(t *testing.T) {
	t.Parallel()
	var n, shed atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := n.Add(1)
		switch {
		case i%10 == 0:
			shed.Add(1)
			w.WriteHeader(http.StatusTooManyRequests)
		case i%25 == 1:
			w.WriteHeader(http.StatusBadRequest)
		case i%33 == 2:
			panic(http.ErrAbortHandler) // the connection breaks
		default:
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, i)
		}
	}))
	defer s.Close()
	c, err := apiclient.New(apiclient.Config{URL: s.URL, App: "a", Key: "k", HTTP: loadClient(8)})
	require.NoError(t, err)
	y := newTally(200, true, true)
	burst(t.Context(), y, incidents(c, "p"), 200, 8)
	r := y.result()
	require.Equal(t, 200, r.Posted)
	require.Positive(t, r.Unanswered)
	require.Positive(t, shed.Load())
	require.Equal(t, 200, r.Accepted+r.Unanswered+r.Refused["400 Bad Request"])
}

func TestSteadyKeepsItsRateWhenTheServerIsSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var begun []time.Duration
		start := time.Now()
		y := newTally(100, true, true)
		steady(t.Context(), y, func(ctx context.Context, n int) (int64, error) {
			mu.Lock()
			begun = append(begun, time.Since(start))
			mu.Unlock()
			sleep(ctx, 3*time.Second)
			return int64(n), nil
		}, 20, 100, 1000)
		require.Len(t, begun, 100)
		for i, at := range begun {
			require.Equal(t, time.Duration(i)*50*time.Millisecond, at)
		}
		require.Equal(t, 100, y.result().Accepted)

		// The number of connections limits the requests in flight. The end of ctx ends the load.
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var running, most atomic.Int64
		steady(ctx, newTally(1, true, true), func(ctx context.Context, n int) (int64, error) {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			sleep(ctx, time.Second)
			return int64(n), nil
		}, 1000, 1_000_000, 5)
		require.Equal(t, int64(5), most.Load())
	})
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"nothing":          {},
		"two kinds":        {Burst: 1, Notifications: 1},
		"negative":         {Burst: -1},
		"less than one":    {Rate: 0.001, For: time.Second},
		"app without url":  {Burst: 1, App: "a"},
		"url without key":  {Burst: 1, URL: "http://x", App: "a"},
		"url without plan": {Burst: 1, URL: "http://x", App: "a", Key: "k", Sink: "127.0.0.1:2525"},
		"url without sink": {Burst: 1, URL: "http://x", App: "a", Key: "k", Plan: "p"},
		"kill others": {Burst: 1, URL: "http://x", App: "a", Key: "k", Plan: "p", Sink: "127.0.0.1:2525",
			KillHalf: true},
		"kill the only one": {Burst: 1, KillHalf: true},
		"profile of a remote": {Burst: 1, URL: "http://x", App: "a", Key: "k", Plan: "p", Sink: "127.0.0.1:2525",
			ProfileDir: "d"},
	} {
		_, err := Run(t.Context(), o)
		require.Error(t, err, name)
	}
	good := Options{Rate: 2000.0 / 60, For: time.Minute}.withDefaults()
	require.NoError(t, good.validate())
	require.Equal(t, 2000, good.planned())
}
