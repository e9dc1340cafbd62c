// Package silences decides which incidents page nobody for some time because somebody said so: silences, and maintenance windows, which are
// silences that recur. Intake hides matching incidents when they open (Opener). The processors hide incidents before they page, and release them
// when no silence matches any more (Keeper). The edges create and end silences (Silences). It knows neither storage nor transport.
package silences

import (
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/matchers"
	"github.com/iris-oncall/iris/internal/recurrence"
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

	maxSuggested = 20 // matchers that Suggest returns
)

// Content is what people set. All given conditions must hold; at least one is needed.
type Content struct {
	Match       string // matchers of labels in the syntax of Alertmanager
	Application string // its name
	Plan        string // its name; every version
	Team        string // its name; plans that page it
	// From and To are the beginning and end of the silence, or of its first occurrence. To is not included.
	From, To time.Time
	// Recurrence is an RRULE (RFC 5545) by which From recurs, without DTSTART; "" = once. Occurrences keep their civil times in Zone.
	Recurrence string
	Zone       string // IANA; "" = UTC
	Comment    string
}

// wideFor is how long a silence of the whole installation may last until it counts as wide.
const wideFor = 24 * time.Hour

// Wide reports whether the silence could hide the incidents of everybody for long: it names no application, plan or team, and lasts more than a
// day or recurs.
func (c Content) Wide() bool {
	return c.Application == "" && c.Plan == "" && c.Team == "" && (c.Recurrence != "" || c.To.Sub(c.From) > wideFor)
}

// Silence is a stored silence.
type Silence struct {
	Content
	ID        ID
	Author    string
	CreatedAt time.Time
	EndedAt   time.Time // when somebody ended it, zero = nobody did
	Hidden    int       // how many incidents it hides now; not counted in a List
	Applied   time.Time // the beginning of the newest occurrence whose incidents are hidden

	// What the names stand for.
	ApplicationID int64   // 0 = any
	PlanIDs       []int64 // versions of the plan, and of the plans that page the team; only with a plan or a team
}

// Check returns an Invalid fault that names the wrong field.
func (c Content) Check() error {
	switch {
	case c.Match == "" && c.Application == "" && c.Plan == "" && c.Team == "":
		return fault.Invalidf("match", "say which incidents: give match, application, plan or team")
	case len(c.Match) > maxMatch:
		return fault.Invalidf("match", "match has more than %d bytes", maxMatch)
	case strings.TrimSpace(c.Comment) == "":
		return fault.Invalidf("comment", "comment must say why")
	case len(c.Comment) > maxComment:
		return fault.Invalidf("comment", "comment has more than %d bytes", maxComment)
	case c.From.IsZero():
		return fault.Invalidf("from", "from is missing")
	case !c.To.After(c.From):
		return fault.Invalidf("to", "to must be after from")
	}
	if _, err := matchers.Parse(c.Match); err != nil {
		return err
	}
	if _, err := time.LoadLocation(c.Zone); err != nil || c.Zone == "Local" {
		return fault.Invalidf("zone", "%.60q is no time zone: give an IANA name such as Europe/Berlin", c.Zone)
	}
	if c.Recurrence == "" {
		if c.To.Sub(c.From) > longest {
			return fault.Invalidf("to", "a silence lasts at most 366 days")
		}
		return nil
	}
	if c.To.Sub(c.From) > longestOne {
		return fault.Invalidf("to", "an occurrence lasts at most 31 days")
	}
	return c.Occurs()
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

// EndAfter returns the end of a silence that people set to last so long: after now, or after its beginning if it repeats or begins later.
func (c Content) EndAfter(d time.Duration, now time.Time) time.Time {
	if c.Recurrence == "" && c.From.Before(now) {
		return now.Add(d).UTC().Truncate(time.Second)
	}
	return c.From.Add(d)
}

// Conditions describes which incidents the silence hides.
func (c Content) Conditions() string {
	return given([][2]string{{"match", c.Match}, {"application", c.Application}, {"plan", c.Plan}, {"team", c.Team}})
}

// String describes the content for the audit log.
func (c Content) String() string {
	return c.Conditions() + "; " + given([][2]string{{"recurrence", c.Recurrence}, {"zone", c.Zone},
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

// Over reports whether the silence can never hide an incident again.
func (s Silence) Over(now time.Time) bool {
	if !s.EndedAt.IsZero() {
		return true
	}
	_, current := s.At(now)
	_, next := s.Next(now)
	return !current && !next
}

// State is active, planned or over.
func (s Silence) State(now time.Time) string {
	if _, active := s.At(now); active && s.EndedAt.IsZero() {
		return "active"
	}
	if s.Over(now) {
		return "over"
	}
	return "planned"
}
