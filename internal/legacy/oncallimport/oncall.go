package oncallimport

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/legacy/imports"
	"github.com/iris-oncall/iris/internal/users"
)

// Options are the choices of the operator.
type Options struct {
	// Modes maps modes of the source that do not exist here, such as teams_messenger, to modes that do.
	Modes imports.Modes
	// Region is the country of phone numbers without a country code.
	Region users.Region
}

// importer is one import. Small tables that others refer to are in memory.
type importer struct {
	imports.Loader
	store imports.OnCallStore
	now   time.Time

	people map[int64]named
	teams  map[int64]named
	roles  map[int64]string
}

// named is a person or a team.
type named struct {
	name   string
	active bool
}

// Run imports everything from source into store, compares who is on call before and after, and fills the report. The
// caller decides whether the transaction is committed. now is the time around which calendars are compared.
func Run(ctx context.Context, source *imports.Source, store imports.OnCallStore, report *imports.Report, options Options, now time.Time) error {
	if err := options.Modes.Check(); err != nil {
		return err
	}
	im := &importer{
		Loader: imports.Loader{Source: source, Store: store, Report: report, Modes: options.Modes,
			Region: options.Region, Names: map[string]map[int64]string{"user_id": {}, "team_id": {}}},
		store: store, now: now.UTC().Truncate(time.Second), people: map[int64]named{}, teams: map[int64]named{},
	}
	if err := im.Check("Oncall", "user", "team", "role", "roster", "schedule", "event", "team_user", "contact_mode"); err != nil {
		return err
	}
	err := imports.RunAll(ctx, im.vocabulary, im.names, im.peopleAndTeams, im.members, im.calendars, im.settings,
		im.applications, im.audit,
		func(ctx context.Context) error { return im.Leftovers(ctx, "Oncall", derived) })
	if err != nil {
		return err
	}
	if report.Conflicts() == 0 {
		if err := im.compare(ctx); err != nil {
			return err
		}
	}
	return im.Finish(ctx)
}

// derived are tables and columns that are not imported because they hold no further information: see docs/importing.md.
var derived = map[string]string{
	"session": "*", "notification_queue": "*", "notifier_state": "*",
	"notification_type": "subject body is_reminder",
	"scheduler":         "description",
}

// vocabulary reads the small tables that give names to numbers.
func (im *importer) vocabulary(ctx context.Context) error {
	for column, table := range map[string]string{
		"mode_id": "contact_mode", "role_id": "role", "roster_id": "roster", "service_id": "service", "scheduler_id": "scheduler",
		"schedule_id": "schedule", "type_id": "notification_type",
	} {
		if err := im.ReadNames(ctx, column, table); err != nil {
			return err
		}
	}
	im.roles, im.Names["subscription_id"] = im.Names["role_id"], im.Names["team_id"]
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
				v.into[id], im.Names[v.kind+"_id"][id] = named{name, row.Bool("active")}, name
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
