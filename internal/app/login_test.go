package app

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/fault"
)

func TestLoginGuard(t *testing.T) {
	t.Parallel()
	g := &loginGuard{}
	now := time.Unix(1_800_000_000, 0)
	for range loginAttempts {
		require.NoError(t, g.enter("Demo", now))
	}
	require.True(t, fault.Is(g.enter("demo", now), fault.Throttled), "names count regardless of case")
	require.NoError(t, g.enter("other", now))
	require.NoError(t, g.enter("demo", now.Add(time.Minute)))
	g.forget("DEMO")
	for range loginAttempts {
		require.NoError(t, g.enter("demo", now.Add(time.Minute)))
	}
}

func TestThrottledLogins(t *testing.T) {
	t.Parallel()
	h := throttleLogins(func(w http.ResponseWriter, _ *http.Request, err error) {
		require.True(t, fault.Is(err, fault.Throttled))
		w.WriteHeader(http.StatusTooManyRequests)
	})(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	ask := func(method, path, peer string) int {
		r := httptest.NewRequest(method, path, nil)
		r.RemoteAddr = peer
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	for range 60 {
		require.Equal(t, http.StatusNoContent, ask(http.MethodPost, "/login/", "1.2.3.4:5"))
	}
	require.Equal(t, http.StatusTooManyRequests, ask(http.MethodPost, "/login", "1.2.3.4:6"))
	require.Equal(t, http.StatusNoContent, ask(http.MethodGet, "/login", "1.2.3.4:6"))
	require.Equal(t, http.StatusNoContent, ask(http.MethodPost, "/v0/incidents", "1.2.3.4:6"))
	require.Equal(t, http.StatusNoContent, ask(http.MethodPost, "/login", "4.3.2.1:6"))
}
