package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// AppendOncallAudit writes an entry of the on-call audit log.
func AppendOncallAudit(ctx context.Context, q *db.Queries, by oncall.By, team, action string, context any) error {
	raw, err := json.Marshal(context)
	if err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	return q.AppendOncallAudit(ctx, db.AppendOncallAuditParams{Owner: Storable(by.Owner), Team: team, Action: action, Context: raw})
}
