package iris

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/iris-oncall/iris/internal/imports"
)

// incidents imports incidents with contexts, dynamic targets and comments. Their progress is computed later, from their
// messages.
func (im *importer) incidents(ctx context.Context) error {
	table := imports.Table{Name: "incidents", Key: []string{"id"}, Columns: []imports.Column{
		{Name: "id", Type: "bigint"}, {Name: "plan_id", Type: "bigint", Ref: toPlan}, {Name: "application_id", Type: "bigint", Ref: toApp},
		{Name: "created_at", Type: "timestamptz"}, {Name: "updated_at", Type: "timestamptz", State: true},
		{Name: "owner_id", Type: "bigint", Ref: toUserIfHere, State: true}, {Name: "current_step", Type: "smallint", State: true},
		{Name: "active", Type: "boolean", State: true}, {Name: "resolved", Type: "boolean", State: true},
		{Name: "context", Type: "json", Aside: true},
	}}
	err := im.load(ctx, from{"incidents", "incident", "id", []string{"id", "plan_id", "created", "updated", "context", "owner_id", "application_id",
		"current_step", "active", "resolved"}}, table, im.incident)
	if err != nil {
		return err
	}
	if err := im.dynamicTargets(ctx); err != nil {
		return err
	}
	comments := imports.Table{Name: "comments", Key: []string{"id"}, Columns: []imports.Column{
		{Name: "id", Type: "bigint"}, {Name: "incident_id", Type: "bigint", Ref: toIncident}, {Name: "author_id", Type: "bigint", Ref: toUser},
		{Name: "content", Type: "text", Hidden: true}, {Name: "created_at", Type: "timestamptz"},
	}}
	return im.load(ctx, from{"comments", "comment", "id", []string{"id", "incident_id", "created", "user_id", "content"}}, comments,
		func(row *imports.Row) ([]any, bool) {
			row.Label = fmt.Sprintf("comment %d on incident %d", row.Int("id"), row.Int("incident_id"))
			return []any{row.Int("id"), row.Int("incident_id"), row.Int("user_id"), row.Text("content"), row.TimeOr("created")}, true
		})
}

func (im *importer) incident(row *imports.Row) ([]any, bool) {
	id := row.Int("id")
	row.Label = fmt.Sprintf("incident %d", id)
	active, resolved := row.Bool("active"), row.Bool("resolved")
	if active && resolved {
		row.Note("it was resolved and still escalated there; here it does not escalate any more")
		active = false
	}
	created := row.TimeOr("created", "updated")
	updated, ok := row.Time("updated")
	if !ok {
		updated = created
		if row.Text("updated") != "" {
			row.Note("updated is a zero date; created stands in for it")
		}
	}
	step := row.Int("current_step")
	if step < 0 || step > math.MaxInt16 {
		row.LoseValue("its current step is impossible; step 0 was taken")
		step = 0
	}
	owner := row.IntOrNil("owner_id")
	if active && owner != nil {
		row.Note("it has an owner and still escalated there; here its owner has acknowledged it")
		active = false
	}
	return []any{id, row.Int("plan_id"), row.Int("application_id"), created, updated, owner, step, active, resolved, contextOf(row)}, true
}

// contextOf returns an incident's context. Text that is not JSON is kept as a variable of a new context.
func contextOf(row *imports.Row) json.RawMessage {
	value, text, ok := row.JSON("context")
	switch {
	case ok && string(value) == "null" || strings.TrimSpace(text) == "":
		row.Note("it has no context; an empty one was taken")
		return json.RawMessage("{}")
	case ok:
		return value
	}
	row.Note("its context is not JSON; the text was put into the variable unreadable_context")
	wrapped, err := json.Marshal(map[string]string{"unreadable_context": text})
	if err != nil {
		return json.RawMessage("{}")
	}
	return wrapped
}

func (im *importer) dynamicTargets(ctx context.Context) error {
	table := imports.Table{Name: "incident_dynamic_targets", Key: []string{"incident_id", "dynamic_index"}, Columns: []imports.Column{
		{Name: "incident_id", Type: "bigint", Ref: toIncident}, {Name: "dynamic_index", Type: "int"}, {Name: "role", Type: "text"},
		{Name: "target_id", Type: "bigint", Ref: toTarget},
	}}
	return im.load(ctx, from{"dynamic targets", "dynamic_plan_map", "incident_id, dynamic_index",
		[]string{"incident_id", "dynamic_index", "role_id", "target_id"}}, table,
		func(row *imports.Row) ([]any, bool) {
			row.Label = fmt.Sprintf("dynamic target %d of incident %d", row.Int("dynamic_index"), row.Int("incident_id"))
			role, ok := im.roles[row.Int("role_id")]
			if !ok {
				row.Lose("its role_id is not there")
			}
			return []any{row.Int("incident_id"), row.Int32("dynamic_index", math.MinInt32), role, row.Int("target_id")}, ok
		})
}
