package irisimport

import (
	"context"
	"encoding/json"
	"math"
	"strings"

	"github.com/iris-oncall/iris/internal/legacy/imports"
	"github.com/iris-oncall/iris/jinja"
)

// templateVersions imports all versions of templates, which version is active, and their texts.
func (im *importer) templateVersions(ctx context.Context) error {
	return im.Load(ctx, imports.Table{
		Class: "templates", From: "template", Order: "id", Label: "template $id $name", Name: "templates", Columns: []imports.Column{
			idColumn(), {Name: "name", Value: im.version("template_id")}, {Name: "creator_id", From: "user_id",
				Ref: toUser}, createdColumn(),
		},
	}, im.activeTable("templates", "template_id", toTemplate, im.templatesBy), im.contents())
}

// version returns the conversion for names of versions of templates or plans. It collects the names in Names[id]. A
// version whose creator is no user of the source is not imported, and its name is not collected.
func (im *importer) version(id string) func(*imports.Row, string) any {
	return func(row *imports.Row, column string) any {
		name := imports.Named(row, column)
		if !row.Dropped() && im.targets[row.Int("user_id")].kind == "user" {
			im.Names[id][row.Int("id")] = name.(string)
		}
		return name
	}
}

func createdColumn() imports.Column {
	return imports.Column{Name: "created_at", Type: "timestamptz", From: "created"}
}

// activeTable describes which versions of templates or plans are active, and collects them by name. After the import,
// another version may become active here.
func (im *importer) activeTable(class, id string, to *imports.Ref, active map[string]int64) imports.Table {
	table := strings.TrimSuffix(id, "_id") + "_active"
	return imports.Table{
		Class: "active " + class, From: table, Order: "name", Label: "active " + class + " $name",
		Name: table, Key: []string{"name_key"}, Unique: []string{"@" + id}, Columns: []imports.Column{
			{Name: "name_key", From: "name", Value: func(row *imports.Row, column string) any {
				name := imports.Named(row, column).(string)
				if im.NameOf(row, id) != "" {
					active[imports.Fold(name)] = row.Int(id)
				}
				return imports.Fold(name)
			}},
			{Name: id, Ref: to},
		},
	}
}

// older are Iris's former columns with one text per mode. They are used where subject and body of the row are empty, as
// in Iris.
var older = map[string]string{"email": "email_text", "sms": "sms", "call": "call", "im": "im"}

// contents describes the texts of templates. The conversion of subject reads all three texts, for the columns after it.
func (im *importer) contents() imports.Table {
	var body, html string
	return imports.Table{
		Class: "template contents", From: "template_content", Order: "template_id, application_id, mode_id",
		Reads: "body call sms im email_subject email_text", Label: "template $template_id for $application_id by $mode_id",
		Name: "template_contents", Key: []string{"template_id", "application_id", "mode"}, Columns: []imports.Column{
			{Name: "template_id", Ref: toTemplate}, applicationColumn(), im.modeColumn(),
			{Name: "subject", Value: func(row *imports.Row, _ string) (subject any) {
				subject, body, html = oldTexts(row, im.NameOf(row, "mode_id"))
				if im.templatesBy[imports.Fold(im.NameOf(row, "template_id"))] == row.Int("template_id") {
					readable(row, subject.(string), body, html)
				}
				return subject
			}},
			{Name: "body", Value: func(*imports.Row, string) any { return body }},
			{Name: "email_html", Value: func(*imports.Row, string) any { return html }},
		},
	}
}

// readable reports texts that the template engine cannot compile.
func readable(row *imports.Row, all ...string) {
	for _, source := range all {
		if _, err := jinja.Compile(source, jinja.Limits{}); err != nil {
			row.Note("it cannot be read as a template here (%v): its pages get the built-in text", err)
			return
		}
	}
}

