package auditlog

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// maxChanges is how many changed fields an entry keeps.
const maxChanges = 200

// Write stores an entry with the origin of the context. It belongs into the transaction of the change. It returns
// audit.ErrLogInAgain if the change needs a recent log-in.
func Write(ctx context.Context, q *db.Queries, e audit.Entry) error {
	if !e.Action.Known() {
		return fmt.Errorf("the audit log has no action %q", e.Action)
	}
	from := audit.From(ctx)
	if err := audit.Confirmed(from, e); err != nil {
		return err
	}
	p := db.AppendAuditParams{Actor: postgres.Storable(cmp.Or(e.Actor, from.Actor, "iris")), Action: string(e.Action),
		Object: postgres.Storable(e.Object), Detail: postgres.Storable(e.Detail),
		ActorKind: string(from.Kind), ActorID: number(from.ActorID), Through: postgres.Storable(from.Through), TokenID: number(from.TokenID),
		Address: postgres.Storable(from.Address), RequestID: from.Request}
	if more := len(e.Changes) - maxChanges; more > 0 {
		e.Changes = append(e.Changes[:maxChanges:maxChanges],
			audit.Change{Field: "…", After: fmt.Sprintf("%d more fields", more)})
	}
	if len(e.Changes) > 0 {
		raw, err := json.Marshal(e.Changes)
		if err != nil {
			return fmt.Errorf("audit entry %q: %w", e.Action, err)
		}
		p.Changes = []byte(strings.ReplaceAll(string(raw), `\u0000`, ""))
	}
	return q.AppendAudit(ctx, p)
}

func number(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

// WriteOncall stores an entry of a calendar: in the log of the on-call API, in which the context has the predecessor's
// form, and in the audit log. changes replace what the audit log would show of the context.
func WriteOncall(ctx context.Context, q *db.Queries, owner, team, action string, context map[string]any, changes ...audit.Change) error {
	if context == nil {
		context = map[string]any{}
	}
	raw, err := json.Marshal(context)
	if err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	if err := q.AppendOncallAudit(ctx, db.AppendOncallAuditParams{Owner: postgres.Storable(owner), Team: team, Action: action, Context: raw}); err != nil {
		return err
	}
	if changes == nil {
		changes = ofContext(context)
	}
	return Write(ctx, q, audit.Entry{Actor: owner, Action: audit.Calendar(action), Object: "team " + team,
		Changes: changes})
}

// ofContext returns the changed fields that the context of an entry of a calendar has.
func ofContext(context map[string]any) []audit.Change {
	before, after := map[string]any{}, maps.Clone(context)
	for key, value := range context {
		if old, ok := strings.CutPrefix(key, "old_"); ok {
			before[old] = value
			delete(after, key)
		} else if now, ok := strings.CutPrefix(key, "new_"); ok {
			after[now] = value
			delete(after, key)
		}
	}
	return audit.Diff(before, after)
}
