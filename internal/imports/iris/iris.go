// Package iris imports the database of LinkedIn's Iris. It knows Iris's tables and converts their values. Package imports
// and its Store read and store the rows. internal/operator/transfer calls it.
package iris

import (
	"context"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/imports"
	"github.com/iris-oncall/iris/internal/users"
)

// Options are the choices of the operator.
type Options struct {
	// Modes maps modes of the source that do not exist here, such as im, to modes that do.
	Modes map[string]string
	// StopActive ends the escalation of incidents that still escalate.
	StopActive bool
	// Relays are the applications that may relay responses here, by name.
	Relays []string
	// Retention is how long messages are kept here; the report counts those that are older. 0 = for ever.
	Retention time.Duration
}

// Check returns an Invalid fault for modes that do not exist here.
func (o Options) Check() error { return imports.Modes(o.Modes).Check() }

// importer is one import. Small tables that others refer to are in memory.
type importer struct {
	source  *imports.Source
	store   imports.Store
	report  *imports.Report
	rows    imports.Loader
	options Options
	now     time.Time

	kinds      map[int64]string // target types
	targets    map[int64]target
	roles      map[int64]string
	modes      map[int64]string // by Iris's names
	priorities map[int64]string
	apps       map[int64]string
	plans      map[int64]string
	templates  map[int64]string
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
func Run(ctx context.Context, source *imports.Source, store imports.Store, report *imports.Report, options Options, now time.Time) error {
	if err := options.Check(); err != nil {
		return err
	}
	for _, table := range []string{"application", "target", "target_type", "user", "plan", "template", "incident", "mode", "priority"} {
		if !source.Has(table) {
			return fault.Invalidf("from", "this is not a database of Iris: it has no table %s", table)
		}
	}
	im := &importer{source: source, store: store, report: report, options: options, now: now,
		rows: imports.Loader{Source: source, Store: store, Report: report}}
	for _, part := range []func(context.Context) error{
		im.vocabulary, im.priorityModes, im.people, im.applications, im.choices, im.templateVersions, im.escalation, im.routes, im.incidents, im.messages, im.leftovers,
	} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	report.Tidy()
	if report.Conflicts() == 0 && report.Taken() > 0 {
		return store.Finish(ctx, fmt.Sprintf("from %s, %d rows", source.From(), report.Taken()))
	}
	return nil
}

// from selects the source of a class of rows.
type from struct {
	class   string
	table   string
	order   string // columns in SQL
	columns []string
}

func (f from) of() imports.From {
	return imports.From{Class: f.class, Table: f.table, Order: f.order, Columns: f.columns}
}

// load, records and each are those of imports.Loader.
func (im *importer) load(ctx context.Context, f from, t imports.Table, convert func(*imports.Row) ([]any, bool)) error {
	return im.rows.Load(ctx, f.of(), t, convert)
}

func (im *importer) records(ctx context.Context, f from, convert func(*imports.Row) ([]any, bool)) imports.Records {
	return im.rows.Records(ctx, f.of(), convert)
}

func (im *importer) each(ctx context.Context, f from, do func(*imports.Row)) error {
	return im.rows.Each(ctx, f.of(), do)
}

// vocabulary reads the small tables of the source that give names to numbers.
func (im *importer) vocabulary(ctx context.Context) error {
	read := func(class, one, table string, into *map[int64]string, do func(*imports.Row, string)) error {
		*into = map[int64]string{}
		return im.each(ctx, from{class, table, "id", []string{"id", "name", "mode_id", "type_id"}}, func(row *imports.Row) {
			row.Label = one + " " + row.Name("name")
			(*into)[row.Int("id")] = row.Name("name")
			if do != nil {
				do(row, row.Name("name"))
			}
		})
	}
	if err := read("target types", "target type", "target_type", &im.kinds, func(row *imports.Row, name string) {
		if name != "user" && name != "team" && name != "mailing-list" {
			row.Lose("there is no such kind of target here")
		}
	}); err != nil {
		return err
	}
	if err := read("modes", "mode", "mode", &im.modes, func(row *imports.Row, name string) {
		if _, ok := im.ourMode(name); !ok {
			row.Note("there is no such mode here; --mode %s=email (or another) says as what to take it", name)
		}
	}); err != nil {
		return err
	}
	return read("priorities", "priority", "priority", &im.priorities, func(row *imports.Row, name string) {
		if _, ok := users.DefaultModes[users.Priority(name)]; !ok {
			row.Lose("there is no such priority here; there are urgent, high, medium and low")
		}
	})
}

// priorityModes imports the default modes of priorities. The first import replaces the defaults of a new installation.
func (im *importer) priorityModes(ctx context.Context) error {
	table := imports.Table{Name: "priorities", Key: []string{"name"}, Columns: []imports.Column{
		{Name: "name", Type: "text"},
		{Name: "default_mode", Type: "text", Empty: "t.default_mode = case t.name when 'urgent' then 'call' when 'high' then 'sms' else 'email' end"},
	}}
	return im.load(ctx, from{"default modes of priorities", "priority", "id", []string{"id", "name", "mode_id"}}, table,
		func(row *imports.Row) ([]any, bool) {
			name := row.Name("name")
			row.Label = "default mode of priority " + name
			if _, ok := users.DefaultModes[users.Priority(name)]; !ok {
				row.Skip("there is no such priority here")
				return nil, false
			}
			mode, ok := im.mode(row, "mode_id")
			if ok && mode == string(users.Drop) {
				row.Lose("it is drop: messages of this priority would reach nobody")
				return nil, false
			}
			return []any{name, mode}, ok
		})
}

// ourMode returns the mode here for a mode of Iris; false if there is none.
func (im *importer) ourMode(name string) (string, bool) {
	return imports.Modes(im.options.Modes).Ours(name)
}

// mode returns the mode of a row. A row whose mode does not exist here is not imported.
func (im *importer) mode(row *imports.Row, column string) (string, bool) {
	name, known := im.modes[row.Int(column)]
	if !known {
		row.Lose("its %s is not there", column)
		return "", false
	}
	mode, ok := im.ourMode(name)
	if !ok {
		row.Lose("there is no mode %s here", name)
	}
	return mode, ok
}

// priority returns the priority of a row. A row whose priority does not exist here is not imported.
func (im *importer) priority(row *imports.Row) (string, bool) {
	name, known := im.priorities[row.Int("priority_id")]
	if !known {
		row.Lose("its priority_id is not there")
		return "", false
	}
	if _, ok := users.DefaultModes[users.Priority(name)]; !ok {
		row.Lose("there is no priority %s here", name)
		return "", false
	}
	return name, true
}

// person returns the name of the person that a row belongs to. A row of another target is not imported.
func (im *importer) person(row *imports.Row, column string) (name string, ok bool) {
	t, known := im.targets[row.Int(column)]
	switch {
	case !known:
		row.Lose("its %s is not there", column)
		return "", false
	case t.kind != "user":
		row.Lose("it belongs to the %s %s; only people have that here", t.kind, t.name)
		return "", false
	}
	return t.name, true
}

// made reports whether the creator of a version is imported; otherwise the version is not imported.
func (im *importer) made(row *imports.Row) bool { return im.targets[row.Int("user_id")].kind == "user" }

// named returns the name of a row's target, for labels.
func (im *importer) named(row *imports.Row, column string) string {
	if t, ok := im.targets[row.Int(column)]; ok {
		return t.name
	}
	return "target " + row.Text(column)
}

// app returns the name of a row's application, for labels.
func (im *importer) app(row *imports.Row) string { return nameOr(im.apps, row.Int("application_id")) }

func nameOr(names map[int64]string, id int64) string {
	if name, ok := names[id]; ok {
		return name
	}
	return fmt.Sprint(id)
}

// instant is a time as a value of a record.
func instant(t time.Time, ok bool) any {
	if !ok {
		return nil
	}
	return t
}

// References to rows in this database by Iris's numbers.
var (
	toUser         = &imports.Ref{Table: "users", Match: "target_id", Take: "id"}
	toUserIfHere   = &imports.Ref{Table: "users", Match: "target_id", Take: "id", Optional: true}
	toTeam         = &imports.Ref{Table: "teams", Match: "target_id", Take: "id"}
	toList         = &imports.Ref{Table: "mailing_lists", Match: "target_id", Take: "id"}
	toApp          = &imports.Ref{Table: "applications", Match: "id", Take: "id"}
	toPlan         = &imports.Ref{Table: "plans", Match: "id", Take: "id"}
	toTemplate     = &imports.Ref{Table: "templates", Match: "id", Take: "id"}
	toIncident     = &imports.Ref{Table: "incidents", Match: "id", Take: "id"}
	toCategory     = &imports.Ref{Table: "notification_categories", Match: "id", Take: "id"}
	toMessage      = &imports.Ref{Table: "message_history", Match: "id", Take: "id"}
	toTarget       = &imports.Ref{Table: "targets", Match: "target_id", Take: "target_id"}
	toTargetIfHere = &imports.Ref{Table: "targets", Match: "target_id", Take: "target_id", Optional: true}
)
