package oncallimport

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/legacy/imports"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
)

// calendars imports roles, rosters with their members in order, schedules, and events.
func (im *importer) calendars(ctx context.Context) error {
	patterns, err := im.patterns(ctx)
	if err != nil {
		return err
	}
	return im.Load(ctx, append(rosterTables(), im.scheduleTable(patterns), imports.Table{
		Class: "orders of schedules", From: "schedule_order", Order: "schedule_id, priority, user_id",
		Label: "$user_id in the order of schedule $schedule_id",
		Name:  "schedule_order", Key: []string{"schedule_id", "user_id"},
		Columns: []imports.Column{byID("schedule_id", "schedules"), personColumn("user_id"),
			{Name: "priority", Type: "int"}},
	}, im.eventTable())...)
}

func rosterTables() []imports.Table {
	return []imports.Table{{
		Class: "roles", From: "role", Order: "id", Label: "role $name", Name: "oncall_roles", Unique: []string{imports.FoldedName},
		Columns: []imports.Column{
			idColumn(), imports.NameColumn(),
			{Name: "display_order", Type: "int", State: true, Empty: "t.display_order <> s.display_order"},
		},
	}, {
		Class: "rosters", From: "roster", Order: "id", Label: "roster $name of $team_id",
		Name: "rosters", Unique: []string{"@team_id || ' ' || " + imports.FoldedName},
		Columns: []imports.Column{idColumn(), teamColumn("team_id"), imports.NameColumn()},
	}, {
		Class: "roster members", From: "roster_user", Order: "roster_id, roster_priority, user_id", Label: "$user_id in roster $roster_id",
		Name: "roster_members", Key: []string{"roster_id", "user_id"}, Columns: []imports.Column{
			byID("roster_id", "rosters"), personColumn("user_id"), {Name: "in_rotation", Type: "boolean"},
			{Name: "priority", Type: "int", From: "roster_priority"},
		},
	}}
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
	from := imports.From{Class: "schedule patterns", Table: "schedule_event", Order: "schedule_id, start, id",
		Columns: "id schedule_id start duration"}
	err := im.Each(ctx, from, func(row *imports.Row) {
		schedule, start, duration := row.Int("schedule_id"), row.Int("start"), row.Int("duration")
		row.Label = fmt.Sprintf("shift %d of schedule %d", row.Int("id"), schedule)
		_, known := im.Names["schedule_id"][schedule]
		switch {
		case !known:
			row.Lose("its schedule_id refers to a row that does not exist")
		case duration <= 0:
			row.Lose("it has no length")
		case duration > longest || start < 0 || start > longest:
			row.Lose("it starts or lasts more than a year after the Sunday of its pattern")
		default:
			out[schedule] = append(out[schedule], slot{start, duration})
		}
	})
	return out, err
}

func (im *importer) scheduleTable(patterns map[int64][]slot) imports.Table {
	last := personColumn("last_user_id")
	last.From, last.State, last.Ref.Optional = "last_scheduled_user_id", true, true
	return imports.Table{
		Class: "schedules", From: "schedule", Order: "id", Label: "schedule $id of $team_id for $role_id", Name: "schedules",
		Columns: []imports.Column{
			idColumn(), teamColumn("team_id"), byID("roster_id", "rosters"), roleColumn(),
			{Name: "algorithm", From: "scheduler_id", Value: im.algorithm}, {Name: "advanced", Type: "boolean",
				From: "advanced_mode"},
			{Name: "threshold_days", Type: "int", From: "auto_populate_threshold"},
			{Name: "pattern", Type: "jsonb", Value: func(row *imports.Row, _ string) any {
				pattern := patterns[row.Int("id")]
				if len(pattern) == 0 {
					row.Note("its weekly pattern is empty: it makes no shifts")
					pattern = []slot{}
				}
				stored, err := json.Marshal(pattern)
				if err != nil {
					row.Lose("its pattern cannot be stored")
				}
				return json.RawMessage(stored)
			}},
			{Name: "last_epoch_at", Type: "timestamptz", From: "last_epoch_scheduled", State: true, Value: func(row *imports.Row, column string) any {
				if at, ok := row.Epoch(column); ok && at.Unix() > 0 {
					return at
				}
				return nil
			}}, last,
		},
	}
}

// algorithm returns the algorithm of a schedule. A schedule with an algorithm that does not exist here is not imported.
func (im *importer) algorithm(row *imports.Row, column string) any {
	name := im.Known(row, column).(string)
	ours := []scheduling.Algorithm{scheduling.Default, scheduling.RoundRobin, scheduling.NoSkipMatching,
		scheduling.MultiTeam}
	if !row.Dropped() && !slices.Contains(ours, scheduling.Algorithm(name)) {
		row.Lose("there is no algorithm %s here; its shifts are taken", name)
	}
	return name
}

func (im *importer) eventTable() imports.Table {
	var start, end time.Time
	return imports.Table{
		Class: "events", From: "event", Order: "id", Label: "event $id, $user_id of $team_id from $start", Name: "shifts", Columns: []imports.Column{
			idColumn(), teamColumn("team_id"), roleColumn(), personColumn("user_id"), {Name: "schedule_id",
				Type: "bigint"},
			{Name: "starts_at", Type: "timestamptz", From: "start", Value: func(row *imports.Row, _ string) any {
				var ok bool
				start, end, ok = span(row)
				if p := im.people[row.Int("user_id")]; ok && p.name != "" && !p.active && end.After(im.now) {
					row.Note("it is in the future and its person is not active: it pages nobody")
				}
				return start
			}},
			{Name: "ends_at", Type: "timestamptz", From: "end", Value: func(*imports.Row, string) any { return end }},
			{Name: "link_id", Value: imports.FilledOrNil}, {Name: "note", Value: (*imports.Row).TextOrNil},
		},
	}
}

// span reads start and end of an event. An event without a length is not imported.
func span(row *imports.Row) (start, end time.Time, ok bool) {
	start, begins := row.Epoch("start")
	end, ends := row.Epoch("end")
	switch {
	case !begins || !ends:
		row.Lose("it has no start or no end")
	case !start.Before(end):
		row.Lose("it does not end after its start: it puts nobody on call")
	default:
		return start, end, true
	}
	return start, end, false
}
