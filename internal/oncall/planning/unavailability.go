package planning

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// Absences stores the times in which people cannot be on call.
type Absences interface {
	Absences(ctx context.Context, people []users.ID) ([]scheduling.StoredAbsence, error)
	Absence(ctx context.Context, id int64) (scheduling.StoredAbsence, error)
	AddAbsence(ctx context.Context, a scheduling.StoredAbsence) (int64, error)
	DropAbsence(ctx context.Context, id int64) error
}

const (
	// mostAbsences is the approximate limit of unavailabilities of a person, besides those of subscribed calendars.
	// Populating a team reads all of them.
	mostAbsences = 200
	// mostCompared is the maximum number of shifts that one request compares with unavailabilities.
	mostCompared = 2000
)

// Absence is a time in which a person cannot be on call.
type Absence struct {
	ID           int64          `json:"id"`
	User         string         `json:"user"`
	Start        time.Time      `json:"start"`
	End          time.Time      `json:"end"`
	TimeZone     string         `json:"timezone"`
	Rule         operation.Text `json:"rule"`
	Note         operation.Text `json:"note"`
	SetBy        operation.Text `json:"set_by"`
	Subscription *int64         `json:"subscription" nullable:"true" doc:"The calendar subscription from which it comes; null = somebody entered it."`
	Scope        string         `json:"scope" enum:"person,team"`
}

func absenceOf(s scheduling.StoredAbsence, at oncall.Span) Absence {
	out := Absence{ID: s.ID, User: s.UserName, Start: at.Start.UTC(), End: at.End.UTC(), TimeZone: s.Zone.String(),
		Rule: operation.Text(s.Rule), Note: operation.Text(s.Reason), SetBy: operation.Text(s.SetBy), Scope: "team"}
	if s.TeamID == 0 {
		out.Scope = "person"
	}
	if s.Subscription != 0 {
		out.Subscription = &s.Subscription
	}
	return out
}

// AbsenceSettings are a time in which a person cannot be on call.
type AbsenceSettings struct {
	User     operation.Text `json:"user" required:"false" doc:"Default: the caller."`
	Start    time.Time      `json:"start"`
	End      time.Time      `json:"end" doc:"The end of the first occurrence."`
	Rule     operation.Text `json:"rule" required:"false" doc:"An RRULE of RFC 5545; none = once."`
	Note     operation.Text `json:"note" required:"false"`
	TimeZone operation.Text `json:"timezone" required:"false" doc:"Default: that of the team."`
}

// NewAbsence adds an unavailability.
type NewAbsence struct {
	users.OneTeam
	Preview bool            `query:"preview" json:"preview,omitempty" doc:"true: nothing is stored."`
	Body    AbsenceSettings `json:"body"`
}

// MadeAbsence is the answer to NewAbsence.
type MadeAbsence struct {
	ID        int64      `json:"id" doc:"0 in a preview."`
	Conflicts []Conflict `json:"conflicts" doc:"Shifts that it overlaps."`
}

// Made reports whether an unavailability was stored.
func (m MadeAbsence) Made() bool { return m.ID != 0 }

// OneAbsence names an unavailability.
type OneAbsence struct {
	ID int64 `path:"id" json:"id"`
}

// Conflict is a shift during an unavailability of its person.
type Conflict struct {
	EventID        int64          `json:"event_id"`
	Team           string         `json:"team"`
	Role           string         `json:"role"`
	User           string         `json:"user"`
	FullName       operation.Text `json:"full_name"`
	Start          time.Time      `json:"start"`
	End            time.Time      `json:"end"`
	Unavailability int64          `json:"unavailability"`
	SetBy          operation.Text `json:"set_by"`
}

// The operations on unavailability.
var (
	ListAbsences = operation.Define[Period, operation.Page[Absence]](operation.Doc{Name: "unavailability.list",
		Method: http.MethodGet, Path: "/v1/teams/{team}/unavailability", Needs: operation.Reader,
		Summary: "When members cannot be on call", Note: "With start, the list has each occurrence of a recurring unavailability, up to end (default: 30 days from now)."})
	AddAbsence = operation.Define[NewAbsence, MadeAbsence](operation.Doc{Name: "unavailability.add",
		Method: http.MethodPost, Path: "/v1/teams/{team}/unavailability", Needs: operation.Member,
		Rule: operation.OfPersonInTeam, Status: http.StatusOK, Audit: []audit.Action{audit.UnavailabilityAdded},
		Summary: "Say when somebody cannot be on call", Errors: []int{404, 409, 422},
		Note: "If the person, an administrator or an application adds it, it counts in all teams of the person. If an administrator of the team adds it, it counts in that team only."})
	RemoveAbsence = operation.Define[OneAbsence, operation.None](operation.Doc{Name: "unavailability.remove",
		Method: http.MethodDelete, Path: "/v1/unavailability/{id}", Needs: operation.Member,
		Rule: operation.OfPersonInTeam, Audit: []audit.Action{audit.UnavailabilityRemoved},
		Summary: "Remove an unavailability", Errors: []int{409}, Note: "409: it comes from a calendar subscription."})
	ListConflicts = operation.Define[Period, operation.Page[Conflict]](operation.Doc{Name: "team.conflicts",
		Method: http.MethodGet, Path: "/v1/teams/{team}/conflicts", Needs: operation.Reader,
		Summary: "Shifts of people who cannot be on call then", Note: "By default of the next 30 days."})
)

