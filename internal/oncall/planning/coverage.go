package planning

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// Coverage reads and stores the coverage rules of teams.
type Coverage interface {
	Coverage(ctx context.Context, team int64, calendar *oncall.TeamCalendar) (scheduling.Coverage, error)
	SetCoverRule(ctx context.Context, team oncall.Profile, w scheduling.CoverRule, by oncall.By) error
}

// Shifts finds shifts.
type Shifts interface {
	Find(ctx context.Context, by oncall.ShiftQuery) ([]oncall.ShiftRow, error)
}

// MaxWindow is the longest window of a calendar that one request may read.
const MaxWindow = 3 * 366 * 24 * time.Hour

// Period is a time of a team.
type Period struct {
	users.OneTeam
	Start time.Time `query:"start" json:"start,omitzero"`
	End   time.Time `query:"end" json:"end,omitzero" doc:"At most three years after the start."`
}

// PeriodOfRoles is a time of some roles of a team.
type PeriodOfRoles struct {
	Period
	Roles []string `query:"role,explode" json:"role,omitempty" maxItems:"100" doc:"None = all."`
}

// Span returns the time; start and end are the defaults. It returns an Invalid fault if the end is not after the start,
// or more than MaxWindow after it.
func (p Period) Span(start, end time.Time) (s oncall.Span, err error) {
	s = oncall.Span{Start: p.Start, End: p.End}
	if s.Start.IsZero() {
		s.Start = start
	}
	if s.End.IsZero() {
		s.End = end
	}
	if !s.Start.Before(s.End) || s.End.Sub(s.Start) > MaxWindow {
		err = fault.Invalidf("end", "end must be after start, and at most three years")
	}
	return s, err
}

// within returns the team and the time of a period. The default is from start to end, in days from now.
func (p *Planning) within(ctx context.Context, of Period, start, end int) (t oncall.Profile, s oncall.Span, err error) {
	if t, err = p.deps.Finder.ActiveTeam(ctx, of.Team); err != nil {
		return t, s, err
	}
	now, err := p.deps.People.Clock(ctx)
	if err != nil {
		return t, s, err
	}
	s, err = of.Span(now.AddDate(0, 0, start), now.AddDate(0, 0, end))
	return t, s, err
}

// roles returns the stored spelling of the names of roles. It leaves out empty names.
func (p *Planning) roles(ctx context.Context, names []string) (out []string, err error) {
	for _, name := range names {
		if name == "" {
			continue
		}
		role, err := p.deps.Finder.Role(ctx, name)
		if err != nil {
			return nil, fault.When(err, fault.NotFound, fault.Invalidf("role", "there is no role %q", name))
		}
		out = append(out, role.Name)
	}
	return out, nil
}

// Gap is a time in which a team wants a role covered and nobody holds it.
type Gap struct {
	Role  string             `json:"role"`
	Kind  scheduling.GapKind `json:"kind" doc:"nobody, or not-populated where a schedule has not reached that far yet."`
	Start time.Time          `json:"start"`
	End   time.Time          `json:"end"`
}

// Cover says when a team wants a role covered.
type Cover struct {
	Role  string           `json:"role"`
	Cover scheduling.Cover `json:"cover" doc:"When the role must be held. schedules: always, but if all schedules of the role are limited to certain hours, in those hours only. hours: in the hours of the field hours. always, never."`
	Hours []Window         `json:"hours"`
}

// CoverSettings are what people edit of a Cover.
type CoverSettings struct {
	Cover scheduling.Cover `json:"cover" doc:"When the role must be held. schedules: always, but if all schedules of the role are limited to certain hours, in those hours only. hours: in the hours of the field hours. always, never."`
	Hours []Window         `json:"hours" required:"false" doc:"Required if cover is hours; otherwise not allowed."`
}

// CoverEdit sets when a team wants a role covered.
type CoverEdit struct {
	users.OneTeam
	Role string        `path:"role" json:"role"`
	Body CoverSettings `json:"body"`
}

// Share is what a person carried.
type Share struct {
	User     string         `json:"user"`
	FullName operation.Text `json:"full_name"`
	Shifts   int            `json:"shifts"`
	Hours    float64        `json:"hours"`
	Nights   float64        `json:"nights" doc:"Hours from 22:00 to 06:00 on the clock of the team."`
	Weekends float64        `json:"weekends" doc:"Hours on Saturdays and Sundays."`
	Holidays float64        `json:"holidays" doc:"Hours on holidays of the team."`
}

