package contract

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// Sends the cross-origin requests of browsers. Only pages of allowed sites may read answers.
func TestPagesOfOtherSites(t *testing.T) {
	t.Parallel()
	const site = "https://portal.example.com"
	s := newCalendar(t, configured(t, "http: {allowed_origins: [\""+site+"\"]}\n"))
	for _, path := range []string{"/api/v0/teams", "/v0/plans", "/v1/teams/ops/gaps"} {
		a := s.do(owner, get, path, nil, "Origin", site).is(200)
		require.Equal(t, site, a.header.Get("Access-Control-Allow-Origin"), path)
		require.Equal(t, "true", a.header.Get("Access-Control-Allow-Credentials"), path)
		require.Contains(t, a.header.Values("Vary"), "Origin", path)
		require.Empty(t, s.do(owner, get, path, nil, "Origin",
			"https://evil.example.com").is(200).header.Get("Access-Control-Allow-Origin"), path)
	}
	ask := []string{"Access-Control-Request-Method", "PUT", "Access-Control-Request-Headers", "x-csrf-token"}
	a := s.do(anonymous, http.MethodOptions, "/api/v0/teams/ops", nil, append(ask, "Origin", site)...).empty(200)
	require.Contains(t, a.header.Get("Allow"), "PUT")
	require.Contains(t, a.header.Get("Access-Control-Allow-Methods"), "PUT")
	require.Equal(t, "x-csrf-token", a.header.Get("Access-Control-Allow-Headers"))
	a = s.do(anonymous, http.MethodOptions, "/api/v0/teams/ops", nil,
		append(ask, "Origin", "https://evil.example.com")...).empty(200)
	require.Empty(t, a.header.Get("Access-Control-Allow-Methods"))
	a = s.do(anonymous, http.MethodOptions, "/v0/plans", nil, append(ask, "Origin", site)...).is(204)
	require.Contains(t, a.header.Get("Access-Control-Allow-Methods"), "PUT")
	s.do(owner, put, "/api/v0/teams/ops", m{"email": "x@example.com"}, "Origin", site, "X-CSRF-TOKEN",
		"guessed").refuses(401, "Invalid Session", "CSRF validation failed")
	require.Empty(t, s.do(anonymous, get, "/login", nil, "Origin",
		site).is(200).header.Get("Access-Control-Allow-Origin"), "nobody logs in on another site")
}