// absencesIn returns the unavailabilities of the people of a team.
func (p *Planning) absencesIn(ctx context.Context, team int64) ([]scheduling.StoredAbsence, error) {
	people, err := p.deps.Members.People(ctx, team)
	if err != nil {
		return nil, err
	}
	ids := make([]users.ID, len(people))
	for i, one := range people {
		ids[i] = one.ID
	}
	return p.deps.Absences.Absences(ctx, ids)
}

// absences are those that count in a team. A member also gets their own of other teams.
func (p *Planning) absences(ctx context.Context, by operation.Actor, of Period) (out operation.Page[Absence], err error) {
	t, span, err := p.within(ctx, of, 0, 30)
	if err != nil {
		return out, err
	}
	found, err := p.absencesIn(ctx, t.ID)
	if err != nil {
		return out, err
	}
	var rows []Absence
	for _, s := range found {
		if !s.CountsIn(t.ID) && int64(s.User) != by.Person {
			continue
		}
		if of.Start.IsZero() {
			rows = append(rows, absenceOf(s, oncall.Span{Start: s.Start.In(s.Zone), End: s.End()}))
			continue
		}
		times, err := s.Between(span.Start, span.End)
		if err != nil {
			continue // populate logs the rules that cannot be parsed
		}
		for _, at := range times[:min(len(times), mostAbsences)] {
			rows = append(rows, absenceOf(s, oncall.Span{Start: at.Start, End: at.End}))
		}
	}
	return whole(rows), nil
}

// mayEdit allows what belongs to a person: to the person, to administrators, and to applications of the calendar.
func mayEdit(by operation.Actor, person users.ID) error {
	switch {
	case by.Name == "": // see auth.Actor.CalendarCaller
		return operation.ErrUnknown
	case by.OnCall, by.Role == operation.Admin, by.Person != 0 && by.Person == int64(person):
		return nil
	}
	return auth.Unauthorized(`Action not allowed for "` + by.Name + `"`)
}

// mayEditAbsence also allows it to administrators of the team that the unavailability belongs to; 0 = none.
func (p *Planning) mayEditAbsence(ctx context.Context, by operation.Actor, person users.ID, team int64) error {
	refused := mayEdit(by, person)
	if refused == nil || team == 0 {
		return refused
	}
	who, err := auth.PlannerOf(ctx, p.deps.Memberships, by)
	if err != nil || who.Administers(team) {
		return err
	}
	return refused
}

// addAbsence answers with the shifts that the unavailability overlaps. It counts in the team only if the caller may
// not edit the person.
func (p *Planning) addAbsence(ctx context.Context, by operation.Actor, n NewAbsence) (out MadeAbsence, err error) {
	t, err := p.deps.Finder.ActiveTeam(ctx, n.Team)
	if err != nil {
		return out, err
	}
	u, err := p.absentee(ctx, by, string(n.Body.User), t)
	if err != nil {
		return out, err
	}
	absence := scheduling.StoredAbsence{SetBy: by.Name, Recurring: scheduling.Recurring{User: u.ID,
		Rule: string(n.Body.Rule), Reason: string(n.Body.Note), Zone: p.deps.Finder.ZoneOf(t)}}
	if mayEdit(by, u.ID) != nil {
		absence.TeamID = t.ID
	}
	if name := string(n.Body.TimeZone); name != "" {
		if absence.Zone, err = zone(name); err != nil {
			return out, fault.Invalidf("timezone", "unknown time zone %q", name)
		}
	}
	start, end := n.Body.Start.Truncate(time.Second), n.Body.End.Truncate(time.Second)
	absence.Start, absence.Length = oncall.LocalIn(start, absence.Zone), scheduling.Lasts(start, end, absence.Zone)
	if err := absence.Check(); err != nil {
		return out, err
	}
	if !n.Preview {
		if out.ID, err = p.storeAbsence(ctx, absence, u.Name); err != nil {
			return out, err
		}
		absence.ID = out.ID
	}
	now, err := p.deps.People.Clock(ctx)
	if err != nil {
		return out, err
	}
	out.Conflicts, err = p.conflictsOf(ctx, []scheduling.StoredAbsence{absence}, nil, oncall.Span{Start: now, End: now.Add(MaxWindow)})
	return out, err
}

