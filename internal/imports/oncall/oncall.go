// Package oncall imports the database of LinkedIn's Oncall. It knows Oncall's tables and converts their values. Package
// imports and its Store read and store the rows. internal/operator/transfer calls it.
package oncall

import (
	"cmp"
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/imports"
)

// Options are the choices of the operator.
type Options struct {
	// Modes maps modes of the source that do not exist here, such as teams_messenger, to modes that do.
	Modes imports.Modes
}

// importer is one import. Small tables that others refer to are in memory.
type importer struct {
	imports.Loader
	store   imports.OnCallStore
	options Options
	now     time.Time

	people     map[int64]named
	teams      map[int64]named
	roles      map[int64]string
	modes      map[int64]string // by Oncall's names
	rosters    map[int64]string
	services   map[int64]string
	schedulers map[int64]string
	schedules  map[int64]string
	types      map[int64]string // of notifications
}

// named is a person or a team.
type named struct {
	name   string
	active bool
}

// Run imports everything from source into store, compares who is on call before and after, and fills the report. The caller
// decides whether the transaction is committed. now is the time around which calendars are compared.
func Run(ctx context.Context, source *imports.Source, store imports.OnCallStore, report *imports.Report, options Options, now time.Time) error {
	if err := options.Modes.Check(); err != nil {
		return err
	}
	im := &importer{
		Loader: imports.Loader{Source: source, Store: store, Report: report},
		store:  store, options: options, now: now.UTC().Truncate(time.Second), people: map[int64]named{}, teams: map[int64]named{},
	}
	im.Name = im.name
	if err := im.Check("Oncall", "user", "team", "role", "roster", "schedule", "event", "team_user", "contact_mode"); err != nil {
		return err
	}
	err := imports.RunAll(ctx, im.vocabulary, im.names, im.peopleAndTeams, im.members, im.calendars, im.settings, im.applications, im.audit,
		func(ctx context.Context) error { return im.Leftovers(ctx, "Oncall", derived) })
	if err != nil {
		return err
	}
	if report.Conflicts() == 0 {
		if err := im.compare(ctx); err != nil {
			return err
		}
	}
	return im.Finish(ctx, store)
}

// derived are tables and columns that are not imported because they hold no further information: see docs/importing.md.
var derived = map[string]string{
	"session": "*", "notification_queue": "*", "notifier_state": "*",
	"notification_type": "subject body is_reminder",
	"scheduler":         "description",
}

// vocabulary reads the small tables that give names to numbers.
func (im *importer) vocabulary(ctx context.Context) (err error) {
	for table, into := range map[string]*map[int64]string{
		"contact_mode": &im.modes, "role": &im.roles, "roster": &im.rosters, "service": &im.services, "scheduler": &im.schedulers,
		"schedule": &im.schedules, "notification_type": &im.types,
	} {
		if *into, err = im.Names(ctx, table); err != nil {
			return err
		}
	}
	return nil
}

// names reads people and teams. Existing people, teams and roles with the same names get their numbers from Oncall.
func (im *importer) names(ctx context.Context) error {
	var wanted []imports.Target
	for _, v := range []struct {
		kind string
		into map[int64]named
	}{{"user", im.people}, {"team", im.teams}} {
		from := imports.From{Class: v.kind + "s", Table: v.kind, Order: "id", Columns: "id name active"}
		err := im.Each(ctx, from, func(row *imports.Row) {
			row.Label = v.kind + " " + row.Text("id")
			name := row.Name("name")
			if name == "" {
				row.Lose("it has no name")
				return
			}
			if id, ok := row.Number("id"); ok {
				v.into[id] = named{name, row.Bool("active")}
				wanted = append(wanted, imports.Target{Kind: v.kind, Name: name, Number: id})
			}
		})
		if err != nil {
			return err
		}
	}
	for id, name := range im.roles {
		if id >= 1 && id <= imports.HighestNumber { // other roles are not imported
			wanted = append(wanted, imports.Target{Kind: "role", Name: name, Number: id})
		}
	}
	out, err := im.store.AdoptOnCall(ctx, wanted)
	im.Report.Class("numbers").AddOutcome(out)
	return err
}

// mode returns the mode of a row. A row whose mode does not exist here is not imported.
func (im *importer) mode(row *imports.Row, column string) any {
	return im.options.Modes.Convert(row, column, im.modes)
}

// name returns the text of a column in labels: the name of the object that it refers to, or else its value.
func (im *importer) name(row *imports.Row, column string) string {
	value, id := row.Name(column), row.Int(column)
	named := func(kind, name string) string {
		if name == "" {
			return kind + " " + value
		}
		return name
	}
	switch column {
	case "user_id":
		return named("user", im.people[id].name)
	case "team_id", "subscription_id":
		return named("team", im.teams[id].name)
	case "roster_id":
		return cmp.Or(im.rosters[id], value)
	case "role_id":
		return named("role", im.roles[id])
	case "mode_id":
		return named("mode", im.modes[id])
	case "service_id":
		return cmp.Or(im.services[id], value)
	case "start":
		start, _ := row.Epoch(column)
		return start.Format(time.DateTime)
	}
	return value
}

func idColumn() imports.Column { return imports.Column{Name: "id", Type: "bigint"} }

// Columns that refer to rows in this database by Oncall's numbers.
func personColumn(name string) imports.Column {
	return imports.Column{Name: name, Ref: &imports.Ref{Table: "users", Match: "oncall_id", Take: "id"}}
}

func teamColumn(name string) imports.Column {
	return imports.Column{Name: name, Ref: &imports.Ref{Table: "teams", Match: "oncall_id", Take: "id"}}
}

func byID(name, table string) imports.Column {
	return imports.Column{Name: name, Ref: imports.ByID(table)}
}

func roleColumn() imports.Column { return byID("role_id", "oncall_roles") }
