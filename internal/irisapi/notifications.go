package irisapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

const (
	literalTarget = "literal_target"
	// maxRecipients bounds the messages of one notification.
	maxRecipients = 1000
)

// notification is the body of POST /v0/notifications, validated as far as the body alone shows.
type notification struct {
	targets  []named
	list     bool // given as target_list: best effort
	subject  string
	priority users.Priority
	mode     users.Mode
	category string // decides the mode when neither priority nor mode does
	body     string
	html     string
	template string
	context  json.RawMessage
	of       messages.Category // what category names; zero without one
}

type named struct {
	role, name string
	secret     bool // bcc: the others do not see them
}

func rejected(why string) error { return fault.Titled("Request rejected by sender", why) }

// parseNotify checks in the order that clients know; its titles, misspelling included, are relied on.
func parseNotify(raw []byte) (n notification, err error) {
	b, err := parseBody(raw, "")
	if err != nil {
		return n, err
	}
	if n.list = b.given("target_list"); n.list {
		err = n.parseList(b)
	} else {
		err = n.parseTarget(b)
	}
	if err != nil {
		return n, err
	}
	if err = n.parseHow(b); err != nil {
		return n, err
	}
	return n, n.parseWords(b)
}

func (n *notification) parseTarget(b body) error {
	var missing []string
	var t named
	for _, f := range []struct {
		name string
		into *string
	}{{"target", &t.name}, {"role", &t.role}, {"subject", &n.subject}} {
		if !b.given(f.name) {
			missing = append(missing, f.name)
			continue
		}
		var err error
		if *f.into, err = b.optionalText(f.name); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		return fault.Titled("Missing required attributes", strings.Join(missing, ", "))
	}
	n.targets = []named{t}
	return nil
}

func (n *notification) parseList(b body) error {
	if !b.given("subject") {
		return fault.New(fault.Invalid, "Missing required attributes: subject")
	}
	var err error
	if n.subject, err = b.optionalText("subject"); err != nil {
		return err
	}
	given, ok := objects(b.members["target_list"])
	if !ok {
		return fault.New(fault.Invalid, "Malformed target list")
	}
	if len(given) > maxRecipients {
		return fault.Titled("Malformed target list", "a notification can have at most 1000 targets")
	}
	for _, g := range given {
		t := body{members: g, title: "Malformed target list"}
		role, err := t.text("role")
		if err != nil {
			return fault.New(fault.Invalid, "Malformed target list")
		}
		name, err := t.text("target")
		if err != nil {
			return fault.New(fault.Invalid, "Malformed target list")
		}
		var secret bool
		if t.given("bcc") && json.Unmarshal(g["bcc"], &secret) != nil {
			return fault.New(fault.Invalid, "Malformed target list")
		}
		n.targets = append(n.targets, named{role, name, secret})
	}
	mode, err := b.optionalText("mode")
	if err != nil {
		return err
	}
	if mode == "" {
		return fault.New(fault.Invalid, "Contact mode required for target list")
	}
	if parsed, _ := users.ParseMode(mode); parsed != users.Email {
		return fault.Titled("Invalid mode", mode)
	}
	return nil
}

// parseHow reads priority, mode or category. A priority is validated first; where a valid mode stands beside it, the mode
// decides.
func (n *notification) parseHow(b body) error {
	priority, err := b.optionalText("priority")
	if err != nil {
		return err
	}
	mode, err := b.optionalText("mode")
	if err != nil {
		return err
	}
	category, err := b.optionalText("category")
	if err != nil {
		return err
	}
	p, isPriority := users.ParsePriority(priority)
	m, isMode := users.ParseMode(mode)
	switch {
	case priority != "" && !isPriority:
		return fault.Titled("Invalid priority", priority)
	case priority == "" && mode != "" && !isMode:
		return fault.Titled("Invalid mode", mode)
	case priority == "" && mode == "" && category == "":
		return fault.New(fault.Invalid, "Priority, mode, and category are missing, at least one is required")
	}
	if !n.list && n.targets[0].role == literalTarget {
		if mode == "" {
			return fault.New(fault.Invalid, "INVALID mode not set for literal_target role")
		}
		if priority != "" || category != "" {
			return fault.New(fault.Invalid, "INVALID role literal_target does not support priority or category")
		}
	}
	if mode != "" && !isMode {
		return fault.Titled("Invalid mode", mode)
	}
	n.priority, n.mode = p, m
	if priority == "" && mode == "" {
		n.category = category
	}
	return nil
}

