package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/users"
)

// WhoAsk asks who is on call. Either a team or a service is named.
type WhoAsk struct {
	Team    string
	Service string
	Role    string        // "" = every role that the team's calendar or schedules know, at least primary
	At      string        // see oncall.ParseInstant, on the team's clock; "" = now
	Ahead   time.Duration // how far hand-offs and gaps are looked for
}

// WhoTeam is who is on call for a team.
type WhoTeam struct {
	Team  string    `json:"team"`
	Zone  string    `json:"timezone"`
	At    int64     `json:"at"`
	Until int64     `json:"until"` // end of the stretch in which hand-offs and gaps were looked for
	Roles []WhoRole `json:"roles"`
}

// WhoRole is who holds a role. Times are Unix seconds.
type WhoRole struct {
	Role   string      `json:"role"`
	People []WhoPerson `json:"people"` // empty = nobody
	Rule   string      `json:"rule"`   // why they, or why nobody
	// Calendar: the answer is from the calendar; else the team's fixed order stands in.
	Calendar bool          `json:"calendar"`
	Next     []WhoHandOver `json:"next"`
	Gaps     []WhoGap      `json:"gaps"`
}

// WhoPerson is somebody on call, and how they are reached.
type WhoPerson struct {
	Name     string                `json:"name"`
	FullName string                `json:"full_name"`
	Contacts map[users.Mode]string `json:"contacts"`
}

// WhoHandOver is a change of the people who hold a role; an empty list is nobody.
type WhoHandOver struct {
	At   int64    `json:"at"`
	From []string `json:"from"`
	To   []string `json:"to"`
}

// WhoGap is a stretch in which nobody has a shift.
type WhoGap struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// maxHandOffs is how many hand-offs of a role are told.
const maxHandOffs = 5

