// Package oncall imports the database of LinkedIn's Oncall. It knows Oncall's tables and converts their values. Package
// imports and its Store read and store the rows. internal/operator/transfer calls it.
package oncall

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
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

	people     map[int64]person
	numbers    map[string]int64 // of people, by folded name
	teams      map[int64]team
	roles      map[int64]string
	modes      map[int64]string // by Oncall's names
	rosters    map[int64]string
	schedulers map[int64]string
	schedules  map[int64]bool
	types      map[int64]string // of notifications
}

type person struct {
	name   string
	active bool
}

type team struct {
	name   string
	active bool
}

// Run imports everything from source into store, compares who is on call before and after, and fills the report. The caller
// decides whether the transaction is committed. now is the time around which calendars are compared.
func Run(ctx context.Context, source *imports.Source, store imports.OnCallStore, report *imports.Report, options Options, now time.Time) error {
	if err := options.Modes.Check(); err != nil {
		return err
	}
	for _, table := range []string{"user", "team", "role", "roster", "schedule", "event", "team_user", "contact_mode"} {
		if !source.Has(table) {
			return fault.Invalidf("from", "this is not a database of Oncall: it has no table %s", table)
		}
	}
	im := &importer{
		Loader: imports.Loader{Source: source, Store: store, Report: report},
		store:  store, options: options, now: now.UTC().Truncate(time.Second),
	}
	for _, part := range []func(context.Context) error{
		im.vocabulary, im.names, im.persons, im.contacts, im.teamRows, im.members, im.services, im.rosterRows, im.schedule, im.events, im.subscriptions,
		im.keys, im.applications, im.audit, im.leftovers,
	} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	if report.Conflicts() == 0 {
		if err := im.compare(ctx); err != nil {
			return err
		}
	}
	report.Tidy()
	if report.Conflicts() == 0 && report.Taken() > 0 {
		return store.Finish(ctx, fmt.Sprintf("from %s, %d rows", source.From(), report.Taken()))
	}
	return nil
}

// from selects the source of a class of rows; columns are separated by spaces.
func from(class, table, order, columns string) imports.From {
	return imports.From{Class: class, Table: table, Order: order, Columns: strings.Fields(columns)}
}

// vocabulary reads the small tables that give names to numbers. Invalid names are reported when their rows are imported.
func (im *importer) vocabulary(ctx context.Context) error {
	unreported := imports.Loader{Source: im.Source, Report: imports.NewReport("", nil)}
	for _, v := range []struct {
		class, table string
		into         *map[int64]string
	}{
		{"contact modes", "contact_mode", &im.modes},
		{"roles", "role", &im.roles},
		{"rosters", "roster", &im.rosters},
		{"algorithms", "scheduler", &im.schedulers},
		{"notification types", "notification_type", &im.types},
	} {
		*v.into = map[int64]string{}
		err := unreported.Each(ctx, from(v.class, v.table, "id", "id name"), func(row *imports.Row) {
			(*v.into)[row.Int("id")] = row.Name("name")
		})
		if err != nil {
			return err
		}
	}
	im.schedules = map[int64]bool{}
	return unreported.Each(ctx, from("schedules", "schedule", "id", "id"), func(row *imports.Row) { im.schedules[row.Int("id")] = true })
}

// names reads people and teams. Existing people, teams and roles with the same names get their numbers from Oncall.
func (im *importer) names(ctx context.Context) error {
	im.people, im.numbers, im.teams = map[int64]person{}, map[string]int64{}, map[int64]team{}
	var wanted []imports.Target
	for _, v := range []struct {
		kind, class, table string
		keep               func(id int64, name string, active bool)
	}{
		{"user", "users", "user", func(id int64, name string, active bool) {
			im.people[id], im.numbers[imports.Fold(name)] = person{name, active}, id
		}},
		{"team", "teams", "team", func(id int64, name string, active bool) { im.teams[id] = team{name, active} }},
	} {
		err := im.Each(ctx, from(v.class, v.table, "id", "id name active"), func(row *imports.Row) {
			row.Label = v.kind + " " + row.Text("id")
			name := row.Name("name")
			if name == "" {
				row.Lose("it has no name")
				return
			}
			id, ok := row.Number("id")
			if !ok {
				return
			}
			v.keep(id, name, row.Bool("active"))
			wanted = append(wanted, imports.Target{Kind: v.kind, Name: name, Number: id})
		})
		if err != nil {
			return err
		}
	}
	for id, name := range im.roles {
		if id < 1 || id > imports.HighestNumber {
			continue // the role is not imported
		}
		wanted = append(wanted, imports.Target{Kind: "role", Name: name, Number: id})
	}
	out, err := im.store.AdoptOnCall(ctx, wanted)
	im.Report.Class("numbers").AddOutcome(out)
	return err
}

// mode returns the mode of a row. A row whose mode does not exist here is not imported.
func (im *importer) mode(row *imports.Row) (string, bool) {
	name, known := im.modes[row.Int("mode_id")]
	if !known {
		row.Lose("its mode_id is not there")
		return "", false
	}
	mode, ok := im.options.Modes.Ours(name)
	if !ok {
		row.Lose("there is no mode %s here; --mode %s=slack (or another) says as what to take it", name, name)
	}
	return mode, ok
}

// who and where return names of people and teams for labels.
func (im *importer) who(row *imports.Row, column string) string {
	id := row.Int(column)
	if p, ok := im.people[id]; ok {
		return p.name
	}
	return fmt.Sprintf("user %d", id)
}

func (im *importer) where(row *imports.Row, column string) string {
	id := row.Int(column)
	if t, ok := im.teams[id]; ok {
		return t.name
	}
	return fmt.Sprintf("team %d", id)
}

func (im *importer) roster(row *imports.Row) string {
	id := row.Int("roster_id")
	if name, ok := im.rosters[id]; ok {
		return "roster " + name
	}
	return fmt.Sprintf("roster %d", id)
}

func (im *importer) role(row *imports.Row) string {
	id := row.Int("role_id")
	if name, ok := im.roles[id]; ok {
		return name
	}
	return fmt.Sprintf("role %d", id)
}

// zone reads a time zone. An unknown zone becomes UTC.
func zone(row *imports.Row, column string) string {
	name := row.Name(column)
	if name == "" {
		return "UTC"
	}
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		row.LoseValue("there is no such time zone; UTC was taken")
		return "UTC"
	}
	return name
}

// instant is a time as a value of a record.
func instant(t time.Time, ok bool) any {
	if !ok {
		return nil
	}
	return t
}

// References to rows in this database by Oncall's numbers.
var (
	toUser       = &imports.Ref{Table: "users", Match: "oncall_id", Take: "id"}
	toUserIfHere = &imports.Ref{Table: "users", Match: "oncall_id", Take: "id", Optional: true}
	toTeam       = &imports.Ref{Table: "teams", Match: "oncall_id", Take: "id"}
	toRole       = &imports.Ref{Table: "oncall_roles", Match: "id", Take: "id"}
	toService    = &imports.Ref{Table: "services", Match: "id", Take: "id"}
	toRoster     = &imports.Ref{Table: "rosters", Match: "id", Take: "id"}
	toSchedule   = &imports.Ref{Table: "schedules", Match: "id", Take: "id"}
	toSetting    = &imports.Ref{Table: "notice_settings", Match: "id", Take: "id"}
)
