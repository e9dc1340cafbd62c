package messages

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/fault"
	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

func (a incoming) routes() []routing.Route {
	return []routing.Route{routing.Post("/v0/notifications", routing.Write, a.notify)}
}

// notification is the body of a notification. Parsing checks only the body, not whether its targets exist. A body with
// target_list is a list.
type notification struct{ notifications.Request }

func rejected(why string) error { return fault.Titled("Request rejected by sender", why) }

// parseNotify checks the fields in the order of Iris, because clients depend on which error comes first. Clients compare titles.
func parseNotify(raw []byte) (n notification, err error) {
	b, err := v0.ParseBody(raw, "")
	if err != nil {
		return n, err
	}
	if n.SkipUnknown = b.Given("target_list"); n.SkipUnknown {
		n.Together = true
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
	return n, n.parseContent(b)
}

func (n *notification) parseTarget(b v0.Body) error {
	var missing []string
	var t notifications.Target
	for _, f := range []struct {
		name string
		into *string
	}{{"target", &t.Name}, {"role", &t.Role}, {"subject", &n.Subject}} {
		if !b.Given(f.name) {
			missing = append(missing, f.name)
			continue
		}
		var err error
		if *f.into, err = b.Text(f.name); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		return fault.Titled("Missing required attributes", strings.Join(missing, ", "))
	}
	n.Targets = []notifications.Target{t}
	return nil
}

func (n *notification) parseList(b v0.Body) error {
	if !b.Given("subject") {
		return fault.New(fault.Invalid, "Missing required attributes: subject")
	}
	var err error
	if n.Subject, err = b.Text("subject"); err != nil {
		return err
	}
	given, ok := v0.Objects(b.Members["target_list"])
	if !ok {
		return fault.New(fault.Invalid, "Malformed target list")
	}
	if len(given) > notifications.MaxRecipients {
		return fault.Titled("Malformed target list", "a notification can have at most 1000 targets")
	}
	for _, g := range given {
		t := v0.Of(g, "", "")
		role, errRole := t.Required("role")
		name, errName := t.Required("target")
		var hidden bool
		if errRole != nil || errName != nil || t.Given("bcc") && json.Unmarshal(g["bcc"], &hidden) != nil {
			return fault.New(fault.Invalid, "Malformed target list")
		}
		n.Targets = append(n.Targets, notifications.Target{Role: role, Name: name, Hidden: hidden})
	}
	mode, err := b.Text("mode")
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

// parseHow reads priority, mode and category. A wrong priority is refused first. Of a valid priority and a valid mode, the
// mode decides.
func (n *notification) parseHow(b v0.Body) error {
	priority, err := b.Text("priority")
	if err != nil {
		return err
	}
	mode, err := b.Text("mode")
	if err != nil {
		return err
	}
	category, err := b.Text("category")
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
	if !n.Together && n.Targets[0].Role == notifications.LiteralRole {
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
	n.Priority, n.Mode = p, m
	if priority == "" && mode == "" {
		n.Category = category
	}
	return nil
}

func (n *notification) parseContent(b v0.Body) error {
	first := ""
	for _, name := range []string{"template", "body", "email_html"} {
		if b.Given(name) {
			first = name
			break
		}
	}
	if first == "" {
		return fault.New(fault.Invalid, "body, template, and email_html are missing, so we cannot construct message.")
	}
	for name, into := range map[string]*string{"template": &n.Template, "body": &n.Body, "email_html": &n.EmailHTML} {
		if b.Given(name) {
			text, err := b.Text(name)
			if err != nil && name == first {
				return fault.Newf(fault.Invalid, "%s needs to be a string", name)
			}
			if err != nil {
				return rejected("INVALID " + name)
			}
			*into = text
		}
	}
	if n.Template != "" && b.Given("context") {
		raw := b.Members["context"]
		if len(raw) == 0 || raw[0] != '{' {
			return rejected("INVALID context")
		}
		n.Context = wire.WithoutNUL(raw)
	}
	return nil
}

// notify accepts an out-of-band notification. Its messages are durable before the answer.
func (a incoming) notify(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	raw, _, err := wire.Body(w, r, wire.MaxBody)
	if err != nil {
		return err
	}
	n, err := parseNotify(raw)
	if err != nil {
		return err
	}
	id, err := a.Acceptor.Accept(ctx, wire.Actor(ctx), wire.Application(ctx), n.Request)
	if err != nil {
		if fault.Is(err, fault.Throttled) {
			a.Refused()
		}
		return rejection(err)
	}
	a.Wake(buckets.Of(int(id % buckets.Count)))
	return v0.Done(w)
}

// rejection gives the fault of a target the text that clients expect.
func rejection(err error) error {
	switch {
	case errors.Is(err, notifications.ErrRole):
		return rejected("INVALID role")
	case errors.Is(err, notifications.ErrTarget):
		return rejected("INVALID target")
	case errors.Is(err, notifications.ErrMismatch):
		return rejected("INVALID role:target")
	case errors.Is(err, notifications.ErrTooMany):
		return rejected("INVALID role:target: more than 1000 recipients")
	}
	return err
}
