package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHealthcheckFailsUnlessTheServerIsReady(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte("database: away\n"))
	}))
	defer s.Close()
	code, _, errs := iris(t, nil, "", "healthcheck", s.URL)
	require.Zero(t, code, errs)
	status = http.StatusServiceUnavailable
	code, _, errs = iris(t, nil, "", "healthcheck", s.URL)
	require.Equal(t, 1, code)
	require.Contains(t, errs, "503 Service Unavailable: database: away")
	s.Close()
	code, _, _ = iris(t, nil, "", "healthcheck", s.URL)
	require.Equal(t, 1, code)
	code, _, _ = iris(t, nil, "", "healthcheck", "::")
	require.Equal(t, 2, code)
}