func oldTexts(row *imports.Row, mode string) (subject, body, html string) {
	subject, body = row.Text("subject"), row.Text("body")
	used := subject == "" && body == ""
	if used {
		if column, ok := older[mode]; ok {
			body = row.Text(column)
		}
		if mode == "email" {
			subject, html = row.Text("email_subject"), row.Text("email_html")
		}
	}
	for _, column := range []string{"call", "sms", "im", "email_subject", "email_text", "email_html"} {
		own := used && (column == older[mode] || mode == "email" &&
			(column == "email_subject" || column == "email_html"))
		if !own && row.Text(column) != "" {
			row.Note("its old column %s, which Iris no longer reads, was left out", column)
		}
	}
	return subject, body, html
}

// escalation imports all versions of plans, which version is active, their steps, and the objects that open incidents
// on plans: quotas and incident e-mail addresses.
func (im *importer) escalation(ctx context.Context) error {
	return im.Load(ctx, append([]imports.Table{
		im.planTable(), im.activeTable("plans", "plan_id", toPlan, im.plansBy), im.notificationTable(),
	}, im.routes()...)...)
}

func (im *importer) planTable() imports.Table {
	var key, template any
	seconds := func(name string) imports.Column { return imports.Column{Name: name, Type: "int"} }
	return imports.Table{
		Class: "plans", From: "plan", Order: "id", Reads: "team_id", Label: "plan $id $name", Name: "plans", Columns: []imports.Column{
			idColumn(), {Name: "name", Value: im.version("plan_id")}, {Name: "creator_id", From: "user_id",
				Ref: toUser},
			{Name: "description", Value: func(row *imports.Row, column string) any {
				if !row.Null("team_id") {
					row.Note("it belongs to a team in Iris; here plans belong to no team")
				}
				return row.Text(column)
			}},
			seconds("threshold_window"), seconds("threshold_count"), seconds("aggregation_window"), seconds("aggregation_reset"),
			{Name: "tracking_type", Value: func(row *imports.Row, _ string) (mode any) {
				mode, key, template = im.tracking(row)
				return mode
			}},
			{Name: "tracking_key", Value: func(*imports.Row, string) any { return key }},
			{Name: "tracking_template", Type: "json", Hidden: true,
				Value: func(*imports.Row, string) any { return template }},
			createdColumn(),
		},
	}
}

// tracking reads the tracking address of a plan; all nil = none.
func (im *importer) tracking(row *imports.Row) (mode, key, template any) {
	name := row.Text("tracking_type")
	if name == "" {
		if row.Text("tracking_key") != "" || row.Text("tracking_template") != "" {
			row.Note("it has a tracking address or template without a type, which notifies nobody in Iris either: they were left out")
		}
		return nil, nil, nil
	}
	ours, ok := im.Modes.Ours(name)
	if !ok {
		row.LoseValue("its tracking uses the mode %s, which does not exist here; nobody is notified", name)
		return nil, nil, nil
	}
	value, text, ok := row.JSON("tracking_template")
	var fields map[string]any
	switch {
	case ok && json.Unmarshal(value, &fields) == nil && fields != nil:
		return ours, row.TextOrNil("tracking_key"), value
	case text != "":
		row.LoseValue("its tracking template is not a JSON object; nobody is notified")
	default:
		row.Note("its tracking has no template, which notifies nobody in Iris either: it was left out")
	}
	return nil, nil, nil
}

// notificationTable describes the notifications of steps. Those of one step are ordered by their numbers.
func (im *importer) notificationTable() imports.Table {
	var target, index any
	var at struct{ plan, step, position int64 }
	position := func(row *imports.Row, _ string) any {
		if plan, step := row.Int("plan_id"), row.Int("step"); at.plan != plan || at.step != step {
			at.plan, at.step, at.position = plan, step, -1
		}
		at.position++
		return at.position
	}
	return imports.Table{
		Class: "plan notifications", From: "plan_notification", Order: "plan_id, step, id", Reads: "role_id target_id",
		Label: "notification $id of step $step of plan $plan_id", Name: "plan_notifications",
		Unique: []string{"@plan_id || ' ' || @step || ' ' || @position"}, Columns: []imports.Column{
			idColumn(), {Name: "plan_id", Ref: toPlan},
			{Name: "step", Type: "smallint", Value: func(row *imports.Row, column string) any {
				step := row.Int(column)
				if step < 1 || step > math.MaxInt16 {
					row.Lose("its step %d is out of range", step)
				}
				return step
			}},
			im.priorityColumn(),
			{Name: "role", From: "role_id", Value: func(row *imports.Row, _ string) (role any) {
				role, target, index = im.whom(row)
				return role
			}},
			{Name: "target_id", Ref: toTarget, Value: func(*imports.Row, string) any { return target }},
			{Name: "dynamic_index", Type: "int", Value: func(*imports.Row, string) any { return index }},
			{Name: "template", Value: im.templateName}, {Name: "position", Type: "smallint", Value: position},
			{Name: "wait_seconds", Type: "int", From: "wait"}, {Name: "repeat", Type: "int"}, {Name: "optional",
				Type: "boolean"},
		},
	}
}

