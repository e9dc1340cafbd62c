package operator

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/pg"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
	pgpeople "github.com/iris-oncall/iris/internal/users/pg"
)

// NewCalendar is the calendar of a team to be added.
type NewCalendar struct {
	Team     oncall.TeamSettings // the team is created if it does not exist
	Admins   []string            // user names, at least one; the first one creates the team
	Services []string
	Roster   string
	Members  []string // user names in the roster, in order
	// Schedules are the schedules of the roster, by role. Only Name, Algorithm, Advanced, Threshold, Pattern and
	// Rotation are read. A layer of a rotation without members gets the members of the roster, in order.
	Schedules map[string]scheduling.ScheduleDraft
}

// AddCalendar stores administrators, services, roster and schedules of a team, not in one transaction. The processors
// create the shifts. It returns an Invalid fault without administrators, a Conflict fault if the roster exists, and a
// NotFound fault if a person does not exist.
func (o *Operator) AddCalendar(ctx context.Context, n NewCalendar) error {
	if len(n.Admins) == 0 {
		return fault.Invalidf("admins", "a team needs at least one administrator")
	}
	by := oncall.By{Owner: operatorName}
	teams := pgpeople.NewOncallTeams(o.db, Reminders([]time.Duration{24 * time.Hour, 7 * 24 * time.Hour},
		[]string{"email"},
		[]string{oncall.RolePrimary, oncall.RoleSecondary, "shadow", oncall.RoleManager}))
	people, rosters := pgpeople.NewOncallPeople(o.db), pgpeople.NewRosters(teams)
	known := map[string]oncall.Person{}
	for _, name := range append(append([]string{}, n.Admins...), n.Members...) {
		p, err := people.ByName(ctx, name)
		if err != nil {
			return err
		}
		known[name] = p
	}
	if _, err := teams.ByName(ctx, n.Team.Name); fault.Is(err, fault.NotFound) {
		if _, err := teams.Create(ctx, n.Team, known[n.Admins[0]].ID, by); err != nil {
			return err
		}
	}
	team, err := teams.ByName(ctx, n.Team.Name)
	if err != nil {
		return err
	}
	id, err := rosters.Create(ctx, team, n.Roster, nil, by)
	if err != nil {
		return err
	}
	for _, name := range n.Admins {
		if err := teams.AddAdmin(ctx, team, known[name], by); err != nil && !fault.Is(err, fault.Conflict) {
			return err
		}
	}
	order := []users.ID{}
	for _, name := range n.Members {
		if err := rosters.SetMember(ctx, team, oncall.Roster{ID: id, Name: n.Roster},
			oncall.RosterMember{User: known[name].ID, Name: known[name].Name, InRotation: true}, by); err != nil {
			return err
		}
		order = append(order, known[name].ID)
	}
	if err := o.claim(ctx, team, n.Services, by); err != nil {
		return err
	}
	return o.addSchedules(ctx, team, id, order, n.Schedules, by)
}

func (o *Operator) claim(ctx context.Context, team oncall.Profile, services []string, by oncall.By) error {
	names := pg.NewRolesAndServices(o.db)
	for _, name := range services {
		if err := names.SaveService(ctx, 0, name, by); err != nil && !fault.Is(err, fault.Conflict) {
			return err
		}
		s, err := names.Service(ctx, name)
		if err != nil {
			return err
		}
		if err := names.Claim(ctx, team.ID, s.ID); err != nil && !fault.Is(err, fault.Conflict) {
			return err
		}
	}
	return nil
}

func (o *Operator) addSchedules(ctx context.Context, team oncall.Profile, roster int64, order []users.ID, drafts map[string]scheduling.ScheduleDraft, by oncall.By) error {
	roles, err := pg.NewRolesAndServices(o.db).Roles(ctx)
	if err != nil {
		return err
	}
	schedules := pg.NewSchedules(o.db)
	for _, role := range roles {
		d, wanted := drafts[role.Name]
		if !wanted {
			continue
		}
		d.TeamID, d.RosterID, d.RoleID = team.ID, roster, role.ID
		if d.Algorithm == scheduling.RoundRobin {
			d.Order = order
		}
		if d.Rotation != nil {
			for i := range d.Rotation.Layers {
				l := &d.Rotation.Layers[i]
				for j := 0; len(l.Members) < len(order); j++ {
					l.Members = append(l.Members, scheduling.LayerMember{User: order[j]})
				}
			}
		}
		whole := scheduling.Schedule{Algorithm: d.Algorithm, Pattern: d.Pattern, Rotation: d.Rotation,
			Threshold: d.Threshold}
		if err := whole.Check(); err != nil {
			return err
		}
		if _, err := schedules.Create(ctx, d, by); err != nil {
			return err
		}
	}
	return nil
}

// Reminders returns the reminders that a new member of a team gets: one for each time before a shift and each mode.
// They apply to shifts of the roles.
func Reminders(before []time.Duration, modes, roles []string) []oncall.NoticeSetting {
	var out []oncall.NoticeSetting
	for _, b := range before {
		for _, mode := range modes {
			out = append(out, oncall.NoticeSetting{Mode: users.Mode(mode), Type: "oncall_reminder", Before: &b,
				Roles: roles})
		}
	}
	return out
}
