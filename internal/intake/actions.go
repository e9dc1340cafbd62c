// This file carries out what a sender asks about an alert that it sent before, besides the events: notes, changed
// facts, owners, escalation. The edges that take deliveries call it. It knows no source and no transport.

package intake

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Alerts stores alerts. If there is no such alert, a method returns a NotFound fault.
type Alerts interface {
	// AlertOfKey returns the open alert with a key, else the newest.
	AlertOfKey(ctx context.Context, of Integration, key string) (Alert, error)
	// Alert returns an alert by the number of its incident.
	Alert(ctx context.Context, of ID, incident int64) (Alert, error)
	// EditAlert returns a Conflict fault if the context changed since it was read.
	EditAlert(ctx context.Context, e AlertEdit) error
	// CommentOnAlert adds a comment whose author is the integration.
	CommentOnAlert(ctx context.Context, incident int64, source, content string) error
}

// Transitions change the states of incidents. A change that the state does not permit is a Conflict fault.
type Transitions interface {
	Acknowledge(ctx context.Context, c incidents.Change, owner users.User) ([]incidents.Acknowledged, error)
	Reopen(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
	Escalate(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
	// Snooze returns an Invalid fault if a snooze cannot end at until.
	Snooze(ctx context.Context, c incidents.Change, end incidents.SnoozeEnd) ([]incidents.Acknowledged, error)
}

// Responders change who works on an incident. A name that does not exist is an Invalid fault.
type Responders interface {
	PageAlso(ctx context.Context, c incidents.Change, p incidents.AddedPage) error
	Reassign(ctx context.Context, c incidents.Change, name string) error
}

// Addresses finds people by their contacts. An unknown contact is a NotFound fault.
type Addresses interface {
	ByContact(ctx context.Context, mode users.Mode, source string) (users.User, error)
}

// Deps are the parts that the actions work on. All are required.
type Deps struct {
	Alerts      Alerts
	Transitions Transitions
	Responders  Responders
	People      users.Finder
	Addresses   Addresses
	// Wake notifies the processors of changed buckets. It never blocks.
	Wake func(context.Context, buckets.Set)
}

// Actions carries out actions. A Conflict fault means that the state of the alert does not permit the action. It is
// safe for concurrent use.
type Actions struct{ d Deps }

// New returns the actions on the parts.
func New(d Deps) Actions { return Actions{d} }

// The reasons why an alert does not permit an action.
var (
	ErrNotAcknowledged = fault.New(fault.Conflict, "the alert is not acknowledged")
	ErrNoPerson        = fault.New(fault.Conflict, "there is no such person")
	ErrNoTeam          = fault.New(fault.Conflict, "there is no such team")
	errChanging        = fault.New(fault.Unavailable, "the alert changes too often, try again")
)

// Comment adds a comment; user is who wrote it, as the sender says; "" = unknown.
func (a Actions) Comment(ctx context.Context, from Integration, on Alert, user, text string) error {
	if user != "" {
		text = user + ": " + text
	}
	return a.d.Alerts.CommentOnAlert(ctx, on.Incident, actor(from), text)
}

// Unacknowledge undoes the acknowledgement of an open alert: it escalates again.
func (a Actions) Unacknowledge(ctx context.Context, from Integration, on Alert) error {
	if !on.Acknowledged() {
		return ErrNotAcknowledged
	}
	done, err := a.d.Transitions.Reopen(ctx, change(from, on))
	return a.finish(ctx, done, err)
}

// Escalate starts the next step of an open alert's plan.
func (a Actions) Escalate(ctx context.Context, from Integration, on Alert) error {
	done, err := a.d.Transitions.Escalate(ctx, change(from, on))
	return a.finish(ctx, done, err)
}

// Snooze ends the escalation of an open alert until an instant.
func (a Actions) Snooze(ctx context.Context, from Integration, on Alert, until time.Time) error {
	done, err := a.d.Transitions.Snooze(ctx, change(from, on), incidents.SnoozeUntil(until))
	return a.finish(ctx, done, err)
}

// Assign makes a person the owner of an open alert, which ends its escalation, and pages this person. name is the
// person's name or e-mail address.
func (a Actions) Assign(ctx context.Context, from Integration, on Alert, name string) error {
	owner, err := a.person(ctx, name)
	if err != nil {
		return err
	}
	if on.Owner != "" {
		return a.wake(ctx, on, a.d.Responders.Reassign(ctx, change(from, on), owner.Name))
	}
	done, err := a.d.Transitions.Acknowledge(ctx, change(from, on), owner)
	if err = a.finish(ctx, done, err); err != nil {
		return err
	}
	return a.page(ctx, from, on, incidents.Target{Role: "user", Name: owner.Name})
}

// person finds an active person by name or e-mail address.
func (a Actions) person(ctx context.Context, name string) (users.User, error) {
	found, err := a.d.People.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) && strings.Contains(name, "@") {
		found, err = a.d.Addresses.ByContact(ctx, users.Email, name)
	}
	if fault.Is(err, fault.NotFound) || err == nil && !found.Active {
		err = ErrNoPerson
	}
	return found, err
}

// PagePerson pages a person in addition to those of the plan. name is as for Assign.
func (a Actions) PagePerson(ctx context.Context, from Integration, on Alert, name string) error {
	found, err := a.person(ctx, name)
	if err != nil {
		return err
	}
	return a.page(ctx, from, on, incidents.Target{Role: "user", Name: found.Name})
}

// PageTeam pages who is on call for a team in addition to those of the plan.
func (a Actions) PageTeam(ctx context.Context, from Integration, on Alert, name string) error {
	err := a.page(ctx, from, on, incidents.Target{Role: "oncall-primary", Name: name})
	return fault.When(err, fault.Invalid, ErrNoTeam)
}

func (a Actions) page(ctx context.Context, from Integration, on Alert, t incidents.Target) error {
	return a.wake(ctx, on, a.d.Responders.PageAlso(ctx, change(from, on),
		incidents.AddedPage{Targets: []incidents.Target{t}}))
}

// edits is how often an edit is tried again because the alert was changed at the same time.
const edits = 4

// Edit changes the facts of an alert. decide returns the payload after the edit, and what changed as a text for the
// timeline; "" = nothing. It is called again with the new payload if the alert was changed at the same time.
func (a Actions) Edit(ctx context.Context, from Integration, on Alert, decode Decoder,
	decide func(context json.RawMessage) (payload json.RawMessage, text string, err error),
) error {
	for range edits {
		payload, text, err := decide(on.Context)
		if err != nil || text == "" {
			return err
		}
		if err = a.edit(ctx, from, on, decode, payload, text); !fault.Is(err, fault.Conflict) {
			return err
		}
		if on, err = a.d.Alerts.Alert(ctx, from.ID, on.Incident); err != nil {
			return err
		}
	}
	return errChanging
}

func (a Actions) edit(ctx context.Context, from Integration, on Alert, decode Decoder, payload json.RawMessage, text string) error {
	none := func(string) string { return "" }
	events, err := decode(Request{Header: none, Query: none, Body: payload, Settings: from.Settings})
	if err != nil || len(events) != 1 {
		return err
	}
	if incidents.JSONSize(payload) > incidents.MaxContext {
		return fault.Newf(fault.Invalid, "the alert would have more than %d characters", incidents.MaxContext)
	}
	after, err := ContextOf(events[0], from.Name, events[0].Severity)
	if err != nil {
		return err
	}
	return a.d.Alerts.EditAlert(ctx, AlertEdit{Incident: on.Incident, Before: on.Context, After: after,
		Severity: string(events[0].Severity), Actor: actor(from), Text: text})
}

func actor(from Integration) string { return "integration " + from.Name }

func change(from Integration, on Alert) incidents.Change {
	return incidents.Change{IDs: []incidents.ID{incidents.ID(on.Incident)}, Actor: actor(from), Via: incidents.ViaHook}
}

// finish wakes the processors of changed incidents.
func (a Actions) finish(ctx context.Context, done []incidents.Acknowledged, err error) error {
	for _, d := range done {
		a.d.Wake(ctx, buckets.Of(int(int64(d.ID)%buckets.Count)))
	}
	return err
}

// wake wakes the processor of a changed incident.
func (a Actions) wake(ctx context.Context, on Alert, err error) error {
	return a.finish(ctx, []incidents.Acknowledged{{ID: incidents.ID(on.Incident)}}, err)
}
