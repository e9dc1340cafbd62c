// Package database opens the configured database: it checks the address and the schema, and reads the installation. The
// servers and the commands call it. Queries are in internal/kit/postgres.
package database

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	pgauth "github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/program/config"
	pgpeople "github.com/iris-oncall/iris/internal/users/pg"
)

// Migrate applies all migrations of this release to the configured database.
func Migrate(ctx context.Context, c config.Common, log *zap.Logger) error {
	if err := URLProblem(c.Database.URL.Reveal()); err != nil {
		return err
	}
	return postgres.Migrate(ctx, c.Database.URL.Reveal(), log)
}

// URLProblem returns an error if the address of a database cannot be parsed. It does not connect.
func URLProblem(url string) error {
	if err := postgres.CheckURL(url); err != nil {
		return fmt.Errorf("database.url (IRIS_DATABASE_URL): %w", err)
	}
	return nil
}

// Use says who uses a database.
type Use struct {
	Host   string   // a host with a live message-processor; "" = there is none
	People []string // names of users
}

// FindUse returns who uses the configured database. The result is empty if this release cannot run on its schema.
func FindUse(ctx context.Context, c config.Common) (Use, error) {
	var use Use
	db, err := Open(ctx, c, "iris", 2, prometheus.NewRegistry(), zap.NewNop())
	if err != nil {
		return use, err
	}
	defer db.Close()
	if schema, err := db.SchemaState(ctx); err != nil || !schema.Fits {
		return use, err
	}
	members, err := pgbuckets.NewCluster(db).Members(ctx)
	if err != nil {
		return use, err
	}
	for _, m := range members {
		if m.Age < buckets.DefaultLimits().Fresh {
			use.Host = m.Host
		}
	}
	people, err := pgpeople.NewUsers(db).List(ctx)
	for _, p := range people {
		use.People = append(use.People, p.Name)
	}
	return use, err
}

// Open returns a pool of at most maxConns connections; 0 = the configured number. It does not connect. name is shown in
// pg_stat_activity.
func Open(ctx context.Context, c config.Common, name string, maxConns int, reg prometheus.Registerer, log *zap.Logger) (*postgres.DB, error) {
	if err := URLProblem(c.Database.URL.Reveal()); err != nil {
		return nil, err
	}
	if maxConns == 0 {
		maxConns = c.Database.MaxConnections
	}
	return postgres.Open(ctx, postgres.Config{
		URL: c.Database.URL.Reveal(), MaxConns: maxConns, Log: log, Registerer: reg, AppName: name,
		KeyedPlans: name == "message-processor",
	})
}

// Connect opens a pool for one command, as Open and Prepare do, without a log and without metrics. The caller closes
// the pool.
func Connect(ctx context.Context, c config.Common) (*postgres.DB, pgauth.Installation, error) {
	const connections = 4
	db, err := Open(ctx, c, "iris", connections, prometheus.NewRegistry(), zap.NewNop())
	if err != nil {
		return nil, pgauth.Installation{}, err
	}
	installation, err := Prepare(ctx, db, c, zap.NewNop())
	if err != nil {
		db.Close()
		return nil, pgauth.Installation{}, err
	}
	return db, installation, nil
}

// Prepare checks that the database keeps sessions and that this release can run on the schema, and returns the
// installation. It migrates first if the configuration says migrate: auto. It returns an Invalid fault if a retry
// cannot help.
func Prepare(ctx context.Context, db *postgres.DB, c config.Common, log *zap.Logger) (pgauth.Installation, error) {
	if err := db.CheckPooler(ctx); err != nil {
		return pgauth.Installation{}, err
	}
	err := db.CheckSchema(ctx)
	if err != nil && c.Migrate == "auto" {
		if schema, stateErr := db.SchemaState(ctx); stateErr == nil && schema.Have < schema.Want {
			log.Info("migrating the database", zap.Int64("from", schema.Have), zap.Int64("to", schema.Want))
			if err := Migrate(ctx, c, log); err != nil {
				return pgauth.Installation{}, err
			}
			err = db.CheckSchema(ctx)
		}
	}
	if err != nil {
		return pgauth.Installation{}, err
	}
	return pgauth.LoadInstallation(ctx, db, c.SecretKey.Reveal(), log)
}