func (n *notification) parseWords(b body) error {
	first := ""
	for _, name := range []string{"template", "body", "email_html"} {
		if b.given(name) {
			first = name
			break
		}
	}
	if first == "" {
		return fault.New(fault.Invalid, "body, template, and email_html are missing, so we cannot construct message.")
	}
	for name, into := range map[string]*string{"template": &n.template, "body": &n.body, "email_html": &n.html} {
		if b.given(name) {
			text, err := b.optionalText(name)
			if err != nil && name == first {
				return fault.Newf(fault.Invalid, "%s needs to be a string", name)
			}
			if err != nil {
				return rejected("INVALID " + name)
			}
			*into = text
		}
	}
	if n.template != "" && b.given("context") {
		raw := b.members["context"]
		if len(raw) == 0 || raw[0] != '{' {
			return rejected("INVALID context")
		}
		n.context = wire.WithoutNUL(raw)
	}
	return nil
}

// notify accepts an out-of-band notification: it is durable, with a message for each recipient, before the answer.
func (a *API) notify(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	raw, _, err := wire.Body(w, r, wire.MaxBody)
	if err != nil {
		return err
	}
	n, err := parseNotify(raw)
	if err != nil {
		return err
	}
	app := wire.Application(ctx)
	if n.category != "" {
		if app.ID == 0 { // only where authentication is switched off
			return fault.New(fault.Invalid, "Invalid app specified for this notification category")
		}
		if n.of, err = a.Notifications.Category(ctx, app.ID, n.category); fault.Is(err, fault.NotFound) {
			return fault.Newf(fault.Invalid, "No category named %s exists for this app", n.category)
		}
		if err != nil {
			return err
		}
	}
	recipients, err := a.recipients(ctx, n, app.ID)
	if err != nil {
		return err
	}
	if wait := a.Load.Notifications(ctx, app); wait > 0 {
		return a.overloaded("notification", app, wait)
	}
	id, err := a.Notifications.Create(ctx, messages.Notification{ApplicationID: app.ID, Subject: n.subject, Body: n.body,
		EmailHTML: n.html, Template: n.template, Context: n.context, Priority: n.priority, Recipients: recipients,
		Lifetime: a.Config.NotificationLifetime, ShownTo: shownTo(n, recipients)})
	if err != nil {
		return err
	}
	a.Load.Accepted(app.ID, len(recipients))
	a.Wake(buckets.Of(int(id % buckets.Count)))
	wire.JSON(w, http.StatusOK, []int{})
	return nil
}

