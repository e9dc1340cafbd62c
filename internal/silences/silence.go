package silences

import (
	"fmt"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/matchers"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/kit/recurrence"
)

// ID is the number of a silence.
type ID int64

// Bounds of a silence.
const (
	longest    = 366 * 24 * time.Hour // of a silence that does not recur
	longestOne = 31 * 24 * time.Hour  // of an occurrence of a window
	oldest     = 366 * 24 * time.Hour // that from may be in the past
	farthest   = 10 * oldest          // that from may be in the future
	maxComment = 1000                 // bytes
	maxMatch   = 4000                 // bytes

	// MostKept is how many silences can be in force or planned, and MostOfOne how many of them with the same team,
	// application or plan.
	MostKept  = 10_000
	MostOfOne = 500

	maxSuggested = 20 // matchers that Suggest returns
)

// Scope says which incidents a silence hides. All given conditions must hold; at least one is needed.
type Scope struct {
	Match       operation.Text `json:"match" required:"false" doc:"Labels of the incidents, in the syntax of Alertmanager." example:"team=\"db\", severity!=\"critical\""`
	Application operation.Text `json:"application" required:"false" doc:"The name of an application."`
	Plan        operation.Text `json:"plan" required:"false" doc:"The name of a plan. All its versions count."`
	Team        operation.Text `json:"team" required:"false" doc:"The name of a team: incidents of plans that page the team."`
}

// Content is what people set of a silence.
type Content struct {
	Scope
	// From and To are the beginning and end of the silence, or of its first occurrence. To is not included.
	From time.Time `json:"from" required:"false" nullable:"true" doc:"When it begins, or its first occurrence; default: now."`
	To   time.Time `json:"to" required:"false" nullable:"true" doc:"When it ends, or its first occurrence."`
	// Recurrence is an RRULE by which From recurs. Occurrences keep their civil times in Zone.
	Recurrence operation.Text `json:"recurrence" required:"false" doc:"An RRULE (RFC 5545) without DTSTART, which makes it a maintenance window."`
	Zone       operation.Text `json:"zone" required:"false" doc:"The IANA time zone of a window; default: UTC."`
	Comment    string         `json:"comment" required:"false" doc:"Why; required."`
}

// Draft is what a caller says of a silence. Of to, for_seconds and ends_in_seconds it has exactly one.
type Draft struct {
	Content
	ForSeconds    *int64 `json:"for_seconds,omitempty" minimum:"0" maximum:"31622400" doc:"Instead of to: the silence ends so many seconds after from."`
	EndsInSeconds *int64 `json:"ends_in_seconds,omitempty" minimum:"0" maximum:"31622400" doc:"Instead of to: the silence ends so many seconds from now, or after from if it recurs or begins later."`
}

// Check implements operation.Checker. The content is checked again when the present time is known.
func (d Draft) Check() error {
	ends := 0
	for _, given := range []bool{!d.To.IsZero(), d.ForSeconds != nil, d.EndsInSeconds != nil} {
		if given {
			ends++
		}
	}
	c := d.Content
	switch {
	case !c.From.IsZero():
	case !c.To.IsZero():
		c.From = c.To.Add(-time.Minute)
	default:
		c.From = someTime
	}
	switch {
	case ends != 1 || d.EndsInSeconds != nil: // Resolve finds the end
		c.To = c.From.Add(time.Minute)
	case d.ForSeconds != nil:
		c.To = c.From.Add(time.Duration(*d.ForSeconds) * time.Second)
	}
	var wrong fault.Wrong
	wrong.If(ends != 1, "to", "give exactly one of to, for_seconds and ends_in_seconds")
	wrong.Join(c.Check())
	return wrong.Err()
}

// someTime stands for the present time in checks that do not depend on it.
var someTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Resolve returns the content that a draft means now.
func (d Draft) Resolve(now time.Time) Content {
	c := d.Content
	if c.From.IsZero() {
		c.From = now.UTC().Truncate(time.Second)
	}
	if d.ForSeconds != nil {
		c.To = c.From.Add(time.Duration(*d.ForSeconds) * time.Second)
	}
	if d.EndsInSeconds != nil {
		c.To = c.EndAfter(time.Duration(*d.EndsInSeconds)*time.Second, now)
	}
	return c
}

// wideFor is how long a silence of the whole installation may last until it counts as wide.
const wideFor = 24 * time.Hour

// Wide reports whether the silence could hide the incidents of everybody for long: it names no application, plan or
// team, and lasts more than a day or recurs.
func (c Content) Wide() bool {
	return c.Application == "" && c.Plan == "" && c.Team == "" && (c.Recurrence != "" || c.To.Sub(c.From) > wideFor)
}

// State is whether a silence hides incidents.
type State string

// The states of a silence.
const (
	Active  State = "active"
	Planned State = "planned"
	Over    State = "over"
)

