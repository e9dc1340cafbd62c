package pg

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// Schedules stores schedules and rotations and fills calendars from them. Pure functions of package scheduling compute
// the shifts inside the transaction that stores them, with the team locked: the second of two concurrent populates sees
// the shifts of the first. It is safe for concurrent use.
type Schedules struct{ db *postgres.DB }

// NewSchedules returns the adapter over d.
func NewSchedules(d *postgres.DB) *Schedules { return &Schedules{db: d} }

// ByTeam returns the schedules of teams, by number.
func (s *Schedules) ByTeam(ctx context.Context, teams ...int64) ([]scheduling.StoredSchedule, error) {
	return postgres.Get(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) ([]scheduling.StoredSchedule, error) {
		return schedulesOf(ctx, q, postgresdb.SchedulesParams{TeamIds: postgres.NonNil(teams)})
	})
}

// ByID returns one schedule; a NotFound fault when there is none.
func (s *Schedules) ByID(ctx context.Context, id oncall.ScheduleID) (scheduling.StoredSchedule, error) {
	return postgres.Get(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) (scheduling.StoredSchedule, error) {
		return scheduleOf(ctx, q, id)
	})
}

func scheduleOf(ctx context.Context, q *postgresdb.Queries, id oncall.ScheduleID) (scheduling.StoredSchedule, error) {
	raw := int64(id)
	return postgres.First(schedulesOf(ctx, q, postgresdb.SchedulesParams{ID: &raw}))
}

func schedulesOf(ctx context.Context, q *postgresdb.Queries, by postgresdb.SchedulesParams) ([]scheduling.StoredSchedule, error) {
	rows, err := q.Schedules(ctx, by)
	if err != nil {
		return nil, err
	}
	out, rosters := make([]scheduling.StoredSchedule, len(rows)), make([]int64, len(rows))
	for i, r := range rows {
		if out[i], err = storedSchedule(r); err != nil {
			return nil, fmt.Errorf("schedule %d: %w", r.ID, err)
		}
		rosters[i] = r.RosterID
	}
	people, err := q.RosterPeople(ctx, rosters)
	if err != nil {
		return nil, err
	}
	members := map[int64][]scheduling.Member{}
	for _, p := range people {
		members[p.RosterID] = append(members[p.RosterID], scheduling.Member{User: p.UserID, InRotation: p.InRotation,
			Active: p.Active})
	}
	for i := range out {
		out[i].Schedule.Roster = members[out[i].RosterID]
	}
	return out, nil
}

func storedSchedule(r postgresdb.SchedulesRow) (scheduling.StoredSchedule, error) {
	s := scheduling.StoredSchedule{
		Schedule: scheduling.Schedule{
			ID: r.ID, TeamID: r.TeamID, Zone: postgres.Location(r.TimeZone), Role: r.Role, RoleOrder: r.RoleID,
			Algorithm: scheduling.Algorithm(r.Algorithm), Threshold: r.ThresholdDays,
		},
		Team: r.Team, TeamNumber: r.TeamNumber, TimeZone: r.TimeZone, RosterID: r.RosterID, RosterName: r.Roster, Name: r.Name, Advanced: r.Advanced,
		OrderNames: r.OrderNames,
	}
	for _, id := range r.OrderIds {
		s.Order = append(s.Order, users.ID(id))
	}
	s.Progress.Last, s.Progress.LastUser = postgres.Deref(r.LastEpochAt).UTC(), postgres.Deref(r.LastUserID)
	for _, t := range r.Unfilled {
		s.Progress.Unfilled = append(s.Progress.Unfilled, t.UTC())
	}
	var err error
	if s.Pattern, err = decodePattern(r.Pattern); err != nil {
		return s, err
	}
	s.Rotation, err = decodeRotation(r.Rotation)
	return s, err
}

