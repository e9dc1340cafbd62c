package apiserver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/program/servertest"
	"github.com/iris-oncall/iris/internal/silences"
)

// A crash between the silence and the stored answer would let the repeated request add a second silence.
func TestASilenceIsPartOfItsUnit(t *testing.T) {
	t.Parallel()
	a, err := New(config.API{Common: servertest.Common(pgtest.URL(t)),
		HTTP: config.HTTP{Addr: "127.0.0.1:0", SessionTTL: time.Hour}},
		server.Deps{Log: zap.NewNop()})
	require.NoError(t, err)
	t.Cleanup(func() {
		a.public.Close()
		a.db.Close()
	})
	s, err := a.share(pgtest.Installation(t, a.db))
	require.NoError(t, err)
	_, unit, err := s.idempotency.Begin(t.Context(), operation.ReplayKey{ApplicationID: 1, Route: "POST /", Key: "k",
		BodyHash: []byte{1}})
	require.NoError(t, err)
	t.Cleanup(func() { unit.Close(t.Context()) })
	draft := silences.Draft{Content: silences.Content{Scope: silences.Scope{Match: `a="b"`},
		To: time.Now().Add(time.Hour), Comment: "c"}}
	ann := operation.Actor{Name: "ann", Role: operation.Admin}
	made, err := s.silences.Create.Do(unit.Context(t.Context()), ann, draft)
	require.NoError(t, err)
	_, err = s.silences.Get.Do(t.Context(), ann, silences.One{ID: made.ID})
	require.True(t, fault.Is(err, fault.NotFound), "it is not committed")
}
