package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/catalog/pg"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/oncall"
	pgoncall "github.com/iris-oncall/iris/internal/oncall/pg"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

// maxHandOffs is how many hand-offs of a role are returned.
const maxHandOffs = 5

// OnCall finds who is on call. It is safe for concurrent use.
type OnCall struct {
	db      *postgres.DB
	teams   *pgusers.Teams
	targets *pg.Targets
	names   *pg.Names
}

// NewOnCall returns an OnCall on the database.
func NewOnCall(db *postgres.DB, apps *pg.Applications) *OnCall {
	return &OnCall{db: db, teams: pgusers.NewTeams(db), targets: pg.NewTargets(db), names: pg.NewNames(db, apps)}
}

// Who returns who is on call. It uses the same resolver as pages. It returns a NotFound fault if the team, service or
// role does not exist, and an Invalid fault if At is not a time.
func (o *OnCall) Who(ctx context.Context, a scheduling.Ask) ([]scheduling.Team, error) {
	a.Role = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(a.Role)), "oncall-")
	if err := o.roleExists(ctx, a.Role); err != nil {
		return nil, err
	}
	names, err := o.teamsAsked(ctx, a)
	if err != nil {
		return nil, err
	}
	directory, calendars := pgescalation.NewDirectory(o.db), pgoncall.NewCalendars(o.db)
	w := asked{ask: a, db: o.db, directory: directory, calendars: calendars,
		resolver: oncall.NewResolver(directory, oncall.NewSimulationCalendar(calendars, oncall.LiveConfig{}),
			time.Hour)}
	out := make([]scheduling.Team, 0, len(names))
	for _, name := range names {
		team, err := o.teams.ByName(ctx, name)
		if fault.Is(err, fault.NotFound) {
			return nil, unknown(ctx, o.names, "there is no active team ", "team", name)
		}
		if err != nil {
			return nil, err
		}
		answer, err := w.team(ctx, team)
		if err != nil {
			return nil, err
		}
		out = append(out, answer)
	}
	return out, nil
}

// roleExists checks that a calendar or a plan can have the role. For a misspelt role the resolver would use the team's
// fixed order.
func (o *OnCall) roleExists(ctx context.Context, role string) error {
	if role == "" {
		return nil
	}
	inCalendars, err := pgoncall.NewRolesAndServices(o.db).Roles(ctx)
	if err != nil {
		return err
	}
	inPlans, err := o.targets.Roles(ctx)
	if err != nil {
		return err
	}
	var known []string
	for _, r := range inCalendars {
		known = append(known, strings.ToLower(r.Name))
	}
	for _, r := range inPlans {
		name, onCall := strings.CutPrefix(strings.ToLower(r.Name), "oncall-")
		if onCall || name == oncall.RoleManager || name == oncall.RoleDirector {
			known = append(known, name)
		}
	}
	if slices.Contains(known, role) {
		return nil
	}
	slices.Sort(known)
	known = slices.Compact(known)
	return fault.Newf(fault.NotFound, "there is no role %s; known roles: %s%s", role, strings.Join(known, ", "),
		fault.DidYouMean(role, known))
}

func (o *OnCall) teamsAsked(ctx context.Context, a scheduling.Ask) ([]string, error) {
	if a.Service == "" {
		return []string{a.Team}, nil
	}
	services := pgoncall.NewRolesAndServices(o.db)
	s, err := services.Service(ctx, a.Service)
	if fault.Is(err, fault.NotFound) {
		return nil, unknown(ctx, o.names, "there is no service ", "service", a.Service)
	}
	if err != nil {
		return nil, err
	}
	teams, err := services.ServiceTeams(ctx, s.ID)
	if err == nil && len(teams) == 0 {
		err = fault.Newf(fault.NotFound, "no team owns service %s: name a team", s.Name)
	}
	names := make([]string, len(teams))
	for i, t := range teams {
		names[i] = t.Name
	}
	return names, err
}

