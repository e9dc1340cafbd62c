package health

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestHealthLogsAFailedCheckOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		h := New(zap.New(core), prometheus.NewRegistry())
		ask := func() (int, string) {
			w := httptest.NewRecorder()
			h.Readyz(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
			return w.Code, w.Body.String()
		}
		status, _ := ask()
		require.Equal(t, http.StatusServiceUnavailable, status)

		var missing error
		asked := 0
		h.Set(Check{"database", func(context.Context) error { asked++; return missing }})
		status, body := ask()
		require.Equal(t, http.StatusOK, status)
		require.JSONEq(t, `{"ready": true, "checks": [{"name": "database"}]}`, body)
		ask()
		require.Equal(t, 1, asked, "the answer of a moment ago is kept")

		missing = errors.New("gone")
		<-time.After(checkKeep)
		status, body = ask()
		require.Equal(t, http.StatusServiceUnavailable, status)
		require.JSONEq(t, `{"ready": false, "checks": [{"name": "database", "error": "gone"}]}`, body)
		<-time.After(checkKeep)
		ask()
		missing = nil
		<-time.After(checkKeep)
		ask()

		h.NotReady("stop", errors.New("stopping"))
		_, body = ask()
		require.Contains(t, body, "stopping")
		var said []string
		for _, e := range logs.All() {
			reason, _ := e.ContextMap()["reason"].(string)
			said = append(said, e.Message+" "+reason)
		}
		require.Equal(t, []string{
			"not ready start: the process is starting", "ready ", "not ready database: gone", "ready ", "not ready stop: stopping",
		}, said)
	})
}

func TestPagingNeedsWhatReadinessNeeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		base := New(zap.New(core), prometheus.NewRegistry())
		paging := NewPaging(base, zap.New(core), prometheus.NewRegistry())
		status := func(h *Probes) (int, string) {
			<-time.After(checkKeep)
			w := httptest.NewRecorder()
			h.Readyz(w, httptest.NewRequest(http.MethodGet, "/", nil))
			return w.Code, w.Body.String()
		}
		code, _ := status(paging)
		require.Equal(t, http.StatusServiceUnavailable, code, "starting")

		var database, processors error
		base.Set(Check{"database", func(context.Context) error { return database }})
		paging.Set(Check{"processors", func(context.Context) error { return processors }})
		code, body := status(paging)
		require.Equal(t, http.StatusOK, code)
		require.JSONEq(t, `{"ready": true, "checks": [{"name": "database"}, {"name": "processors"}]}`, body)
		require.InDelta(t, 1, testutil.ToFloat64(paging.gauge), 0)

		processors = errors.New("none is alive")
		code, body = status(paging)
		require.Equal(t, http.StatusServiceUnavailable, code)
		require.Contains(t, body, "none is alive")
		code, body = status(base)
		require.Equal(t, http.StatusOK, code, "a balancer keeps sending alerts and acknowledgements")
		require.NotContains(t, body, "none is alive")

		processors, database = nil, errors.New("gone")
		code, body = status(paging)
		require.Equal(t, http.StatusServiceUnavailable, code)
		require.Contains(t, body, "gone")
		require.Zero(t, testutil.ToFloat64(paging.gauge))
		var said []string
		for _, e := range logs.All() {
			reason, _ := e.ContextMap()["reason"].(string)
			said = append(said, e.Message+" "+reason)
		}
		require.Equal(t, []string{
			"not ready start: the process is starting", "ready ", "incidents are paged ", "new incidents are not paged processors: none is alive", "not ready database: gone",
		}, said, "each probe logs its own failures")
	})
}

func TestHealthLogsDetailsThatTheResponseHides(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.InfoLevel)
	h := New(zap.New(core), prometheus.NewRegistry())
	away := fault.Wrap(fault.Unavailable, errors.New("user iris at 10.0.0.7"), "the database cannot be reached")
	waited := 0
	h.Set(
		Check{"database", func(context.Context) error { return away }},
		Check{"escalation", func(context.Context) error { return fmt.Errorf("late for %ds", waited) }},
		Check{"processors", func(context.Context) error { return away }},
	)
	for range 2 { // the second error differs only in a number
		w := httptest.NewRecorder()
		h.at = time.Time{}
		h.Readyz(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		require.Contains(t, w.Body.String(), "the database cannot be reached")
		require.NotContains(t, w.Body.String(), "10.0.0.7")
		waited++
	}
	require.Equal(t, 1, logs.Len())
	require.Equal(t, zap.WarnLevel, logs.All()[0].Level)
	require.Equal(t, "database, processors: the database cannot be reached: user iris at 10.0.0.7; escalation: late for 0s",
		logs.All()[0].ContextMap()["reason"])
}

func TestLivenessDoesNotDependOnChecks(t *testing.T) {
	t.Parallel()
	h := New(zap.NewNop(), prometheus.NewRegistry())
	w := httptest.NewRecorder()
	h.Livez(w, httptest.NewRequest(http.MethodGet, "/livez", nil))
	require.Equal(t, http.StatusOK, w.Code)
}

func TestASlowCheckDoesNotDelayOtherChecks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := New(zap.NewNop(), prometheus.NewRegistry())
		h.Set(Check{"slow", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
			Check{"quick", func(ctx context.Context) error {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(time.Second):
					return nil
				}
			}})
		found := h.Findings(t.Context())
		require.NotEmpty(t, found[0].Error)
		require.Empty(t, found[1].Error)
	})
}
