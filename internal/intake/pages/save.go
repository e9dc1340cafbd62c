package pages

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

var errRules = fault.Invalidf("rules", "rules must be a list of objects with match, plan, targets, record_only and times")

// put creates the integration of the path, or replaces its content. The type and the application never change.
func (a routes) put(w http.ResponseWriter, r *http.Request) error {
	b, err := jsonbody.ReadKnown(w, r, "name", "type", "application", "default_plan", "default_severity", "rules",
		"settings",
		"rate_per_minute", "enabled", "resolve_after_seconds", "close_after_seconds")
	if err != nil {
		return err
	}
	found, err := a.Integrations.ByName(r.Context(), wire.Param(r, "integration"))
	if fault.Is(err, fault.NotFound) {
		return a.create(w, r, b)
	}
	if err == nil {
		_, err = routing.CheckTag(r, found.Tag()) // before the check of the owner, so that a name in use is refused with 412
	}
	if err == nil {
		found, err = a.owned(r)
	}
	if err != nil {
		return err
	}
	c, err := a.content(r.Context(), b, found.Name, found.Type)
	if err != nil {
		return err
	}
	if app, err := b.Text("application"); err != nil || app != "" && app != found.Application {
		return errors.Join(err, fault.Invalidf("application",
			"the application of an integration never changes: it is %s", found.Application))
	}
	if err := a.Integrations.Replace(r.Context(), found, c, wire.Actor(r.Context()).String()); err != nil {
		return err
	}
	if found, err = a.Integrations.ByName(r.Context(), c.Name); err != nil {
		return err
	}
	return answer(w, http.StatusOK, found, "")
}

// create answers with the token, once.
func (a routes) create(w http.ResponseWriter, r *http.Request, b jsonbody.Object) error {
	if _, err := routing.CheckTag(r, ""); err != nil {
		return err // there is no state to match
	}
	name, err := b.Text("application")
	if err != nil {
		return err
	}
	app, err := a.application(r, name)
	if err != nil {
		return err
	}
	c, err := a.content(r.Context(), b, wire.Param(r, "integration"), "")
	if err != nil {
		return err
	}
	made := intake.NewToken(c.Type)
	if _, err := a.Integrations.Create(r.Context(), app, c, made, wire.Actor(r.Context()).String()); err != nil {
		return err
	}
	found, err := a.Integrations.ByName(r.Context(), c.Name)
	if err != nil {
		return err
	}
	location(w, found.Name)
	return answer(w, http.StatusCreated, found, made)
}

// content reads the content of an integration. name is its present name, kind its present type; "" = it is new.
func (a routes) content(ctx context.Context, b jsonbody.Object, name, kind string) (c intake.Content, err error) {
	c.Name = name
	if given, err := b.Text("name"); err != nil {
		return c, err
	} else if given != "" {
		c.Name = given
	}
	if c.Type, err = b.Text("type"); err != nil {
		return c, err
	}
	if c.Type == "" {
		c.Type = kind
	}
	if kind != "" && c.Type != kind {
		return c, fault.Invalidf("type", "the type of an integration never changes: it is %s", kind)
	}
	if c.DefaultPlan, err = b.Text("default_plan"); err != nil {
		return c, err
	}
	severity, err := b.Text("default_severity")
	if err != nil {
		return c, err
	}
	c.DefaultSeverity = intake.Severity(severity)
	rate, err := b.Whole("rate_per_minute", intake.MaxRate, intake.DefaultRate)
	if err != nil {
		return c, err
	}
	c.RatePerMinute = int(rate)
	if c.Ends, err = ends(b); err != nil {
		return c, err
	}
	enabled, given, err := b.Flag("enabled")
	if err != nil {
		return c, err
	}
	c.Enabled = enabled || !given
	if err := edited(b, &c); err != nil {
		return c, err
	}
	if err := c.Check(a.Types); err != nil {
		return c, err
	}
	return c, a.Previewer.Chooser.CheckPlans(ctx, c)
}

// testRoute answers which plan a firing event would use now if no incident is open with its key, and why. The body may
// have other rules than the stored ones.
func (a routes) testRoute(w http.ResponseWriter, r *http.Request) error {
	found, err := a.Integrations.ByName(r.Context(), wire.Param(r, "integration"))
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "labels", "severity", "title", "at", "rules")
	if err == nil {
		err = edited(b, &found.Content)
	}
	if err == nil {
		err = found.Check(a.Types)
	}
	if err != nil {
		return err
	}
	e := intake.Event{Status: intake.Firing}
	if b.Given("labels") && json.Unmarshal(b.Members["labels"], &e.Labels) != nil {
		return fault.Invalidf("labels", "labels must be an object of texts")
	}
	severity, err := b.Text("severity")
	if err != nil {
		return err
	}
	e.Severity = intake.Severity(severity)
	if e.Title, err = b.Text("title"); err != nil {
		return err
	}
	at, err := arrival(b)
	if err != nil {
		return err
	}
	app, err := a.Applications.ByName(r.Context(), found.Application)
	if err != nil {
		return err
	}
	choice, err := a.Previewer.Chooser.Choose(r.Context(), app, found, e, at)
	refusal := ""
	if fault.Is(err, fault.NotFound) {
		refusal, err = fault.Public(err), nil
	}
	return routing.Reply(w, http.StatusOK, showRoute(choice, refusal), err)
}

// ends reads when incidents end without a resolve of the source.
func ends(b jsonbody.Object) (e intake.Ends, err error) {
	resolve, err := b.Whole("resolve_after_seconds", math.MaxInt32, 0)
	if err != nil {
		return e, err
	}
	e.ResolveAfter = time.Duration(resolve) * time.Second
	if !b.Given("close_after_seconds") {
		return e, nil
	}
	seconds, err := b.Whole("close_after_seconds", math.MaxInt32, 0)
	after := time.Duration(seconds) * time.Second
	e.CloseAfter = &after
	return e, err
}
