package notifications

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Accept stores a notification of an application with its messages and returns its number when both are durable. It
// returns a Throttled fault if too many messages of the application wait.
func (a *Acceptor) Accept(ctx context.Context, by operation.Actor, app auth.Application, n Request) (int64, error) {
	category, err := a.category(ctx, app.ID, n.Category)
	if err != nil {
		return 0, err
	}
	recipients, err := a.recipients(ctx, by, app.ID, n, category)
	if err != nil {
		return 0, err
	}
	if wait := a.Load.Notifications(ctx, app); wait > 0 {
		return 0, &fault.Error{Kind: fault.Throttled, RetryAfter: wait,
			Message: "Application " + app.Name +
				" has too many messages waiting", Detail: "nothing was stored; send it again later"}
	}
	id, err := a.Store.Create(ctx, messages.Notification{ApplicationID: app.ID, Version: app.ToCheck(),
		Subject: n.Subject,
		Body:    n.Body, EmailHTML: n.EmailHTML, Template: n.Template, Context: n.Context, Priority: n.Priority, Recipients: recipients,
		Lifetime: a.Lifetime, ShownTo: shownTo(n, recipients)})
	if err == nil {
		a.Load.Accepted(app.ID, len(recipients))
	}
	return id, err
}

// category finds the category that decides the mode; the zero value if name is "".
func (a *Acceptor) category(ctx context.Context, app int64, name string) (messages.Category, error) {
	switch {
	case name == "":
		return messages.Category{}, nil
	case app == 0: // only if authentication is switched off
		return messages.Category{}, fault.Invalidf("category", "Invalid app specified for this notification category")
	}
	found, err := a.Store.Category(ctx, app, name)
	return found, fault.When(err, fault.NotFound, fault.Invalidf("category",
		"No category named %s exists for this app", name))
}

// shownTo returns the addresses that mails name. Each person gets a separate mail, so that only a failed address is
// retried.
func shownTo(n Request, recipients []messages.NotificationRecipient) []string {
	if !n.Together {
		return nil
	}
	var out []string
	for _, r := range recipients {
		if r.Shown != "" && !slices.Contains(out, r.Shown) {
			out = append(out, r.Shown)
		}
	}
	return out
}

// recipients returns the recipients of the notification, each once.
func (a *Acceptor) recipients(ctx context.Context, by operation.Actor, app int64, n Request, of messages.Category) ([]messages.NotificationRecipient, error) {
	var out []messages.NotificationRecipient
	seen := map[messages.Recipient]bool{}
	for i, t := range n.Targets {
		found, err := a.behind(ctx, by, app, n, i, of)
		if unknown(err) && n.SkipUnknown {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			if t.Hidden {
				r.Shown = ""
			}
			if !seen[r.Recipient] {
				seen[r.Recipient] = true
				out = append(out, r)
			}
		}
	}
	if len(out) == 0 {
		return nil, refuse("targets", ErrMismatch)
	}
	if len(out) > MaxRecipients {
		return nil, refuse("targets", ErrTooMany)
	}
	return out, nil
}

// refuse returns an Invalid fault about a field for one of the sentinels.
func refuse(field string, why error) error {
	return &fault.Error{Kind: fault.Invalid, Field: field, Message: why.Error(), Err: why}
}

// unknown reports whether a target was refused because it does not exist or means nobody.
func unknown(err error) bool {
	return errors.Is(err, ErrRole) || errors.Is(err, ErrTarget) || errors.Is(err, ErrMismatch)
}

