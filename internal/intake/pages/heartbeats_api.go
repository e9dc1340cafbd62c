// This file serves the routes of /v1 about heartbeats, which belong to integrations.

package pages

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/heartbeats"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Heartbeats stores heartbeats. Methods that change one check that it is as it was read; otherwise they return a Stale
// fault.
type Heartbeats interface {
	// Of returns the heartbeats of an integration (0 = of all) of an application (0 = of all) by name, and when pings
	// could be received.
	Of(ctx context.Context, integration intake.ID, application int64) ([]heartbeats.Heartbeat, heartbeats.Reception,
		error)
	// Save adds a heartbeat (ID 0), or replaces its content. A name in use is a Conflict fault.
	Save(ctx context.Context, i intake.Integration, before heartbeats.Heartbeat, c heartbeats.Content,
		actor string) error
	Delete(ctx context.Context, h heartbeats.Heartbeat, actor string) error
}

// HeartbeatIntegrations finds integrations by name. An unknown name is a NotFound fault.
type HeartbeatIntegrations interface {
	ByName(ctx context.Context, name string) (intake.Integration, error)
}

// HeartbeatDeps are the parts that the routes work on. All are required.
type HeartbeatDeps struct {
	Heartbeats   Heartbeats
	Integrations HeartbeatIntegrations
	Chooser      receiving.Chooser
	// Editable finds the integration of a request and checks that the caller may change it.
	Editable func(r *http.Request) (intake.Integration, error)
	// Own returns the application that the caller is confined to; 0 = none.
	Own func(ctx context.Context) (id int64, name string)
}

type heartbeatRoutes struct{ HeartbeatDeps }

// HeartbeatRoutes returns the routes on the parts.
func HeartbeatRoutes(d HeartbeatDeps) []routing.Route {
	a := heartbeatRoutes{d}
	const all = "/v1/integrations/{integration}/heartbeats"
	const one = all + "/{heartbeat}"
	return []routing.Route{
		routing.Get("/v1/heartbeats", routing.Someone, a.everywhere),
		routing.Get(all, routing.Someone, a.list),
		routing.Get(one, routing.Someone, a.get),
		routing.Put(one, routing.Write, a.put),
		routing.Delete(one, routing.Write, a.remove),
	}
}

// heartbeat is a heartbeat on the wire.
type heartbeat struct {
	ID           int64   `json:"id"`
	Integration  string  `json:"integration"`
	Name         string  `json:"name"`
	Description  string  `json:"description"`
	EverySeconds int64   `json:"every_seconds"`
	GraceSeconds int64   `json:"grace_seconds"`
	Plan         *string `json:"plan"`
	Severity     *string `json:"severity"`
	Enabled      bool    `json:"enabled"`
	State        string  `json:"state"`
	LastPingAt   *string `json:"last_ping_at"`
	Deadline     *string `json:"deadline"`
	MissedAt     *string `json:"missed_at"`
	Incident     *int64  `json:"incident_id"`
	CreatedBy    string  `json:"created_by"`
	CreatedAt    *string `json:"created_at"`
}

func heartbeatShow(h heartbeats.Heartbeat, r heartbeats.Reception) heartbeat {
	out := heartbeat{ID: int64(h.ID), Integration: h.Integration, Name: h.Name, Description: h.Description,
		EverySeconds: int64(h.Every / time.Second),
		GraceSeconds: int64(h.Grace / time.Second), Plan: listing.OrNull(h.Plan), Severity: listing.OrNull(string(h.Severity)), Enabled: h.Enabled,
		State: string(h.State()), LastPingAt: listing.Time(h.LastPingAt), Deadline: listing.Time(h.Deadline(r)), MissedAt: listing.Time(h.MissedAt),
		CreatedBy: h.CreatedBy, CreatedAt: listing.Time(h.CreatedAt)}
	if h.Incident != 0 {
		out.Incident = &h.Incident
	}
	return out
}

// everywhere answers with the heartbeats of all integrations.
func (a heartbeatRoutes) everywhere(w http.ResponseWriter, r *http.Request) error {
	return a.answerList(w, r, 0)
}

// list answers with the heartbeats of an integration.
func (a heartbeatRoutes) list(w http.ResponseWriter, r *http.Request) error {
	found, err := a.Integrations.ByName(r.Context(), wire.Param(r, "integration"))
	if err != nil {
		return err
	}
	return a.answerList(w, r, found.ID)
}

