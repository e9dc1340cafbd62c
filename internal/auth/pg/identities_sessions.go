package pg

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// ProviderSessions stores which web sessions began with which account, so that the provider can end them, and the
// values that may be used once. It is safe for concurrent use.
type ProviderSessions struct {
	db   *postgres.DB
	keys *auth.Keys
}

// NewProviderSessions returns the adapter over d. keys encrypt the ID tokens.
func NewProviderSessions(d *postgres.DB, keys *auth.Keys) *ProviderSessions {
	return &ProviderSessions{d, keys}
}

// Began records that a stored session began with an account.
func (s *ProviderSessions) Began(ctx context.Context, token string, from sso.Session) error {
	hash := HashToken(token)
	return postgres.Exec(ctx, s.db, (*postgresdb.Queries).LinkSession,
		postgresdb.LinkSessionParams{Token: hash, Issuer: from.Issuer, Subject: from.Subject,
			Sid: from.Sid, IDToken: s.keys.Seal([]byte(from.IDToken), sealedFor(hash))})
}

// Of returns the account with which a session began; the zero value if it began in another way.
func (s *ProviderSessions) Of(ctx context.Context, token string) (sso.Session, error) {
	hash := HashToken(token)
	r, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).SessionIdentity, hash)
	if errors.Is(err, pgx.ErrNoRows) {
		return sso.Session{}, nil
	}
	if err != nil {
		return sso.Session{}, err
	}
	plain, err := s.keys.Unseal(r.IDToken, sealedFor(hash))
	return sso.Session{Issuer: r.Issuer, Subject: r.Subject, Sid: r.Sid, IDToken: string(plain)}, err
}

func sealedFor(hash string) string { return "id token of session " + hash }

// End ends the sessions of an account: the one with the provider's number, or all if that is "". It returns how many.
func (s *ProviderSessions) End(ctx context.Context, issuer, subject, sid string) (int64, error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) (int64, error) {
		n, err := q.EndSessionsOf(ctx, postgresdb.EndSessionsOfParams{Issuer: issuer, Subject: subject, Sid: sid})
		if err != nil || n == 0 {
			return n, err
		}
		ctx = audit.As(ctx, audit.Provider, 0, "single sign-on: "+issuer)
		return n, auditlog.Write(ctx, q, audit.Entry{Action: audit.SessionsEnded, Object: "account " + subject,
			Detail: humanize.Count(int(n), "session", "sessions")})
	})
}

// Use reports whether a value is used for the first time within keep. It stores a hash of the value.
func (s *ProviderSessions) Use(ctx context.Context, value string, keep time.Duration) (first bool, err error) {
	sum := sha256.Sum256([]byte(value))
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) (bool, error) {
		if err := q.ForgetUsedValues(ctx); err != nil {
			return false, err
		}
		n, err := q.UseOnce(ctx, postgresdb.UseOnceParams{Value: hex.EncodeToString(sum[:]),
			KeepSeconds: keep.Seconds()})
		return n > 0, err
	})
}
