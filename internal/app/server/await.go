package server

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/database"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/health"
	"github.com/iris-oncall/iris/internal/postgres"
)

// retryEvery is the pause between attempts to get hold of a usable database. It is short: an API that is up and does not
// know it yet turns incidents away.
const retryEvery = time.Second

// AwaitDatabase returns the installation when the database answers with the right schema, however long that takes; an
// error means that ctx ended, or that waiting cannot help. Every new reason is logged once and becomes the answer of
// /readyz.
func AwaitDatabase(ctx context.Context, db *postgres.DB, c config.Common, h *health.Probes, log *zap.Logger) (postgres.Installation, error) {
	for {
		in, err := database.Prepare(ctx, db, c, log)
		if err == nil {
			return in, nil
		}
		if ctx.Err() != nil {
			return in, ctx.Err()
		}
		if fault.Is(err, fault.Invalid) { // a wrong secret key: somebody has to change the configuration
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
