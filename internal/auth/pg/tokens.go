package pg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// Tokens stores the tokens of people and programs. Creating and revoking have entries in the audit log, in the same
// transaction. A revocation is in force when Revoke returns: nothing caches tokens. It is safe for concurrent use.
type Tokens struct{ db *postgres.DB }

// NewTokens returns the adapter over d.
func NewTokens(d *postgres.DB) *Tokens { return &Tokens{db: d} }

// Use returns the token with the hash, and records its use at most once a minute. A token that is unknown, expired or
// revoked, or whose person is not active, is tokens.ErrInvalid.
func (t *Tokens) Use(ctx context.Context, hash []byte) (tokens.Token, error) {
	found, err := postgres.Query(ctx, t.db, (*postgresdb.Queries).FindToken, hash)
	if errors.Is(err, pgx.ErrNoRows) {
		return tokens.Token{}, tokens.ErrInvalid
	}
	if err == nil && found.Unrecorded {
		err = postgres.Exec(ctx, t.db, (*postgresdb.Queries).RecordTokenUse, found.ID)
	}
	return tokens.Token{ID: tokens.ID(found.ID), User: found.UserID, UserName: found.UserName,
		Scopes: scopesOf(found.Scopes)}, err
}

// Page returns at most so many tokens, newest first, with a smaller number than before; 0 = from the newest. Expired
// tokens are included. user 0 = the tokens of everybody.
func (t *Tokens) Page(ctx context.Context, user users.ID, before tokens.ID, most int) ([]tokens.Token, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	rows, err := postgres.Query(ctx, t.db, (*postgresdb.Queries).Tokens,
		postgresdb.TokensParams{UserID: int64(user), Before: int64(before), Most: most})
	return postgres.Convert(rows, func(r postgresdb.TokensRow) tokens.Token {
		return tokens.Token{ID: tokens.ID(r.ID), User: r.UserID, UserName: r.UserName, Name: r.Name,
			Scopes:    scopesOf(r.Scopes),
			CreatedAt: r.CreatedAt.UTC(), ExpiresAt: r.ExpiresAt.UTC(), LastUsedAt: postgres.UTC(r.LastUsedAt)}
	}), err
}

// Create stores a token of a person and deletes the person's expired ones. If the person has tokens.MaxKept tokens, it
// returns a Conflict fault.
func (t *Tokens) Create(ctx context.Context, u users.User, c tokens.Content, hash []byte) (tokens.Token, error) {
	return postgres.GetInTx(ctx, t.db, func(ctx context.Context, q *postgresdb.Queries) (tokens.Token, error) {
		if err := q.DeleteExpiredTokens(ctx, u.ID); err != nil {
			return tokens.Token{}, err
		}
		if err := underLimit(ctx, q, u.ID); err != nil {
			return tokens.Token{}, err
		}
		names := scopeNames(c.Scopes)
		made, err := q.AddToken(ctx, postgresdb.AddTokenParams{UserID: u.ID, Name: c.Name, Hash: hash, Scopes: names,
			LifeSeconds: int64(c.Life / time.Second)})
		if err != nil {
			return tokens.Token{}, err
		}
		out := tokens.Token{ID: tokens.ID(made.ID), User: u.ID, UserName: u.Name, Name: c.Name, Scopes: c.Scopes,
			CreatedAt: made.CreatedAt.UTC(), ExpiresAt: made.ExpiresAt.UTC()}
		return out, auditlog.Write(ctx, q, audit.Entry{Actor: u.Name, Action: audit.TokenCreated,
			Object: tokenObject(made.ID, u.Name),
			Detail: postgres.Storable(fmt.Sprintf("%s: %s, until %s", c.Name, strings.Join(names, " "),
				made.ExpiresAt.UTC().Format(time.RFC3339)))})
	})
}

// underLimit locks a person and returns a Conflict fault if the person has tokens.MaxKept tokens. A person who is not
// active is tokens.ErrInvalid.
func underLimit(ctx context.Context, q *postgresdb.Queries, u users.ID) error {
	kept, err := q.LockTokenOwner(ctx, int64(u))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return tokens.ErrInvalid
	case err == nil && kept >= tokens.MaxKept:
		return fault.Newf(fault.Conflict, "you have %d tokens: revoke one that is not used", tokens.MaxKept)
	}
	return err
}

// Revoke deletes a token of owner; owner 0 = of anybody. An unknown token is a NotFound fault. actor is the author in
// the audit log.
func (t *Tokens) Revoke(ctx context.Context, id tokens.ID, owner users.ID, actor string) error {
	return t.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		gone, err := q.DeleteToken(ctx, postgresdb.DeleteTokenParams{ID: int64(id), UserID: int64(owner)})
		if errors.Is(err, pgx.ErrNoRows) {
			return fault.New(fault.NotFound, "there is no such token")
		}
		if err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Actor: actor, Action: audit.TokenRevoked,
			Object: tokenObject(int64(id), gone.UserName), Detail: gone.Name})
	})
}

// RevokeAll deletes all tokens of a person, who is their author in the audit log, and returns how many there were.
func (t *Tokens) RevokeAll(ctx context.Context, u users.User) (int, error) {
	return postgres.GetInTx(ctx, t.db, func(ctx context.Context, q *postgresdb.Queries) (int, error) {
		gone, err := q.DeleteTokensOf(ctx, u.ID)
		for _, one := range gone {
			if err == nil {
				err = auditlog.Write(ctx, q, audit.Entry{Actor: u.Name, Action: audit.TokenRevoked,
					Object: tokenObject(one.ID, u.Name), Detail: one.Name})
			}
		}
		return len(gone), err
	})
}

func tokenObject(id int64, user string) string {
	return postgres.Storable(fmt.Sprintf("token %d of %s", id, user))
}

func scopesOf(names []string) tokens.Scopes {
	return postgres.Convert(names, func(name string) tokens.Scope { return tokens.Scope(name) })
}

func scopeNames(s tokens.Scopes) []string {
	return postgres.Convert(s, func(one tokens.Scope) string { return string(one) })
}
