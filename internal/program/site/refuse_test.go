package site

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnUnknownAddressHasAPage(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	browsers := []string{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"}
	status, body := b.get("/nope", browsers...)
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, body, "There is no page at this address.")
	require.Contains(t, body, `<link rel="stylesheet"`)
	require.Contains(t, body, `href="/login/">Log in</a>`)
	require.NotContains(t, body, `<nav class="side"`)

	b.login()
	for _, path := range []string{"/nope", "/incidents/257/nope"} {
		status, body = b.get(path, browsers...)
		require.Equal(t, http.StatusNotFound, status, path)
		require.Contains(t, body, "There is no page at this address.")
		require.Contains(t, body, `<nav class="side"`)
		require.Contains(t, body, `href="/">Home</a>`)
	}
	status, body = b.post("/incidents", nil, browsers...)
	require.Equal(t, http.StatusMethodNotAllowed, status)
	require.Contains(t, body, "This address does not take such a request.")
	require.Contains(t, body, `<nav class="side"`)

	for _, path := range []string{"/v0/nope", "/v1/nope", "/v2/nope", "/api/v0/nope", "/scim/nope", "/pagerduty/nope",
		"/opsgenie/nope"} {
		_, body = b.get(path, browsers...)
		require.NotContains(t, body, "There is no page", path)
	}
	status, body = b.get("/nope")
	require.Equal(t, http.StatusNotFound, status)
	require.JSONEq(t, `{"type":"about:blank","title":"Not Found","status":404,"detail":"not found"}`, body,
		"a program gets the answer of an API")
}
