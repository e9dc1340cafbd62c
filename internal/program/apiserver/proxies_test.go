package apiserver

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
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
