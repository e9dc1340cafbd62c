package pages

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

func (a actions) routes() []routing.Route {
	return []routing.Route{
		routing.Post("/v1/incidents/{id}/acknowledge", routing.Write, a.acknowledge),
		routing.Post("/v1/incidents/{id}/resolve", routing.Write, a.do(func(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
			return a.Incidents.Resolve(ctx, c, true)
		})),
		routing.Post("/v1/incidents/{id}/reopen", routing.Write, a.do(a.reopen)),
		routing.Post("/v1/incidents/{id}/snooze", routing.Write, a.snooze),
		routing.Post("/v1/incidents/{id}/unsnooze", routing.Write, a.do(a.Incidents.EndSnooze)),
		routing.Post("/v1/incidents/{id}/merge", routing.Write, a.merge),
		routing.Post("/v1/incidents/{id}/unmerge", routing.Write, a.do(a.Incidents.Unmerge)),
		routing.Post("/v1/incidents/{id}/escalate", routing.Write, a.do(a.Incidents.Escalate)),
		routing.Post("/v1/incidents/{id}/restart", routing.Write, a.do(a.Incidents.Restart)),
	}
}

// acknowledge makes the caller, or the person whom the body names, the owner of an incident.
func (a actions) acknowledge(w http.ResponseWriter, r *http.Request) error {
	found, err := a.find(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadOptional(w, r, "owner")
	if err != nil {
		return err
	}
	name, err := b.Text("owner")
	if err != nil {
		return err
	}
	owner, err := a.person(r.Context(), "owner", name)
	if err != nil {
		return err
	}
	done, err := a.Incidents.Acknowledge(r.Context(), change(r, found.ID), owner)
	if err != nil {
		return err
	}
	return a.finish(w, r, done)
}

// reopen undoes the resolution and the acknowledgement. The incident escalates again from its current step.
func (a actions) reopen(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
	if _, err := a.Incidents.Resolve(ctx, c, false); err != nil {
		return nil, err
	}
	return a.Incidents.Reopen(ctx, c)
}

// snooze ends the escalation of an incident until an instant, or for a duration.
func (a actions) snooze(w http.ResponseWriter, r *http.Request) error {
	found, err := a.find(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "until", "for")
	if err != nil {
		return err
	}
	end, err := apiSnoozeEnd(b)
	if err != nil {
		return err
	}
	done, err := a.Incidents.Snooze(r.Context(), change(r, found.ID), end)
	if err != nil {
		return err
	}
	return a.finish(w, r, done)
}

// apiSnoozeEnd returns the end that the body names.
func apiSnoozeEnd(b jsonbody.Object) (incidents.SnoozeEnd, error) {
	if b.Given("until") == b.Given("for") {
		return nil, fault.Invalidf("until", "either until or for is required")
	}
	if b.Given("until") {
		text, err := b.Required("until")
		if err != nil {
			return nil, err
		}
		until, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil, fault.Invalidf("until", "until must be an instant such as 2006-01-02T15:04:05Z")
		}
		return incidents.SnoozeUntil(until), nil
	}
	text, err := b.Required("for")
	if err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > incidents.MaxSnooze {
		return nil, fault.Invalidf("for", "for must be a duration such as 90m or 24h, at most %d days",
			incidents.MaxSnooze/(24*time.Hour))
	}
	return incidents.SnoozeFor(d), nil
}

// merge makes another incident stand for an incident.
func (a actions) merge(w http.ResponseWriter, r *http.Request) error {
	found, err := a.find(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "into", "comment")
	if err != nil {
		return err
	}
	into, ok, err := b.Number("into")
	if err != nil {
		return err
	}
	if !ok || into <= 0 {
		return fault.Invalidf("into", "into must be the number of an incident")
	}
	comment, err := b.Text("comment")
	if err != nil {
		return err
	}
	done, err := a.Incidents.Merge(r.Context(), change(r, found.ID), incidents.ID(into), comment)
	if err != nil {
		return err
	}
	return a.finish(w, r, done)
}

// do returns the handler of a change without a body.
func (a actions) do(work func(context.Context, incidents.Change) ([]incidents.Acknowledged, error)) routing.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		found, err := a.find(r)
		if err != nil {
			return err
		}
		if _, err := jsonbody.ReadOptional(w, r); err != nil {
			return err
		}
		done, err := work(r.Context(), change(r, found.ID))
		if err != nil {
			return err
		}
		return a.finish(w, r, done)
	}
}

// change returns a change of an incident by the caller.
func change(r *http.Request, id incidents.ID) incidents.Change {
	return incidents.Change{IDs: []incidents.ID{id}, Actor: wire.Actor(r.Context()).String(), Via: incidents.ViaAPI}
}

// finish wakes the processors and answers with the changed incident.
func (a actions) finish(w http.ResponseWriter, r *http.Request, done []incidents.Acknowledged) error {
	if len(done) != 1 || !done[0].Found {
		return fault.New(fault.NotFound, "there is no such incident")
	}
	return a.changed(w, r, done[0].ID)
}

func (a comments) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/incidents/{id}/comments", routing.Someone, a.list),
		routing.Post("/v1/incidents/{id}/comments", routing.Write, a.add),
	}
}

// comment is a comment on the wire.
type comment struct {
	ID        int64   `json:"id"`
	Author    string  `json:"author"`
	Content   string  `json:"content"`
	CreatedAt *string `json:"created_at"`
}

func (a comments) list(w http.ResponseWriter, r *http.Request) error {
	q, err := listing.Read(r)
	if err != nil {
		return err
	}
	found, err := a.find(r)
	if err != nil {
		return err
	}
	all, err := a.Incidents.Comments(r.Context(), found.ID)
	if err != nil {
		return err
	}
	return listing.AnswerNamed(w, q, all, func(c incidents.Comment) any {
		return comment{ID: c.ID, Author: c.Author, Content: c.Content, CreatedAt: listing.Time(c.CreatedAt)}
	}, func(c incidents.Comment) string { return fmt.Sprintf("%019d", c.ID) })
}

// add stores a comment of the caller, or of the author whom the body names.
func (a comments) add(w http.ResponseWriter, r *http.Request) error {
	found, err := a.find(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "content", "author")
	if err != nil {
		return err
	}
	content, err := b.Required("content")
	if err != nil {
		return err
	}
	if strings.TrimSpace(content) == "" {
		return fault.Invalidf("content", "content must not be empty")
	}
	name, err := b.Text("author")
	if err != nil {
		return err
	}
	author, err := a.person(r.Context(), "author", name)
	if err != nil {
		return err
	}
	id, err := a.Incidents.AddComment(r.Context(), found.ID, author, content)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/incidents/"+number(found.ID)+"/comments")
	return routing.Answer(w, http.StatusCreated, map[string]any{"id": id})
}
