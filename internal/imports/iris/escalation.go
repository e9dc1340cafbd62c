package iris

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/iris-oncall/iris/internal/imports"
)

// escalation imports all versions of plans, which version is active, and their steps.
func (im *importer) escalation(ctx context.Context) error {
	im.plans = map[int64]string{}
	table := imports.Table{Name: "plans", Key: []string{"id"}, Columns: []imports.Column{
		{Name: "id", Type: "bigint"}, {Name: "name", Type: "text"}, {Name: "creator_id", Type: "bigint", Ref: toUser},
		{Name: "description", Type: "text"}, {Name: "threshold_window", Type: "int"}, {Name: "threshold_count", Type: "int"},
		{Name: "aggregation_window", Type: "int"}, {Name: "aggregation_reset", Type: "int"}, {Name: "tracking_type", Type: "text"},
		{Name: "tracking_key", Type: "text"}, {Name: "tracking_template", Type: "json", Hidden: true}, {Name: "created_at", Type: "timestamptz"},
	}}
	err := im.load(ctx, from{"plans", "plan", "id", []string{"id", "name", "created", "user_id", "team_id", "description", "threshold_window",
		"threshold_count", "aggregation_window", "aggregation_reset", "tracking_key", "tracking_type", "tracking_template"}}, table, im.plan)
	if err != nil {
		return err
	}
	if im.plansBy, err = im.active(ctx, "active plans", "plan_active", "plan_id", toPlan, im.plans); err != nil {
		return err
	}
	return im.notifications(ctx)
}

func (im *importer) plan(row *imports.Row) ([]any, bool) {
	id, name := row.Int("id"), row.Name("name")
	row.Label = fmt.Sprintf("plan %d %s", id, name)
	if name == "" {
		row.Lose("it has no name")
		return nil, false
	}
	if im.made(row) {
		im.plans[id] = name
	}
	if !row.Null("team_id") {
		row.Note("it belongs to a team there, which plans do not here")
	}
	mode, key, template := im.tracking(row)
	return []any{id, name, row.Int("user_id"), row.Text("description"), row.Int32("threshold_window", 0), row.Int32("threshold_count", 0),
		row.Int32("aggregation_window", 0), row.Int32("aggregation_reset", 0), mode, key, template, row.TimeOr("created")}, true
}

// tracking reads the tracking address of a plan; all nil = none.
func (im *importer) tracking(row *imports.Row) (mode, key, template any) {
	name := row.Text("tracking_type")
	if name == "" {
		if row.Text("tracking_key") != "" || row.Text("tracking_template") != "" {
			row.Note("it has a tracking address or template without a type, which tells nobody there either: they were left out")
		}
		return nil, nil, nil
	}
	ours, ok := im.ourMode(name)
	if !ok {
		row.LoseValue("its tracking is by %s, which does not exist here; nobody is told", name)
		return nil, nil, nil
	}
	value, text, ok := row.JSON("tracking_template")
	var words map[string]any
	if !ok || json.Unmarshal(value, &words) != nil || words == nil {
		if text != "" {
			row.LoseValue("its tracking template is no JSON object; nobody is told")
		} else {
			row.Note("its tracking has no template, which tells nobody there either: it was left out")
		}
		return nil, nil, nil
	}
	return ours, row.TextOrNil("tracking_key"), value
}

// notifications imports the steps. Notifications of a step are ordered by their numbers.
func (im *importer) notifications(ctx context.Context) error {
	place := "@plan_id || ' ' || @step || ' ' || @position"
	table := imports.Table{Name: "plan_notifications", Key: []string{"id"}, Unique: []string{place}, Columns: []imports.Column{
		{Name: "id", Type: "bigint"}, {Name: "plan_id", Type: "bigint", Ref: toPlan}, {Name: "step", Type: "smallint"},
		{Name: "position", Type: "smallint"}, {Name: "priority", Type: "text"}, {Name: "role", Type: "text"},
		{Name: "target_id", Type: "bigint", Ref: toTarget}, {Name: "dynamic_index", Type: "int"}, {Name: "template", Type: "text"},
		{Name: "wait_seconds", Type: "int"}, {Name: "repeat", Type: "int"}, {Name: "optional", Type: "boolean"},
	}}
	var at struct{ plan, step, position int64 }
	return im.load(ctx, from{"plan notifications", "plan_notification", "plan_id, step, id", []string{"id", "plan_id", "step", "template",
		"target_id", "optional", "role_id", "priority_id", "repeat", "wait", "dynamic_index"}}, table,
		func(row *imports.Row) ([]any, bool) {
			plan, step := row.Int("plan_id"), row.Int("step")
			row.Label = fmt.Sprintf("notification %d of step %d of plan %s", row.Int("id"), step, nameOr(im.plans, plan))
			if step < 1 || step > math.MaxInt16 {
				row.Lose("there is no step %d", step)
				return nil, false
			}
			priority, ok := im.priority(row)
			if !ok {
				return nil, false
			}
			role, target, index, ok := im.whom(row)
			if !ok {
				return nil, false
			}
			switch template := row.Text("template"); {
			case template == "":
				row.Note("it names no template (Iris forgets it when a template is switched off); it pages in plain words until the plan is saved with one")
			case im.templatesBy[imports.Fold(template)] == 0:
				row.LoseValue("no active template has the name that it gives; it pages in plain words until the plan is saved with one")
			}
			if at.plan != plan || at.step != step {
				at.plan, at.step, at.position = plan, step, -1
			}
			at.position++
			return []any{row.Int("id"), plan, step, at.position, priority, role, target, index, row.Name("template"),
				row.Int32("wait", 0), row.Int32("repeat", 0), row.Bool("optional")}, true
		})
}

