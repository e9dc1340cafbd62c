package pages

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// apiRoute is the choice of a plan on the wire.
type apiRoute struct {
	Plan       string `json:"plan,omitempty"`
	PlanOf     string `json:"plan_of,omitempty"`
	Targets    any    `json:"targets,omitempty"` // []routing.Target
	Rule       int    `json:"rule,omitempty"`    // from 1
	RecordOnly bool   `json:"record_only"`
	Reason     string `json:"reason"`
	Refusal    string `json:"refusal,omitempty"`
}

func showRoute(c receiving.Choice, refusal string) apiRoute {
	out := apiRoute{Plan: c.Plan, PlanOf: string(c.Owner), Rule: c.Rule, RecordOnly: c.RecordOnly, Reason: c.Reason,
		Refusal: refusal}
	if len(c.Targets) > 0 {
		out.Targets = c.Targets
	}
	return out
}

// previewed is an event of a payload on the wire.
type previewed struct {
	Status      string            `json:"status"`
	Key         *string           `json:"dedup_key"`
	Title       string            `json:"title"`
	Summary     string            `json:"summary"`
	Severity    string            `json:"severity"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Links       []intake.Link     `json:"links"`
	Images      []intake.Image    `json:"images"`
	StartsAt    *string           `json:"starts_at"`
	EndsAt      *string           `json:"ends_at"`
	Alerts      int               `json:"alerts"` // of the group
	Failures    []failure         `json:"failures"`
	Incident    *int64            `json:"incident"` // the open one that takes the event
	Route       *apiRoute         `json:"route"`    // of a firing event that no open incident takes
}

type failure struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// preview answers what a payload would do now: that of the body, or one of the stored ones. The body may have other
// settings and rules than the stored ones. Nothing is stored.
func (a routes) preview(w http.ResponseWriter, r *http.Request) error {
	found, err := a.editable(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "payload", "content_type", "stored", "settings", "rules", "at")
	if err != nil {
		return err
	}
	if err := edited(b, &found.Content); err != nil {
		return err
	}
	if err := found.Check(a.Types); err != nil {
		return err
	}
	d, err := a.delivery(r, b, found.ID)
	if err != nil {
		return err
	}
	events, err := a.Previewer.Preview(r.Context(), found, d)
	if err != nil {
		return err
	}
	return listing.Answer(w, events, func(p receiving.Preview) any { return showPreview(p) }, "")
}

// edited reads the settings and rules of the body in place of the stored ones.
func edited(b jsonbody.Object, c *intake.Content) error {
	if b.Given("rules") {
		c.Rules = nil
		if json.Unmarshal(b.Members["rules"], &c.Rules) != nil {
			return errRules
		}
	}
	if b.Given("settings") {
		c.Settings = b.Members["settings"]
	}
	return nil
}

// arrival returns the member at, which is in RFC 3339 or in Unix seconds; now if it is missing.
func arrival(b jsonbody.Object) (time.Time, error) {
	if !b.Given("at") {
		return time.Now(), nil
	}
	if text, err := b.Text("at"); err == nil {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return at, nil
		}
	}
	at, _, err := b.Time("at")
	if err != nil {
		err = b.Fault("at", "at must be a time like 2026-11-22T09:00:00Z, or Unix seconds")
	}
	return at, err
}

// delivery reads the payload of the body: a text, any other JSON value, or the number of a stored one (1 = the latest,
// which is the default).
func (a routes) delivery(r *http.Request, b jsonbody.Object, of intake.ID) (d receiving.Delivery, err error) {
	if d.At, err = arrival(b); err != nil {
		return d, err
	}
	if d.ContentType, err = b.Text("content_type"); err != nil {
		return d, err
	}
	if b.Given("payload") {
		d.Body = b.Members["payload"]
		var text string
		if json.Unmarshal(d.Body, &text) == nil {
			d.Body = []byte(text)
		}
		return d, nil
	}
	n, err := b.Whole("stored", receiving.KeptPayloads, 1)
	if err != nil {
		return d, err
	}
	rows, err := a.Records.Payloads(r.Context(), of)
	if err != nil {
		return d, err
	}
	if n < 1 || int(n) > len(rows) {
		return d, fault.Invalidf("stored",
			"there are %d stored payloads: give the payload, or the number of a stored one", len(rows))
	}
	d.Body, d.ContentType = []byte(rows[n-1].Body), rows[n-1].ContentType
	return d, nil
}

func showPreview(p receiving.Preview) previewed {
	e := p.Event
	out := previewed{Status: string(e.Status), Key: listing.OrNull(e.Key), Title: e.Title, Summary: e.Summary,
		Severity: string(e.Severity),
		Labels:   e.Labels, Annotations: e.Annotations, Links: routing.OrEmpty(e.Links), Images: routing.OrEmpty(e.Images), StartsAt: listing.Time(e.StartsAt),
		EndsAt: listing.Time(e.EndsAt), Alerts: len(e.Alerts), Failures: make([]failure, len(e.Failures))}
	for k, f := range e.Failures {
		out.Failures[k] = failure{f.Field, f.Reason}
	}
	if p.Open != 0 {
		id := int64(p.Open)
		out.Incident = &id
	} else if e.Status == intake.Firing {
		chosen := showRoute(p.Choice, p.Refusal)
		out.Route = &chosen
	}
	return out
}