// Create adds a schedule and returns its number. Processors fill it next: the team is locked, so that a process that
// fills the team now does not miss the new schedule.
func (s *Schedules) Create(ctx context.Context, d scheduling.ScheduleDraft, by oncall.By) (oncall.ScheduleID, error) {
	var id oncall.ScheduleID
	err := s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		pattern, rotation, err := rules(d)
		if err != nil {
			return err
		}
		if _, err := q.LockTeam(ctx, d.TeamID); err != nil {
			return err
		}
		id, err = q.CreateSchedule(ctx, postgresdb.CreateScheduleParams{
			TeamID: d.TeamID, RosterID: d.RosterID, RoleID: d.RoleID, Name: postgres.Storable(d.Name), Algorithm: string(d.Algorithm),
			Advanced: d.Advanced, ThresholdDays: d.Threshold, Pattern: pattern, Rotation: rotation,
		})
		if err != nil {
			return err
		}
		if err := setOrder(ctx, q, int64(id), d.Order); err != nil {
			return err
		}
		if err := q.TeamDue(ctx, d.TeamID); err != nil {
			return err
		}
		return auditSchedule(ctx, q, by, int64(id), d.TeamID, "schedule_created", nil)
	})
	return id, err
}

// Update applies an edit to a schedule, with the team and the schedule locked. Shifts that the schedule made stay. A
// NotFound fault when there is no such schedule.
func (s *Schedules) Update(ctx context.Context, id oncall.ScheduleID, e scheduling.Edit, by oncall.By) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		team, err := q.TeamOfSchedule(ctx, id)
		if err != nil {
			return err
		}
		if _, err := q.LockTeam(ctx, team); err != nil { // Populate takes the same lock
			return err
		}
		if _, err := q.LockSchedule(ctx, id); err != nil {
			return err
		}
		is, err := scheduleOf(ctx, q, id)
		if err != nil {
			return err
		}
		d, err := e.Decide(is)
		if err != nil {
			return err
		}
		if d.TeamID != team {
			if _, err := q.LockTeam(ctx, d.TeamID); err != nil {
				return err
			}
		}
		pattern, rotation, err := rules(d)
		if err != nil {
			return err
		}
		err = postgres.RequireRow(q.UpdateSchedule(ctx, postgresdb.UpdateScheduleParams{
			ID: id, TeamID: d.TeamID, RosterID: d.RosterID, RoleID: d.RoleID, Name: postgres.Storable(d.Name), Algorithm: string(d.Algorithm),
			Advanced: d.Advanced, ThresholdDays: d.Threshold, Pattern: pattern, Rotation: rotation,
		}))
		if err != nil {
			return err
		}
		if d.Order != nil {
			if err := setOrder(ctx, q, int64(id), d.Order); err != nil {
				return err
			}
		}
		if err := q.TeamDue(ctx, d.TeamID); err != nil {
			return err
		}
		return auditSchedule(ctx, q, by, int64(id), d.TeamID, "schedule_edited", nil)
	})
}

// Delete deletes a schedule with its team locked; its shifts stay on the calendar. A NotFound fault when there is none.
func (s *Schedules) Delete(ctx context.Context, old scheduling.StoredSchedule, by oncall.By) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		team, err := q.TeamOfSchedule(ctx, old.ID)
		if err != nil {
			return err
		}
		if _, err := q.LockTeam(ctx, team); err != nil { // Populate takes the same lock
			return err
		}
		if err := postgres.RequireRow(q.DeleteSchedule(ctx, old.ID)); err != nil {
			return err
		}
		return auditSchedule(ctx, q, by, int64(old.ID), old.TeamID, "schedule_deleted",
			map[string]any{"role": old.Role, "roster": old.RosterName})
	})
}

func auditSchedule(ctx context.Context, q *postgresdb.Queries, by oncall.By, id, team int64, action string, more map[string]any) error {
	profile, err := q.OncallTeamByID(ctx, team)
	if err != nil {
		return err
	}
	about := map[string]any{"schedule_id": id}
	if by.Body != nil {
		about["request_body"] = by.Body
	}
	for k, v := range more {
		about[k] = v
	}
	return auditlog.WriteOncall(ctx, q, by.Owner, profile.Name, action, about)
}

func rules(d scheduling.ScheduleDraft) (pattern, rotation []byte, err error) {
	if pattern, err = encodePattern(d.Pattern); err != nil {
		return nil, nil, err
	}
	rotation, err = encodeRotation(d.Rotation)
	return pattern, rotation, err
}

func setOrder(ctx context.Context, q *postgresdb.Queries, id int64, order []users.ID) error {
	if err := q.ClearScheduleOrder(ctx, id); err != nil || len(order) == 0 {
		return err
	}
	return q.SetScheduleOrder(ctx, postgresdb.SetScheduleOrderParams{ScheduleID: id, UserIds: postgres.Numbers(order)})
}

// newLink returns 32 random hex digits.
func newLink() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // crypto/rand never fails
	return hex.EncodeToString(b)
}
