package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/engine"
	pgpeople "github.com/iris-oncall/iris/internal/postgres/people"
)

// Migrate brings the schema of the configured database up to this release.
func Migrate(ctx context.Context, c config.Common, log *zap.Logger) error {
	if err := DatabaseURLProblem(c.Database.URL.Reveal()); err != nil {
		return err
	}
	return postgres.Migrate(ctx, c.Database.URL.Reveal(), log)
}

// DatabaseURLProblem says what is wrong with the spelling of a database's address; nil = nothing.
func DatabaseURLProblem(url string) error {
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
	db, err := openDatabase(ctx, c, "iris", 2, prometheus.NewRegistry(), zap.NewNop())
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

// openDatabase returns a pool; it does not connect. maxConns 0 means the configured number.
func openDatabase(ctx context.Context, c config.Common, name string, maxConns int, reg prometheus.Registerer, log *zap.Logger) (*postgres.DB, error) {
	if err := DatabaseURLProblem(c.Database.URL.Reveal()); err != nil {
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

// retryEvery is the pause between attempts to get hold of a usable database. It is short: an API that is up and does not
// know it yet turns incidents away.
const retryEvery = time.Second

// awaitDatabase returns the installation when the database answers with the right schema, however long that takes; an
// error means that ctx ended, or that waiting cannot help. Every new reason is logged once and becomes the answer of
// /readyz.
func awaitDatabase(ctx context.Context, db *postgres.DB, c config.Common, h *health, log *zap.Logger) (postgres.Installation, error) {
	for {
		in, err := tryDatabase(ctx, db, c, log)
		if err == nil {
			return in, nil
		}
		if ctx.Err() != nil {
			return in, ctx.Err()
		}
		if fault.Is(err, fault.Invalid) { // a wrong secret key: somebody has to change the configuration
			return in, err
		}
		h.waiting("database", err)
		h.findings(ctx)
		select {
		case <-ctx.Done():
			return in, ctx.Err()
		case <-time.After(retryEvery):
		}
	}
}

func tryDatabase(ctx context.Context, db *postgres.DB, c config.Common, log *zap.Logger) (postgres.Installation, error) {
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

// plain shortens an error to what everybody may read: the cause of a fault may hold addresses and names of users. The log
// has it in full.
func plain(err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return errors.New(f.Message)
	}
	return err
}