func (a heartbeatRoutes) answerList(w http.ResponseWriter, r *http.Request, of intake.ID) error {
	q, err := listing.Read(r)
	if err != nil {
		return err
	}
	own, _ := a.Own(r.Context())
	all, reception, err := a.Heartbeats.Of(r.Context(), of, own)
	if err != nil {
		return err
	}
	key := func(h heartbeats.Heartbeat) string { return h.Integration + "/" + h.Name }
	listing.Sort(all, key)
	return listing.AnswerNamed(w, q, all, func(h heartbeats.Heartbeat) any { return heartbeatShow(h, reception) }, key)
}

func (a heartbeatRoutes) get(w http.ResponseWriter, r *http.Request) error {
	found, err := a.Integrations.ByName(r.Context(), wire.Param(r, "integration"))
	if err != nil {
		return err
	}
	return a.answer(w, r, http.StatusOK, found)
}

// answer answers with the heartbeat of the path.
func (a heartbeatRoutes) answer(w http.ResponseWriter, r *http.Request, status int, of intake.Integration) error {
	h, reception, err := a.find(r, of)
	if err != nil {
		return err
	}
	routing.ShowTag(w, h.Tag())
	return routing.Answer(w, status, heartbeatShow(h, reception))
}

// find returns the heartbeat of the path. An unknown name is a NotFound fault.
func (a heartbeatRoutes) find(r *http.Request, of intake.Integration) (heartbeats.Heartbeat, heartbeats.Reception, error) {
	name := wire.Param(r, "heartbeat")
	own, _ := a.Own(r.Context())
	all, reception, err := a.Heartbeats.Of(r.Context(), of.ID, own)
	if err != nil {
		return heartbeats.Heartbeat{}, reception, err
	}
	at := slices.IndexFunc(all, func(h heartbeats.Heartbeat) bool { return h.Name == name })
	if at < 0 {
		return heartbeats.Heartbeat{}, reception, fault.Newf(fault.NotFound,
			"the integration %s has no heartbeat %.100q", of.Name, name)
	}
	return all[at], reception, nil
}

// put creates the heartbeat of the path, or replaces its content.
func (a heartbeatRoutes) put(w http.ResponseWriter, r *http.Request) error {
	b, err := jsonbody.ReadKnown(w, r, "description", "every_seconds", "grace_seconds", "plan", "severity", "enabled")
	if err != nil {
		return err
	}
	of, err := a.Editable(r)
	if err != nil {
		return err
	}
	if !slices.Contains(heartbeats.Types(), of.Type) {
		return fault.Newf(fault.Conflict, "the integration %s has the type %s, which has no heartbeats", of.Name,
			of.Type)
	}
	before, _, err := a.find(r, of)
	status, tag := http.StatusOK, before.Tag()
	if fault.Is(err, fault.NotFound) {
		status, tag, err = http.StatusCreated, "", nil
	}
	if err == nil {
		_, err = routing.CheckTag(r, tag)
	}
	if err != nil {
		return err
	}
	c, err := a.content(r, b)
	if err != nil {
		return err
	}
	if err := a.Heartbeats.Save(r.Context(), of, before, c, wire.Actor(r.Context()).String()); err != nil {
		return err
	}
	if status == http.StatusCreated {
		w.Header().Set("Location", "/v1/integrations/"+url.PathEscape(of.Name)+"/heartbeats/"+url.PathEscape(c.Name))
	}
	return a.answer(w, r, status, of)
}

func (a heartbeatRoutes) content(r *http.Request, b jsonbody.Object) (c heartbeats.Content, err error) {
	seconds := func(name string) time.Duration {
		n := jsonbody.Next(&err, func(name string) (int64, error) {
			return b.Whole(name,
				int64(heartbeats.MaxEvery/time.Second), 0)
		}, name)
		return time.Duration(n) * time.Second
	}
	c = heartbeats.Content{Name: wire.Param(r, "heartbeat"), Every: seconds("every_seconds"),
		Grace:       seconds("grace_seconds"),
		Description: jsonbody.Next(&err, b.Text, "description"), Plan: jsonbody.Next(&err, b.Text, "plan"),
		Severity: intake.Severity(jsonbody.Next(&err, b.Text, "severity"))}
	if err != nil {
		return c, err
	}
	enabled, given, err := b.Flag("enabled")
	if err != nil {
		return c, err
	}
	c.Enabled = enabled || !given
	if err := c.Check(); err != nil {
		return c, err
	}
	return c, a.Chooser.CheckPlan(r.Context(), "plan", c.Plan)
}

func (a heartbeatRoutes) remove(w http.ResponseWriter, r *http.Request) error {
	of, err := a.Editable(r)
	if err != nil {
		return err
	}
	found, _, err := a.find(r, of)
	if err == nil {
		_, err = routing.CheckTag(r, found.Tag())
	}
	if err == nil {
		err = a.Heartbeats.Delete(r.Context(), found, wire.Actor(r.Context()).String())
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