// Who answers who is on call, by the resolver that pages. A team or service that does not exist is a NotFound fault.
func (o *Operator) Who(ctx context.Context, a WhoAsk) ([]WhoTeam, error) {
	names, err := o.teamsAsked(ctx, a)
	if err != nil {
		return nil, err
	}
	directory, calendars := postgres.NewDirectory(o.db), postgres.NewOncallCalendars(o.db)
	w := who{ask: a, directory: directory, calendars: calendars, schedules: postgres.NewOncallSchedules(o.db), names: postgres.NewOncallNames(o.db),
		resolver: oncall.NewResolver(directory, oncall.NewForeseenCalendar(calendars, oncall.LiveConfig{}), time.Hour)}
	out := make([]WhoTeam, 0, len(names))
	for _, name := range names {
		team, err := o.teams.ByName(ctx, name)
		if fault.Is(err, fault.NotFound) {
			return nil, fault.Wrap(fault.NotFound, err, "there is no active team "+name)
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

func (o *Operator) teamsAsked(ctx context.Context, a WhoAsk) ([]string, error) {
	if a.Service == "" {
		return []string{a.Team}, nil
	}
	services := postgres.NewOncallNames(o.db)
	s, err := services.Service(ctx, a.Service)
	if fault.Is(err, fault.NotFound) {
		return nil, fault.Wrap(fault.NotFound, err, "there is no service "+a.Service)
	}
	if err != nil {
		return nil, err
	}
	teams, err := services.ServiceTeams(ctx, s.ID)
	if err == nil && len(teams) == 0 {
		err = fault.Newf(fault.NotFound, "no team is responsible for service %s", s.Name)
	}
	names := make([]string, len(teams))
	for i, t := range teams {
		names[i] = t.Name
	}
	return names, err
}

// who answers one ask.
type who struct {
	ask       WhoAsk
	directory *postgres.Directory
	calendars *postgres.OncallCalendars
	schedules *postgres.OncallSchedules
	names     *postgres.OncallNames
	resolver  *oncall.Resolver
}

func (w who) team(ctx context.Context, team oncall.Team) (WhoTeam, error) {
	zone, err := time.LoadLocation(team.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	at, err := oncall.ParseInstant(w.ask.At, zone, time.Now())
	if err != nil {
		return WhoTeam{}, err
	}
	until := at.Add(w.ask.Ahead)
	found, err := w.calendars.TeamCalendars(ctx, []int64{team.ID}, at.Add(-time.Hour), until)
	if err != nil {
		return WhoTeam{}, err
	}
	calendar := found[team.ID].TeamCalendar
	if calendar == nil {
		calendar = oncall.NewTeamCalendar(team.ID, at, until, nil)
	}
	out := WhoTeam{Team: team.Name, Zone: zone.String(), At: at.Unix(), Until: until.Unix(), Roles: []WhoRole{}}
	roles, err := w.roles(ctx, team, calendar)
	if err != nil {
		return WhoTeam{}, err
	}
	for _, role := range roles {
		answer, err := w.role(ctx, team, calendar, role, at, until)
		if err != nil {
			return WhoTeam{}, err
		}
		out.Roles = append(out.Roles, answer)
	}
	return out, nil
}

// roles returns the roles to tell of: the one that was asked for, or else primary first, then secondary, then the others by name.
// A role that a schedule is for counts although nobody has a shift: that is what somebody wants to hear.
func (w who) roles(ctx context.Context, team oncall.Team, calendar *oncall.TeamCalendar) ([]string, error) {
	if w.ask.Role != "" {
		role, err := w.known(ctx, strings.TrimPrefix(strings.ToLower(strings.TrimSpace(w.ask.Role)), "oncall-"))
		return []string{role}, err
	}
	schedules, err := w.schedules.ByTeam(ctx, team.ID)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{oncall.RolePrimary: true}
	for _, s := range schedules {
		found[strings.ToLower(s.Role)] = true
	}
	for _, s := range calendar.Shifts() {
		found[strings.ToLower(s.Role)] = true
	}
	first := []string{oncall.RolePrimary, oncall.RoleSecondary}
	var out []string
	for _, role := range append(first, slices.Sorted(maps.Keys(found))...) {
		if found[role] && oncall.OnDuty(role) && !slices.Contains(out, role) {
			out = append(out, role)
		}
	}
	return out, nil
}

// known refuses a role that does not exist: for a slip of the pen the team's fixed order would answer.
func (w who) known(ctx context.Context, role string) (string, error) {
	roles, err := w.names.Roles(ctx)
	if err != nil {
		return "", err
	}
	names := []string{oncall.RoleDirector}
	for _, r := range roles {
		names = append(names, strings.ToLower(r.Name))
	}
	if !slices.Contains(names, role) {
		slices.Sort(names)
		return "", fault.Newf(fault.NotFound, "there is no role %s; there are %s", role, strings.Join(slices.Compact(names), ", "))
	}
	return role, nil
}

func (w who) role(ctx context.Context, team oncall.Team, calendar *oncall.TeamCalendar, role string, at, until time.Time) (WhoRole, error) {
	asked := "oncall-" + role
	if role == oncall.RoleManager || role == oncall.RoleDirector {
		asked = role
	}
	answer, err := w.resolver.Resolve(ctx, oncall.Query{Role: asked, TargetID: team.TargetID, Name: team.Name}, at)
	if err != nil {
		return WhoRole{}, err
	}
	out := WhoRole{Role: role, Rule: answer.Rule, Calendar: len(calendar.OnCall(role, at)) > 0, People: []WhoPerson{}, Next: []WhoHandOver{}, Gaps: []WhoGap{}}
	handOffs := calendar.HandOffs(role, at, maxHandOffs)
	people, err := w.people(ctx, answer.Users, handOffs)
	if err != nil {
		return WhoRole{}, err
	}
	for _, id := range answer.Users {
		p := people[id]
		out.People = append(out.People, WhoPerson{Name: p.Name, FullName: p.FullName, Contacts: p.Contacts})
	}
	for _, h := range handOffs {
		out.Next = append(out.Next, WhoHandOver{At: h.At.Unix(), From: namesOf(h.From, people), To: namesOf(h.To, people)})
	}
	for _, g := range calendar.Gaps(role, at, until) {
		out.Gaps = append(out.Gaps, WhoGap{g.Start.Unix(), g.End.Unix()})
	}
	return out, nil
}

func (w who) people(ctx context.Context, ids []users.ID, handOffs []oncall.HandOff) (map[users.ID]users.Responder, error) {
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
