package oncall

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/imports"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
)

// rosterRows imports roles, rosters and the members of rosters, in order.
func (im *importer) rosterRows(ctx context.Context) error {
	roles := imports.Table{Name: "oncall_roles", Key: []string{"id"}, Unique: []string{"lower(@name)"}, Columns: []imports.Column{
		{Name: "id", Type: "bigint"}, {Name: "name", Type: "text", Same: "lower(s.name) = lower(t.name)"},
		{Name: "display_order", Type: "int", State: true, Empty: "t.display_order <> s.display_order"},
	}}
	err := im.Load(ctx, from("roles", "role", "id", "id name display_order"), roles, func(row *imports.Row) ([]any, bool) {
		name := row.Name("name")
		row.Label = "role " + name
		if name == "" {
			row.Lose("it has no name")
			return nil, false
		}
		return []any{row.Int("id"), name, row.Int32("display_order", 0)}, true
	})
	if err != nil {
		return err
	}
	rosters := imports.Table{Name: "rosters", Key: []string{"id"}, Unique: []string{"@team_id || ' ' || lower(@name)"}, Columns: []imports.Column{
		{Name: "id", Type: "bigint"}, {Name: "team_id", Type: "bigint", Ref: toTeam}, {Name: "name", Type: "text", Same: "lower(s.name) = lower(t.name)"},
	}}
	err = im.Load(ctx, from("rosters", "roster", "id", "id name team_id"), rosters, func(row *imports.Row) ([]any, bool) {
		row.Label = fmt.Sprintf("roster %d", row.Int("id"))
		name := row.Name("name")
		row.Label = "roster " + name + " of " + im.where(row, "team_id")
		if name == "" {
			row.Lose("it has no name")
			return nil, false
		}
		return []any{row.Int("id"), row.Int("team_id"), name}, true
	})
	if err != nil {
		return err
	}
	members := imports.Table{Name: "roster_members", Key: []string{"roster_id", "user_id"}, Columns: []imports.Column{
		{Name: "roster_id", Type: "bigint", Ref: toRoster}, {Name: "user_id", Type: "bigint", Ref: toUser},
		{Name: "in_rotation", Type: "boolean"}, {Name: "priority", Type: "int"},
	}}
	return im.Load(ctx, from("roster members", "roster_user", "roster_id, roster_priority, user_id", "roster_id user_id in_rotation roster_priority"), members,
		func(row *imports.Row) ([]any, bool) {
			row.Label = im.who(row, "user_id") + " in " + im.roster(row)
			return []any{row.Int("roster_id"), row.Int("user_id"), row.Bool("in_rotation"), row.Int32("roster_priority", 0)}, true
		})
}

// slot is one slot of a weekly pattern in its stored form.
type slot struct {
	Start    int64 `json:"start"`
	Duration int64 `json:"duration"`
}

// longest is the maximum start of a slot within its pattern, and the maximum length of a slot, in seconds.
const longest = 366 * 24 * 3600

// patterns reads the weekly patterns of all schedules.
func (im *importer) patterns(ctx context.Context) (map[int64][]slot, error) {
	out := map[int64][]slot{}
	err := im.Each(ctx, from("schedule patterns", "schedule_event", "schedule_id, start, id", "id schedule_id start duration"), func(row *imports.Row) {
		schedule, start, duration := row.Int("schedule_id"), row.Int("start"), row.Int("duration")
		row.Label = fmt.Sprintf("shift %d of schedule %d", row.Int("id"), schedule)
		switch {
		case !im.schedules[schedule]:
			row.Lose("its schedule_id is not there")
		case duration <= 0:
			row.Lose("it has no length")
		case duration > longest || start < 0 || start > longest:
			row.Lose("it does not begin within a year of a Sunday, or lasts longer than one")
		default:
			out[schedule] = append(out[schedule], slot{start, duration})
		}
	})
	return out, err
}