// asked answers one question.
type asked struct {
	ask       scheduling.Ask
	db        *postgres.DB
	directory *pgescalation.Directory
	calendars *pgoncall.Calendars
	resolver  *oncall.Resolver
}

func (w asked) team(ctx context.Context, team oncall.Team) (scheduling.Team, error) {
	zone, err := time.LoadLocation(team.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	now, err := w.db.Clock(ctx)
	if err != nil {
		return scheduling.Team{}, err
	}
	at, err := oncall.ParseInstant(w.ask.At, zone, now)
	if err != nil {
		return scheduling.Team{}, err
	}
	until := at.Add(w.ask.Ahead)
	found, err := w.calendars.TeamCalendars(ctx, []int64{team.ID}, at.Add(-time.Hour), until)
	if err != nil {
		return scheduling.Team{}, err
	}
	calendar := found[team.ID].TeamCalendar
	if calendar == nil {
		calendar = oncall.NewTeamCalendar(team.ID, at, until, nil)
	}
	coverage, err := pgoncall.NewCoverage(w.db).Coverage(ctx, team.ID, calendar)
	if err != nil {
		return scheduling.Team{}, err
	}
	calendar = calendar.Without(coverage.Off)
	out := scheduling.Team{Team: team.Name, Zone: zone.String(), At: at.UTC(), Until: until.UTC(),
		Roles: []scheduling.Role{}}
	for _, role := range scheduling.Roles(w.ask.Role, calendar, coverage.Roles()) {
		answer, err := w.role(ctx, team, calendar, coverage, role, at, until)
		if err != nil {
			return scheduling.Team{}, err
		}
		out.Roles = append(out.Roles, answer)
	}
	return out, nil
}

func (w asked) role(ctx context.Context, team oncall.Team, calendar *oncall.TeamCalendar, coverage scheduling.Coverage, role string, at, until time.Time) (scheduling.Role, error) {
	asked := "oncall-" + role
	if role == oncall.RoleManager || role == oncall.RoleDirector {
		asked = role
	}
	answer, err := w.resolver.Resolve(ctx, oncall.Query{Role: asked, TargetID: team.TargetID, Name: team.Name}, at)
	if err != nil {
		return scheduling.Role{}, err
	}
	out := scheduling.Role{Role: role, Rule: answer.Rule, Calendar: len(calendar.OnCall(role, at)) > 0,
		People: []scheduling.Person{}, Next: []scheduling.HandOff{}, Gaps: []scheduling.PersonGap{}}
	handOffs := calendar.HandOffs(role, at, maxHandOffs)
	people, err := w.people(ctx, answer.Users, handOffs)
	if err != nil {
		return scheduling.Role{}, err
	}
	for _, id := range answer.Users {
		p := people[id]
		out.People = append(out.People, scheduling.Person{Name: p.Name, FullName: p.FullName, Contacts: p.Contacts})
	}
	for _, h := range handOffs {
		out.Next = append(out.Next, scheduling.HandOff{At: h.At.UTC(), From: namesOf(h.From, people),
			To: namesOf(h.To, people)})
	}
	for _, g := range coverage.Gaps(calendar, at, until, role) {
		out.Gaps = append(out.Gaps, scheduling.PersonGap{Kind: g.Kind, Start: g.Start.UTC(), End: g.End.UTC()})
	}
	return out, nil
}

func (w asked) people(ctx context.Context, ids []users.ID, handOffs []oncall.HandOff) (map[users.ID]users.Responder, error) {
	all := slices.Clone(ids)
	for _, h := range handOffs {
		all = append(append(all, h.From...), h.To...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	keys := make([]users.ResponderKey, len(all))
	for i, id := range all {
		keys[i] = users.ResponderKey{User: id}
	}
	found, err := w.directory.Responders(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read people: %w", err)
	}
	out := make(map[users.ID]users.Responder, len(found))
	for k, p := range found {
		out[k.User] = p
	}
	return out, nil
}

func namesOf(ids []users.ID, people map[users.ID]users.Responder) []string {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		out = append(out, people[id].Name)
	}
	return out
}
