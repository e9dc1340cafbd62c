package text

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/intake"
)

// Integration is an integration of an answer.
type Integration struct {
	Name            string           `json:"name"`
	Type            string           `json:"type"`
	Application     string           `json:"application"`
	Address         string           `json:"address"`
	DefaultPlan     string           `json:"default_plan"`
	DefaultSeverity string           `json:"default_severity"`
	Rules           []intake.Rule    `json:"rules"`
	RatePerMinute   int              `json:"rate_per_minute"`
	Enabled         bool             `json:"enabled"`
	ResolveAfter    int64            `json:"resolve_after_seconds"`
	CloseAfter      *int64           `json:"close_after_seconds"`
	CreatedBy       string           `json:"created_by"`
	CreatedAt       time.Time        `json:"created_at"`
	Tokens          []integrationKey `json:"tokens"`
	Secrets         []integrationKey `json:"secrets"`
	Token           string           `json:"token"`
	Activity        struct {
		Accepted          int64     `json:"accepted"`
		Refused           int64     `json:"refused"`
		LastAcceptedAt    time.Time `json:"last_accepted_at"`
		LastRefusedAt     time.Time `json:"last_refused_at"`
		LastRefusal       string    `json:"last_refusal"`
		FailedExpressions int64     `json:"failed_expressions"`
		LastFailureAt     time.Time `json:"last_failure_at"`
		LastFailure       string    `json:"last_failure"`
	} `json:"activity"`
}

// integrationKey is a token or a secret of an integration.
type integrationKey struct {
	CreatedAt  time.Time `json:"created_at"`
	LastUsedAt time.Time `json:"last_used_at"`
}

// integrationRule describes a rule.
func integrationRule(r intake.Rule) string {
	to := "plan " + r.Plan
	if r.RecordOnly {
		to = "record only"
	}
	for _, t := range r.Targets {
		to += ", target " + t.String()
	}
	return r.String() + " -> " + to
}

// Payload is a stored delivery of an answer.
type Payload struct {
	At      time.Time `json:"at"`
	Outcome string    `json:"outcome"`
	Body    string    `json:"body"`
}

// Seconds formats seconds.
func Seconds(seconds int64) string { return (time.Duration(seconds) * time.Second).String() }

// AddressWithToken returns the address of a new integration with its token, for senders that can set no header; "" =
// all senders can.
func (i Integration) AddressWithToken() string {
	_, withToken := intake.Address(i.Type, i.Token)
	return withToken
}

// Write writes an integration for people.
func (i Integration) Write(w io.Writer) {
	fmt.Fprintf(w, "name: %s\ntype: %s\napplication: %s\naddress: %s\ndefault plan: %s\ndefault severity: %s\nrate per minute: %d\nenabled: %t\ncreated: %s by %s\n",
		i.Name, i.Type, i.Application, i.Address, i.DefaultPlan, i.DefaultSeverity, i.RatePerMinute, i.Enabled, Moment(i.CreatedAt), i.CreatedBy)
	if i.ResolveAfter > 0 {
		fmt.Fprintf(w, "resolve after: %s\n", Seconds(i.ResolveAfter))
	}
	if after := i.CloseAfter; after != nil {
		fmt.Fprintf(w, "close after: %s\n", Seconds(*after))
	}
	for k, r := range i.Rules {
		fmt.Fprintf(w, "rule %d: %s\n", k+1, integrationRule(r))
	}
	for k, t := range i.Tokens {
		fmt.Fprintf(w, "token %d: created %s, last used %s\n", k+1, Moment(t.CreatedAt), Moment(t.LastUsedAt))
	}
	for k, s := range i.Secrets {
		fmt.Fprintf(w, "secret %d: set %s\n", k+1, Moment(s.CreatedAt))
	}
	a := i.Activity
	fmt.Fprintf(w, "accepted: %d, last %s\nrefused: %d, last %s %s\n", a.Accepted, Moment(a.LastAcceptedAt), a.Refused,
		Moment(a.LastRefusedAt), a.LastRefusal)
	if a.FailedExpressions > 0 {
		fmt.Fprintf(w, "deliveries with expressions that failed: %d, last %s %s\n", a.FailedExpressions,
			Moment(a.LastFailureAt), a.LastFailure)
	}
}

