// This file changes who works on a running incident: it pages further people, and gives an acknowledged incident
// another owner. /v1, the web site and the command line call it. The processors make the messages (package runner). It
// knows no storage and no transport.

package notifications

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// ResponderStore stores the changes of one incident, the first of c.IDs. A change that the incident's state does not
// allow is a Conflict fault, an unknown incident a NotFound fault. A method returns when its change is durable.
type ResponderStore interface {
	PageAlso(ctx context.Context, c incidents.Change, a escalation.Addition) error
	// Reassign makes owner the owner of an acknowledged incident. If owner is the owner already, it changes nothing.
	Reassign(ctx context.Context, c incidents.Change, owner users.User, a escalation.Addition) error
}

// Responders changes who works on an incident. It is safe for concurrent use.
type Responders struct {
	Store   ResponderStore
	Lookups Lookups
	People  People
}

// People finds people by their log-in name or full name.
type People interface {
	users.Finder
	users.Searcher
}

// PageAlso pages the people of the targets, in addition to those of the plan. A wrong request is an Invalid fault that
// names the field.
func (r Responders) PageAlso(ctx context.Context, c incidents.Change, p incidents.AddedPage) error {
	a := escalation.Addition{Kind: escalation.ForResponders, Priority: users.High, Template: p.Template}
	if p.Priority != "" {
		var known bool
		if a.Priority, known = users.ParsePriority(p.Priority); !known {
			return fault.Invalidf("priority", "there is no priority %.40q", p.Priority)
		}
	}
	for k, t := range p.Targets {
		found, err := r.find(ctx, Target{Role: t.Role, Name: t.Name}, fmt.Sprintf("targets[%d]", k))
		if err != nil {
			return err
		}
		a.Targets = append(a.Targets, found)
	}
	if err := a.Check(); err != nil {
		return err
	}
	return r.Store.PageAlso(ctx, c, a)
}

// Reassign gives an acknowledged incident another owner, who is paged by the mode for high priority. The
// acknowledgement stays.
func (r Responders) Reassign(ctx context.Context, c incidents.Change, name string) error {
	unknown := fault.Invalidf("owner", "there is no active user %.100q", name)
	owner, err := r.People.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		owner, err = r.byFullName(ctx, name, "owner", unknown)
	}
	if err != nil {
		return err
	}
	if !owner.Active {
		return unknown
	}
	target, err := r.find(ctx, Target{Role: "user", Name: owner.Name}, "owner")
	if err != nil {
		return err
	}
	a := escalation.Addition{Kind: escalation.ForNewOwner, Priority: users.High, Targets: []escalation.Target{target}}
	return r.Store.Reassign(ctx, c, owner, a)
}

// find finds a target. A person is found by the log-in name, or else by the full name.
func (r Responders) find(ctx context.Context, t Target, field string) (escalation.Target, error) {
	found, err := Find(ctx, r.Lookups, t, field)
	if errors.Is(err, ErrTarget) && strings.EqualFold(t.Role, "user") {
		var person users.User
		if person, err = r.byFullName(ctx, t.Name, field+".name", err); err == nil {
			found, err = Find(ctx, r.Lookups, Target{Role: t.Role, Name: person.Name}, field)
		}
	}
	return escalation.Target{Role: found.Role, Name: found.Name, TargetID: found.TargetID}, err
}

// byFullName finds an active person by the full name. The refusal lists people with a similar name; without any, it is
// unknown.
func (r Responders) byFullName(ctx context.Context, name, field string, unknown error) (users.User, error) {
	found, ok, reason, err := users.ByFullName(ctx, r.People, name)
	switch {
	case err != nil || ok:
		return found, err
	case reason != "":
		return found, &fault.Error{Kind: fault.Invalid, Field: field, Message: reason, Err: ErrTarget}
	}
	return found, unknown
}
