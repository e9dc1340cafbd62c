package site

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// The addresses of Iris's own pages redirect to ours, after a log-in.
func TestIrisAddressesRedirect(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	where := func(path string) string {
		b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		resp, err := b.Client.Get(b.base + path)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusFound, resp.StatusCode, path)
		return resp.Header.Get("Location")
	}
	require.Equal(t, "/login/", where("/"))
	require.Equal(t, "/login/?next=%2Fuser", where("/user"))
	b.CheckRedirect = nil
	b.login()
	for from, to := range map[string]string{
		"/user": "/me", "/user/": "/me", "/stats": "/statistics", "/stats/demo": "/applications/demo", "/singlestats/total_incidents": "/statistics",
		"/validate/jinja": "/templates",
	} {
		require.Equal(t, to, where(from), from)
	}
	b.CheckRedirect = nil
	_, body := b.get("/incidents")
	require.Contains(t, body, ` appData.user = "ann";`)
	require.NotContains(t, body, "appData.user_admin")
}

func TestIrisLogInRedirectsAsIrisDoes(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, c := range []struct{ path, password, to string }{
		{"/login/", "wrong", "/login"}, {"/login/?next=%2Fplans", "wrong",
			"/login?next=%2Fplans"}, {"/login/?next=%2Fplans", "right", "/plans"}, {"/login/", "right", "/incidents"},
	} {
		resp, err := b.PostForm(b.base+c.path, url.Values{"username": {"ann"}, "password": {c.password}})
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusFound, resp.StatusCode)
		require.Equal(t, c.to, resp.Header.Get("Location"), "%+v", c)
	}
}

func TestIrisIconKeepsItsAddress(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	for _, path := range []string{"/static/images/iris.png", "/static/images/favicon.png"} {
		resp, err := b.Head(b.base + path)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode, path)
		require.Equal(t, "image/png", resp.Header.Get("Content-Type"))
	}
}
