package irisimport

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/legacy/imports"
	"github.com/iris-oncall/iris/internal/users"
)

// Options are the choices of the operator.
type Options struct {
	// Modes maps modes of the source that do not exist here, such as im, to modes that do.
	Modes imports.Modes
	// Region is the country of phone numbers without a country code.
	Region users.Region
	// StopActive ends the escalation of incidents that still escalate.
	StopActive bool
	// Relays are the applications that may relay responses here, by name.
	Relays []string
	// Retention is how long messages are kept here; the report counts those that are older. 0 = for ever.
	Retention time.Duration
}

// importer is one import. Small tables that others refer to are in memory.
type importer struct {
	imports.Loader
	store   imports.IrisStore
	options Options
	now     time.Time

	targets map[int64]target
	// plansBy and templatesBy are the active versions by folded name.
	plansBy     map[string]int64
	templatesBy map[string]int64
}

type target struct {
	kind string
	name string
}

// Run imports everything from source into store and fills the report. The caller decides whether the transaction is
// committed. now is the time from which the age of the history is measured.
func Run(ctx context.Context, source *imports.Source, store imports.IrisStore, report *imports.Report, options Options, now time.Time) error {
	if err := options.Modes.Check(); err != nil {
		return err
	}
	im := newImporter(imports.Loader{Source: source, Store: store, Report: report, Modes: options.Modes,
		Region: options.Region}, options)
	im.store, im.now = store, now
	if err := im.Check("Iris", "application", "target", "target_type", "user", "plan", "template", "incident", "mode", "priority"); err != nil {
		return err
	}
	err := imports.RunAll(ctx, im.vocabulary, im.people, im.applications, im.settings, im.templateVersions,
		im.escalation, im.incidents, im.messages,
		func(ctx context.Context) error { return im.Leftovers(ctx, "Iris", derived) })
	if err != nil {
		return err
	}
	return im.Finish(ctx)
}

func newImporter(loader imports.Loader, options Options) *importer {
	people := map[int64]string{}
	loader.Names = map[string]map[int64]string{
		"target_id": people, "user_id": people, "team_id": people, "list_id": people, "role_id": {}, "application_id": {}, "plan_id": {}, "template_id": {},
	}
	return &importer{Loader: loader, options: options, targets: map[int64]target{}, plansBy: map[string]int64{},
		templatesBy: map[string]int64{}}
}

// derived are tables and columns that are not imported because they hold no further information: see docs/importing.md.
var derived = map[string]string{
	"application_stats": "*", "global_stats": "*", // computed from the imported rows
	"twilio_retry": "*",          // which message was sent again; both messages are imported
	"oncall_team":  "*",          // Oncall's numbers of teams: the import of Oncall has them
	"plan":         "step_count", // computed here
	"incident":     "bucket_id",  // computed here
	// Numbers of variables are not visible outside: variables have names.
	"template_variable": "id",
}

// vocabulary reads the small tables of the source that give names to numbers, and imports the default modes of
// priorities. The first import replaces the defaults of a new installation.
func (im *importer) vocabulary(ctx context.Context) error {
	for _, v := range []struct {
		class, one, table, column string
		check                     func(row *imports.Row, name string)
	}{
		{"target types", "target type", "target_type", "type_id", checkKind},
		{"modes", "mode", "mode", "mode_id", func(row *imports.Row, name string) {
			if _, ok := im.Modes.Ours(name); !ok {
				row.Note("there is no such mode here: map it to another one with --mode %s=email", name)
			}
		}},
		{"priorities", "priority", "priority", "priority_id", func(row *imports.Row, name string) {
			if !isPriority(name) {
				row.Lose("there is no such priority here; there are urgent, high, medium and low")
			}
		}},
	} {
		names := map[int64]string{}
		im.Names[v.column] = names
		err := im.Each(ctx, imports.From{Class: v.class, Table: v.table, Order: "id", Columns: "id name mode_id type_id"}, func(row *imports.Row) {
			name := row.Name("name")
			row.Label = v.one + " " + name
			names[row.Int("id")] = name
			v.check(row, name)
		})
		if err != nil {
			return err
		}
	}
	const fresh = "t.default_mode = case t.name when 'urgent' then 'call' when 'high' then 'sms' else 'email' end"
	return im.Load(ctx, imports.Table{
		Class: "default modes of priorities", From: "priority", Order: "id", Label: "default mode of priority $name",
		Name: "priorities", Columns: []imports.Column{
			{Name: "name", Value: func(row *imports.Row, column string) any {
				name := row.Name(column)
				if !isPriority(name) {
					row.Skip("there is no such priority here")
				}
				return name
			}},
			{Name: "default_mode", From: "mode_id", Empty: fresh, Value: func(row *imports.Row, column string) any {
				mode := im.Mode(row, column)
				if mode == string(users.Drop) {
					row.Lose("it is drop: messages of this priority would reach nobody")
				}
				return mode
			}},
		},
	})
}

func isPriority(name string) bool {
	_, ok := users.DefaultModes[users.Priority(name)]
	return ok
}

// checkKind drops a row about a kind of targets that does not exist here.
func checkKind(row *imports.Row, kind string) {
	if kind != "user" && kind != "team" && kind != "mailing-list" {
		row.Lose("there is no such kind of target here")
	}
}

// priority returns the priority of a row. A row whose priority does not exist here is not imported.
func (im *importer) priority(row *imports.Row, column string) any {
	name := im.Known(row, column)
	if !row.Dropped() && !isPriority(name.(string)) {
		row.Lose("there is no priority %s here", name)
	}
	return name
}

// person returns the number of the person that a row belongs to. A row of another target is not imported.
func (im *importer) person(row *imports.Row, column string) any {
	id := row.Int(column)
	switch t, known := im.targets[id]; {
	case !known:
		row.Lose("its %s refers to a row that does not exist", column)
	case t.kind != "user":
		row.Lose("it belongs to the %s %s; only people have that here", t.kind, t.name)
	}
	return id
}

// Columns that many tables have.
func (im *importer) personColumn(from string) imports.Column {
	return imports.Column{Name: "user_id", From: from, Ref: toUser, Value: im.person}
}

func (im *importer) modeColumn() imports.Column {
	return imports.Column{Name: "mode", From: "mode_id", Value: im.Mode}
}

func (im *importer) priorityColumn() imports.Column {
	return imports.Column{Name: "priority", From: "priority_id", Value: im.priority}
}

func applicationColumn() imports.Column { return imports.Column{Name: "application_id", Ref: toApp} }

func idColumn() imports.Column { return imports.Column{Name: "id", Type: "bigint"} }

// References to rows in this database by Iris's numbers.
var (
	toUser         = &imports.Ref{Table: "users", Match: "target_id", Take: "id"}
	toUserIfHere   = &imports.Ref{Table: "users", Match: "target_id", Take: "id", Optional: true}
	toTeam         = &imports.Ref{Table: "teams", Match: "target_id", Take: "id"}
	toList         = &imports.Ref{Table: "mailing_lists", Match: "target_id", Take: "id"}
	toApp          = imports.ByID("applications")
	toPlan         = imports.ByID("plans")
	toTemplate     = imports.ByID("templates")
	toIncident     = imports.ByID("incidents")
	toCategory     = imports.ByID("notification_categories")
	toMessage      = imports.ByID("message_history")
	toTarget       = &imports.Ref{Table: "targets", Match: "target_id", Take: "target_id"}
	toTargetIfHere = &imports.Ref{Table: "targets", Match: "target_id", Take: "target_id", Optional: true}
)
