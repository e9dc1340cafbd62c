package apiserver

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/program/servertest"
)

// served starts an API whose parts are ready, and returns its URL.
func served(t *testing.T) string {
	t.Helper()
	a, err := New(config.API{Common: servertest.Common(pgtest.URL(t)),
		HTTP:          config.HTTP{Addr: "127.0.0.1:0", SessionTTL: time.Hour},
		Compatibility: config.Compatibility{AnonymousReads: true, OncallAnonymousReads: true}},
		server.Deps{Log: servertest.Log(t)})
	require.NoError(t, err)
	servertest.Background(t, a.Run)
	require.Eventually(t, func() bool { return a.parts.Load() != nil }, servertest.Patience, 10*time.Millisecond)
	return "http://" + a.Addr()
}

// ask returns the response and its body as sent, without decompression.
func ask(t *testing.T, url string, header ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, body
}

func TestAnswersAreCompressed(t *testing.T) {
	t.Parallel()
	api := served(t)
	plain, want := ask(t, api+"/openapi.json")
	require.Empty(t, plain.Header.Get("Content-Encoding"))
	zipped, body := ask(t, api+"/openapi.json", "Accept-Encoding", "gzip")
	require.Equal(t, "gzip", zipped.Header.Get("Content-Encoding"))
	require.Contains(t, zipped.Header.Values("Vary"), "Accept-Encoding")
	require.Less(t, len(body), len(want)/4)
	r, err := gzip.NewReader(bytes.NewReader(body))
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestBrowsersGetAStyledPageForUnknownPaths(t *testing.T) {
	t.Parallel()
	api := served(t)
	resp, body := ask(t, api+"/nowhere", "Accept", "text/html,application/xhtml+xml")
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
	require.Contains(t, string(body), "There is no page at this address.")
	resp, body = ask(t, api+"/v1/nowhere", "Accept", "text/html,application/xhtml+xml")
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
	require.Contains(t, string(body), "<style>:root", "a path of an API needs no session")
	require.Contains(t, resp.Header.Get("Content-Security-Policy"), "style-src 'sha256-")
	resp, body = ask(t, api+"/nowhere", "Accept", "application/json")
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
	require.Equal(t, "application/problem+json", resp.Header.Get("Content-Type"))
	require.True(t, strings.HasPrefix(string(body), "{"))
}

func TestUnknownQueryParametersAreRefusedOrGetAWarning(t *testing.T) {
	t.Parallel()
	api := served(t)
	resp, body := ask(t, api+"/v1/teams/ops/coverage?plam=x")
	require.Equal(t, http.StatusBadRequest, resp.StatusCode)
	require.Contains(t, string(body), `unknown query parameter \"plam\"`)
	resp, _ = ask(t, api+"/v0/plans?plam=x&name=y")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, []string{"unknown query parameter plam was ignored"}, resp.Header.Values("X-Iris-Warning"))
	resp, _ = ask(t, api+"/v0/plans?name=y&fields=id&limit=1&active=1&created__gt=1&counts=false")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Empty(t, resp.Header.Values("X-Iris-Warning"))
}
