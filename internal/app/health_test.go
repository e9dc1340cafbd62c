package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/fault"
)

func TestHealthSaysWhatIsMissingOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		h := newHealth(zap.New(core), prometheus.NewRegistry())
		ask := func() (int, string) {
			w := httptest.NewRecorder()
			h.readyz(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
			return w.Code, w.Body.String()
		}
		status, _ := ask()
		require.Equal(t, http.StatusServiceUnavailable, status)

		var missing error
		asked := 0
		h.set(check{"database", func(context.Context) error { asked++; return missing }})
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

		h.waiting("stop", errors.New("stopping"))
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

func TestHealthTellsTheLogMoreThanTheWorld(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.InfoLevel)
	h := newHealth(zap.New(core), prometheus.NewRegistry())
	away := fault.Wrap(fault.Unavailable, errors.New("user iris at 10.0.0.7"), "the database cannot be reached")
	waited := 0
	h.set(
		check{"database", func(context.Context) error { return away }},
		check{"escalation", func(context.Context) error { return fmt.Errorf("late for %ds", waited) }},
		check{"processors", func(context.Context) error { return away }},
	)
	for range 2 { // the second time only a number is another
		w := httptest.NewRecorder()
		h.at = time.Time{}
		h.readyz(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		require.Contains(t, w.Body.String(), "the database cannot be reached")
		require.NotContains(t, w.Body.String(), "10.0.0.7")
		waited++
	}
	require.Equal(t, 1, logs.Len())
	require.Equal(t, zap.WarnLevel, logs.All()[0].Level)
	require.Equal(t, "database, processors: the database cannot be reached: user iris at 10.0.0.7; escalation: late for 0s",
		logs.All()[0].ContextMap()["reason"])
}

func TestLivenessNeedsNothing(t *testing.T) {
	t.Parallel()
	h := newHealth(zap.NewNop(), prometheus.NewRegistry())
	w := httptest.NewRecorder()
	h.livez(w, httptest.NewRequest(http.MethodGet, "/livez", nil))
	require.Equal(t, http.StatusOK, w.Code)
}

func TestAdminListener(t *testing.T) {
	t.Parallel()
	l, err := listenAdmin("off", "127.0.0.1:1", zap.NewNop())
	require.NoError(t, err)
	require.Nil(t, l)

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, err = listenAdmin(taken.Addr().String(), "", zap.NewNop())
	require.ErrorContains(t, err, "IRIS_ADMIN_ADDR", "a configured address must be had")
	l, err = listenAdmin("", taken.Addr().String(), zap.NewNop())
	require.NoError(t, err, "the default is only a wish")

	reg := NewRegistry("1.2.3")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- serve(ctx, l, adminRoutes(newHealth(zap.NewNop(), reg), reg), time.Second, zap.NewNop())
	}()
	for path, want := range map[string]string{
		"/metrics": `iris_app_build_info{version="1.2.3"} 1`, "/livez": "ok", "/readyz": "starting", "/debug/pprof/": "goroutine",
	} {
		resp, err := http.Get("http://" + l.Addr().String() + path)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Contains(t, string(body), want, path)
	}
	stop()
	require.NoError(t, <-ended)
}

func TestASlowCheckDoesNotUseUpTheTimeOfOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHealth(zap.NewNop(), prometheus.NewRegistry())
		h.set(check{"slow", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
			check{"quick", func(ctx context.Context) error {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(time.Second):
					return nil
				}
			}})
		found := h.findings(t.Context())
		require.NotEmpty(t, found[0].Error)
		require.Empty(t, found[1].Error)
	})
}
