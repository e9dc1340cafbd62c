package pg

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/auth/accounts"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// Links of password resets to one person.
const (
	resetsAMinute = 1
	resetsAnHour  = 3
	resetsADay    = 10
)

// errNotSent means that no link may be sent.
var errNotSent = fault.New(fault.NotFound, "no link is sent")

// Resets stores the links of password resets. It is safe for concurrent use.
type Resets struct{ db *postgres.DB }

var _ accounts.ResetStore = (*Resets)(nil)

// NewResets returns the adapter over d.
func NewResets(d *postgres.DB) *Resets { return &Resets{db: d} }

// Add implements accounts.ResetStore.
func (r *Resets) Add(ctx context.Context, login string, hash []byte, life time.Duration, by string) (out accounts.Addressee, err error) {
	login = postgres.Storable(login)
	err = r.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		found, err := q.ResettableUser(ctx, postgresdb.ResettableUserParams{Login: login, ByAdministrator: by != ""})
		if err != nil {
			return err
		}
		if len(found) == 0 || login == "" {
			return errNotSent
		}
		u := found[0]
		if err := q.LockResettable(ctx, u.ID); err != nil {
			return err
		}
		sent, err := q.ResetsOf(ctx, u.ID)
		if err != nil {
			return err
		}
		if sent.Minute >= resetsAMinute || sent.Hour >= resetsAnHour || sent.Day >= resetsADay {
			return errNotSent
		}
		if err := q.ForgetResets(ctx); err != nil {
			return err
		}
		out = accounts.Addressee{User: users.User{ID: u.ID, Name: u.Name}, Address: u.Destination}
		if by != "" {
			if err := auditlog.Write(ctx, q, audit.Entry{Actor: by, Action: audit.PasswordLinkSent, Object: "user " + u.Name}); err != nil {
				return err
			}
		}
		return q.AddReset(ctx, postgresdb.AddResetParams{Hash: hash, UserID: u.ID, Destination: u.Destination,
			LoginEpoch:  u.LoginEpoch,
			LifeSeconds: int64(life / time.Second)})
	})
	return out, err
}

// Find implements accounts.ResetStore.
func (r *Resets) Find(ctx context.Context, hash []byte) (accounts.Addressee, error) {
	return postgres.Get(ctx, r.db, func(ctx context.Context, q *postgresdb.Queries) (accounts.Addressee, error) {
		return findReset(ctx, q, hash)
	})
}

func findReset(ctx context.Context, q *postgresdb.Queries, hash []byte) (accounts.Addressee, error) {
	found, err := q.FindReset(ctx, hash)
	if errors.Is(err, pgx.ErrNoRows) {
		return accounts.Addressee{}, accounts.ErrLink
	}
	return accounts.Addressee{User: users.User{ID: found.ID, Name: found.Name}, Address: found.Destination}, err
}

// Use implements accounts.ResetStore.
func (r *Resets) Use(ctx context.Context, hash []byte, passwordHash string) (out accounts.Addressee, err error) {
	return postgres.GetInTx(ctx, r.db, func(ctx context.Context, q *postgresdb.Queries) (accounts.Addressee, error) {
		found, err := findReset(ctx, q, hash)
		if err != nil {
			return found, err
		}
		used, err := q.UseReset(ctx, hash) // a concurrent use waits here, then finds no row
		if err != nil {
			return found, err
		}
		if used == 0 {
			return found, accounts.ErrLink
		}
		err = postgres.RequireRow(q.SetPassword(ctx, postgresdb.SetPasswordParams{ID: found.User.ID,
			PasswordHash: &passwordHash}))
		if err != nil {
			return found, err
		}
		return found, note(ctx, q, found.User.Name, audit.PasswordReset, found.User)
	})
}
