package pg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/users"
)

// Shifts stores shifts. A pure function of the domain decides an edit inside the transaction that stores it, with the
// team locked, so that no two edits start from the same state of a calendar. It is safe for concurrent use.
type Shifts struct{ db *postgres.DB }

// NewShifts returns the adapter over d.
func NewShifts(d *postgres.DB) *Shifts { return &Shifts{db: d} }

// Find reads shifts, by start, then number. Too many shifts are an Invalid fault.
func (s *Shifts) Find(ctx context.Context, by oncall.ShiftQuery) ([]oncall.ShiftRow, error) {
	params := findParams(by)
	var out []oncall.ShiftRow
	err := s.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		params.Sources = append([]int64(nil), by.Teams...)
		if by.Subscribed && len(by.Teams) > 0 {
			subscriptions, err := q.CalendarSubscriptions(ctx, by.Teams)
			if err != nil {
				return err
			}
			for _, b := range subscriptions {
				params.Sources = append(params.Sources, b.SubscriptionID)
			}
		}
		rows, err := q.FindShifts(ctx, params)
		out = postgres.Convert(rows, func(r postgresdb.FindShiftsRow) oncall.ShiftRow {
			return oncall.ShiftRow{
				Shift: shiftOf(postgresdb.ChosenShiftsRow{
					ID: r.ID, TeamID: r.TeamID, Role: r.Role, UserID: r.UserID, ScheduleID: r.ScheduleID, CoversID: r.CoversID,
					LinkID: r.LinkID, StartsAt: r.StartsAt, EndsAt: r.EndsAt, Note: r.Note, Edited: r.Edited,
				}),
				Team: r.Team, UserName: r.UserName, FullName: r.FullName,
			}
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	if by.Limit > 0 {
		return out, nil
	}
	return out, postgres.TooBroad(len(out))
}

func findParams(by oncall.ShiftQuery) postgresdb.FindShiftsParams {
	p := postgresdb.FindShiftsParams{
		IDMin: by.IDs.Min, IDMax: by.IDs.Max, StartMin: instant(by.Start.Min), StartMax: instant(by.Start.Max),
		EndMin: instant(by.End.Min), EndMax: instant(by.End.Max), Teams: by.Teams, Roles: by.Roles, LinkID: by.Link,
		Subscribed: by.Subscribed, MaxRows: postgres.MaxListRows +
			1, NotIds: postgres.NonNil(by.NotIDs), NotStarts: instants(by.NotStart), NotEnds: instants(by.NotEnd),
	}
	if by.Numbers != nil {
		p.Ids = postgres.Numbers(by.Numbers)
	}
	if by.Users != nil {
		p.Users = postgres.Numbers(by.Users)
	}
	if by.Schedule != nil {
		id := int64(*by.Schedule)
		p.ScheduleID = &id
	}
	if by.Limit > 0 {
		p.MaxRows = min(by.Limit, postgres.MaxListRows)
	}
	return p
}

// farthest is the last instant of calendars in Unix seconds: the end of the year 9999.
const farthest = 253402300799

func instant(unix *int64) *time.Time {
	if unix == nil {
		return nil
	}
	t := time.Unix(min(max(*unix, -farthest/4), farthest), 0).UTC()
	return &t
}

func instants(unix []int64) []time.Time {
	out := make([]time.Time, len(unix))
	for i := range unix {
		out[i] = *instant(&unix[i])
	}
	return out
}

func shiftOf(r postgresdb.ChosenShiftsRow) oncall.Shift {
	return oncall.Shift{
		ID: r.ID, TeamID: r.TeamID, Role: r.Role, User: r.UserID, Start: r.StartsAt.UTC(), End: r.EndsAt.UTC(),
		Link: postgres.Deref(r.LinkID), Note: postgres.Deref(r.Note), Edited: r.Edited,
		Schedule: postgres.Deref(r.ScheduleID), Covers: postgres.Deref(r.CoversID),
	}
}

// errRehearsed rolls back the transaction of a rehearsal.
var errRehearsed = errors.New("rehearsed")

// Edit locks the team, decides an edit of the selected shifts, and stores the result in one transaction: changes,
// notices and audit entry. With e.Rehearse it is rolled back. Added shifts are returned with their numbers. Refusals
// are returned unchanged.
func (s *Shifts) Edit(ctx context.Context, e editing.Edit, by oncall.By) (editing.Outcome, error) {
	var done editing.Outcome
	err := s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		var err error
		if done, err = decide(ctx, q, e); err != nil {
			return err
		}
		if done.Changes, err = store(ctx, q, done.Changes); err != nil {
			return err
		}
		if e.Rehearse {
			return errRehearsed
		}
		action := e.Change.Action()
		if action == "" {
			return nil
		}
		return auditlog.WriteOncall(ctx, q, by.Owner, done.Team, action, e.Change.Audit(e, done))
	})
	if errors.Is(err, errRehearsed) {
		err = nil
	}
	return done, err
}

// decide locks the team, then reads the selected shifts and decides the edit of them.
func decide(ctx context.Context, q *postgresdb.Queries, e editing.Edit) (editing.Outcome, error) {
	p := postgresdb.ChosenShiftsParams{Ids: postgres.Numbers(e.IDs), Links: postgres.NonNil(e.Links),
		Running: e.Running, TeamID: e.TeamID,
		Until: postgres.NullTime(e.Until)}
	teamID := e.TeamID
	if teamID == 0 {
		first, err := postgres.First(q.ChosenShifts(ctx, p))
		if err != nil {
			return editing.Outcome{}, err
		}
		teamID = first.TeamID
	}
	if _, err := q.LockTeam(ctx, teamID); err != nil {
		return editing.Outcome{}, err
	}
	rows, err := q.ChosenShifts(ctx, p)
	if err != nil {
		return editing.Outcome{}, err
	}
	members, now, err := membersNow(ctx, q, teamID)
	if err != nil {
		return editing.Outcome{}, err
	}
	return e.Decide(now, members, postgres.Convert(rows, shiftOf))
}

