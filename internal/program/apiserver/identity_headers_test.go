package apiserver

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/web/wire"
)

func TestIdentityHeadersOfOtherPeersAreDeleted(t *testing.T) {
	t.Parallel()
	c := config.Proxy{Networks: []string{"10.0.0.0/24", "::1/128"}, SubjectHeader: "X-Forwarded-User",
		NameHeader: "X-Name", EmailHeader: "X-Email", GroupsHeader: "X-Groups", AuthTimeHeader: "X-Auth-Time"}
	identity, err := identityHeaders(c)
	require.NoError(t, err)
	trust, err := trustProxies([]string{"10.0.0.0/8"})
	require.NoError(t, err)
	var subject string
	var named, inContext wire.ProxyAccount
	h := identity(trust(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		subject = r.Header.Get("X-Forwarded-User")
		named, inContext = wire.ProxyAccount{Subject: subject}, wire.ProxyAccountOf(r.Context())
		if subject != "" {
			named.AuthTime = time.Unix(1700000000, 0)
		}
	})))
	for peer, c := range map[string]struct {
		header http.Header
		want   string
		status int
	}{
		"10.0.0.7:1": {http.Header{"X-Forwarded-User": {"ann"}}, "ann", 200},
		"[::1]:1":    {http.Header{"X-Forwarded-User": {"ann"}}, "ann", 200},
		"10.0.0.8:1": {http.Header{"X-Forwarded-User": {"ann"}, "X-Forwarded-For": {"192.0.2.1"}}, "ann", 200},
		"10.0.1.7:1": {http.Header{"X-Forwarded-User": {"ann"}}, "", 200},
		"10.0.1.8:1": {http.Header{"X-Forwarded-User": {"ann"}, "X-Forwarded-For": {"10.0.0.7"}}, "", 200},
		"192.0.2.1:1": {http.Header{"X-Forwarded-User": {"ann", "bob"}, "X-Forwarded-For": {"10.0.0.7"}}, "",
			200},
		"not an address":      {http.Header{"X-Forwarded-User": {"ann"}}, "", 200},
		"10.0.0.9:1":          {http.Header{"X-Forwarded-User": {"ann", "bob"}}, "", 400},
		"10.0.0.10:1":         {http.Header{"X-Forwarded-User": {"ann"}, "X-Groups": {"a", "b"}}, "", 400},
		"10.0.0.11:1":         {http.Header{"X_Forwarded_User": {"ann"}}, "", 200},
		"[::ffff:10.0.0.7]:1": {http.Header{"X-Forwarded-User": {"ann"}}, "ann", 200},
	} {
		subject = ""
		r := httptest.NewRequest(http.MethodGet, "/login", nil)
		r.RemoteAddr, r.Header = peer, c.header
		r.Header.Set("X-Auth-Time", "1700000000")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Equal(t, c.status, w.Code, peer)
		require.Equal(t, c.want, subject, peer)
		require.Equal(t, named, inContext, peer)
	}
}