// The operations on coverage.
var (
	ListGaps = operation.Define[PeriodOfRoles, operation.Page[Gap]](operation.Doc{Name: "team.gaps",
		Method: http.MethodGet, Path: "/v1/teams/{team}/gaps", Needs: operation.Reader,
		Summary: "When nobody holds a role that the team wants covered", Note: "By default of the next 30 days."})
	ListCoverage = operation.Define[users.OneTeam, operation.Page[Cover]](operation.Doc{Name: "team.coverage",
		Method: http.MethodGet, Path: "/v1/teams/{team}/coverage", Needs: operation.Reader,
		Summary: "When the team wants its roles covered"})
	SetCoverage = operation.Define[CoverEdit, Cover](operation.Doc{Name: "team.set-coverage", Method: http.MethodPut,
		Path: "/v1/teams/{team}/coverage/{role}", Needs: operation.Member, Rule: operation.OfTeam,
		Audit: []audit.Action{audit.CoverageChanged}, Summary: "Say when the team wants a role covered",
		Errors: []int{409, 422}})
	ListShares = operation.Define[PeriodOfRoles, operation.Page[Share]](operation.Doc{Name: "team.fairness",
		Method: http.MethodGet, Path: "/v1/teams/{team}/fairness", Needs: operation.Reader,
		Summary: "How much each person was on call: shifts and hours", Note: "Default: the last 90 days."})
)

func (p *Planning) gaps(ctx context.Context, _ operation.Actor, of PeriodOfRoles) (out operation.Page[Gap], err error) {
	t, span, err := p.within(ctx, of.Period, 0, 30)
	if err != nil {
		return out, err
	}
	roles, err := p.roles(ctx, of.Roles)
	if err != nil {
		return out, err
	}
	found, err := p.deps.Calendars.TeamCalendars(ctx, []int64{t.ID}, span.Start, span.End)
	if err != nil {
		return out, err
	}
	calendar := found[t.ID].TeamCalendar
	coverage, err := p.deps.Coverage.Coverage(ctx, t.ID, calendar)
	if err != nil {
		return out, err
	}
	if len(roles) == 0 {
		roles = coverage.Roles()
	}
	var gaps []Gap
	for _, gap := range coverage.Gaps(calendar, span.Start, span.End, roles...) {
		gaps = append(gaps, Gap{gap.Role, gap.Kind, gap.Start.UTC(), gap.End.UTC()})
	}
	return whole(gaps), nil
}

// coverage has a row for each role that has a rule or schedules. A role without a rule is covered as its schedules say.
func (p *Planning) coverage(ctx context.Context, _ operation.Actor, of users.OneTeam) (out operation.Page[Cover], err error) {
	t, err := p.deps.Finder.ActiveTeam(ctx, of.Team)
	if err != nil {
		return out, err
	}
	coverage, err := p.deps.Coverage.Coverage(ctx, t.ID, nil)
	if err != nil {
		return out, err
	}
	var rows []Cover
	seen := map[string]bool{}
	for _, rule := range coverage.Rules {
		seen[rule.Role] = true
		rows = append(rows, Cover{rule.Role, rule.Cover, windowsOf(rule.Hours)})
	}
	for _, role := range coverage.Roles() {
		if !seen[role] {
			rows = append(rows, Cover{role, scheduling.CoverSchedules, []Window{}})
		}
	}
	return whole(rows), nil
}

func (p *Planning) setCoverage(ctx context.Context, by operation.Actor, e CoverEdit) (Cover, error) {
	t, err := p.Own(ctx, by, e.Team)
	if err != nil {
		return Cover{}, err
	}
	role, err := p.deps.Finder.Role(ctx, e.Role)
	if err != nil {
		return Cover{}, err
	}
	rule := scheduling.CoverRule{Role: role.Name, Cover: e.Body.Cover}
	if rule.Hours, err = readWindows("hours", e.Body.Hours); err != nil {
		return Cover{}, err
	}
	if err := rule.Check(); err != nil {
		return Cover{}, err
	}
	return Cover{rule.Role, rule.Cover, windowsOf(rule.Hours)}, p.deps.Coverage.SetCoverRule(ctx, t, rule, Author(by, e.Body))
}

// shares has a row for each person who was on call.
func (p *Planning) shares(ctx context.Context, _ operation.Actor, of PeriodOfRoles) (out operation.Page[Share], err error) {
	t, span, err := p.within(ctx, of.Period, -90, 0)
	if err != nil {
		return out, err
	}
	start, end := span.Start.Unix(), span.End.Unix()
	found, err := p.deps.Shifts.Find(ctx, oncall.ShiftQuery{Teams: []int64{t.ID}, End: oncall.Range{Min: &start},
		Start: oncall.Range{Max: &end}})
	if err != nil {
		return out, err
	}
	shifts, names := make([]oncall.Shift, len(found)), map[users.ID]oncall.ShiftRow{}
	for i, row := range found {
		shifts[i], names[row.User] = row.Shift, row
	}
	holidays, err := p.deps.Holidays.Holidays(ctx, t.ID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return out, err
	}
	off := map[oncall.Date]bool{}
	for _, d := range holidays.Days {
		off[d.Day] = true
	}
	roles, err := p.roles(ctx, of.Roles)
	if err != nil {
		return out, err
	}
	var rows []Share
	for _, l := range scheduling.Fairness(shifts, p.deps.Finder.ZoneOf(t), off, span.Start, span.End, roles...) {
		rows = append(rows, Share{names[l.User].UserName, operation.Text(names[l.User].FullName), l.Shifts,
			l.Total.Hours(), l.Night.Hours(), l.Weekend.Hours(), l.Holidays.Hours()})
	}
	return whole(rows), nil
}
