package hooks

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/heartbeats"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// opsgenieHeartbeats mounts the routes of Opsgenie's Heartbeat API. A key reaches the heartbeats of its integration
// only.
func (h *Hooks) opsgenieHeartbeats(r chi.Router) {
	const one = "/v2/heartbeats/{name}"
	for _, mount := range []func(string, http.HandlerFunc){r.Get, r.Post, r.Put, r.Patch} {
		mount(one+"/ping", h.pingAlert)
	}
	for _, mount := range []func(string, http.HandlerFunc){r.Post, r.Put, r.Patch} {
		mount(one+"/enable", h.onHeartbeat(func(c *opsgenieCall) error { return c.enable(true) }))
		mount(one+"/disable", h.onHeartbeat(func(c *opsgenieCall) error { return c.enable(false) }))
	}
	r.Get("/v2/heartbeats", h.onHeartbeat((*opsgenieCall).list))
	r.Post("/v2/heartbeats", h.onHeartbeat((*opsgenieCall).create))
	r.Get(one, h.onHeartbeat((*opsgenieCall).get))
	r.Patch(one, h.onHeartbeat((*opsgenieCall).update))
	r.Delete(one, h.onHeartbeat((*opsgenieCall).remove))
}

// pingAlert stores a ping. As Opsgenie does, it accepts a ping of an unknown heartbeat; the integration shows it.
func (h *Hooks) pingAlert(w http.ResponseWriter, r *http.Request) {
	a := &alertRequest{w: w, r: r, begun: time.Now(), d: &delivery{h: h}}
	_, a.err = h.storePing(r.Context(), heartbeats.Ping{Token: genieKey(r), Type: intake.Opsgenie,
		Name: wire.Param(r, "name"), Signal: heartbeats.Success})
	if a.err != nil {
		a.refuse()
		return
	}
	answerAlert(w, http.StatusAccepted, struct {
		Result string `json:"result"`
		envelope
	}{"PONG - Heartbeat received", newEnvelope(a.begun, requestID('h', alertDone, 0, a.begun))})
}

// opsgenieCall is one authenticated request about heartbeats.
type opsgenieCall struct {
	*alertRequest
	given opsgenieHeartbeat
	all   []heartbeats.Heartbeat

	status int
	data   any
}

// opsgenieHeartbeat is a heartbeat on Opsgenie's wire. Fields that Iris does not use are ignored.
type opsgenieHeartbeat struct {
	Name          *string `json:"name"`
	Description   *string `json:"description"`
	Interval      *int64  `json:"interval"`
	IntervalUnit  *string `json:"intervalUnit"`
	Enabled       *bool   `json:"enabled"`
	AlertPriority *string `json:"alertPriority"`
}

// onHeartbeat returns the handler of a call: it authenticates, reads the body and the heartbeats of the integration,
// and answers.
func (h *Hooks) onHeartbeat(do func(*opsgenieCall) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &opsgenieCall{alertRequest: h.beginAlert(w, r, wire.MaxBody), status: http.StatusOK}
		if c.err == nil {
			c.err = later(c.carryOut(do))
		}
		if !c.noted {
			if c.err == nil {
				h.d.Activity.Count(c.d.from.ID, c.d.tokenID)
			} else {
				c.d.note(c.err)
			}
		}
		if c.err != nil {
			c.refuse()
			return
		}
		answerAlert(w, c.status, struct {
			Data any `json:"data"`
			envelope
		}{c.data, newEnvelope(c.begun, requestID('h', alertDone, 0, c.begun))})
	}
}

func (c *opsgenieCall) carryOut(do func(*opsgenieCall) error) (err error) {
	if body := wire.WithoutNUL(c.body); len(body) > 0 && json.Unmarshal(body, &c.given) != nil {
		if !json.Valid(body) {
			return fault.New(fault.Invalid, "Invalid json in post body")
		}
		return fault.New(fault.Invalid, "the body must be a JSON object with fields of the right types")
	}
	if c.all, _, err = c.d.h.d.Heartbeats.Of(c.r.Context(), c.d.from.ID, 0); err != nil {
		return err
	}
	return do(c)
}

// named returns a heartbeat of the integration.
func (c *opsgenieCall) named(name string) (heartbeats.Heartbeat, error) {
	at := slices.IndexFunc(c.all, func(h heartbeats.Heartbeat) bool { return h.Name == name })
	if at < 0 {
		return heartbeats.Heartbeat{}, fault.Newf(fault.NotFound, "there is no heartbeat named %.100q", name)
	}
	return c.all[at], nil
}

