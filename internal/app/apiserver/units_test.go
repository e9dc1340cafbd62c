package apiserver

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/app/server"
	"github.com/iris-oncall/iris/internal/app/servertest"
	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/pgtest"
	"github.com/iris-oncall/iris/internal/silences"
)

// beginUnit returns the shared parts of an iris-api, and the DB of a unit of work on its database.
func beginUnit(t testing.TB) (*apiShared, *postgres.DB) {
	t.Helper()
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
	return s, unit.DB()
}

// An adapter on the DB of the process would commit its changes even if those of the request are rolled back.
func TestAllAdaptersOfAUnitUseItsDB(t *testing.T) {
	t.Parallel()
	s, d := beginUnit(t)
	of, within := reflect.ValueOf(s.Records), reflect.ValueOf(s.over(d).Records)
	for i := range of.NumField() {
		require.NotEqual(t, of.Field(i).Pointer(), within.Field(i).Pointer(), of.Type().Field(i).Name)
		require.False(t, within.Field(i).IsNil(), of.Type().Field(i).Name)
	}
}

// A crash between the silence and the stored answer would let the repeated request add a second silence.
func TestASilenceIsPartOfItsUnit(t *testing.T) {
	t.Parallel()
	s, d := beginUnit(t)
	content := silences.Content{Match: `a="b"`, From: time.Now(), To: time.Now().Add(time.Hour), Comment: "c"}
	made, err := s.over(d).Silences(s.notifier.Wake, zap.NewNop()).Create(t.Context(), auth.Actor{Username: "ann", Admin: true}, content)
	require.NoError(t, err)
	_, err = s.Silences(s.notifier.Wake, zap.NewNop()).ByID(t.Context(), made.ID)
	require.True(t, fault.Is(err, fault.NotFound), "it is not committed")
}

// BenchmarkParts makes the parts of both APIs that accept an Idempotency-Key, over a unit. Each request with a key does
// this.
func BenchmarkParts(b *testing.B) {
	s, d := beginUnit(b)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.over(d).irisParts(), s.over(d).v1Parts()
	}
}
