package pg

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Grants stores tokens that people allowed to a command line, until the command line gets them. They expire by the
// database's clock. It is safe for concurrent use.
type Grants struct{ db *postgres.DB }

// NewGrants returns the adapter over d.
func NewGrants(d *postgres.DB) *Grants { return &Grants{db: d} }

// Add stores a grant under the hash of its code, and deletes expired grants.
func (s *Grants) Add(ctx context.Context, hash []byte, g tokens.Grant) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if err := q.DeleteExpiredTokenGrants(ctx); err != nil {
			return err
		}
		return q.AddTokenGrant(ctx, postgresdb.AddTokenGrantParams{Hash: hash, UserID: g.User,
			Name:   postgres.Storable(g.Name),
			Scopes: scopeNames(g.Scopes), Challenge: g.Challenge, LifeSeconds: int64(tokens.CodeLife / time.Second)})
	})
}

// Take deletes the grant with the hash and returns it: of concurrent calls only one gets it. If it is unknown or
// expired, or its person is not active, it returns tokens.ErrGrant.
func (s *Grants) Take(ctx context.Context, hash []byte) (tokens.Grant, error) {
	found, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).TakeTokenGrant, hash)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !found.Valid {
		return tokens.Grant{}, tokens.ErrGrant
	}
	return tokens.Grant{User: found.UserID, UserName: found.UserName, Name: found.Name, Scopes: scopesOf(found.Scopes),
		Challenge: found.Challenge}, err
}
