package access

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// Sessions stores web sessions for scs. Tokens are stored as SHA-256 hashes: 256 random bits need no salt, and a reader of the
// table cannot log in with them. Sessions expire by the database's clock. It is safe for concurrent use.
type Sessions struct{ db *postgres.DB }

var _ scs.CtxStore = (*Sessions)(nil)

// NewSessions returns the store over d.
func NewSessions(d *postgres.DB) *Sessions { return &Sessions{db: d} }

// FindCtx implements scs.CtxStore.
func (s *Sessions) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	data, err := postgres.Query(ctx, s.db, (*db.Queries).FindSession, HashToken(token))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// CommitCtx implements scs.CtxStore.
func (s *Sessions) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	return postgres.Exec(ctx, s.db, (*db.Queries).CommitSession, db.CommitSessionParams{
		Token: HashToken(token), Data: data, Expiry: expiry,
	})
}

// DeleteCtx implements scs.CtxStore.
func (s *Sessions) DeleteCtx(ctx context.Context, token string) error {
	return postgres.Exec(ctx, s.db, (*db.Queries).DeleteSession, HashToken(token))
}

// Find implements scs.Store; scs calls FindCtx instead.
func (s *Sessions) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

// Commit implements scs.Store; scs calls CommitCtx instead.
func (s *Sessions) Commit(token string, data []byte, expiry time.Time) error {
	return s.CommitCtx(context.Background(), token, data, expiry)
}

// Delete implements scs.Store; scs calls DeleteCtx instead.
func (s *Sessions) Delete(token string) error { return s.DeleteCtx(context.Background(), token) }

// DeleteExpired deletes expired sessions and returns how many. It should be called every few minutes.
func (s *Sessions) DeleteExpired(ctx context.Context) (n int64, err error) {
	return postgres.Read(ctx, s.db, (*db.Queries).DeleteExpiredSessions)
}

// HashToken returns the hash under which a session is stored.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