func membersOf(ctx context.Context, q *postgresdb.Queries, team int64) (editing.Membership, error) {
	profile, err := q.OncallTeamByID(ctx, team)
	if err != nil {
		return editing.Membership{}, err
	}
	people, err := q.TeamPeople(ctx, team)
	members := editing.Membership{TeamID: team, Name: profile.Name, Members: map[users.ID]bool{}}
	for _, p := range people {
		if p.Member {
			members.Members[p.ID] = p.Active
		}
	}
	return members, err
}

// store writes changes and queues their notices.
func store(ctx context.Context, q *postgresdb.Queries, c oncall.Changes) (oncall.Changes, error) {
	for _, u := range c.Update {
		s := u.After
		err := postgres.RequireRow(q.ChangeShift(ctx, postgresdb.ChangeShiftParams{
			ID: s.ID, Role: postgres.Storable(s.Role), UserID: s.User, ScheduleID: postgres.NullID(s.Schedule), CoversID: postgres.NullID(s.Covers),
			LinkID: postgres.NullText(s.Link), StartsAt: s.Start, EndsAt: s.End, Note: postgres.NullText(s.Note), Edited: s.Edited,
		}))
		if err != nil {
			return c, fmt.Errorf("change shift %d: %w", s.ID, err)
		}
	}
	added, err := addShifts(ctx, q, c.Add)
	if err != nil {
		return c, err
	}
	c.Add = added
	// Delete last: the remainder of a cut shift gets its feed id from the deleted shift.
	if len(c.Delete) > 0 {
		ids := postgres.Convert(c.Delete, func(s oncall.Shift) int64 { return int64(s.ID) })
		if err := q.DeleteShifts(ctx, ids); err != nil {
			return c, fmt.Errorf("delete shifts: %w", err)
		}
	}
	if err := queueNotices(ctx, q, c.Notices); err != nil {
		return c, fmt.Errorf("queue notices: %w", err)
	}
	return c, nil
}

// addShifts stores new shifts by one statement and returns them with their numbers.
func addShifts(ctx context.Context, q *postgresdb.Queries, shifts []oncall.Shift) ([]oncall.Shift, error) {
	if len(shifts) == 0 {
		return []oncall.Shift{}, nil
	}
	var p postgresdb.AddShiftsParams
	for i, s := range shifts {
		p.Places = append(p.Places, i)
		p.TeamIds = append(p.TeamIds, s.TeamID)
		p.Roles = append(p.Roles, postgres.Storable(s.Role))
		p.UserIds = append(p.UserIds, int64(s.User))
		p.ScheduleIds = append(p.ScheduleIds, int64(s.Schedule))
		p.CoversIds = append(p.CoversIds, int64(s.Covers))
		p.LinkIds = append(p.LinkIds, postgres.Storable(s.Link))
		p.Starts = append(p.Starts, s.Start)
		p.Ends = append(p.Ends, s.End)
		p.Notes = append(p.Notes, postgres.Storable(s.Note))
		p.Edits = append(p.Edits, s.Edited)
		p.RemainsOf = append(p.RemainsOf, int64(s.RemainsOf))
	}
	ids, err := q.AddShifts(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("add shifts: %w", err)
	}
	if len(ids) != len(shifts) {
		return nil, fault.New(fault.NotFound, "the role of a shift does not exist any more")
	}
	slices.Sort(ids)
	added := slices.Clone(shifts)
	for i, id := range ids {
		added[i].ID = id
	}
	return added, nil
}

// queuedNotice is a notice as the statement QueueNotices reads it.
type queuedNotice struct {
	TeamID  int64                 `json:"team_id"`
	Kind    string                `json:"kind"`
	Roles   []string              `json:"roles"`
	UserIDs []int64               `json:"user_ids"`
	Facts   []postgres.NoticeFact `json:"facts"`
	ByID    int64                 `json:"by_id"`
	Note    string                `json:"note"`
	Unless  string                `json:"unless"`
}

// queueNotices stores the notices of a change in one statement.
func queueNotices(ctx context.Context, q *postgresdb.Queries, notices []oncall.Notice) error {
	var queued []queuedNotice
	for _, n := range notices {
		team := n.TeamID
		if team == 0 && len(n.Shifts) > 0 {
			team = n.Shifts[0].TeamID
		}
		if team == 0 {
			continue
		}
		facts := postgres.Convert(n.Shifts, func(s oncall.Shift) postgres.NoticeFact {
			return postgres.NoticeFact{TeamID: s.TeamID, Role: s.Role, UserID: int64(s.User), Start: s.Start.Unix(),
				End: s.End.Unix()}
		})
		queued = append(queued, queuedNotice{
			TeamID: team, Kind: string(n.Kind), Roles: postgres.NonNil(n.Roles), UserIDs: postgres.Numbers(n.Users), Facts: facts,
			ByID: int64(n.By), Note: postgres.Storable(n.Note), Unless: string(n.Unless),
		})
	}
	if len(queued) == 0 {
		return nil
	}
	raw, err := json.Marshal(queued)
	if err != nil {
		return err
	}
	return q.QueueNotices(ctx, raw)
}
