package pg

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// Coverage reads the data from which gaps are computed, and stores the coverage rules of teams. It is safe for
// concurrent use.
type Coverage struct{ db *postgres.DB }

// NewCoverage returns the adapter over d.
func NewCoverage(d *postgres.DB) *Coverage { return &Coverage{db: d} }

// Coverage returns the data from which the gaps of a team are computed. If calendar is not nil, Off has its people who
// are switched off.
func (c *Coverage) Coverage(ctx context.Context, team int64, calendar *oncall.TeamCalendar) (scheduling.Coverage, error) {
	out := scheduling.Coverage{Holidays: map[oncall.Date]bool{}, Off: map[users.ID]bool{}}
	err := c.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		profile, err := q.OncallTeamByID(ctx, team)
		if err != nil {
			return err
		}
		out.Zone = postgres.Location(profile.TimeZone)
		stored, err := schedulesOf(ctx, q, postgresdb.SchedulesParams{TeamIds: []int64{team}})
		if err != nil {
			return err
		}
		for _, s := range stored {
			out.Schedules = append(out.Schedules, s.Schedule)
		}
		if out.Rules, err = coverRules(ctx, q, team); err != nil {
			return err
		}
		holidays, err := q.Holidays(ctx, team)
		if err != nil {
			return err
		}
		for _, h := range holidays {
			out.Holidays[oncall.DateOf(h.Day.Time)] = true
		}
		if calendar == nil {
			return nil
		}
		off, err := q.SwitchedOff(ctx, postgres.NonNil(postgres.Numbers(calendar.People())))
		for _, id := range off {
			out.Off[id] = true
		}
		return err
	})
	return out, err
}

// CoverRules returns the rules of a team, one for each role that has one.
func (c *Coverage) CoverRules(ctx context.Context, team int64) ([]scheduling.CoverRule, error) {
	return postgres.Get(ctx, c.db, func(ctx context.Context, q *postgresdb.Queries) ([]scheduling.CoverRule, error) {
		return coverRules(ctx, q, team)
	})
}

func coverRules(ctx context.Context, q *postgresdb.Queries, team int64) ([]scheduling.CoverRule, error) {
	rows, err := q.CoverRules(ctx, team)
	out := make([]scheduling.CoverRule, len(rows))
	for i, r := range rows {
		out[i] = scheduling.CoverRule{Role: r.Role, Cover: scheduling.Cover(r.Cover)}
		var hours []storedWindow
		if err := json.Unmarshal(r.Hours, &hours); err != nil {
			return nil, fault.Wrap(fault.Internal, err, "the hours that a team wants covered cannot be read")
		}
		out[i].Hours = windowsOf(hours)
	}
	return out, err
}

// SetCoverRule stores the rule of a role; scheduling.CoverSchedules deletes it.
func (c *Coverage) SetCoverRule(ctx context.Context, team oncall.Profile, w scheduling.CoverRule, by oncall.By) error {
	return c.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if w.Cover == scheduling.CoverSchedules {
			if _, err := q.DropCoverRule(ctx, postgresdb.DropCoverRuleParams{TeamID: team.ID, Role: w.Role}); err != nil {
				return err
			}
		} else {
			hours, err := json.Marshal(storedWindows(w.Hours))
			if err != nil {
				return fmt.Errorf("encode hours: %w", err)
			}
			err = q.SetCoverRule(ctx, postgresdb.SetCoverRuleParams{TeamID: team.ID, Cover: string(w.Cover),
				Hours: hours, Role: w.Role})
			if err != nil {
				return err
			}
		}
		return auditlog.WriteOncall(ctx, q, by.Owner, team.Name, "coverage_edited",
			map[string]any{"role": w.Role, "cover": w.Cover})
	})
}

func storedWindows(windows []scheduling.Window) []storedWindow {
	out := make([]storedWindow, len(windows))
	for i, w := range windows {
		out[i] = storedWindow{From: int64(w.From / time.Second), To: int64(w.To / time.Second)}
		for _, d := range w.Days {
			out[i].Days = append(out[i].Days, int(d))
		}
	}
	return out
}

func windowsOf(stored []storedWindow) []scheduling.Window {
	var out []scheduling.Window
	for _, w := range stored {
		ow := scheduling.Window{From: time.Duration(w.From) * time.Second, To: time.Duration(w.To) * time.Second}
		for _, d := range w.Days {
			ow.Days = append(ow.Days, time.Weekday(d))
		}
		out = append(out, ow)
	}
	return out
}
