package postgres_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

// silencer is a proxy between a client and a server. When silent, it keeps connections open and forwards nothing, like a
// network that drops packets.
type silencer struct {
	net.Listener
	silent atomic.Bool
}

func silence(t *testing.T, server string) *silencer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &silencer{Listener: l}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = client.Close() })
			behind, err := net.Dial("tcp", server)
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = behind.Close() })
			go s.pass(behind, client)
			go s.pass(client, behind)
		}
	}()
	return s
}

func (s *silencer) pass(to io.Writer, from io.Reader) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if s.silent.Load() {
			continue
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

func TestCallsToASilentServerTimeOut(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(pgtest.URL(t))
	require.NoError(t, err)
	between := silence(t, u.Host)
	u.Host = between.Addr().String()
	d := pgtest.Open(t, u.String(), postgres.Config{MaxConns: 4})
	people, incidents := pgusers.NewUsers(d), pg.New(d)
	_, err = people.ByName(t.Context(), "nobody")
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)

	postgres.SetCallTimeout(d, 300*time.Millisecond)
	between.silent.Store(true)
	for what, call := range map[string]func() error{
		"a statement":   func() error { _, err := people.ByName(t.Context(), "nobody"); return err },
		"a transaction": func() error { _, err := people.Create(t.Context(), pgusers.NewUser{Name: "ann"}); return err },
		"a list":        func() error { _, err := incidents.List(t.Context(), filters.Query{Limit: 1}); return err },
		"a statement inside": func() error {
			return d.InTx(t.Context(), func(ctx context.Context, q *db.Queries) error { _, err := q.UserByName(t.Context(), "x"); return err })
		},
	} {
		ended := make(chan error, 1)
		go func() { ended <- call() }()
		select {
		case err := <-ended:
			require.True(t, fault.Is(err, fault.Unavailable), "%s: %v", what, err)
		case <-time.After(20 * time.Second):
			require.Fail(t, "held", what)
		}
	}
}
