package slack_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func contextOf(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}

// serve starts a server that reads each request body for handle. It returns the address of the server.
func serve(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, body []byte)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		handle(w, r, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}