// behind returns the recipients of one target. place is its index in the request.
func (a *Acceptor) behind(ctx context.Context, by operation.Actor, app int64, n Request, place int, of messages.Category) ([]messages.NotificationRecipient, error) {
	t, field := n.Targets[place], fmt.Sprintf("targets[%d]", place)
	if t.Role == LiteralRole {
		// Otherwise anybody could mail strangers in the name of the installation.
		if by.Session && by.Role != operation.Admin {
			return nil, operation.ErrAdminOnly
		}
		if !catalog.Destination(t.Name) {
			return nil, refuse(field+".name", ErrTarget)
		}
		if n.Mode == users.SMS || n.Mode == users.Call {
			number, err := a.Region.Number(t.Name)
			if err != nil {
				return nil, fault.Invalidf(field+".name", "%s", fault.Public(err))
			}
			t.Name = number
		}
		literal := messages.NotificationRecipient{Recipient: messages.ToLiteral(t.Name), Target: t.Name, Mode: n.Mode,
			Literal: t.Name}
		if n.Mode == users.Email {
			literal.Shown = t.Name
		}
		return []messages.NotificationRecipient{literal}, nil
	}
	query, err := a.Query(ctx, t, field)
	if err != nil {
		return nil, err
	}
	now := a.Clock.Now()
	query.Turn = now.UnixNano() // a round-robin target of a message that belongs to no incident gets any member
	answer, err := a.Resolver.Resolve(ctx, query, now)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid) || err == nil && len(answer.Users) == 0 {
		return nil, refuse(field, ErrMismatch)
	}
	if err != nil {
		return nil, err
	}
	return a.reach(ctx, n, answer.Users, app, of)
}

// Query returns the query for the people of a target. field names the target in faults.
func (a *Acceptor) Query(ctx context.Context, t Target, field string) (oncall.Query, error) {
	if a.DummyRoles {
		return oncall.Query{Role: t.Role, Name: t.Name}, nil
	}
	return Find(ctx, a.Store, t, field)
}

// Find returns the query for the people of a target. An unknown role or target is an Invalid fault about the field.
func Find(ctx context.Context, l Lookups, t Target, field string) (oncall.Query, error) {
	found, err := l.Lookup(ctx, t.Role, t.Name)
	switch {
	case err != nil:
		return oncall.Query{}, err
	case found.Role == "":
		return oncall.Query{}, refuse(field+".role", ErrRole)
	case !found.Exists:
		return oncall.Query{}, refuse(field+".name", ErrTarget)
	case found.TargetID == 0:
		return oncall.Query{}, refuse(field, ErrMismatch)
	}
	return oncall.Query{Role: found.Role, TargetID: found.TargetID, Name: t.Name}, nil
}

// reach chooses the mode for each person: that of the request; else that of the category, where the person's choice
// takes precedence; else the mode for the priority. A person who cannot be reached in this mode gets the next one. A
// person who cannot be reached in any mode keeps it: delivery reports that and tries the fallback.
func (a *Acceptor) reach(ctx context.Context, n Request, people []users.ID, app int64, of messages.Category) ([]messages.NotificationRecipient, error) {
	apps, err := a.modes.Get(ctx, app)
	if err != nil {
		return nil, err
	}
	modes := apps[app].Modes
	keys := make([]users.ResponderKey, len(people))
	for i, id := range people {
		keys[i] = users.ResponderKey{User: id, Application: app}
	}
	found, err := a.responders.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	var choices map[users.ID]users.Mode
	if of.ID != 0 {
		if choices, err = a.Store.CategoryChoices(ctx, of.ID, people); err != nil {
			return nil, err
		}
	}
	out := make([]messages.NotificationRecipient, 0, len(people))
	for _, k := range keys {
		p, ok := found[k]
		if !ok {
			continue // the person was removed meanwhile
		}
		wanted := n.Mode
		switch {
		case of.ID != 0:
			wanted = cmp.Or(choices[p.ID], of.Mode)
		case wanted == "":
			wanted = users.ModeFor(p, n.Priority, modes)
		}
		mode, changed := choose(p, wanted, modes)
		r := messages.NotificationRecipient{Recipient: messages.ToUser(p.ID), UserID: p.ID, Target: p.Name, Mode: mode,
			Changed: changed}
		if mode == users.Email {
			r.Shown = p.Contacts[users.Email]
		}
		if changed {
			r.Changes = []messages.Change{messages.ModeFailure(wanted, mode)}
		}
		out = append(out, r)
	}
	return out, nil
}

func choose(p users.Responder, wanted users.Mode, app users.AppModes) (mode users.Mode, changed bool) {
	if users.CanUse(p, app, wanted) {
		return wanted, false
	}
	if next, ok := users.NextMode(p, app, []users.Mode{wanted}); ok {
		return next, true
	}
	return wanted, false
}
