package app

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/fault"
)

func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trusted         []string
		peer, forwarded string
		want            string
	}{
		"nobody trusted":          {nil, "10.0.0.1:1", "1.2.3.4", "10.0.0.1:1"},
		"not from the proxy":      {[]string{"10.0.0.0/8"}, "9.9.9.9:1", "1.2.3.4", "9.9.9.9:1"},
		"from the proxy":          {[]string{"10.0.0.0/8"}, "10.0.0.1:1", "1.2.3.4", "1.2.3.4:0"},
		"made up in front":        {[]string{"10.0.0.0/8"}, "10.0.0.1:1", "6.6.6.6, 1.2.3.4", "1.2.3.4:0"},
		"two proxies":             {[]string{"10.0.0.0/8"}, "10.0.0.1:1", "1.2.3.4, 10.0.0.2", "1.2.3.4:0"},
		"only proxies":            {[]string{"10.0.0.0/8"}, "10.0.0.1:1", "10.0.0.3", "10.0.0.3:0"},
		"nothing":                 {[]string{"10.0.0.0/8"}, "10.0.0.1:1", "", "10.0.0.1:1"},
		"garbage":                 {[]string{"10.0.0.0/8"}, "10.0.0.1:1", "x", "10.0.0.1:1"},
		"garbage before":          {[]string{"10.0.0.0/8"}, "10.0.0.1:1", "x, 10.0.0.2", "10.0.0.2:0"},
		"mapped peer":             {[]string{"10.0.0.0/8"}, "[::ffff:10.0.0.1]:1", "1.2.3.4", "1.2.3.4:0"},
		"an address of version 6": {[]string{"10.0.0.0/8"}, "10.0.0.1:1", "2001:db8::1", "[2001:db8::1]:0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrap, err := trustProxies(c.trusted)
			require.NoError(t, err)
			var got string
			h := wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.RemoteAddr }))
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = c.peer
			if c.forwarded != "" {
				r.Header.Set("X-Forwarded-For", c.forwarded)
			}
			h.ServeHTTP(httptest.NewRecorder(), r)
			require.Equal(t, c.want, got)
		})
	}
	_, err := trustProxies([]string{"10.0.0.1"})
	require.Error(t, err)
}

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
