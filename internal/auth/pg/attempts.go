package pg

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Attempts counts attempts to log in with a password, for all processes of iris-api. The keys are stored as keyed
// hashes. It is safe for concurrent use.
type Attempts struct {
	db   *postgres.DB
	keys *auth.Keys
}

// NewAttempts returns the counts of an installation.
func NewAttempts(d *postgres.DB, keys *auth.Keys) *Attempts { return &Attempts{d, keys} }

// Enter counts an attempt, or refuses it with a Throttled fault that says how long to wait.
func (a *Attempts) Enter(ctx context.Context, t auth.Attempt, l auth.AttemptLimits) error {
	address, pair := a.hash("address", t.Address, ""), a.hash("pair", t.Address, t.Account)
	limits := []accountLimit{{pair, l.FreeOfPair}, {a.hash("account", "", t.Account), l.FreeOfAccount}}
	if t.Known {
		limits = []accountLimit{{pair, l.FreeOfKnown}}
	}
	return a.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		keys := [][]byte{}
		if !t.Known {
			keys = append(keys, address)
			_, err = q.CountAddressAttempt(ctx, postgresdb.CountAddressAttemptParams{Key: address,
				Most: l.AddressPerMinute})
		}
		for _, k := range limits {
			if err == nil {
				keys = append(keys, k.key)
				_, err = q.CountLoginAttempt(ctx, postgresdb.CountLoginAttemptParams{Key: k.key, Free: k.free,
					KeepSeconds:    int64(auth.KeepAttempts / time.Second),
					LongestSeconds: int64(l.Longest / time.Second)})
			}
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		wait, err := q.LoginWait(ctx, postgresdb.LoginWaitParams{Address: address, Keys: keys[len(keys)-1:]})
		if err != nil {
			return err
		}
		return &fault.Error{Kind: fault.Throttled, Message: "too many attempts to log in",
			RetryAfter: max(time.Duration(wait*float64(time.Second)), time.Second)}
	})
}

// accountLimit is a key with the number of attempts that are free.
type accountLimit struct {
	key  []byte
	free int
}

// Succeeded forgets the attempts of an address for an account.
func (a *Attempts) Succeeded(ctx context.Context, t auth.Attempt) error {
	return postgres.Exec(ctx, a.db, (*postgresdb.Queries).ForgetLoginAttempts,
		[][]byte{a.hash("pair", t.Address, t.Account)})
}

// Failed writes an entry of the audit log for a refused password. The name is only kept if a person has it: people type
// passwords into the field for names.
func (a *Attempts) Failed(ctx context.Context, account string) error {
	return a.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		e := audit.Entry{Action: audit.LogInRefused, Detail: "unknown name"}
		switch u, err := q.UserByName(ctx, postgres.Storable(account)); {
		case err == nil:
			e.Object, e.Detail = "user "+u.Name, "wrong password"
		case !errors.Is(err, pgx.ErrNoRows):
			return err
		}
		return auditlog.Write(ctx, q, e)
	})
}

// Expire deletes attempts that no longer count, at most 10,000, and returns how many.
func (a *Attempts) Expire(ctx context.Context) (int64, error) {
	return postgres.Query(ctx, a.db, (*postgresdb.Queries).ForgetOldLoginAttempts, int64(auth.KeepAttempts/time.Second))
}

func (a *Attempts) hash(kind, address, account string) []byte {
	return a.keys.AddressHash(kind + "\x00" + address + "\x00" + account)
}