// shownTo are the addresses that the mails of a list name: everybody's who is not told in secret. Each person gets a mail of
// their own, so that one address that fails is tried again alone.
func shownTo(n notification, recipients []messages.NotificationRecipient) []string {
	if !n.list {
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

// recipients finds everybody the notification is for, each once. Of a list, those that mean nobody are left out as long
// as somebody remains.
func (a *API) recipients(ctx context.Context, n notification, applicationID int64) ([]messages.NotificationRecipient, error) {
	var out []messages.NotificationRecipient
	seen := map[messages.Recipient]bool{}
	add := func(r messages.NotificationRecipient) {
		if !seen[r.Recipient] {
			seen[r.Recipient] = true
			out = append(out, r)
		}
	}
	for _, t := range n.targets {
		if t.role == literalTarget {
			if err := wire.Actor(ctx).MayWriteToAnybody(); err != nil {
				return nil, err
			}
			if !destination(t.name) {
				if n.list {
					continue
				}
				return nil, rejected("INVALID target")
			}
			literal := messages.NotificationRecipient{Recipient: messages.ToLiteral(t.name), Target: t.name, Mode: n.mode, Literal: t.name}
			if n.mode == users.Email && !t.secret {
				literal.Shown = t.name
			}
			add(literal)
			continue
		}
		people, err := a.behind(ctx, t)
		if n.list && fault.Is(err, fault.Invalid) {
			continue
		}
		if err != nil {
			return nil, err
		}
		reached, err := a.reach(ctx, n, people, applicationID)
		if err != nil {
			return nil, err
		}
		for _, r := range reached {
			if t.secret {
				r.Shown = ""
			}
			add(r)
		}
	}
	if len(out) == 0 {
		return nil, rejected("INVALID role:target")
	}
	if len(out) > maxRecipients {
		return nil, rejected("INVALID role:target: more than 1000 recipients")
	}
	return out, nil
}

// behind resolves a role and a target's name to people.
func (a *API) behind(ctx context.Context, t named) ([]users.ID, error) {
	q, err := a.meaning(ctx, t)
	if err != nil {
		return nil, err
	}
	answer, err := a.Resolver.Resolve(ctx, q, time.Now())
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid) {
		return nil, rejected("INVALID role:target")
	}
	if err != nil {
		return nil, err
	}
	if len(answer.Users) == 0 {
		return nil, rejected("INVALID role:target")
	}
	return answer.Users, nil
}

// meaning is the question who a role and a target's name mean. The dummy look-up takes any of them.
func (a *API) meaning(ctx context.Context, t named) (oncall.Query, error) {
	if a.Config.DummyRoles {
		return oncall.Query{Role: t.role, Name: t.name}, nil
	}
	found, err := a.Notifications.Lookup(ctx, t.role, t.name)
	switch {
	case err != nil:
		return oncall.Query{}, err
	case found.Role == "":
		return oncall.Query{}, rejected("INVALID role")
	case !found.Exists:
		return oncall.Query{}, rejected("INVALID target")
	case found.TargetID == 0:
		return oncall.Query{}, rejected("INVALID role:target")
	}
	return oncall.Query{Role: found.Role, TargetID: found.TargetID, Name: t.name}, nil
}

// reach chooses the mode for each person: the one asked for, the one of the category (their own choice for it first), or by
// the rules for the priority. Who cannot be reached in it
// gets the next mode; who cannot be reached at all keeps it, and delivery says so and tries the fallback.
func (a *API) reach(ctx context.Context, n notification, people []users.ID, applicationID int64) ([]messages.NotificationRecipient, error) {
	apps, err := a.modes.Get(ctx, applicationID)
	if err != nil {
		return nil, err
	}
	modes := apps[applicationID].Modes
	keys := make([]users.ResponderKey, len(people))
	for i, id := range people {
		keys[i] = users.ResponderKey{User: id, Application: applicationID}
	}
	found, err := a.responders.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	var choices map[users.ID]users.Mode
	if n.of.ID != 0 {
		if choices, err = a.Notifications.CategoryChoices(ctx, n.of.ID, people); err != nil {
			return nil, err
		}
	}
	out := make([]messages.NotificationRecipient, 0, len(people))
	for _, k := range keys {
		p, ok := found[k]
		if !ok {
			continue // removed this moment
		}
		wanted := n.mode
		switch {
		case n.of.ID != 0:
			wanted = cmp.Or(choices[p.ID], n.of.Mode)
		case wanted == "":
			wanted = users.ModeFor(p, n.priority, modes)
		}
		mode, changed := choose(p, wanted, modes)
		r := messages.NotificationRecipient{Recipient: messages.ToUser(p.ID), UserID: p.ID, Target: p.Name, Mode: mode, Changed: changed}
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
