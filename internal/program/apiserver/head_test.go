package apiserver

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/program/servertest"
)

// TestHeadAnswersAsGet sends HEAD to every route that supports GET.
func TestHeadAnswersAsGet(t *testing.T) {
	t.Parallel()
	a, err := New(config.API{Common: servertest.Common(pgtest.URL(t)),
		HTTP: config.HTTP{Addr: "127.0.0.1:0", SessionTTL: time.Hour}}, server.Deps{Log: servertest.Log(t)})
	require.NoError(t, err)
	servertest.Background(t, a.Run)
	require.Eventually(t, func() bool { return a.parts.Load() != nil }, servertest.Patience, 10*time.Millisecond)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ask := func(method, path string) (status int, kind, body string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+a.Addr()+path, nil)
		require.NoError(t, err)
		resp, err := client.Do(r)
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, resp.Header.Get("Content-Type"), string(b)
	}
	paths := []string{"/livez", "/readyz", "/readyz/paging"}
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	require.NoError(t, chi.Walk(a.parts.Load(), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if method == http.MethodGet {
			paths = append(paths, parameter.ReplaceAllString(route, "1"))
		}
		return nil
	}))
	require.Greater(t, len(paths), 100)
	for _, path := range []string{"/openapi.json", "/docs", "/healthcheck", "/v0/plans", "/api/v0/teams", "/ack/1", "/login"} {
		require.Contains(t, paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		status, kind, _ := ask(http.MethodGet, path)
		headStatus, headKind, body := ask(http.MethodHead, path)
		require.Equal(t, status, headStatus, path)
		require.Equal(t, kind, headKind, path)
		require.Empty(t, body, path)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+a.Addr()+"/docs", nil)
	require.NoError(t, err)
	resp, err := client.Do(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode)
	require.Equal(t, "GET, HEAD", resp.Header.Get("Allow"))
}