func (c *opsgenieCall) target() (heartbeats.Heartbeat, error) {
	return c.named(wire.Param(c.r, "name"))
}

func (c *opsgenieCall) actor() string { return "integration " + c.d.from.Name }

func (c *opsgenieCall) list() error {
	out := []any{}
	for _, h := range c.all {
		out = append(out, c.shown(h))
	}
	c.data = map[string]any{"heartbeats": out}
	return nil
}

func (c *opsgenieCall) get() error {
	found, err := c.target()
	c.data = c.shown(found)
	return err
}

// create adds a heartbeat, or replaces the one of that name.
func (c *opsgenieCall) create() error {
	before, err := c.named(deref(c.given.Name))
	if err != nil { // it is new
		before.Name, before.Enabled = deref(c.given.Name), true
		if c.given.Interval == nil {
			return fault.Invalidf("interval", "is required")
		}
	}
	c.status = http.StatusCreated
	return c.save(before)
}

func (c *opsgenieCall) update() error {
	before, err := c.target()
	if err != nil {
		return err
	}
	return c.save(before)
}

func (c *opsgenieCall) enable(on bool) error {
	c.given = opsgenieHeartbeat{Enabled: &on}
	return c.update()
}

// save stores a heartbeat with the fields of the body.
func (c *opsgenieCall) save(before heartbeats.Heartbeat) error {
	content := before.Content
	if c.given.Description != nil {
		content.Description = *c.given.Description
	}
	if c.given.Enabled != nil {
		content.Enabled = *c.given.Enabled
	}
	if c.given.AlertPriority != nil {
		content.Severity, _ = intake.SeverityOf(*c.given.AlertPriority)
	}
	if c.given.Interval != nil {
		unit, known := map[string]time.Duration{"": time.Minute, "minutes": time.Minute, "hours": time.Hour,
			"days": 24 * time.Hour}[deref(c.given.IntervalUnit)]
		if most := int64(heartbeats.MaxEvery / max(unit, 1)); !known || *c.given.Interval < 1 || *c.given.Interval > most {
			return fault.Invalidf("interval", "must be 1 or more minutes, hours or days, at most a year")
		}
		content.Every = time.Duration(*c.given.Interval) * unit
	}
	if err := content.Check(); err != nil {
		return err
	}
	if err := c.d.h.d.Heartbeats.Save(c.r.Context(), c.d.from, before, content, c.actor()); err != nil {
		return err
	}
	before.Content = content
	c.data = c.brief(before)
	return nil
}

func (c *opsgenieCall) remove() error {
	found, err := c.target()
	if err != nil {
		return err
	}
	c.data = c.brief(found)
	return c.d.h.d.Heartbeats.Delete(c.r.Context(), found, c.actor())
}

// brief is what answers to changes show of a heartbeat.
func (c *opsgenieCall) brief(h heartbeats.Heartbeat) map[string]any {
	return map[string]any{"name": h.Name, "enabled": h.Enabled, "expired": h.State() == heartbeats.Missed}
}

// shown is what Opsgenie shows of a heartbeat. The interval has the largest unit in which it is whole; a shorter one
// than a minute is one minute.
func (c *opsgenieCall) shown(h heartbeats.Heartbeat) map[string]any {
	unit, of := "minutes", time.Minute
	for _, larger := range []struct {
		name string
		of   time.Duration
	}{{"hours", time.Hour}, {"days", 24 * time.Hour}} {
		if h.Every >= larger.of && h.Every%larger.of == 0 {
			unit, of = larger.name, larger.of
		}
	}
	out := c.brief(h)
	out["description"], out["interval"], out["intervalUnit"] = h.Description, max(1, int64(h.Every/of)), unit
	out["alertTags"], out["alertPriority"], out["alertMessage"] = []string{}, priority(h.Severity), ""
	out["ownerTeam"], out["lastPingTime"] = map[string]any{}, nil
	if !h.LastPingAt.IsZero() {
		out["lastPingTime"] = h.LastPingAt.UTC().Format(time.RFC3339Nano)
	}
	return out
}

// priority returns the priority of Opsgenie for a severity; without one, Opsgenie's default.
func priority(s intake.Severity) string {
	return cmp.Or(map[intake.Severity]string{intake.Critical: "P1", intake.Error: "P2", intake.Warning: "P3",
		intake.Info: "P5"}[s], "P3")
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
