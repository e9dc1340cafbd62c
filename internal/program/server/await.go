package server

import (
	"context"
	"time"

	"go.uber.org/zap"

	pgauth "github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/database"
	"github.com/iris-oncall/iris/internal/program/health"
)

// retryEvery is the pause between attempts to use the database. It is short, because iris-api refuses incidents until
// one succeeds.
const retryEvery = time.Second

// AwaitDatabase waits until the database answers with the right schema, and returns the installation. It returns an
// error if ctx ends, or if waiting cannot help. Each new reason is logged once and is the answer of /readyz.
func AwaitDatabase(ctx context.Context, db *postgres.DB, c config.Common, h *health.Probes, log *zap.Logger) (pgauth.Installation, error) {
	for {
		in, err := database.Prepare(ctx, db, c, log)
		if err == nil {
			return in, nil
		}
		if ctx.Err() != nil {
			return in, ctx.Err()
		}
		if fault.Is(err, fault.Invalid) { // such as a wrong secret key: a retry cannot help
			return in, err
		}
		h.NotReady("database", err)
		h.Findings(ctx)
		select {
		case <-ctx.Done():
			return in, ctx.Err()
		case <-time.After(retryEvery):
		}
	}
}
