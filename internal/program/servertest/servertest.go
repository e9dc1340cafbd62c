// Package servertest runs servers in tests. Only tests import it.
package servertest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/dev/testlog"
	"github.com/iris-oncall/iris/internal/program/config"
)

// Patience is the maximum time that a test waits for a server.
const Patience = 20 * time.Second

// Common returns a configuration for tests on a database.
func Common(url string) config.Common {
	return config.Common{
		Database: config.Database{URL: config.Secret(url), MaxConnections: 8}, PublicURL: "http://127.0.0.1:1",
		Admin: config.Admin{Addr: "127.0.0.1:0"}, Migrate: "never", ShutdownTimeout: 5 * time.Second,
	}
}

// Log returns a logger that writes warnings and errors to the test's log.
func Log(t *testing.T) *zap.Logger {
	return testlog.New(t, zap.WarnLevel)
}

// Background runs a server until stop is called. stop returns the error of the server.
func Background(t testing.TB, run func(context.Context) error) func() error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err = run(ctx)
	}()
	stop := func() error {
		cancel()
		<-ended
		return err
	}
	t.Cleanup(func() { _ = stop() })
	return stop
}

// Get returns the status and the body of a page.
func Get(t testing.TB, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

// Eventually waits until a page has the status and contains the text.
func Eventually(t *testing.T, url string, status int, text string) {
	t.Helper()
	var got int
	var body string
	require.Eventually(t, func() bool {
		got, body = Get(t, url)
		return got == status && strings.Contains(body, text)
	}, Patience, 20*time.Millisecond, "wanted %d with %q from %s", status, text, url)
}
