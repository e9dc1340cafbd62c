// Package database opens the database of a configuration: its address, its schema, and the installation that it holds. The
// programs and the operator's commands call it. What is in the database is the work of internal/postgres.
package database

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/engine"
	pgpeople "github.com/iris-oncall/iris/internal/postgres/people"
)

// Migrate brings the schema of the configured database up to this release.
func Migrate(ctx context.Context, c config.Common, log *zap.Logger) error {
	if err := URLProblem(c.Database.URL.Reveal()); err != nil {
		return err
	}
	return postgres.Migrate(ctx, c.Database.URL.Reveal(), log)
}

// URLProblem says what is wrong with the spelling of a database's address; nil = nothing.
func URLProblem(url string) error {
	if err := postgres.CheckURL(url); err != nil {
		return fmt.Errorf("database.url (IRIS_DATABASE_URL): %w", err)
	}
	return nil
}

// Use is who would be disturbed by somebody trying things out on a database.
type Use struct {
	Host   string   // a machine whose message-processors work on it; "" = there is none
	People []string // names of users
}

// FindUse looks at the configured database. When this release cannot run on its schema, it finds nobody.
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
	members, err := engine.NewCluster(db).Members(ctx)
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

// Open returns a pool; it does not connect. maxConns 0 means the configured number.
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

// Prepare checks that the schema fits this release, migrates it first if the configuration says so, and returns the
// installation. An Invalid fault means that trying again cannot help.
func Prepare(ctx context.Context, db *postgres.DB, c config.Common, log *zap.Logger) (postgres.Installation, error) {
	err := db.CheckSchema(ctx)
	if err != nil && c.Migrate == "auto" {
		if schema, stateErr := db.SchemaState(ctx); stateErr == nil && schema.Have < schema.Want {
			log.Info("migrating the database", zap.Int64("from", schema.Have), zap.Int64("to", schema.Want))
			if err := Migrate(ctx, c, log); err != nil {
				return postgres.Installation{}, err
			}
			err = db.CheckSchema(ctx)
		}
	}
	if err != nil {
		return postgres.Installation{}, err
	}
	return postgres.LoadInstallation(ctx, db, c.SecretKey.Reveal(), log)
}