// Silence is a stored silence.
type Silence struct {
	ID    ID    `json:"id"`
	State State `json:"state" enum:"active,planned,over" doc:"When it was read."`
	Content
	// NextFrom and NextTo are the present occurrence, else the next one; nil if it is over.
	NextFrom  *time.Time `json:"next_from"`
	NextTo    *time.Time `json:"next_to"`
	Author    string     `json:"author"`
	CreatedAt time.Time  `json:"created_at"`
	EndedAt   *time.Time `json:"ended_at" doc:"When somebody ended it."`
	Hidden    int        `json:"hidden_incidents" doc:"How many incidents it hides now."`

	Applied time.Time `json:"-"` // the beginning of the newest occurrence whose incidents are hidden
	// What the names stand for.
	ApplicationID int64   `json:"-"` // 0 = any
	PlanIDs       []int64 `json:"-"` // versions of the plan, and of the plans that page the team; only with a plan or a team
}

// Location is the address of the silence in /v1.
func (s Silence) Location() string { return fmt.Sprintf("/v1/silences/%d", s.ID) }

// Check returns an Invalid fault that names all wrong fields.
func (c Content) Check() error {
	var wrong fault.Wrong
	wrong.If(c.Scope == Scope{}, "match", "say which incidents: give match, application, plan or team")
	wrong.If(len(c.Match) > maxMatch, "match", "match has more than %d bytes", maxMatch)
	wrong.If(strings.TrimSpace(c.Comment) == "", "comment", "comment must not be empty")
	wrong.If(len(c.Comment) > maxComment, "comment", "comment has more than %d bytes", maxComment)
	wrong.If(c.From.IsZero(), "from", "from is missing")
	wrong.If(!c.To.After(c.From), "to", "to must be after from")
	if len(c.Match) <= maxMatch {
		_, err := matchers.Parse(string(c.Match))
		wrong.Join(err)
	}
	_, err := time.LoadLocation(string(c.Zone))
	wrong.If(err != nil || c.Zone == "Local", "zone", "%.60q is no time zone: give an IANA name such as Europe/Berlin",
		c.Zone)
	if c.Recurrence == "" {
		wrong.If(c.To.Sub(c.From) > longest, "to", "a silence lasts at most 366 days")
	} else if c.To.Sub(c.From) > longestOne {
		wrong.Add("to", "an occurrence lasts at most 31 days")
	} else if !c.From.IsZero() {
		wrong.Join(c.Occurs())
	}
	return wrong.Err()
}

// Occurs returns an Invalid fault for a recurrence that is wrong or has no occurrence.
func (c Content) Occurs() error {
	r, err := c.rule(c.From, c.From.Add(ahead))
	if err != nil {
		return err
	}
	if !recurrence.Possible(r.OrigOptions) || r.After(c.From, true).IsZero() {
		return fault.Invalidf("recurrence", "recurrence has no occurrence")
	}
	return nil
}

// near returns an Invalid fault if a silence that is about to be stored begins too long ago or too late.
func (c Content) near(now time.Time) error {
	switch {
	case c.From.Before(now.Add(-oldest)):
		return fault.Invalidf("from", "from is more than 366 days in the past: give the first occurrence of the last year, or leave it out")
	case c.From.After(now.Add(farthest)):
		return fault.Invalidf("from", "from is more than ten years in the future")
	}
	return nil
}

// EndAfter returns the end of a silence that people set to last so long: after now, or after its beginning if it
// repeats or begins later.
func (c Content) EndAfter(d time.Duration, now time.Time) time.Time {
	if c.Recurrence == "" && c.From.Before(now) {
		return now.Add(d).UTC().Truncate(time.Second)
	}
	return c.From.Add(d)
}

// Conditions describes which incidents the silence hides.
func (s Scope) Conditions() string {
	return given([][2]string{{"match", string(s.Match)}, {"application", string(s.Application)},
		{"plan", string(s.Plan)}, {"team", string(s.Team)}})
}

// String describes the content for the audit log.
func (c Content) String() string {
	return c.Conditions() + "; " + given([][2]string{{"recurrence", string(c.Recurrence)}, {"zone", string(c.Zone)},
		{"from", c.From.UTC().Format(time.RFC3339) + " to " + c.To.UTC().Format(time.RFC3339)}, {"comment", c.Comment}})
}

// given joins the names that have a value, with their values.
func given(all [][2]string) string {
	var parts []string
	for _, p := range all {
		if p[1] != "" {
			parts = append(parts, p[0]+" "+p[1])
		}
	}
	return strings.Join(parts, "; ")
}

// at fills in what depends on the present time.
func (s Silence) at(now time.Time) Silence {
	span, active := s.At(now)
	comes := active
	if !active {
		span, comes = s.Next(now)
	}
	switch {
	case s.EndedAt != nil || !comes:
		s.State = Over
		return s
	case active:
		s.State = Active
	default:
		s.State = Planned
	}
	from, to := span.From.UTC(), span.To.UTC()
	s.NextFrom, s.NextTo = &from, &to
	return s
}
