package oidc

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	// callTimeout bounds a request to the provider. A person waits for it.
	callTimeout = 10 * time.Second
	// maxAnswer bounds an answer of the provider, in bytes.
	maxAnswer = 1 << 20
)

// bounded limits the time and the size of each exchange with a provider. It reads the whole answer before it returns.
type bounded struct{ http.RoundTripper }

// newTransport returns the transport to a provider. ca has the accepted certificate authorities in PEM; "" = those of
// the system.
func newTransport(ca string) (http.RoundTripper, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	if ca != "" {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM([]byte(ca)) {
			return nil, fmt.Errorf("the file of certificate authorities contains no certificate")
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return bounded{t}, nil
}

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), callTimeout)
	defer cancel()
	resp, err := b.RoundTripper.RoundTrip(r.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if closed := resp.Body.Close(); err == nil {
		err = closed
	}
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("the answer of %s is longer than %d bytes", r.URL.Host, maxAnswer)
	}
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}
