package pg

import (
	"cmp"
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
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// errNoServiceToken is the refusal of a number without a service token.
var errNoServiceToken = fault.New(fault.NotFound, "there is no such service token")

// UseService is Use for service tokens. The token of a team that is not active is tokens.ErrInvalid.
func (t *Tokens) UseService(ctx context.Context, hash []byte) (tokens.Service, error) {
	found, err := postgres.Query(ctx, t.db, (*db.Queries).FindServiceToken, hash)
	if errors.Is(err, pgx.ErrNoRows) {
		return tokens.Service{}, tokens.ErrInvalid
	}
	if err == nil && found.Unrecorded {
		err = postgres.Exec(ctx, t.db, (*db.Queries).RecordServiceTokenUse, found.ID)
	}
	return tokens.Service{ID: tokens.ID(found.ID), TeamID: found.TeamID, Team: operation.Text(found.Team), Name: found.Name,
		Scopes: scopesOf(found.Scopes)}, err
}

// Services returns at most so many service tokens, newest first, with a smaller number than before; 0 = from the
// newest. Expired tokens are included. With everybody they are all tokens, else those of the teams.
func (t *Tokens) Services(ctx context.Context, everybody bool, teams []int64, before tokens.ID, most int) ([]tokens.Service, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	rows, err := postgres.Query(ctx, t.db, (*db.Queries).ServiceTokens,
		db.ServiceTokensParams{Everybody: everybody, Teams: teams, Before: int64(before),
			Most: most})
	return postgres.Convert(rows, func(r db.ServiceTokensRow) tokens.Service { return serviceOf(db.ServiceTokenRow(r)) }), err
}

// Service returns a service token. An unknown number is a NotFound fault.
func (t *Tokens) Service(ctx context.Context, id tokens.ID) (tokens.Service, error) {
	row, err := postgres.Query(ctx, t.db, (*db.Queries).ServiceToken, int64(id))
	if errors.Is(err, pgx.ErrNoRows) {
		err = errNoServiceToken
	}
	return serviceOf(row), err
}

// CreateService stores a service token of s.TeamID and deletes the expired ones of the same owner. If the owner has
// tokens.MaxKept tokens, or one with the same name, it returns a Conflict fault.
func (t *Tokens) CreateService(ctx context.Context, s tokens.Service, life time.Duration, hash []byte) (tokens.Service, error) {
	return postgres.GetInTx(ctx, t.db, func(ctx context.Context, q *db.Queries) (tokens.Service, error) {
		err := q.LockServiceTokens(ctx, s.TeamID)
		if err == nil {
			err = q.DeleteExpiredServiceTokens(ctx, s.TeamID)
		}
		if err != nil {
			return s, err
		}
		kept, err := q.CountServiceTokens(ctx, db.CountServiceTokensParams{TeamID: s.TeamID, Name: s.Name})
		switch {
		case err != nil:
			return s, err
		case kept.SameName > 0:
			return s, fault.Newf(fault.Conflict, "there is a %s: revoke it, or choose another name", s)
		case kept.Kept >= tokens.MaxKept:
			return s, fault.Newf(fault.Conflict, "there are %d service tokens: revoke one that is not used",
				tokens.MaxKept)
		}
		names := scopeNames(s.Scopes)
		made, err := q.AddServiceToken(ctx, db.AddServiceTokenParams{TeamID: s.TeamID, Name: s.Name, Hash: hash,
			Scopes:    names,
			CreatedBy: postgres.Storable(s.CreatedBy), LifeSeconds: int64(life / time.Second)})
		if err != nil {
			return s, err
		}
		s.ID, s.CreatedAt, s.ExpiresAt = tokens.ID(made.ID), made.CreatedAt.UTC(), made.ExpiresAt.UTC()
		return s, auditlog.Write(ctx, q, audit.Entry{Actor: s.CreatedBy, Action: audit.ServiceTokenCreated,
			Object: s.String(),
			Detail: fmt.Sprintf("%s, until %s", strings.Join(names, " "), made.ExpiresAt.UTC().Format(time.RFC3339))})
	})
}

// RevokeService deletes a service token; its next request is refused. actor is the author in the audit log. An unknown
// number is a NotFound fault.
func (t *Tokens) RevokeService(ctx context.Context, id tokens.ID, actor string) error {
	return t.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		row, err := q.ServiceToken(ctx, int64(id))
		if errors.Is(err, pgx.ErrNoRows) {
			return errNoServiceToken
		}
		if err != nil {
			return err
		}
		if n, err := q.DeleteServiceToken(ctx, int64(id)); err != nil || n == 0 {
			return cmp.Or(err, error(errNoServiceToken))
		}
		s := serviceOf(row)
		return auditlog.Write(ctx, q, audit.Entry{Actor: actor, Action: audit.ServiceTokenRevoked, Object: s.String()})
	})
}

func serviceOf(r db.ServiceTokenRow) tokens.Service {
	return tokens.Service{ID: tokens.ID(r.ID), TeamID: r.TeamID, Team: operation.Text(r.Team), Name: r.Name,
		Scopes: scopesOf(r.Scopes), CreatedBy: r.CreatedBy,
		CreatedAt: r.CreatedAt.UTC(), ExpiresAt: r.ExpiresAt.UTC(), LastUsedAt: postgres.UTC(r.LastUsedAt)}
}
