package apiserver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/app/server"
	"github.com/iris-oncall/iris/internal/app/servertest"
	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/postgres/pgtest"
	"github.com/iris-oncall/iris/internal/silences"
)

// A crash between the silence and the stored answer would let the repeated request add a second silence.
func TestASilenceIsPartOfItsUnit(t *testing.T) {
	t.Parallel()
	a, err := New(config.API{Common: servertest.Common(pgtest.URL(t)), HTTP: config.HTTP{Addr: "127.0.0.1:0", SessionTTL: time.Hour}},
		server.Deps{Log: zap.NewNop()})
	require.NoError(t, err)
	t.Cleanup(func() {
		a.public.Close()
		a.db.Close()
	})
	s, err := a.share(pgtest.Installation(t, a.db))
	require.NoError(t, err)
	_, unit, err := s.idempotency.Begin(t.Context(), auth.ReplayKey{ApplicationID: 1, Route: "POST /", Key: "k", BodyHash: []byte{1}})
	require.NoError(t, err)
	t.Cleanup(func() { unit.Close(t.Context()) })
	content := silences.Content{Match: `a="b"`, From: time.Now(), To: time.Now().Add(time.Hour), Comment: "c"}
	ops := s.Silences(s.notifier.Wake, zap.NewNop())
	made, err := ops.Create(unit.Context(t.Context()), auth.Actor{Username: "ann", Admin: true}, content)
	require.NoError(t, err)
	_, err = ops.ByID(t.Context(), made.ID)
	require.True(t, fault.Is(err, fault.NotFound), "it is not committed")
}