func (im *importer) schedule(ctx context.Context) error {
	patterns, err := im.patterns(ctx)
	if err != nil {
		return err
	}
	table := imports.Table{Name: "schedules", Key: []string{"id"}, Columns: []imports.Column{
		{Name: "id", Type: "bigint"}, {Name: "team_id", Type: "bigint", Ref: toTeam}, {Name: "roster_id", Type: "bigint", Ref: toRoster},
		{Name: "role_id", Type: "bigint", Ref: toRole}, {Name: "algorithm", Type: "text"}, {Name: "advanced", Type: "boolean"},
		{Name: "threshold_days", Type: "int"}, {Name: "pattern", Type: "jsonb"}, {Name: "last_epoch_at", Type: "timestamptz", State: true},
		{Name: "last_user_id", Type: "bigint", Ref: toUserIfHere, State: true},
	}}
	err = im.Load(ctx, from("schedules", "schedule", "id", "id team_id roster_id role_id auto_populate_threshold advanced_mode last_epoch_scheduled "+
		"last_scheduled_user_id scheduler_id"), table, func(row *imports.Row) ([]any, bool) { return im.scheduleRow(row, patterns[row.Int("id")]) })
	if err != nil {
		return err
	}
	order := imports.Table{Name: "schedule_order", Key: []string{"schedule_id", "user_id"}, Columns: []imports.Column{
		{Name: "schedule_id", Type: "bigint", Ref: toSchedule}, {Name: "user_id", Type: "bigint", Ref: toUser}, {Name: "priority", Type: "int"},
	}}
	return im.Load(ctx, from("orders of schedules", "schedule_order", "schedule_id, priority, user_id", "schedule_id user_id priority"), order,
		func(row *imports.Row) ([]any, bool) {
			row.Label = fmt.Sprintf("%s in the order of schedule %d", im.who(row, "user_id"), row.Int("schedule_id"))
			return []any{row.Int("schedule_id"), row.Int("user_id"), row.Int32("priority", 0)}, true
		})
}

// algorithms are the algorithms of Oncall that exist here.
var algorithms = map[string]bool{
	string(scheduling.Default): true, string(scheduling.RoundRobin): true, string(scheduling.NoSkipMatching): true, string(scheduling.MultiTeam): true,
}

func (im *importer) scheduleRow(row *imports.Row, pattern []slot) ([]any, bool) {
	id := row.Int("id")
	row.Label = fmt.Sprintf("schedule %d of %s for %s", id, im.where(row, "team_id"), im.role(row))
	algorithm, known := im.schedulers[row.Int("scheduler_id")]
	switch {
	case !known:
		row.Lose("its scheduler_id is not there")
		return nil, false
	case !algorithms[algorithm]:
		row.Lose("there is no algorithm %s here; its shifts are taken", algorithm)
		return nil, false
	case len(pattern) == 0:
		row.Note("it has no shifts in its week: it makes none")
		pattern = []slot{}
	}
	stored, err := json.Marshal(pattern)
	if err != nil {
		row.Lose("its pattern cannot be stored")
		return nil, false
	}
	epoch, ok := row.Epoch("last_epoch_scheduled")
	if ok && epoch.Unix() <= 0 {
		ok = false
	}
	return []any{
		id, row.Int("team_id"), row.Int("roster_id"), row.Int("role_id"), algorithm, row.Bool("advanced_mode"),
		row.Int32("auto_populate_threshold", 0), json.RawMessage(stored), instant(epoch, ok), row.IntOrNil("last_scheduled_user_id"),
	}, true
}

// eventColumns are the columns of an event that become a shift.
const eventColumns = "id team_id role_id schedule_id link_id user_id start end note"

func (im *importer) events(ctx context.Context) error {
	table := imports.Table{Name: "shifts", Key: []string{"id"}, Columns: []imports.Column{
		{Name: "id", Type: "bigint"}, {Name: "team_id", Type: "bigint", Ref: toTeam}, {Name: "role_id", Type: "bigint", Ref: toRole},
		{Name: "user_id", Type: "bigint", Ref: toUser}, {Name: "schedule_id", Type: "bigint"}, {Name: "link_id", Type: "text"},
		{Name: "starts_at", Type: "timestamptz"}, {Name: "ends_at", Type: "timestamptz"}, {Name: "note", Type: "text"},
	}}
	return im.Load(ctx, from("events", "event", "id", eventColumns), table, func(row *imports.Row) ([]any, bool) {
		id := row.Int("id")
		row.Label = fmt.Sprintf("event %d", id)
		start, end, ok := span(row)
		if !ok {
			return nil, false
		}
		row.Label = fmt.Sprintf("event %d, %s of %s from %s", id, im.who(row, "user_id"), im.where(row, "team_id"), start.Format(time.DateTime))
		if p, known := im.people[row.Int("user_id")]; known && !p.active && end.After(im.now) {
			row.Note("is ahead and of somebody who is not active: nobody is paged by it")
		}
		link := row.TextOrNil("link_id")
		if link == "" {
			link = nil
		}
		return []any{
			id, row.Int("team_id"), row.Int("role_id"), row.Int("user_id"), row.IntOrNil("schedule_id"), link, start, end, row.TextOrNil("note"),
		}, true
	})
}

// span reads start and end of an event. An event without a length is not imported.
func span(row *imports.Row) (start, end time.Time, ok bool) {
	start, begins := row.Epoch("start")
	end, ends := row.Epoch("end")
	switch {
	case !begins || !ends:
		row.Lose("it has no beginning or no end")
	case !start.Before(end):
		row.Lose("it ends when it begins, or before: nobody is on call by it")
	default:
		return start, end, true
	}
	return start, end, false
}