// Route is the choice of a plan of an answer.
type Route struct {
	Plan       string          `json:"plan"`
	PlanOf     string          `json:"plan_of"`
	Targets    []intake.Target `json:"targets"`
	RecordOnly bool            `json:"record_only"`
	Reason     string          `json:"reason"`
	HeldBack   string          `json:"held_back"`
	Group      string          `json:"group"`
	Refusal    string          `json:"refusal"`
}

// Write writes which plan is used, and why.
func (r Route) Write(w io.Writer) {
	if r.Reason != "" {
		fmt.Fprintln(w, r.Reason)
	}
	switch {
	case r.RecordOnly:
		fmt.Fprintln(w, "recorded only: no incident is opened")
	case r.Plan != "":
		fmt.Fprintf(w, "plan %s, that of the %s\n", r.Plan, r.PlanOf)
		for _, t := range r.Targets {
			fmt.Fprintf(w, "target: %s %s\n", t.Role, t.Name)
		}
	}
	if r.Group != "" {
		fmt.Fprintln(w, "group: "+r.Group)
	}
	if r.HeldBack != "" {
		fmt.Fprintln(w, "held back now: "+r.HeldBack)
	}
}

// Previewed is an event of a payload of an answer.
type Previewed struct {
	Status   string            `json:"status"`
	Key      string            `json:"dedup_key"`
	Title    string            `json:"title"`
	Summary  string            `json:"summary"`
	Severity string            `json:"severity"`
	Labels   map[string]string `json:"labels"`
	Links    []struct {
		URL  string `json:"url"`
		Text string `json:"text"`
	} `json:"links"`
	Alerts   int `json:"alerts"`
	Failures []struct {
		Field  string `json:"field"`
		Reason string `json:"reason"`
	} `json:"failures"`
	Recipe *struct {
		Label string `json:"label"`
		Why   string `json:"why"`
	} `json:"recipe"`
	Incident int64  `json:"incident"` // 0 = none is open with the key
	Route    *Route `json:"route"`
}

// Write writes what a delivery would do with one event, for people.
func (p Previewed) Write(w io.Writer) {
	fmt.Fprintf(w, "status: %s\nkey: %s\ntitle: %s\nsummary: %s\nseverity: %s\nalerts of the group: %d\n", p.Status,
		p.Key, p.Title, p.Summary, p.Severity, p.Alerts)
	for _, name := range slices.Sorted(maps.Keys(p.Labels)) {
		fmt.Fprintf(w, "label %s: %s\n", name, p.Labels[name])
	}
	for _, l := range p.Links {
		fmt.Fprintf(w, "link: %s %s\n", l.URL, l.Text)
	}
	if p.Recipe != nil {
		fmt.Fprintf(w, "read as: %s, because %s\n", p.Recipe.Label, p.Recipe.Why)
	}
	for _, f := range p.Failures {
		if f.Field == "" {
			fmt.Fprintf(w, "payload: %s\n", f.Reason)
			continue
		}
		fmt.Fprintf(w, "expression of %s: %s; the default is used\n", f.Field, f.Reason)
	}
	switch {
	case p.Incident != 0:
		fmt.Fprintf(w, "incident %d is open with this key and takes the event; no rule runs\n", p.Incident)
	case p.Route == nil:
		fmt.Fprintln(w, "no incident is open with this key: nothing happens")
	default:
		p.Route.Write(w)
		if p.Route.Refusal != "" {
			fmt.Fprintf(w, "refused: %s\n", p.Route.Refusal)
		}
	}
}

// Moment formats an instant in UTC, in whole seconds; "never" for zero.
func Moment(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return at.UTC().Format(time.RFC3339)
}
