package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

// IncidentList returns the statement of a list of incidents.
func IncidentList(ctx context.Context, d *postgres.DB, q filters.Query) (sql string, args []any, err error) {
	if q, err = withIDs(ctx, d, q); err != nil {
		return "", nil, err
	}
	return incidentList(q)
}
