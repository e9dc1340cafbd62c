// This file stores the directories that push people with SCIM, their tokens, and the people and groups that they
// pushed. The SCIM edge and /v1 use it. What it must decide, such as whether a deactivation is held, it asks package
// internal/auth/scim.

package pg

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/auth/scim"
	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Store implements scim.Users and scim.Groups, and keeps the connections. Every change is one transaction with an entry
// in the audit log. It is safe for concurrent use.
type Store struct{ db *postgres.DB }

var (
	_ scim.Users  = (*Store)(nil)
	_ scim.Groups = (*Store)(nil)
)

// NewSCIM returns the adapter over d.
func NewSCIM(d *postgres.DB) *Store { return &Store{db: d} }

// unique is the SQLSTATE of a duplicate.
const unique = "23505"

var errNoConnection = fault.New(fault.NotFound, "there is no such SCIM connection")

// Use returns the connection of a token by its hash, and records the use at most once a minute. An unknown token is
// tokens.ErrInvalid.
func (s *Store) Use(ctx context.Context, hash []byte) (scim.Connection, error) {
	row, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).UseScimToken, hash)
	if errors.Is(err, pgx.ErrNoRows) {
		return scim.Connection{}, tokens.ErrInvalid
	}
	return connectionOf(row), err
}

// Connections returns at most so many connections with a larger number than after, by number.
func (s *Store) Connections(ctx context.Context, after int64, most int) ([]scim.Connection, error) {
	return s.connections(ctx, postgresdb.ScimConnectionsParams{After: after, Most: most})
}

// Connection finds a connection by name, ignoring case. Without one it returns a NotFound fault.
func (s *Store) Connection(ctx context.Context, name string) (scim.Connection, error) {
	if postgres.Storable(name) == "" {
		return scim.Connection{}, errNoConnection
	}
	found, err := s.connections(ctx, postgresdb.ScimConnectionsParams{Name: postgres.Storable(name), Most: 1})
	if err == nil && len(found) == 0 {
		err = errNoConnection
	}
	if err != nil {
		return scim.Connection{}, err
	}
	return found[0], nil
}

func (s *Store) connections(ctx context.Context, p postgresdb.ScimConnectionsParams) ([]scim.Connection, error) {
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).ScimConnections, p)
	if err != nil {
		return nil, err
	}
	out := make([]scim.Connection, 0, len(rows))
	for _, r := range rows {
		c := connectionOf(r.ScimConnection)
		c.Tokens = []scim.TokenUse{}
		var uses [][2]*time.Time
		if err := json.Unmarshal(r.Tokens, &uses); err != nil {
			return nil, err
		}
		for _, u := range uses {
			c.Tokens = append(c.Tokens, scim.TokenUse{CreatedAt: postgres.Deref(u[0]).UTC(),
				LastUsedAt: postgres.UTC(u[1])})
		}
		out = append(out, c)
	}
	return out, nil
}

// Add stores a connection with its first token. A name that exists is a Conflict fault.
func (s *Store) Add(ctx context.Context, c scim.Connection, hash []byte) (scim.Connection, error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) (out scim.Connection, err error) {
		row, err := q.AddScimConnection(ctx, postgresdb.AddScimConnectionParams{Name: c.Name, Provider: string(c.Provider),
			LinksAccounts: c.LinksAccounts,
			CreatedBy:     postgres.Storable(c.CreatedBy)})
		if postgres.SqlState(err) == unique {
			return out, fault.Newf(fault.Conflict, "there is a SCIM connection %s", c.Name)
		}
		if err != nil {
			return out, err
		}
		if err := q.AddScimToken(ctx, postgresdb.AddScimTokenParams{Hash: hash, ConnectionID: row.ID}); err != nil {
			return out, err
		}
		return connectionOf(row), scimNote(ctx, q, c.CreatedBy, audit.SCIMConnectionCreated, "SCIM connection "+
			row.Name, "provider "+string(c.Provider))
	})
}

// Rotate adds a token to a connection. The newest scim.MaxTokens tokens stay valid.
func (s *Store) Rotate(ctx context.Context, c scim.Connection, hash []byte, actor string) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if _, err := q.LockScimConnection(ctx, c.ID); err != nil {
			return fault.When(err, fault.NotFound, errNoConnection)
		}
		if err := q.AddScimToken(ctx, postgresdb.AddScimTokenParams{Hash: hash, ConnectionID: c.ID}); err != nil {
			return err
		}
		if err := q.TrimScimTokens(ctx, postgresdb.TrimScimTokensParams{ConnectionID: c.ID, Keep: scim.MaxTokens}); err != nil {
			return err
		}
		return scimNote(ctx, q, actor, audit.SCIMTokenCreated, "SCIM connection "+c.Name, "")
	})
}

// EndOldTokens deletes all tokens of a connection except the newest.
func (s *Store) EndOldTokens(ctx context.Context, c scim.Connection, actor string) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if err := q.TrimScimTokens(ctx, postgresdb.TrimScimTokensParams{ConnectionID: c.ID, Keep: 1}); err != nil {
			return err
		}
		return scimNote(ctx, q, actor, audit.SCIMTokensEnded, "SCIM connection "+c.Name, "all except the newest")
	})
}

// Delete deletes a connection with its groups. People, roles and memberships of teams stay as they are.
func (s *Store) Delete(ctx context.Context, c scim.Connection, actor string) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if err := q.ReleaseManagedMembers(ctx, source(c)); err != nil {
			return err
		}
		if err := postgres.RequireRow(q.DeleteScimConnection(ctx, c.ID)); err != nil {
			return fault.When(err, fault.NotFound, errNoConnection)
		}
		return scimNote(ctx, q, actor, audit.SCIMConnectionDeleted, "SCIM connection "+c.Name, "")
	})
}

func connectionOf(r postgresdb.ScimConnection) scim.Connection {
	return scim.Connection{ID: r.ID, Name: r.Name, Provider: operation.Text(r.Provider), LinksAccounts: r.LinksAccounts,
		CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.UTC()}
}

// source names a connection as the issuer of memberships.
func source(c scim.Connection) string { return "scim:" + strconv.FormatInt(c.ID, 10) }

// author names a connection in the audit log.
func author(c scim.Connection) string { return "SCIM: " + c.Name }

func scimNote(ctx context.Context, q *postgresdb.Queries, actor string, action audit.Action, object, detail string) error {
	return auditlog.Write(ctx, q, audit.Entry{Actor: actor, Action: action, Object: object, Detail: detail})
}
