package irisapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// notification is the body of a notification. Parsing does not check whether its targets exist. A body with target_list
// is for several targets; each e-mail then names all of them.
type notification struct{ notifications.Request }

func rejected(why string) error { return fault.Titled("Request rejected by sender", why) }

// parseNotify checks the fields in the order of Iris, because clients depend on which error comes first. Clients
// compare titles. "atrributes" is the spelling of Iris.
func parseNotify(b Body) (n notification, err error) {
	if n.SkipUnknown = b.Given("target_list"); n.SkipUnknown {
		n.Together = true
		n.parseList(b)
	} else {
		n.parseTarget(b)
	}
	n.parseHow(b)
	n.parseContent(b)
	return n, b.Err()
}

func (n *notification) parseTarget(b Body) {
	missing := slices.DeleteFunc([]string{"target", "role", "subject"}, b.Given)
	n.Targets = []notifications.Target{{Name: b.Text("target"), Role: b.Text("role")}}
	n.Subject = b.Text("subject")
	b.Check(len(missing) == 0, fault.Titled("Missing required atrributes", strings.Join(missing, ", ")))
}

func (n *notification) parseList(b Body) {
	b.Check(b.Given("subject"), fault.New(fault.Invalid, "Missing required atrributes: subject"))
	n.Subject = b.Text("subject")
	malformed := fault.New(fault.Invalid, "Malformed target list")
	given, ok := Objects(b.Members["target_list"])
	b.Check(ok, malformed)
	b.Check(len(given) <= notifications.MaxRecipients, fault.Titled("Malformed target list",
		"a notification can have at most 1000 targets"))
	for _, g := range given {
		t := Of(g, "", "")
		target := notifications.Target{Role: t.Required("role"), Name: t.Required("target")}
		wrong := t.Given("bcc") && json.Unmarshal(g["bcc"], &target.Hidden) != nil
		b.Check(t.Err() == nil && !wrong, malformed)
		n.Targets = append(n.Targets, target)
	}
	mode := b.Text("mode")
	b.Check(mode != "", fault.New(fault.Invalid, "Contact mode required for target list"))
	parsed, _ := users.ParseMode(mode)
	b.Check(parsed == users.Email, fault.Titled("Invalid mode", mode))
}

// parseHow reads priority, mode and category. A wrong priority is refused first. If both priority and mode are valid,
// the mode decides.
func (n *notification) parseHow(b Body) {
	priority, mode, category := b.Text("priority"), b.Text("mode"), b.Text("category")
	var isPriority, isMode bool
	n.Priority, isPriority = users.ParsePriority(priority)
	n.Mode, isMode = users.ParseMode(mode)
	wrongMode := mode != "" && !isMode
	b.Check(priority == "" || isPriority, fault.Titled("Invalid priority", priority))
	b.Check(priority != "" || !wrongMode, fault.Titled("Invalid mode", mode))
	b.Check(priority != "" || mode != "" || category != "",
		fault.New(fault.Invalid, "Priority, mode, and category are missing, at least one is required"))
	if !n.Together && n.Targets[0].Role == notifications.LiteralRole {
		b.Check(mode != "", fault.New(fault.Invalid, "INVALID mode not set for literal_target role"))
		b.Check(priority == "" && category == "", fault.New(fault.Invalid,
			"INVALID role literal_target does not support priority or category"))
	}
	b.Check(!wrongMode, fault.Titled("Invalid mode", mode))
	if priority == "" && mode == "" {
		n.Category = category
	}
}

func (n *notification) parseContent(b Body) {
	parts := []string{"template", "body", "email_html"}
	first := slices.IndexFunc(parts, b.Given)
	b.Check(first >= 0, fault.New(fault.Invalid,
		"body, template, and email_html are missing, so we cannot construct message."))
	for i, into := range []*string{&n.Template, &n.Body, &n.EmailHTML} {
		text := Of(b.Members, "", "")
		*into = text.Text(parts[i])
		b.Check(text.Err() == nil || i != first, fault.Newf(fault.Invalid, "%s needs to be a string", parts[i]))
		b.Check(text.Err() == nil, rejected("INVALID "+parts[i]))
	}
	if n.Template != "" && b.Given("context") {
		raw := b.Members["context"]
		b.Check(len(raw) > 0 && raw[0] == '{', rejected("INVALID context"))
		n.Context = wire.WithoutNUL(raw)
	}
}

// notify accepts an out-of-band notification. Its messages are durable before the answer.
func (a messagesIncoming) notify(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	n, err := parseNotify(ReadBody(w, r, ""))
	if err != nil {
		return err
	}
	id, err := a.Acceptor.Accept(ctx, wire.Actor(ctx).Caller(auth.Openings{}), wire.Application(ctx), n.Request)
	if err != nil {
		if fault.Is(err, fault.Throttled) && !wire.Application(ctx).Recent {
			a.Refused()
		}
		return rejection(err)
	}
	a.Wake(ctx, buckets.Of(int(id%buckets.Count)))
	return Done(w, nil)
}

// rejection replaces the error of a target by the fault that clients expect.
func rejection(err error) error {
	for why, text := range map[error]string{notifications.ErrRole: "INVALID role", notifications.ErrTarget: "INVALID target",
		notifications.ErrMismatch: "INVALID role:target", notifications.ErrTooMany: "INVALID role:target: more than 1000 recipients"} {
		if errors.Is(err, why) {
			return rejected(text)
		}
	}
	return err
}
