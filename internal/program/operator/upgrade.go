package operator

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/system"
	"github.com/iris-oncall/iris/internal/system/pg"
)

// UpgradeDays is how far back LostByUpgrade looks.
const UpgradeDays = 30

// mostLosses bounds the answer of LostByUpgrade.
const mostLosses = 10000

// LostByUpgrade returns whom an upgrade to this release takes something away, from the timelines of the last
// UpgradeDays. It changes nothing, and works on the schema of the release before.
func LostByUpgrade(ctx context.Context, db *postgres.DB) ([]system.Loss, error) {
	return pg.NewSystem(db).LostByUpgrade(ctx, UpgradeDays, mostLosses)
}
