// This file stores what accounts that Iris keeps need besides a password: second factors, links of password resets, and
// invitations. The web site, /v1 and the operator's commands use it. It decides nothing: package auth/accounts does.

package pg

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/auth/accounts"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// Factors stores second factors. It is safe for concurrent use.
type Factors struct{ db *postgres.DB }

var _ accounts.FactorStore = (*Factors)(nil)

// NewFactors returns the adapter over d.
func NewFactors(d *postgres.DB) *Factors { return &Factors{db: d} }

// Factor implements accounts.FactorStore.
func (f *Factors) Factor(ctx context.Context, user users.ID) (accounts.Factor, error) {
	return postgres.Get(ctx, f.db, func(ctx context.Context, q *postgresdb.Queries) (accounts.Factor, error) { return factor(ctx, q, user) })
}

func factor(ctx context.Context, q *postgresdb.Queries, user users.ID) (accounts.Factor, error) {
	r, err := q.SecondFactor(ctx, user)
	if errors.Is(err, pgx.ErrNoRows) {
		return accounts.Factor{}, accounts.ErrNoFactor
	}
	return accounts.Factor{Secret: r.Secret, LastStep: r.LastStep, Recovery: r.Recovery, Failures: r.Failures,
		RetryAt: postgres.OrZero(r.RetryAt), CreatedAt: r.CreatedAt}, err
}

// Save implements accounts.FactorStore.
func (f *Factors) Save(ctx context.Context, user users.User, to accounts.Factor, by string) error {
	return f.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		err := q.SaveSecondFactor(ctx, postgresdb.SaveSecondFactorParams{UserID: user.ID, Secret: to.Secret,
			LastStep: to.LastStep})
		if err != nil {
			return err
		}
		if err := setRecovery(ctx, q, user.ID, to.Recovery); err != nil {
			return err
		}
		return note(ctx, q, by, audit.SecondFactorSet, user)
	})
}

func setRecovery(ctx context.Context, q *postgresdb.Queries, user users.ID, hashes [][]byte) error {
	if err := q.DeleteRecoveryCodes(ctx, user); err != nil {
		return err
	}
	return q.AddRecoveryCodes(ctx, postgresdb.AddRecoveryCodesParams{UserID: user, Hashes: hashes})
}

// Try implements accounts.FactorStore.
func (f *Factors) Try(ctx context.Context, user users.ID, judge func(accounts.Factor) (accounts.Tried, error)) (accounts.Tried, error) {
	return postgres.GetInTx(ctx, f.db, func(ctx context.Context, q *postgresdb.Queries) (out accounts.Tried, err error) {
		if err := q.LockSecondFactor(ctx, user); err != nil {
			return out, err
		}
		now, err := factor(ctx, q, user)
		if err != nil {
			return out, err
		}
		if out, err = judge(now); err != nil {
			return out, err
		}
		if out.UsedRecovery != nil {
			if err := postgres.RequireRow(q.UseRecoveryCode(ctx, postgresdb.UseRecoveryCodeParams{UserID: user, Hash: out.UsedRecovery})); err != nil {
				return out, fmt.Errorf("use a recovery code: %w", err)
			}
		}
		if out.Failures > now.Failures {
			ctx := audit.As(ctx, audit.Person, int64(user), "")
			u, err := q.UserByID(ctx, user)
			if err != nil {
				return out, err
			}
			if err := auditlog.Write(ctx, q, audit.Entry{Actor: u.Name, Action: audit.LogInRefused, Object: "user " + u.Name, Detail: "wrong code of the second factor"}); err != nil {
				return out, err
			}
		}
		return out, q.RecordSecondFactor(ctx, postgresdb.RecordSecondFactorParams{UserID: user, LastStep: out.LastStep,
			Failures: out.Failures,
			RetryAt:  postgres.NullTime(out.RetryAt)})
	})
}

// SetRecovery implements accounts.FactorStore.
func (f *Factors) SetRecovery(ctx context.Context, user users.User, hashes [][]byte, by string) error {
	return f.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if err := q.LockSecondFactor(ctx, user.ID); err != nil {
			return err
		}
		if _, err := factor(ctx, q, user.ID); err != nil {
			return err
		}
		if err := setRecovery(ctx, q, user.ID, hashes); err != nil {
			return err
		}
		return note(ctx, q, by, audit.RecoveryCodesReplaced, user)
	})
}

// Remove implements accounts.FactorStore.
func (f *Factors) Remove(ctx context.Context, user users.User, by string) error {
	return f.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		gone, err := q.DeleteSecondFactor(ctx, user.ID)
		if err != nil {
			return err
		}
		if gone == 0 {
			return accounts.ErrNoFactor
		}
		return note(ctx, q, by, audit.SecondFactorRemoved, user)
	})
}

func note(ctx context.Context, q *postgresdb.Queries, by string, action audit.Action, user users.User) error {
	return auditlog.Write(ctx, q, audit.Entry{Actor: by, Action: action, Object: "user " + user.Name})
}
