package users

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// Bounds of follow-ups.
const (
	MaxFollowUps     = 8 // of one priority
	MaxFollowUpDelay = 24 * time.Hour
)

// FollowUp is a later notification about the same page: the person is notified in Mode if nobody has acknowledged the
// incident After the page was made.
type FollowUp struct {
	Mode  Mode          `json:"mode"`
	After time.Duration `json:"delay_seconds" minimum:"1" maximum:"86400" doc:"Seconds after the page, ascending. Nothing is sent if somebody has acknowledged by then."` // whole seconds
}

// followUp is a FollowUp in JSON, whose delay is in seconds.
type followUp struct {
	Mode    Mode  `json:"mode"`
	Seconds int64 `json:"delay_seconds"`
}

// MarshalJSON implements json.Marshaler.
func (f FollowUp) MarshalJSON() ([]byte, error) {
	return json.Marshal(followUp{f.Mode, int64(f.After / time.Second)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *FollowUp) UnmarshalJSON(raw []byte) error {
	var in followUp
	err := json.Unmarshal(raw, &in)
	f.Mode, f.After = in.Mode, time.Duration(in.Seconds)*time.Second
	return err
}

// String formats the follow-up for people: "sms after 2 min".
func (f FollowUp) String() string { return string(f.Mode) + " after " + humanize.Duration(f.After) }

// ParseFollowUp reads MODE:DELAY, such as sms:2m.
func ParseFollowUp(text string) (FollowUp, error) {
	name, delay, _ := strings.Cut(text, ":")
	mode, ok := ParseMode(name)
	after, err := time.ParseDuration(delay)
	if !ok || err != nil {
		return FollowUp{}, fault.Invalidf("follow_ups", "%.60q must be MODE:DELAY, such as sms:2m", text)
	}
	return FollowUp{Mode: mode, After: after}, nil
}

// NotificationRule is how a person is notified of pages of a priority: at once in one mode, then by the follow-ups.
type NotificationRule struct {
	Priority  Priority   `json:"priority"`
	Mode      Mode       `json:"mode" required:"false" nullable:"true" doc:"null = the default of the priority."` // "" = no choice
	FollowUps []FollowUp `json:"follow_ups" required:"false" maxItems:"8"`
}

// MarshalJSON implements json.Marshaler. No choice is null.
func (n NotificationRule) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Priority  Priority       `json:"priority"`
		Mode      operation.Text `json:"mode"`
		FollowUps []FollowUp     `json:"follow_ups"`
	}{n.Priority, operation.Text(n.Mode), append([]FollowUp{}, n.FollowUps...)})
}

// String formats the rule for people: "high by push, sms after 2 min".
func (n NotificationRule) String() string {
	parts := []string{ModeChoice{Priority: n.Priority, Mode: n.Mode}.String()}
	for _, f := range n.FollowUps {
		parts = append(parts, f.String())
	}
	return strings.Join(parts, ", ")
}

// CheckRules returns the rules with one for every priority, most urgent first. A priority without a rule has no choice
// and no follow-ups. A rule that cannot be stored is an Invalid fault that names the field.
func CheckRules(rules []NotificationRule) ([]NotificationRule, error) {
	out := make([]NotificationRule, len(Priorities))
	seen := map[Priority]bool{}
	for i, p := range Priorities {
		out[i] = NotificationRule{Priority: p}
	}
	for i, r := range rules {
		field := fmt.Sprintf("rules[%d]", i)
		at := slices.Index(Priorities, r.Priority)
		switch {
		case at < 0:
			return nil, fault.Invalidf(field+".priority", "%q is not a priority: use urgent, high, medium or low",
				r.Priority)
		case seen[r.Priority]:
			return nil, fault.Invalidf(field+".priority", "the priority %s has two rules", r.Priority)
		case r.Mode != "" && !slices.Contains(Modes, r.Mode):
			return nil, fault.Invalidf(field+".mode", "%q is not a mode", r.Mode)
		case r.Mode == Drop && len(r.FollowUps) > 0:
			return nil, fault.Invalidf(field+".follow_ups",
				"the mode drop discards pages, so it can have no follow-ups")
		case len(r.FollowUps) > MaxFollowUps:
			return nil, fault.Invalidf(field+".follow_ups", "a priority can have at most %d follow-ups", MaxFollowUps)
		}
		if err := checkFollowUps(field, r.FollowUps); err != nil {
			return nil, err
		}
		seen[r.Priority], out[at] = true, r
	}
	return out, nil
}

func checkFollowUps(field string, followUps []FollowUp) error {
	last := time.Duration(0)
	for i, f := range followUps {
		at := fmt.Sprintf("%s.follow_ups[%d].", field, i)
		switch {
		case f.Mode == Drop || !slices.Contains(Modes, f.Mode):
			return fault.Invalidf(at+"mode", "%q is not a mode in which a person can be notified", f.Mode)
		case f.After < time.Second || f.After > MaxFollowUpDelay || f.After%time.Second != 0:
			return fault.Invalidf(at+"delay_seconds", "the delay must be 1 to %d seconds", MaxFollowUpDelay/time.Second)
		case f.After < last:
			return fault.Invalidf(at+"delay_seconds", "the delays must be in ascending order")
		}
		last = f.After
	}
	return nil
}

// PlannedFollowUp is a follow-up and its place in the person's rule, from 1.
type PlannedFollowUp struct {
	FollowUp
	Number int
}

// FollowUps returns the follow-ups of a page to r that was chosen by Choose. It leaves out modes in which r cannot be
// reached for the application. There are none if the page is dropped, and none if r chose a mode for the application:
// that choice replaces the rule.
func FollowUps(r Responder, p Priority, app AppModes, first Mode) []PlannedFollowUp {
	if first == Drop || has(r.AppModes, p) {
		return nil
	}
	var out []PlannedFollowUp
	for i, f := range r.FollowUps[p] {
		if CanUse(r, app, f.Mode) {
			out = append(out, PlannedFollowUp{FollowUp: f, Number: i + 1})
		}
	}
	return out
}