// whom reads whom a notification pages: a role and a target, or the index of one of the incident's dynamic targets.
func (im *importer) whom(row *imports.Row) (role, target, index any, ok bool) {
	if !row.Null("dynamic_index") {
		if !row.Null("role_id") || !row.Null("target_id") {
			row.Note("it names a target and leaves it to the incident; the incident decides")
		}
		return nil, nil, row.Int32("dynamic_index", math.MinInt32), true
	}
	if row.Null("role_id") || row.Null("target_id") {
		row.Lose("it pages nobody: it has neither a role and target nor a dynamic index")
		return nil, nil, nil, false
	}
	name, known := im.roles[row.Int("role_id")]
	if !known {
		row.Lose("its role_id is not there")
		return nil, nil, nil, false
	}
	return name, row.Int("target_id"), nil, true
}

// routes imports the objects that open incidents on plans: quotas and incident e-mail addresses.
func (im *importer) routes(ctx context.Context) error {
	quotas := imports.Table{Name: "application_quotas", Key: []string{"application_id"}, Columns: []imports.Column{
		{Name: "application_id", Type: "bigint", Ref: toApp}, {Name: "hard_threshold", Type: "int"}, {Name: "soft_threshold", Type: "int"},
		{Name: "hard_seconds", Type: "int"}, {Name: "soft_seconds", Type: "int"}, {Name: "plan_key", Type: "text"},
		{Name: "target_id", Type: "bigint", Ref: toTargetIfHere}, {Name: "wait_seconds", Type: "int"},
	}}
	err := im.load(ctx, from{"quotas", "application_quota", "application_id", []string{"application_id", "hard_quota_threshold",
		"soft_quota_threshold", "hard_quota_duration", "soft_quota_duration", "plan_name", "target_id", "wait_time"}}, quotas,
		func(row *imports.Row) ([]any, bool) {
			row.Label = "quota of " + im.app(row)
			values := []any{row.Int("application_id")}
			for _, column := range []string{"hard_quota_threshold", "soft_quota_threshold", "hard_quota_duration", "soft_quota_duration"} {
				if row.Int(column) <= 0 {
					row.Lose("its %s is not above 0", column)
					return nil, false
				}
				values = append(values, row.Int(column))
			}
			var plan any
			if !row.Null("plan_name") {
				plan = im.activePlan(row, "no incident is opened when it is exceeded")
			}
			return append(values, plan, row.IntOrNil("target_id"), row.Int32("wait_time", 0)), true
		})
	if err != nil {
		return err
	}
	emails := imports.Table{Name: "incident_emails", Key: []string{"email"}, Unique: []string{"lower(@email)"}, Columns: []imports.Column{
		{Name: "email", Type: "text"}, {Name: "application_id", Type: "bigint", Ref: toApp}, {Name: "plan_key", Type: "text"},
	}}
	return im.load(ctx, from{"incident e-mails", "incident_emails", "email", []string{"email", "application_id", "plan_name"}}, emails,
		func(row *imports.Row) ([]any, bool) {
			email := row.Name("email")
			row.Label = "incident e-mail " + email
			if email == "" {
				row.Skip("it is empty")
				return nil, false
			}
			return []any{email, row.Int("application_id"), im.activePlan(row, "mails to it open nothing")}, true
		})
}

// activePlan reads the name of a plan. effect is the text of the report if no plan of this name is active.
func (im *importer) activePlan(row *imports.Row, effect string) string {
	key := imports.Fold(row.Text("plan_name"))
	if im.plansBy[key] == 0 {
		row.LoseValue("no active plan has the name that it gives: %s until one does", effect)
	}
	return key
}
