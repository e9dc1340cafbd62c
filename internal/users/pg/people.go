package pg

import (
	"context"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// OncallPeople stores people as the on-call API shows them, and the teams they pinned. It is safe for concurrent use.
type OncallPeople struct{ db *postgres.DB }

// NewOncallPeople returns the adapter over d.
func NewOncallPeople(d *postgres.DB) *OncallPeople { return &OncallPeople{db: d} }

// All lists all people, active or not, by number.
func (p *OncallPeople) All(ctx context.Context) ([]oncall.Person, error) {
	return p.find(ctx, postgresdb.OncallPeopleParams{})
}

// ByID returns the people with these ids, by number. Ids that do not exist are left out.
func (p *OncallPeople) ByID(ctx context.Context, ids []users.ID) ([]oncall.Person, error) {
	return p.find(ctx, postgresdb.OncallPeopleParams{Ids: postgres.Numbers(ids)})
}

// ByName finds a person, ignoring case; a NotFound fault when there is none.
func (p *OncallPeople) ByName(ctx context.Context, name string) (oncall.Person, error) {
	name = postgres.Storable(name)
	return postgres.First(p.find(ctx, postgresdb.OncallPeopleParams{Name: &name}))
}

// OnCallNow returns the names of those people who have a shift now on the database's clock.
func (p *OncallPeople) OnCallNow(ctx context.Context, names []string) (map[string]bool, error) {
	rows, err := postgres.Query(ctx, p.db, (*postgresdb.Queries).OnCallNow, names)
	out := map[string]bool{}
	for _, r := range rows {
		out[r.Name] = out[r.Name] || oncall.OnDuty(r.Role)
	}
	return out, err
}

func (p *OncallPeople) find(ctx context.Context, by postgresdb.OncallPeopleParams) ([]oncall.Person, error) {
	rows, err := postgres.Query(ctx, p.db, (*postgresdb.Queries).OncallPeople, by)
	return postgres.Convert(rows, func(r postgresdb.OncallPeopleRow) oncall.Person {
		return oncall.Person{
			User: users.User{
				ID: r.ID, TargetID: r.TargetID, OncallID: r.OncallID, Name: r.Name, FullName: r.FullName,
				TimeZone: r.TimeZone, Admin: r.Admin, ReadOnly: r.ReadOnly, Active: r.Active, LoginEpoch: r.LoginEpoch,
			},
			PhotoURL: postgres.Deref(r.PhotoUrl), NoTimeZone: !r.TimeZoneGiven, Contacts: postgres.Zip[users.Mode,
				string](r.ContactModes, r.Destinations),
		}
	}), err
}

// Create adds a person; a Conflict fault when the name is taken.
func (p *OncallPeople) Create(ctx context.Context, name string, by oncall.By) error {
	name, err := newUserName(name)
	if err != nil {
		return err
	}
	return p.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		u, err := q.CreateUser(ctx, postgresdb.CreateUserParams{Name: name, CanonicalName: users.CanonicalName(name),
			TimeZone: "UTC"})
		if err != nil {
			return err
		}
		if err := q.NoTimeZone(ctx, u.ID); err != nil {
			return err
		}
		return auditlog.Created(ctx, q, auditlog.User(u.ID), audit.Entry{Actor: by.Owner, Action: audit.UserCreated})
	})
}

// Update changes only the fields and contacts that c names, because another request may change the others meanwhile. A
// name that is taken is a Conflict fault.
func (p *OncallPeople) Update(ctx context.Context, id users.ID, c oncall.PersonChange) error {
	params := postgresdb.UpdateOncallUserParams{
		ID: id, FullName: storablePtr(c.FullName), TimeZone: storablePtr(c.TimeZone), PhotoUrl: storablePtr(c.PhotoURL), Active: c.Active,
	}
	if c.Name != nil {
		name, err := newUserName(*c.Name)
		if err != nil {
			return err
		}
		canonical := users.CanonicalName(name)
		params.Name, params.CanonicalName = &name, &canonical
	}
	return auditlog.Change(ctx, p.db, auditlog.User(id), audit.Entry{Action: audit.UserChanged}, func(ctx context.Context, q *postgresdb.Queries) error {
		if err := postgres.RequireRow(q.UpdateOncallUser(ctx, params)); err != nil {
			return err
		}
		for mode, destination := range c.Contacts {
			if err := setContact(ctx, q, id, mode, postgres.Storable(destination), c.Trusted); err != nil {
				return err
			}
		}
		return nil
	})
}

