package server

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/program/health"
)

func TestAdminListener(t *testing.T) {
	t.Parallel()
	l, err := ListenAdmin("off", "127.0.0.1:1", zap.NewNop())
	require.NoError(t, err)
	require.Nil(t, l)

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, err = ListenAdmin(taken.Addr().String(), "", zap.NewNop())
	require.ErrorContains(t, err, "IRIS_ADMIN_ADDR", "a configured address must be had")
	l, err = ListenAdmin("", taken.Addr().String(), zap.NewNop())
	require.NoError(t, err, "the default is only a wish")

	reg := NewRegistry("1.2.3")
	probes := health.New(zap.NewNop(), reg)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, l, AdminRoutes(probes, health.NewPaging(probes, zap.NewNop(), reg), reg), time.Second,
			zap.NewNop())
	}()
	for path, want := range map[string]string{
		"/metrics": `iris_app_build_info{version="1.2.3"} 1`, "/livez": "ok", "/readyz": "starting", "/readyz/paging": "starting", "/debug/pprof/": "goroutine",
	} {
		resp, err := http.Get("http://" + l.Addr().String() + path)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Contains(t, string(body), want, path)
	}
	stop()
	require.NoError(t, <-ended)
}

// If a client does not read the response, the handler's write fails after a time limit instead of blocking forever.
func TestAResponseThatTheClientDoesNotReadIsCutOff(t *testing.T) {
	t.Parallel()
	failed := make(chan error, 1)
	s, err := newServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		part := make([]byte, 1<<20)
		for {
			if _, err := w.Write(part); err != nil {
				failed <- err
				return
			}
		}
	}), zap.NewNop())
	require.NoError(t, err)
	require.Positive(t, s.WriteTimeout)
	require.LessOrEqual(t, s.WriteTimeout, 2*time.Minute)
	s.WriteTimeout = 100 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	conn, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	select {
	case err := <-failed:
		require.Error(t, err)
	case <-time.After(20 * time.Second):
		require.FailNow(t, "the write goes on")
	}
}
