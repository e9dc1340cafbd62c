package senders

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/integrations"
)

// WriteIntegration writes an integration and the outcomes of its latest deliveries, for people. bodies adds their bodies.
func WriteIntegration(w io.Writer, i integrations.Integration, payloads []integrations.Payload, bodies bool) {
	path, _ := Addresses(i.Type, "")
	fmt.Fprintf(w, "name: %s\ntype: %s\napplication: %s\naddress: %s\ndefault plan: %s\ndefault severity: %s\nrate per minute: %d\nenabled: %t\ncreated: %s by %s\n",
		i.Name, i.Type, i.Application, path, i.DefaultPlan, i.DefaultSeverity, i.RatePerMinute, i.Enabled, Moment(i.CreatedAt), i.CreatedBy)
	if i.Ends.ResolveAfter > 0 {
		fmt.Fprintf(w, "resolve after: %s\n", i.Ends.ResolveAfter)
	}
	if after := i.Ends.CloseAfter; after != nil {
		fmt.Fprintf(w, "close after: %s\n", after)
	}
	for k, r := range i.Rules {
		to := "plan " + r.Plan
		if r.RecordOnly {
			to = "record only"
		}
		for _, t := range r.Targets {
			to += ", target " + t.String()
		}
		fmt.Fprintf(w, "rule %d: %s -> %s\n", k+1, r, to)
	}
	for _, t := range i.Tokens {
		fmt.Fprintf(w, "token %d: created %s, last used %s\n", t.ID, Moment(t.CreatedAt), Moment(t.LastUsedAt))
	}
	for k, at := range i.SecretsSetAt {
		fmt.Fprintf(w, "secret %d: set %s\n", k+1, Moment(at))
	}
	a := i.Activity
	fmt.Fprintf(w, "accepted: %d, last %s\nrefused: %d, last %s %s\n", a.Accepted, Moment(a.LastAcceptedAt), a.Refused, Moment(a.LastRefusedAt), a.LastRefusal)
	if a.FailedExpressions > 0 {
		fmt.Fprintf(w, "deliveries with expressions that failed: %d, last %s %s\n", a.FailedExpressions, Moment(a.LastFailureAt), a.LastFailure)
	}
	for _, p := range payloads {
		fmt.Fprintf(w, "%s %s\n", Moment(p.At), p.Outcome)
		if bodies {
			fmt.Fprintf(w, "%s\n", p.Body)
		}
	}
}

// WritePreview writes what a delivery would do with one event, for people.
func WritePreview(w io.Writer, p Preview) {
	v := p.Event
	fmt.Fprintf(w, "status: %s\nkey: %s\ntitle: %s\nsummary: %s\nseverity: %s\nalerts of the group: %d\n", v.Status, v.Key, v.Title, v.Summary, v.Severity, len(v.Alerts))
	for _, name := range slices.Sorted(maps.Keys(v.Labels)) {
		fmt.Fprintf(w, "label %s: %s\n", name, v.Labels[name])
	}
	for _, l := range v.Links {
		fmt.Fprintf(w, "link: %s %s\n", l.URL, l.Text)
	}
	for _, f := range v.Failures {
		fmt.Fprintf(w, "expression of %s: %s; the default is used\n", f.Field, f.Reason)
	}
	switch {
	case p.Open != 0:
		fmt.Fprintf(w, "incident %d is open with this key and takes the event; no rule runs\n", p.Open)
	case v.Status != intake.Firing:
		fmt.Fprintln(w, "no incident is open with this key: nothing happens")
	default:
		WriteRoute(w, p.Choice)
		if p.Refusal != "" {
			fmt.Fprintf(w, "refused: %s\n", p.Refusal)
		}
	}
}

// WriteRoute writes which plan is used, and why.
func WriteRoute(w io.Writer, c Choice) {
	if c.Reason != "" {
		fmt.Fprintln(w, c.Reason)
	}
	switch {
	case c.RecordOnly:
		fmt.Fprintln(w, "recorded only: no incident is opened")
	case c.Plan != "":
		fmt.Fprintf(w, "plan %s, that of the %s\n", c.Plan, c.Owner)
		for _, t := range c.Targets {
			fmt.Fprintf(w, "target: %s\n", t)
		}
	}
}

// Moment formats an instant; "never" for zero.
func Moment(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.RFC3339)
}
