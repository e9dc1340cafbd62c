package app

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/health"
)

func TestAdminListener(t *testing.T) {
	t.Parallel()
	l, err := listenAdmin("off", "127.0.0.1:1", zap.NewNop())
	require.NoError(t, err)
	require.Nil(t, l)

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, err = listenAdmin(taken.Addr().String(), "", zap.NewNop())
	require.ErrorContains(t, err, "IRIS_ADMIN_ADDR", "a configured address must be had")
	l, err = listenAdmin("", taken.Addr().String(), zap.NewNop())
	require.NoError(t, err, "the default is only a wish")

	reg := NewRegistry("1.2.3")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- serve(ctx, l, adminRoutes(health.New(zap.NewNop(), reg), reg), time.Second, zap.NewNop())
	}()
	for path, want := range map[string]string{
		"/metrics": `iris_app_build_info{version="1.2.3"} 1`, "/livez": "ok", "/readyz": "starting", "/debug/pprof/": "goroutine",
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