// zone finds a time zone. Any spelling of UTC becomes UTC.
func zone(name string) (*time.Location, error) {
	switch {
	case strings.EqualFold(name, "utc"):
		return time.UTC, nil
	case name == "Local":
		return nil, errNone
	}
	return time.LoadLocation(name)
}

// storeAbsence stores an unavailability of a person and returns its number.
func (p *Planning) storeAbsence(ctx context.Context, absence scheduling.StoredAbsence, name string) (int64, error) {
	known, err := p.deps.Absences.Absences(ctx, []users.ID{absence.User})
	if err != nil {
		return 0, err
	}
	known = slices.DeleteFunc(known, func(s scheduling.StoredAbsence) bool { return s.Subscription != 0 })
	if len(known) >= mostAbsences {
		return 0, fault.Invalidf("user", "%s has %d unavailabilities; remove those that are over first", name,
			len(known))
	}
	return p.deps.Absences.AddAbsence(ctx, absence)
}

// absentee returns the person with this name, who must be in the team; "" = the caller.
func (p *Planning) absentee(ctx context.Context, by operation.Actor, name string, t oncall.Profile) (oncall.Person, error) {
	if name == "" {
		if by.Person == 0 {
			return oncall.Person{}, auth.ErrPersonNeeded
		}
		return p.deps.People.ByName(ctx, by.Name)
	}
	u, err := p.deps.People.ByName(ctx, name)
	if err != nil {
		return u, fault.When(err, fault.NotFound, fault.Invalidf("user", "there is no user %q", name))
	}
	people, err := p.deps.Members.People(ctx, t.ID)
	if err != nil {
		return u, err
	}
	if !slices.ContainsFunc(people, func(one oncall.TeamPerson) bool { return one.ID == u.ID }) {
		return u, fault.Invalidf("user", "%s is not part of team %s", u.Name, t.Name)
	}
	return u, p.mayEditAbsence(ctx, by, u.ID, t.ID)
}

func (p *Planning) removeAbsence(ctx context.Context, by operation.Actor, one OneAbsence) (none operation.None, err error) {
	s, err := p.deps.Absences.Absence(ctx, one.ID)
	if err == nil {
		err = p.mayEditAbsence(ctx, by, s.User, s.TeamID)
	}
	if err == nil && s.Subscription != 0 {
		err = fault.Newf(fault.Conflict, "unavailability %d comes from a subscribed calendar: change it in that calendar, or remove the subscription", one.ID)
	}
	if err != nil {
		return none, err
	}
	return none, p.deps.Absences.DropAbsence(ctx, one.ID)
}

func (p *Planning) conflicts(ctx context.Context, _ operation.Actor, of Period) (out operation.Page[Conflict], err error) {
	t, span, err := p.within(ctx, of, 0, 30)
	if err != nil {
		return out, err
	}
	absences, err := p.absencesIn(ctx, t.ID)
	if err != nil {
		return out, err
	}
	rows, err := p.conflictsOf(ctx, absences, []int64{t.ID}, span)
	return whole(rows), err
}

// conflictsOf returns the shifts in a span that overlap an unavailability of their person, by start. Without teams it
// searches all teams.
func (p *Planning) conflictsOf(ctx context.Context, absences []scheduling.StoredAbsence, teams []int64, in oncall.Span) ([]Conflict, error) {
	if len(absences) == 0 {
		return []Conflict{}, nil
	}
	var away []users.ID
	for _, s := range absences {
		if !slices.Contains(away, s.User) {
			away = append(away, s.User)
		}
	}
	start, end := in.Start.Unix(), in.End.Unix()
	shifts, err := p.deps.Shifts.Find(ctx, oncall.ShiftQuery{Teams: teams, Users: away, End: oncall.Range{Min: &start},
		Start: oncall.Range{Max: &end}, Limit: mostCompared})
	return Conflicts(absences, shifts, in), err
}

// Conflicts returns the shifts that overlap an unavailability of their person in a span, by start.
func Conflicts(absences []scheduling.StoredAbsence, shifts []oncall.ShiftRow, in oncall.Span) []Conflict {
	out := []Conflict{}
	for _, s := range absences {
		spans, err := s.Between(in.Start, in.End)
		if err != nil {
			continue // populate logs the rules that cannot be parsed
		}
		for _, shift := range shifts {
			overlaps := func(span oncall.Absence) bool {
				return span.Start.Before(shift.End) && shift.Start.Before(span.End)
			}
			if shift.User == s.User && s.CountsIn(shift.TeamID) && shift.Role != oncall.RoleVacation && shift.Role != oncall.RoleUnavailable &&
				slices.ContainsFunc(spans, overlaps) {
				out = append(out, Conflict{int64(shift.ID), shift.Team, shift.Role, shift.UserName,
					operation.Text(shift.FullName), shift.Start.UTC(), shift.End.UTC(), s.ID, operation.Text(s.SetBy)})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Conflict) int { return a.Start.Compare(b.Start) })
	return out
}
