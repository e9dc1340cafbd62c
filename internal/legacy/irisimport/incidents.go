package irisimport

import (
	"context"
	"encoding/json"
	"math"
	"strings"

	"github.com/iris-oncall/iris/internal/legacy/imports"
)

// incidents imports incidents with contexts, dynamic targets and comments. Their progress is computed later, from their
// messages.
func (im *importer) incidents(ctx context.Context) error {
	return im.Load(ctx, incidentTable(), imports.Table{
		Class: "dynamic targets", From: "dynamic_plan_map", Order: "incident_id, dynamic_index",
		Label: "dynamic target $dynamic_index of incident $incident_id",
		Name:  "incident_dynamic_targets", Key: []string{"incident_id", "dynamic_index"}, Columns: []imports.Column{
			{Name: "incident_id", Ref: toIncident}, {Name: "role", From: "role_id",
				Value: im.Known}, {Name: "target_id", Ref: toTarget},
			{Name: "dynamic_index", Type: "int",
				Value: func(row *imports.Row, column string) any { return row.Int32(column, math.MinInt32) }},
		},
	}, imports.Table{
		Class: "comments", From: "comment", Order: "id", Label: "comment $id on incident $incident_id", Name: "comments",
		Columns: []imports.Column{
			idColumn(), {Name: "incident_id", Ref: toIncident}, {Name: "author_id", From: "user_id", Ref: toUser},
			{Name: "content", Hidden: true}, createdColumn(),
		},
	})
}

func incidentTable() imports.Table {
	return imports.Table{
		Class: "incidents", From: "incident", Order: "id", Label: "incident $id", Name: "incidents", Columns: []imports.Column{
			idColumn(), {Name: "plan_id", Ref: toPlan}, applicationColumn(),
			{Name: "created_at", Type: "timestamptz", From: "created",
				Value: func(row *imports.Row, _ string) any { return row.TimeOr("created", "updated") }},
			{Name: "updated_at", Type: "timestamptz", From: "updated", State: true, Value: updated},
			{Name: "owner_id", Ref: toUserIfHere, State: true}, {Name: "current_step", Type: "smallint", State: true,
				Value: currentStep},
			{Name: "active", Type: "boolean", State: true, Value: escalates}, {Name: "resolved", Type: "boolean",
				State: true},
			{Name: "context", Type: "json", Aside: true, Value: contextOf},
		},
	}
}

// updated returns when an incident changed, or else when it was created.
func updated(row *imports.Row, column string) any {
	if t, ok := row.Time(column); ok {
		return t
	}
	if row.Text(column) != "" {
		row.Note("updated is a zero date; created is used instead")
	}
	return row.TimeOr("created", column)
}

func currentStep(row *imports.Row, column string) any {
	step := row.Int(column)
	if step < 0 || step > math.MaxInt16 {
		row.LoseValue("its current step is out of range; step 0 was taken")
		return int64(0)
	}
	return step
}

// escalates reports whether an incident still escalates. Here a resolved incident and one with an owner do not.
func escalates(row *imports.Row, column string) any {
	switch {
	case !row.Bool(column):
		return false
	case row.Bool("resolved"):
		row.Note("it was resolved and still escalated in Iris; here it does not escalate")
		return false
	case !row.Null("owner_id"):
		row.Note("it has an owner and still escalated in Iris; here its owner has acknowledged it")
		return false
	}
	return true
}

// contextOf returns an incident's context. Text that is not JSON is kept as a variable of a new context.
func contextOf(row *imports.Row, column string) any {
	value, text, ok := row.JSON(column)
	switch {
	case ok && string(value) == "null" || strings.TrimSpace(text) == "":
		row.Note("it has no context; an empty one was taken")
		return json.RawMessage("{}")
	case ok:
		return value
	}
	row.Note("its context is not JSON; the text was put into the variable unreadable_context")
	return imports.Unreadable(text)
}
