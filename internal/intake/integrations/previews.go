package integrations

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// Event is a firing event.
type Event struct {
	Labels   map[string]string `json:"labels,omitempty" nullable:"true"`
	Severity operation.Text    `json:"severity,omitempty"`
	Title    operation.Text    `json:"title,omitempty"`
	At       json.RawMessage   `json:"at,omitempty" doc:"When it arrives, in RFC 3339 or Unix seconds; now by default."`
	Rules    []intake.Rule     `json:"rules,omitempty" doc:"Instead of the stored ones."`
}

// RouteTest asks for the route of an event.
type RouteTest struct {
	One
	Body Event `json:"body"`
}

// Route is the result of a routing test.
type Route struct {
	Plan       string              `json:"plan,omitempty"`
	PlanOf     receiving.PlanOwner `json:"plan_of,omitempty"`
	Targets    []intake.Target     `json:"targets,omitempty"`
	Rule       int                 `json:"rule,omitempty" doc:"The number of the rule that matched, from 1."`
	RecordOnly bool                `json:"record_only"`
	Reason     string              `json:"reason"`
	HeldBack   string              `json:"held_back,omitempty" doc:"Why the rule would hold the event back now, in a preview."`
	Group      string              `json:"group,omitempty" doc:"Which group the event belongs to, and which incident takes it, in a preview."`
	Refusal    string              `json:"refusal,omitempty" doc:"Why no plan can take the event."`
}

// SampleName names a sample of a recipe.
type SampleName struct {
	Recipe operation.Text `json:"recipe"`
	Name   operation.Text `json:"name,omitempty" doc:"Default: the first."`
}

// Delivery is a payload, the number of a stored one, or a sample of a recipe. Settings and rules replace the stored ones.
type Delivery struct {
	Payload     json.RawMessage `json:"payload,omitempty" doc:"A text, or the JSON itself."`
	ContentType operation.Text  `json:"content_type,omitempty"`
	Stored      *int            `json:"stored,omitempty" nullable:"true" doc:"Without payload: the number of a stored payload, from 1 = the latest. Default: 1."`
	Sample      *SampleName     `json:"sample,omitempty" doc:"Without payload: a sample of a recipe."`
	Settings    json.RawMessage `json:"settings,omitempty"`
	Rules       []intake.Rule   `json:"rules,omitempty"`
	At          json.RawMessage `json:"at,omitempty" doc:"When it arrives, in RFC 3339 or Unix seconds; now by default."`
}

// PayloadTest asks what a payload would do.
type PayloadTest struct {
	One
	Body Delivery `json:"body"`
}

// Previewed is an event of a payload, and what would become of it.
type Previewed struct {
	Status      intake.Status     `json:"status" enum:"firing,acknowledged,resolved"`
	Key         operation.Text    `json:"dedup_key"`
	Title       string            `json:"title"`
	Summary     string            `json:"summary"`
	Severity    intake.Severity   `json:"severity"`
	Labels      map[string]string `json:"labels" nullable:"true"`
	Annotations map[string]string `json:"annotations" nullable:"true"`
	Links       []intake.Link     `json:"links"`
	Images      []intake.Image    `json:"images"`
	StartsAt    *time.Time        `json:"starts_at"`
	EndsAt      *time.Time        `json:"ends_at"`
	Alerts      int               `json:"alerts" doc:"Alerts of the group."`
	Failures    []Failure         `json:"failures" doc:"Expressions that failed or gave an empty text, so that their defaults are used. If field is empty, the payload was not understood and pages as plain text."`
	Incident    *int64            `json:"incident" doc:"The open incident that would take the event, without any rule; null = none."`
	Recipe      *intake.RecipeUse `json:"recipe,omitempty" doc:"The recipe that read the payload; left out = none."`
	Route       *Route            `json:"route" doc:"Of a firing event that no open incident takes; otherwise null."`
}

// Failure says why an expression was not used for a field.
type Failure struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// The operations that say what events would do. They store nothing.
var (
	TestRoute = operation.Define[RouteTest, Route](operation.Doc{Name: "integration.test-route",
		Method: http.MethodPost, Path: "/v1/integrations/{integration}/route-test", Status: http.StatusOK,
		Needs: operation.Member, Summary: "Which plan a firing event would use, and why"})
	Preview = operation.Define[PayloadTest, operation.Page[Previewed]](operation.Doc{Name: "integration.preview",
		Method: http.MethodPost, Path: "/v1/integrations/{integration}/preview", Status: http.StatusOK,
		Needs: operation.Member, Rule: operation.OfApplication,
		Summary: "What a payload would do now: its events, the rule and the plan; nothing is stored"})
)

func showRoute(c receiving.Choice, refusal string) Route {
	return Route{Plan: c.Plan, PlanOf: c.Owner, Targets: c.Targets, Rule: c.Rule, RecordOnly: c.RecordOnly,
		Reason: c.Reason, Refusal: refusal}
}

