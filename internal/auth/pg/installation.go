package pg

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Installation is what all processes of an installation share.
type Installation struct {
	Name string     // labels the cluster's gossip
	Keys *auth.Keys // derived from the installation's secret
	// Wrapped reports whether the secret is stored encrypted with the operator's own key.
	Wrapped bool
}

// LoadInstallation reads the installation's secret, which `iris migrate` made. secretKey is the operator's own key
// (IRIS_SECRET_KEY); "" = none. An unwrapped secret is wrapped with the key; a wrapped one needs the key. Without a key
// a warning is logged: a reader of the database can then sign links and read the keys of applications.
func LoadInstallation(ctx context.Context, d *postgres.DB, secretKey string, log *zap.Logger) (Installation, error) {
	var out Installation
	err := d.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		row, err := q.Installation(ctx)
		if err == nil && !row.Wrapped && secretKey != "" {
			var locked db.LockInstallationRow
			locked, err = q.LockInstallation(ctx) // another process may be encrypting it now
			row = db.InstallationRow(locked)
		}
		if errors.Is(err, pgx.ErrNoRows) {
			return fault.New(fault.Unavailable, "the database has no installation yet, run: iris migrate")
		}
		if err != nil {
			return err
		}
		secret, err := openSecret(row, secretKey)
		if err != nil {
			return err
		}
		if !row.Wrapped && secretKey != "" {
			if err := storeSecret(ctx, q, secret, secretKey); err != nil {
				return err
			}
			row.Wrapped = true
		}
		keys, err := auth.NewKeys(secret)
		if err != nil {
			return err
		}
		out = Installation{Name: row.Name, Keys: keys, Wrapped: row.Wrapped}
		return nil
	})
	if err == nil && !out.Wrapped && log != nil {
		log.Named("postgres").Warn("the installation secret is stored unencrypted: set IRIS_SECRET_KEY")
	}
	return out, err
}

func openSecret(row db.InstallationRow, secretKey string) ([]byte, error) {
	if !row.Wrapped {
		return row.Secret, nil
	}
	if secretKey == "" {
		return nil, fault.Invalidf("secret_key",
			"the installation secret is encrypted: set IRIS_SECRET_KEY to the key it was encrypted with")
	}
	secret, err := auth.UnwrapSecret(secretKey, row.Secret)
	if errors.Is(err, auth.ErrSealed) {
		return nil, fault.Invalidf("secret_key",
			"IRIS_SECRET_KEY is not the key that the installation secret is encrypted with")
	}
	return secret, err
}

func storeSecret(ctx context.Context, q *db.Queries, secret []byte, secretKey string) error {
	if secretKey == "" {
		return q.WrapInstallation(ctx, db.WrapInstallationParams{Secret: secret})
	}
	wrapped, err := auth.WrapSecret(secretKey, secret)
	if err != nil {
		return err
	}
	return q.WrapInstallation(ctx, db.WrapInstallationParams{Secret: wrapped, Wrapped: true})
}
