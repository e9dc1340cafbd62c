package vendors

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClientSpeaksHTTP1OverTLS(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_,
			_ = io.WriteString(w, r.Proto)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	c := NewClient(ClientConfig{})
	c.conns.transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	defer c.Close()
	resp, err := do(t, c, t.Context(), s.URL)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, "HTTP/1.1", string(body))

	_, err = do(t, NewClient(ClientConfig{}), t.Context(), s.URL)
	var call *CallError
	require.ErrorAs(t, err, &call, "an unknown certificate")
	require.False(t, call.Sent)
}