// edited returns the content with other rules and settings, if they are given.
func (d Deps) edited(c intake.Content, rules []intake.Rule, settings json.RawMessage) (intake.Content, error) {
	if rules != nil {
		c.Rules = rules
	}
	if given(settings) {
		c.Settings = settings
	}
	err := c.Check(d.Types, d.Recipes.Names())
	return c, err
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// lastSecond is the end of the year 9999. Larger numbers are usually milliseconds.
const lastSecond = 253402300799

// arrival reads an instant; now if it is not given.
func arrival(raw json.RawMessage) (at time.Time, err error) {
	var seconds int64
	switch {
	case !given(raw):
		return time.Now(), nil
	case json.Unmarshal(raw, &at) == nil:
		return at, nil
	case json.Unmarshal(raw, &seconds) == nil && seconds >= 0 && seconds <= lastSecond:
		return time.Unix(seconds, 0).UTC(), nil
	}
	return at, fault.Invalidf("at", "at must be a time like 2026-11-22T09:00:00Z, or Unix seconds")
}

// testRoute returns which plan a firing event would use now if no incident is open with its key, and why.
func (i *Integrations) testRoute(ctx context.Context, _ operation.Actor, t RouteTest) (out Route, err error) {
	found, err := i.deps.Store.ByName(ctx, t.Integration)
	if err == nil {
		found.Content, err = i.deps.edited(found.Content, t.Body.Rules, nil)
	}
	if err != nil {
		return out, err
	}
	at, err := arrival(t.Body.At)
	if err != nil {
		return out, err
	}
	app, err := i.deps.Applications.ByName(ctx, found.Application)
	if err != nil {
		return out, err
	}
	choice, err := i.deps.Previewer.Chooser.Choose(ctx, app, found, intake.Event{Status: intake.Firing,
		Labels: t.Body.Labels, Severity: intake.Severity(t.Body.Severity), Title: string(t.Body.Title)}, at)
	if fault.Is(err, fault.NotFound) {
		return showRoute(choice, fault.Public(err)), nil
	}
	return showRoute(choice, ""), err
}

// preview returns what a payload would do now: that of the caller, or one of the stored ones.
func (i *Integrations) preview(ctx context.Context, by operation.Actor, t PayloadTest) (out operation.Page[Previewed], err error) {
	found, err := i.deps.editable(ctx, by, t.Integration)
	if err == nil {
		found.Content, err = i.deps.edited(found.Content, t.Body.Rules, t.Body.Settings)
	}
	if err != nil {
		return out, err
	}
	d, err := i.delivery(ctx, t.Body, found.ID)
	if err != nil {
		return out, err
	}
	events, err := i.deps.Previewer.Preview(ctx, found, d)
	out.Items = make([]Previewed, len(events))
	for k, p := range events {
		out.Items[k] = showPreview(p)
	}
	return out, err
}

// delivery returns the given payload, or a stored one.
func (i *Integrations) delivery(ctx context.Context, b Delivery, of intake.ID) (d receiving.Delivery, err error) {
	d.ContentType = string(b.ContentType)
	if d.At, err = arrival(b.At); err != nil {
		return d, err
	}
	if given(b.Payload) {
		d.Body = b.Payload
		var text string
		if json.Unmarshal(d.Body, &text) == nil {
			d.Body = []byte(text)
		}
		return d, nil
	}
	if b.Sample != nil {
		s, err := sample(i.deps.Recipes, *b.Sample)
		d.Body, d.ContentType = []byte(s.Body), s.ContentType
		if !given(b.At) && !s.At.IsZero() {
			d.At = s.At
		}
		return d, err
	}
	n := 1
	if b.Stored != nil {
		n = *b.Stored
	}
	rows, err := i.deps.Store.Payloads(ctx, of)
	if err != nil {
		return d, err
	}
	if n < 1 || n > len(rows) {
		return d, fault.Invalidf("stored",
			"there are %d stored payloads: give the payload, or the number of a stored one", len(rows))
	}
	d.Body, d.ContentType = []byte(rows[n-1].Body), rows[n-1].ContentType
	return d, nil
}

func showPreview(p receiving.Preview) Previewed {
	e := p.Event
	out := Previewed{Status: e.Status, Key: operation.Text(e.Key), Title: e.Title, Summary: e.Summary,
		Severity: e.Severity, Labels: e.Labels, Annotations: e.Annotations, Links: append([]intake.Link{}, e.Links...),
		Images: append([]intake.Image{}, e.Images...), StartsAt: instant(e.StartsAt), EndsAt: instant(e.EndsAt),
		Alerts: len(e.Alerts), Failures: make([]Failure, len(e.Failures)), Incident: operation.OrNull(int64(p.Open)),
		Recipe: e.Recipe}
	for k, f := range e.Failures {
		out.Failures[k] = Failure{f.Field, f.Reason}
	}
	if p.Open == 0 && e.Status == intake.Firing {
		chosen := showRoute(p.Choice, p.Refusal)
		chosen.HeldBack, chosen.Group = p.Held, p.Group
		out.Route = &chosen
	}
	return out
}