// Remove deletes the row of a person when entirely is true and no other table refers to it. Otherwise it switches the
// person off and removes them from all rotations, so that the past stays readable.
func (p *OncallPeople) Remove(ctx context.Context, u users.User, entirely bool, by oncall.By) error {
	if entirely {
		err := p.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
			if _, err := q.DeleteUser(ctx, u.ID); err != nil {
				return err
			}
			return auditlog.Write(ctx, q, audit.Entry{Actor: by.Owner, Action: audit.UserDeleted, Object: "user " +
				u.Name})
		})
		if err == nil || !fault.Is(err, fault.Conflict) {
			return err
		}
	}
	return p.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if _, err := q.DeactivateUser(ctx, u.ID); err != nil {
			return err
		}
		if _, err := q.TellIncidentsOfTarget(ctx, postgresdb.TellIncidentsOfTargetParams{Actor: postgres.Storable(by.Owner), TargetID: u.TargetID,
			Text: postgres.CleanText("user " + u.Name + " was deleted; steps that name them page the fallback instead")}); err != nil {
			return err
		}
		if err := q.LeaveAllRotations(ctx, u.ID); err != nil {
			return err
		}
		if err := q.DropIcalKeysOfRequester(ctx, int64(u.ID)); err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Actor: by.Owner, Action: audit.UserSwitchedOff, Object: "user " +
			u.Name})
	})
}

// Teams returns the active teams that a person belongs to.
func (p *OncallPeople) Teams(ctx context.Context, id users.ID) ([]oncall.TeamName, error) {
	rows, err := postgres.Query(ctx, p.db, (*postgresdb.Queries).UserTeams, id)
	return postgres.Convert(rows, func(r postgresdb.UserTeamsRow) oncall.TeamName {
		return oncall.TeamName{ID: r.ID, Name: r.Name, Active: true}
	}), err
}

// Pinned returns the names of the teams that a person pinned.
func (p *OncallPeople) Pinned(ctx context.Context, id users.ID) ([]string, error) {
	return postgres.Query(ctx, p.db, (*postgresdb.Queries).PinnedTeams, id)
}

// Pin adds a team to those that a person pinned; a Conflict fault when it is one.
func (p *OncallPeople) Pin(ctx context.Context, id users.ID, team int64) error {
	return auditlog.Change(ctx, p.db, auditlog.User(id), audit.Entry{Action: audit.TeamPinned}, func(ctx context.Context, q *postgresdb.Queries) error {
		return postgres.RequireNew(q.PinTeam(ctx, postgresdb.PinTeamParams{UserID: id, TeamID: team}))
	})
}

// Unpin removes a team from those that a person pinned; a NotFound fault when it is not one.
func (p *OncallPeople) Unpin(ctx context.Context, id users.ID, team int64) error {
	return auditlog.Change(ctx, p.db, auditlog.User(id), audit.Entry{Action: audit.TeamUnpinned}, func(ctx context.Context, q *postgresdb.Queries) error {
		return postgres.RequireRow(q.UnpinTeam(ctx, postgresdb.UnpinTeamParams{UserID: id, TeamID: team}))
	})
}

// Search finds active teams and their services whose names contain the keyword, and active people whose name or full
// name begins with it, ignoring case. If team is not 0, only its members are found. Long lists are cut.
func (p *OncallPeople) Search(ctx context.Context, keyword string, team int64) (oncall.SearchResult, error) {
	out := oncall.SearchResult{Services: map[string][]string{}}
	keyword = strings.TrimSpace(postgres.Storable(keyword))
	err := p.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		if out.Teams, err = q.SearchTeams(ctx, keyword); err != nil {
			return err
		}
		services, err := q.SearchServices(ctx, keyword)
		if err != nil {
			return err
		}
		clear(out.Services)
		for _, s := range services {
			out.Services[s.Service] = append(out.Services[s.Service], s.Team)
		}
		params := postgresdb.SearchUsersParams{Keyword: keyword}
		if team != 0 {
			params.TeamID = &team
		}
		people, err := q.SearchUsers(ctx, params)
		out.Users = out.Users[:0]
		for _, u := range people {
			out.Users = append(out.Users, users.User{Name: u.Name, FullName: u.FullName})
		}
		return err
	})
	return out, err
}

// Clock returns the time of the database.
func (p *OncallPeople) Clock(ctx context.Context) (time.Time, error) { return p.db.Clock(ctx) }

// storablePtr is postgres.Storable for a text that may be nil.
func storablePtr(s *string) *string {
	if s == nil {
		return nil
	}
	clean := postgres.Storable(*s)
	return &clean
}