// templateName reads the name of a notification's template. It reports a name that no active template has.
func (im *importer) templateName(row *imports.Row, column string) any {
	name := row.Name(column)
	switch {
	case name == "":
		row.Note("it names no template (Iris deletes the name when a template is deactivated); it pages with the built-in text until the plan is saved with one")
	case im.templatesBy[imports.Fold(name)] == 0:
		row.LoseValue("its template is not active or does not exist; it pages with the built-in text until the plan is saved with one")
	}
	return name
}

// whom reads the people that a notification pages: a role and a target, or the index of one of the incident's dynamic
// targets.
func (im *importer) whom(row *imports.Row) (role, target, index any) {
	switch {
	case !row.Null("dynamic_index"):
		if !row.Null("role_id") || !row.Null("target_id") {
			row.Note("it has both a target and a dynamic index; the dynamic index is used")
		}
		return nil, nil, row.Int32("dynamic_index", math.MinInt32)
	case row.Null("role_id") || row.Null("target_id"):
		row.Lose("it pages nobody: it has neither a role and target nor a dynamic index")
		return nil, nil, nil
	}
	return im.Known(row, "role_id"), row.Int("target_id"), nil
}

// routes describes quotas and incident e-mail addresses.
func (im *importer) routes() []imports.Table {
	quota := func(name, from string) imports.Column {
		return imports.Column{Name: name, Type: "int", From: from, Value: positive}
	}
	return []imports.Table{{
		Class: "quotas", From: "application_quota", Order: "application_id", Label: "quota of $application_id",
		Name: "application_quotas", Columns: []imports.Column{
			applicationColumn(), quota("hard_threshold", "hard_quota_threshold"), quota("soft_threshold",
				"soft_quota_threshold"),
			quota("hard_seconds", "hard_quota_duration"), quota("soft_seconds", "soft_quota_duration"),
			{Name: "plan_key", From: "plan_name", Value: im.activePlan("no incident is opened when it is exceeded")},
			{Name: "target_id", Ref: toTargetIfHere}, {Name: "wait_seconds", Type: "int", From: "wait_time"},
		},
	}, {
		Class: "incident e-mails", From: "incident_emails", Order: "email", Label: "incident e-mail $email",
		Name: "incident_emails", Unique: []string{"lower(@email)"}, Columns: []imports.Column{
			{Name: "email", Value: func(row *imports.Row, column string) any {
				email := row.Name(column)
				if email == "" {
					row.Skip("it is empty")
				}
				return email
			}},
			applicationColumn(), {Name: "plan_key", From: "plan_name",
				Value: im.activePlan("mails to it open nothing")},
		},
	}}
}

func positive(row *imports.Row, column string) any {
	n := row.Int(column)
	if n <= 0 {
		row.Lose("its %s is not above 0", column)
	}
	return n
}

// activePlan returns the conversion for names of plans. effect is the text of the report if no plan of this name is
// active.
func (im *importer) activePlan(effect string) func(*imports.Row, string) any {
	return func(row *imports.Row, column string) any {
		if row.Null(column) {
			return nil
		}
		key := imports.Fold(row.Text(column))
		if im.plansBy[key] == 0 {
			row.LoseValue("its plan is not active or does not exist: %s until a plan of that name is active", effect)
		}
		return key
	}
}
