// Package silences serves the routes of /v1 about silences and maintenance windows. api mounts its routes. A maintenance window is a silence
// with a recurrence.
package silences

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/api/page"
	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/silences"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/jsonbody"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

type routes struct {
	silences.Silences
	own func(ctx context.Context) (int64, string)
}

// Operations are the operations on silences that the routes call.
type Operations = silences.Silences

// Routes returns the routes on the operations. own returns the application that the caller is confined to; 0 = none.
func Routes(s silences.Silences, own func(ctx context.Context) (id int64, name string)) []routing.Route {
	a := routes{s, own}
	const one = "/v1/silences/{silence}"
	return []routing.Route{
		routing.Get("/v1/silences", routing.Someone, a.list),
		routing.Post("/v1/silences", routing.Write, a.create),
		routing.Post("/v1/silences/preview", routing.Write, a.preview),
		routing.Get(one, routing.Someone, a.get),
		routing.Put(one, routing.Write, a.replace),
		routing.Delete(one, routing.Write, a.end),
		routing.Get(one+"/incidents", routing.Someone, a.incidents),
	}
}

// silence is a silence on the wire.
type silence struct {
	ID          int64   `json:"id"`
	State       string  `json:"state"` // active, planned or over
	Match       *string `json:"match"`
	Application *string `json:"application"`
	Plan        *string `json:"plan"`
	Team        *string `json:"team"`
	From        *string `json:"from"`
	To          *string `json:"to"`
	Recurrence  *string `json:"recurrence"`
	Zone        *string `json:"zone"`
	NextFrom    *string `json:"next_from"` // of the present occurrence, else of the next one
	NextTo      *string `json:"next_to"`
	Comment     string  `json:"comment"`
	Author      string  `json:"author"`
	CreatedAt   *string `json:"created_at"`
	EndedAt     *string `json:"ended_at"`
	Hidden      int     `json:"hidden_incidents"`
}

func (a routes) show(s silences.Silence) any {
	now := a.Now()
	out := silence{ID: int64(s.ID), State: s.State(now), Match: page.OrNull(s.Match), Application: page.OrNull(s.Application), Plan: page.OrNull(s.Plan),
		Team: page.OrNull(s.Team), From: page.Time(s.From), To: page.Time(s.To), Recurrence: page.OrNull(s.Recurrence), Zone: page.OrNull(s.Zone),
		Comment: s.Comment, Author: s.Author, CreatedAt: page.Time(s.CreatedAt), EndedAt: page.Time(s.EndedAt), Hidden: s.Hidden}
	if s.Over(now) {
		return out
	}
	span, current := s.At(now)
	if !current {
		span, _ = s.Next(now)
	}
	out.NextFrom, out.NextTo = page.Time(span.From), page.Time(span.To)
	return out
}

// list answers with the silences, newest first. Those that are over are left out unless ?over=true.
func (a routes) list(w http.ResponseWriter, r *http.Request) error {
	q, err := page.Read(r, "over")
	if err != nil {
		return err
	}
	over, err := q.Flag("over", false)
	if err != nil {
		return err
	}
	before, err := numbered(q)
	if err != nil {
		return err
	}
	found, err := a.Page(r.Context(), silences.ID(before), !over, q.Size+1)
	if err != nil {
		return err
	}
	return page.AnswerFrom(w, q, found, a.show, func(s silences.Silence) string { return strconv.FormatInt(int64(s.ID), 10) })
}

// numbered returns the number in the cursor; 0 = the first page.
func numbered(q page.Query) (int64, error) {
	if q.AfterName() == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(q.AfterName(), 10, 64)
	if err != nil || n <= 0 {
		return 0, page.BadCursor()
	}
	return n, nil
}

func (a routes) get(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	found, err := a.ByID(r.Context(), id)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, a.show(found))
}

func (a routes) create(w http.ResponseWriter, r *http.Request) error {
	c, err := a.content(w, r)
	if err != nil {
		return err
	}
	made, err := a.Create(r.Context(), wire.Actor(r.Context()), c)
	if err != nil {
		return err
	}
	w.Header().Set("Location", fmt.Sprintf("/v1/silences/%d", made.ID))
	return routing.Answer(w, http.StatusCreated, a.show(made))
}

func (a routes) replace(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	c, err := a.content(w, r)
	if err != nil {
		return err
	}
	changed, err := a.Replace(r.Context(), wire.Actor(r.Context()), id, c)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, a.show(changed))
}

