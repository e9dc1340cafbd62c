package pg

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// Sessions stores web sessions for scs. Tokens are stored as SHA-256 hashes: 256 random bits need no salt, and a reader
// of the table cannot log in with them. Sessions expire by the database's clock: at their end, and when they were not
// used for the idle time. It is safe for concurrent use.
type Sessions struct {
	db   *postgres.DB
	idle time.Duration
}

var _ scs.CtxStore = (*Sessions)(nil)

// NewSessions returns the store over d.
func NewSessions(d *postgres.DB) *Sessions { return &Sessions{db: d} }

// WithIdle returns a store whose sessions end when they were not used for idle; 0 = never.
func (s *Sessions) WithIdle(idle time.Duration) *Sessions { return &Sessions{s.db, idle} }

func (s *Sessions) idleSeconds() int64 { return int64(s.idle / time.Second) }

// FindCtx implements scs.CtxStore. It records the use of the session at most once a minute, except
// for background requests (auth.WithBackground).
func (s *Sessions) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	found, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).FindSession,
		postgresdb.FindSessionParams{Token: HashToken(token), IdleSeconds: s.idleSeconds()})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	if err == nil && found.Unrecorded && !auth.IsBackground(ctx) {
		err = postgres.Exec(ctx, s.db, (*postgresdb.Queries).RecordSessionUse, HashToken(token))
	}
	return found.Data, err == nil, err
}

// CommitCtx implements scs.CtxStore. What lists show of a session is stored in columns too.
func (s *Sessions) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	_, values, err := scs.GobCodec{}.Decode(data)
	if err != nil {
		return err
	}
	text := func(key string) string { v, _ := values[key].(string); return postgres.Storable(v) }
	user, _ := values[auth.SessionUserID].(int64)
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		done, err := q.CommitSession(ctx, postgresdb.CommitSessionParams{Token: HashToken(token), Data: data,
			Expiry: expiry, UserID: user,
			How: text(auth.SessionHow), Address: text(auth.SessionAddress), Device: text(auth.SessionDevice)})
		if err != nil || !done.Begun {
			return err
		}
		ctx = audit.As(ctx, audit.Person, user, done.UserName)
		return auditlog.Write(ctx, q, audit.Entry{Action: audit.LoggedIn, Object: "user " + done.UserName,
			Detail: "with " + text(auth.SessionHow)})
	})
}

// OfUser returns the running sessions of a person, newest first, at most 200. current is the token of the session that
// asks; "" = none.
func (s *Sessions) OfUser(ctx context.Context, user users.ID, current string) ([]auth.Session, error) {
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).SessionsOfUser,
		postgresdb.SessionsOfUserParams{UserID: int64(user), IdleSeconds: s.idleSeconds()})
	return postgres.Convert(rows, func(r postgresdb.SessionsOfUserRow) auth.Session {
		return auth.Session{ID: r.ID, How: operation.Text(r.How), Address: operation.Text(r.Address),
			Device: operation.Text(r.Device), CreatedAt: r.CreatedAt.UTC(), LastUsedAt: r.LastUsedAt.UTC(),
			ExpiresAt: r.Expiry.UTC(), Current: current != "" && r.Token == HashToken(current)}
	}), err
}

// End ends a session of a person; user 0 = of anybody. An unknown session is a NotFound fault. actor is the author in
// the audit log.
func (s *Sessions) End(ctx context.Context, id int64, user users.ID, actor string) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		name, err := q.EndSession(ctx, postgresdb.EndSessionParams{ID: id, UserID: int64(user)})
		if errors.Is(err, pgx.ErrNoRows) {
			return fault.New(fault.NotFound, "there is no such session")
		}
		if err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Actor: actor, Action: audit.SessionEnded, Object: "user " + name})
	})
}

// EndOthers ends all sessions of a person except the one with the token; "" = all.
func (s *Sessions) EndOthers(ctx context.Context, u users.User, current, actor string) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		n, err := q.EndOtherSessions(ctx, postgresdb.EndOtherSessionsParams{UserID: int64(u.ID),
			Token: HashToken(current)})
		if err != nil || n == 0 {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Actor: actor, Action: audit.SessionsEnded, Object: "user " + u.Name,
			Detail: humanize.Count(int(n), "session", "sessions")})
	})
}

// DeleteCtx implements scs.CtxStore.
func (s *Sessions) DeleteCtx(ctx context.Context, token string) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		had, err := q.DeleteSession(ctx, HashToken(token))
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil || had.UserName == "" {
			return err
		}
		ctx = audit.As(ctx, audit.Person, had.UserID, had.UserName)
		return auditlog.Write(ctx, q, audit.Entry{Action: audit.LoggedOut, Object: "user " + had.UserName})
	})
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
	return postgres.Query(ctx, s.db, (*postgresdb.Queries).DeleteExpiredSessions, s.idleSeconds())
}

// HashToken returns the hash under which a session is stored.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
