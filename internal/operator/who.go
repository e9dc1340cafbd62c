package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/postgres"
	pgcalendar "github.com/iris-oncall/iris/internal/postgres/calendar"
	"github.com/iris-oncall/iris/internal/postgres/engine"
	"github.com/iris-oncall/iris/internal/users"
)

// WhoAsk selects whose on-call state is returned. Either Team or Service is set.
type WhoAsk struct {
	Team    string
	Service string
	Role    string        // "" = all roles in the team's calendar, and primary
	At      string        // see oncall.ParseInstant, on the team's clock; "" = now
	Ahead   time.Duration // hand-offs and gaps within it are returned
}

// WhoTeam is who is on call for a team. Its times, and those of its parts, are Unix seconds.
type WhoTeam struct {
	Team  string    `json:"team"`
	Zone  string    `json:"timezone"`
	At    int64     `json:"at"`
	Until int64     `json:"until"` // end of the search for hand-offs and gaps
	Roles []WhoRole `json:"roles"`
}

// WhoRole is who holds a role.
type WhoRole struct {
	Role   string      `json:"role"`
	People []WhoPerson `json:"people"` // empty = nobody is on call
	Rule   string      `json:"rule"`   // the rule that chose them, or why nobody is on call
	// Calendar reports whether the calendar has the answer. Otherwise the fixed order of the team was used.
	Calendar bool         `json:"calendar"`
	Next     []WhoHandOff `json:"next"`
	Gaps     []WhoGap     `json:"gaps"`
}

// WhoPerson is a person on call, with their contacts.
type WhoPerson struct {
	Name     string                `json:"name"`
	FullName string                `json:"full_name"`
	Contacts map[users.Mode]string `json:"contacts"`
}

// WhoHandOff is a hand-off. An empty list means nobody.
type WhoHandOff struct {
	At   int64    `json:"at"`
	From []string `json:"from"`
	To   []string `json:"to"`
}

// WhoGap is a time that the team wants to be covered and in which nobody has a shift.
type WhoGap struct {
	// Kind is nobody, or not-populated if a schedule has not filled the time yet.
	Kind  scheduling.GapKind `json:"kind"`
	Start int64              `json:"start"`
	End   int64              `json:"end"`
}

// maxHandOffs is how many hand-offs of a role are returned.
const maxHandOffs = 5

// Who returns who is on call. It uses the same resolver as pages. It returns a NotFound fault if the team, service or role
// does not exist, and an Invalid fault if At is not a time.
func (o *Operator) Who(ctx context.Context, a WhoAsk) ([]WhoTeam, error) {
	a.Role = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(a.Role)), "oncall-")
	if err := o.roleExists(ctx, a.Role); err != nil {
		return nil, err
	}
	names, err := o.teamsAsked(ctx, a)
	if err != nil {
		return nil, err
	}
	directory, calendars := engine.NewDirectory(o.db), pgcalendar.NewCalendars(o.db)
	w := who{ask: a, db: o.db, directory: directory, calendars: calendars,
		resolver: oncall.NewResolver(directory, oncall.NewSimulationCalendar(calendars, oncall.LiveConfig{}), time.Hour)}
	out := make([]WhoTeam, 0, len(names))
	for _, name := range names {
		team, err := o.teams.ByName(ctx, name)
		if fault.Is(err, fault.NotFound) {
			return nil, o.unknown(ctx, "there is no active team ", "team", name)
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
func (o *Operator) roleExists(ctx context.Context, role string) error {
	if role == "" {
		return nil
	}
	inCalendars, err := pgcalendar.NewRolesAndServices(o.db).Roles(ctx)
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
	return fault.Newf(fault.NotFound, "there is no role %s; known roles: %s%s", role, strings.Join(known, ", "), fault.DidYouMean(role, known))
}

func (o *Operator) teamsAsked(ctx context.Context, a WhoAsk) ([]string, error) {
	if a.Service == "" {
		return []string{a.Team}, nil
	}
	services := pgcalendar.NewRolesAndServices(o.db)
	s, err := services.Service(ctx, a.Service)
	if fault.Is(err, fault.NotFound) {
		return nil, o.unknown(ctx, "there is no service ", "service", a.Service)
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

// who answers one WhoAsk.
type who struct {
	ask       WhoAsk
	db        *postgres.DB
	directory *engine.Directory
	calendars *pgcalendar.Calendars
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
	coverage, err := pgcalendar.NewCoverage(w.db).Coverage(ctx, team.ID, calendar)
	if err != nil {
		return WhoTeam{}, err
	}
	calendar = calendar.Without(coverage.Off)
	out := WhoTeam{Team: team.Name, Zone: zone.String(), At: at.Unix(), Until: until.Unix(), Roles: []WhoRole{}}
	for _, role := range rolesAsked(w.ask.Role, calendar, coverage.Roles()) {
		answer, err := w.role(ctx, team, calendar, coverage, role, at, until)
		if err != nil {
			return WhoTeam{}, err
		}
		out.Roles = append(out.Roles, answer)
	}
	return out, nil
}

// rolesAsked returns the roles to answer for: primary, secondary, then the others by name.
func rolesAsked(role string, calendar *oncall.TeamCalendar, wanted []string) []string {
	if role != "" {
		return []string{role}
	}
	var others []string
	for _, s := range calendar.Shifts() {
		wanted = append(wanted, s.Role)
	}
	for _, name := range wanted {
		name = strings.ToLower(name)
		if oncall.OnDuty(name) && name != oncall.RolePrimary && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	if i := slices.Index(others, oncall.RoleSecondary); i > 0 {
		others = slices.Insert(slices.Delete(others, i, i+1), 0, oncall.RoleSecondary)
	}
	return append([]string{oncall.RolePrimary}, others...)
}

func (w who) role(ctx context.Context, team oncall.Team, calendar *oncall.TeamCalendar, coverage scheduling.Coverage, role string, at, until time.Time) (WhoRole, error) {
	asked := "oncall-" + role
	if role == oncall.RoleManager || role == oncall.RoleDirector {
		asked = role
	}
	answer, err := w.resolver.Resolve(ctx, oncall.Query{Role: asked, TargetID: team.TargetID, Name: team.Name}, at)
	if err != nil {
		return WhoRole{}, err
	}
	out := WhoRole{Role: role, Rule: answer.Rule, Calendar: len(calendar.OnCall(role, at)) > 0, People: []WhoPerson{}, Next: []WhoHandOff{}, Gaps: []WhoGap{}}
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
		out.Next = append(out.Next, WhoHandOff{At: h.At.Unix(), From: namesOf(h.From, people), To: namesOf(h.To, people)})
	}
	for _, g := range coverage.Gaps(calendar, at, until, role) {
		out.Gaps = append(out.Gaps, WhoGap{g.Kind, g.Start.Unix(), g.End.Unix()})
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

// GapKind is the kind of a gap in a calendar.
type GapKind = scheduling.GapKind

// The kinds of gaps.
const (
	GapNobody       = scheduling.GapNobody
	GapNotPopulated = scheduling.GapNotPopulated
)