// end ends a silence now. It stays in the list of those that are over.
func (a routes) end(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	if err := a.End(r.Context(), wire.Actor(r.Context()), id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// incidents answers with the numbers of the incidents that a silence hides, newest first.
func (a routes) incidents(w http.ResponseWriter, r *http.Request) error {
	q, err := page.Read(r)
	if err != nil {
		return err
	}
	id, err := number(r)
	if err != nil {
		return err
	}
	if _, err := a.ByID(r.Context(), id); err != nil {
		return err
	}
	before, err := numbered(q)
	if err != nil {
		return err
	}
	own, _ := a.own(r.Context())
	found, err := a.Incidents(r.Context(), id, own, incidents.ID(before), q.Size+1)
	if err != nil {
		return err
	}
	return page.AnswerFrom(w, q, found, func(id incidents.ID) any { return map[string]int64{"id": int64(id)} },
		func(id incidents.ID) string { return strconv.FormatInt(int64(id), 10) })
}

// preview answers what a silence with the conditions of the body would hide.
func (a routes) preview(w http.ResponseWriter, r *http.Request) error {
	b, err := jsonbody.ReadKnown(w, r, "match", "application", "plan", "team")
	if err != nil {
		return err
	}
	c, err := conditions(b)
	if err != nil {
		return err
	}
	if id, name := a.own(r.Context()); id != 0 {
		if c.Application != "" && c.Application != name {
			return auth.ErrNotReached
		}
		c.Application = name
	}
	found, err := a.Preview(r.Context(), c)
	return routing.Reply(w, http.StatusOK, struct {
		Escalating any  `json:"escalating"` // []incidents.ID
		Recent     int  `json:"recent"`
		Partial    bool `json:"partial"`
	}{routing.OrEmpty(found.Escalating), found.Recent, found.Partial}, err)
}

func conditions(b jsonbody.Object) (c silences.Content, err error) {
	c.Match = jsonbody.Next(&err, b.Text, "match")
	c.Application = jsonbody.Next(&err, b.Text, "application")
	c.Plan = jsonbody.Next(&err, b.Text, "plan")
	c.Team = jsonbody.Next(&err, b.Text, "team")
	return c, err
}

func number(r *http.Request) (silences.ID, error) {
	n, err := strconv.ParseInt(wire.Param(r, "silence"), 10, 64)
	if err != nil || n <= 0 {
		return 0, fault.New(fault.NotFound, "there is no such silence")
	}
	return silences.ID(n), nil
}

// content reads a silence. from defaults to now. for_seconds after from, or ends_in_seconds after now (see EndAfter), may replace to.
func (a routes) content(w http.ResponseWriter, r *http.Request) (c silences.Content, err error) {
	b, err := jsonbody.ReadKnown(w, r, "match", "application", "plan", "team", "from", "to", "for_seconds", "ends_in_seconds", "recurrence", "zone", "comment")
	if err != nil {
		return c, err
	}
	if c, err = conditions(b); err != nil {
		return c, err
	}
	for name, into := range map[string]*string{"recurrence": &c.Recurrence, "zone": &c.Zone, "comment": &c.Comment} {
		if *into, err = b.Text(name); err != nil {
			return c, err
		}
	}
	c.From = a.Now().UTC().Truncate(time.Second)
	if b.Given("from") {
		if c.From, err = moment(b, "from"); err != nil {
			return c, err
		}
	}
	ends := 0
	for _, name := range []string{"to", "for_seconds", "ends_in_seconds"} {
		if b.Given(name) {
			ends++
		}
	}
	if ends != 1 {
		return c, fault.Invalidf("to", "give either to or for_seconds or ends_in_seconds")
	}
	if b.Given("to") {
		c.To, err = moment(b, "to")
		return c, err
	}
	if b.Given("ends_in_seconds") {
		seconds, err := b.Whole("ends_in_seconds", 366*86_400, 0)
		c.To = c.EndAfter(time.Duration(seconds)*time.Second, a.Now())
		return c, err
	}
	seconds, err := b.Whole("for_seconds", 366*86_400, 0)
	c.To = c.From.Add(time.Duration(seconds) * time.Second)
	return c, err
}

// moment reads a member in RFC 3339.
func moment(b jsonbody.Object, name string) (time.Time, error) {
	s, err := b.Text(name)
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return at, b.Fault(name, "%s must be an instant such as 2026-01-31T08:00:00Z", name)
	}
	return at, nil
}
