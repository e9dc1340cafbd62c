package operator

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/postgres/calendar"
	"github.com/iris-oncall/iris/internal/postgres/catalog"
	pgpeople "github.com/iris-oncall/iris/internal/postgres/people"
	"github.com/iris-oncall/iris/internal/users"
)

// usualReminders are those of a server whose configuration says nothing of them.
func usualReminders() config.Oncall {
	return config.Oncall{
		ReminderModes: []string{"email"}, ReminderRoles: []string{"primary", "secondary", "shadow", "manager"},
		ReminderTimes: []time.Duration{24 * time.Hour, 7 * 24 * time.Hour},
	}
}

// NewCalendar is the on-call side of a team to be set up.
type NewCalendar struct {
	Team     oncall.TeamSettings // the team is made when there is none of that name
	Admins   []string            // the first one makes the team
	Services []string
	Roster   string
	Members  []string // of the roster, in order
	// Schedules are made for the roster. Only Name, Algorithm, Advanced, Threshold, Pattern and Rotation are looked at;
	// members of a rotation's layers are the roster's, in its order, when there are none.
	Schedules map[string]scheduling.ScheduleDraft // role -> schedule
}

// AddCalendar sets up a team's administrators, services, roster and schedules; a Conflict fault when the roster exists. The
// shifts are made by the processors.
func (o *Operator) AddCalendar(ctx context.Context, n NewCalendar) error {
	by := oncall.By{Owner: operatorName}
	teams := pgpeople.NewOncallTeams(o.db, Reminders(usualReminders()))
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
	id, err := rosters.Create(ctx, team, n.Roster, by)
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
		if err := rosters.AddMember(ctx, team, oncall.Roster{ID: id, Name: n.Roster}, known[name], true, by); err != nil {
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
	names := catalog.NewRolesAndServices(o.db)
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
	roles, err := catalog.NewRolesAndServices(o.db).Roles(ctx)
	if err != nil {
		return err
	}
	schedules := calendar.NewSchedules(o.db)
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
		whole := scheduling.Schedule{Algorithm: d.Algorithm, Pattern: d.Pattern, Rotation: d.Rotation, Threshold: d.Threshold}
		if err := whole.Check(); err != nil {
			return err
		}
		if _, err := schedules.Create(ctx, d, by); err != nil {
			return err
		}
	}
	return nil
}

// Reminders are what somebody who joins a team hears of its shifts.
func Reminders(c config.Oncall) []oncall.NoticeSetting {
	var out []oncall.NoticeSetting
	for _, before := range c.ReminderTimes {
		for _, mode := range c.ReminderModes {
			out = append(out, oncall.NoticeSetting{Mode: users.Mode(mode), Type: "oncall_reminder", Before: &before, Roles: c.ReminderRoles})
		}
	}
	return out
}
