package calendaring

import (
	"context"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// Teams finds teams. A team that does not exist is a NotFound fault.
type Teams interface {
	ByName(ctx context.Context, name string) (oncall.Profile, error)
	ByID(ctx context.Context, id int64) (oncall.Profile, error)
}

// People finds people as calendars show them.
type People interface {
	ByID(ctx context.Context, ids []users.ID) ([]oncall.Person, error)
	ByName(ctx context.Context, name string) (oncall.Person, error)
	Teams(ctx context.Context, id users.ID) ([]oncall.TeamName, error)
	Clock(ctx context.Context) (time.Time, error)
	// OnCallNow returns the names of those people who have a shift now.
	OnCallNow(ctx context.Context, names []string) (map[string]bool, error)
}

// Roles lists the on-call roles.
type Roles interface {
	Roles(ctx context.Context) ([]oncall.RoleInfo, error)
}

// Rosters lists the rosters of a team.
type Rosters interface {
	ByTeam(ctx context.Context, team int64) ([]oncall.Roster, error)
}

// Schedules finds schedules.
type Schedules interface {
	ByTeam(ctx context.Context, teams ...int64) ([]scheduling.StoredSchedule, error)
	ByID(ctx context.Context, id oncall.ScheduleID) (scheduling.StoredSchedule, error)
}

// Shifts reads and edits calendars.
type Shifts interface {
	Find(ctx context.Context, by oncall.ShiftQuery) ([]oncall.ShiftRow, error)
	Edit(ctx context.Context, e editing.Edit, by oncall.By) (editing.Outcome, error)
}

// Finder finds what requests about calendars name, and makes edits of it. All parts are required. It is safe for
// concurrent use.
type Finder struct {
	Teams     Teams
	People    People
	Roles     Roles
	Rosters   Rosters
	Schedules Schedules
	Shifts    Shifts
}

// Integrity returns the fault that Oncall's clients get as 422.
func Integrity(text string) error {
	return &fault.Error{Kind: fault.Mismatch, Message: "IntegrityError", Detail: text}
}

// UserID returns a user's id; 0 if there is no such user.
func (f Finder) UserID(ctx context.Context, name string) (users.ID, error) {
	u, err := f.People.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return 0, nil
	}
	return u.ID, err
}

// RoleName returns the stored spelling of a role's name. ok is false if there is no such role.
func (f Finder) RoleName(ctx context.Context, name string) (proper string, ok bool, err error) {
	role, err := f.Role(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return name, false, nil
	}
	return role.Name, err == nil, err
}

// Role finds an on-call role, ignoring case.
func (f Finder) Role(ctx context.Context, name string) (oncall.RoleInfo, error) {
	roles, err := f.Roles.Roles(ctx)
	if err != nil {
		return oncall.RoleInfo{}, err
	}
	for _, r := range roles {
		if strings.EqualFold(r.Name, name) {
			return r, nil
		}
	}
	return oncall.RoleInfo{}, fault.Newf(fault.NotFound, "there is no role %q", name)
}

// RosterNamed finds a roster of a team by name, ignoring case. It returns a NotFound fault if there is none.
func (f Finder) RosterNamed(ctx context.Context, t oncall.Profile, name string) (oncall.Roster, error) {
	rosters, err := f.Rosters.ByTeam(ctx, t.ID)
	if err != nil {
		return oncall.Roster{}, err
	}
	for _, ro := range rosters {
		if strings.EqualFold(ro.Name, name) {
			return ro, nil
		}
	}
	return oncall.Roster{}, fault.New(fault.NotFound, "not found")
}

// ActiveTeam finds a team by name. It returns a NotFound fault for a deleted team.
func (f Finder) ActiveTeam(ctx context.Context, name string) (oncall.Profile, error) {
	t, err := f.Teams.ByName(ctx, name)
	if err == nil && !t.Active {
		err = fault.New(fault.NotFound, "not found")
	}
	return t, err
}

// ZoneOf returns the time zone of a team; UTC if its zone is unknown.
func (f Finder) ZoneOf(t oncall.Profile) *time.Location {
	zone, err := time.LoadLocation(t.TimeZone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// Names has the people and teams of some shifts, by id.
type Names struct {
	People map[users.ID]oncall.Person
	Teams  map[int64]oncall.Profile
}

// NamesOf reads the people and teams of shifts.
func (f Finder) NamesOf(ctx context.Context, shifts []oncall.Shift) (Names, error) {
	c := Names{map[users.ID]oncall.Person{}, map[int64]oncall.Profile{}}
	ids := []users.ID{}
	for _, s := range shifts {
		ids = append(ids, s.User)
		if _, known := c.Teams[s.TeamID]; !known {
			t, err := f.Teams.ByID(ctx, s.TeamID)
			if err != nil {
				return c, err
			}
			c.Teams[s.TeamID] = t
		}
	}
	people, err := f.People.ByID(ctx, ids)
	for _, p := range people {
		c.People[p.ID] = p
	}
	return c, err
}

// ShiftRows reads the selected shifts, with the names of their people and teams.
func (f Finder) ShiftRows(ctx context.Context, c editing.Selection) (map[oncall.ShiftID]oncall.ShiftRow, error) {
	out := map[oncall.ShiftID]oncall.ShiftRow{}
	add := func(q oncall.ShiftQuery) error {
		rows, err := f.Shifts.Find(ctx, q)
		for _, row := range rows {
			out[row.ID] = row
		}
		return err
	}
	if len(c.IDs) > 0 {
		if err := add(oncall.ShiftQuery{Numbers: c.IDs}); err != nil {
			return nil, err
		}
	}
	for _, link := range c.Links {
		if err := add(oncall.ShiftQuery{Link: &link}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Named adds the names of people and teams to shifts.
func (f Finder) Named(ctx context.Context, shifts []oncall.Shift) ([]oncall.ShiftRow, error) {
	c, err := f.NamesOf(ctx, shifts)
	if err != nil {
		return nil, err
	}
	out := make([]oncall.ShiftRow, len(shifts))
	for i, s := range shifts {
		p := c.People[s.User]
		out[i] = oncall.ShiftRow{Shift: s, Team: c.Teams[s.TeamID].Name, UserName: p.Name, FullName: p.FullName}
	}
	return out, nil
}
