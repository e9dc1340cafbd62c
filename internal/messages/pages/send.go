package pages

import (
	"net/http"
	"strconv"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// send accepts a notification. The notification and its messages are durable before the answer.
func (a requests) send(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	b, err := jsonbody.ReadKnown(w, r, "targets", "subject", "body", "email_html", "template", "context", "priority",
		"mode", "category")
	if err != nil {
		return err
	}
	n, err := readNotification(b)
	if err != nil {
		return err
	}
	id, err := a.Acceptor.Accept(ctx, wire.Actor(ctx), wire.Application(ctx), n)
	if err != nil {
		return err
	}
	a.Wake(ctx, buckets.Of(int(id%buckets.Count)))
	accepted, err := a.Notifications.Get(ctx, id)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/notifications/"+strconv.FormatInt(id, 10))
	return routing.Answer(w, http.StatusCreated, showRequest(accepted))
}

// readNotification reads the text, the targets and the mode of a notification.
func readNotification(b jsonbody.Object) (n notifications.Request, err error) {
	targets, err := b.Objects("targets", notifications.MaxRecipients, "role", "name", "hidden")
	if err != nil {
		return n, err
	}
	literal := false
	for _, t := range targets {
		var target notifications.Target
		if target.Role, err = t.Required("role"); err != nil {
			return n, err
		}
		if target.Name, err = t.Required("name"); err != nil {
			return n, err
		}
		if target.Hidden, _, err = t.Flag("hidden"); err != nil {
			return n, err
		}
		literal = literal || target.Role == notifications.LiteralRole
		n.Targets = append(n.Targets, target)
	}
	if n.Subject, err = b.Required("subject"); err != nil {
		return n, err
	}
	for name, into := range map[string]*string{"body": &n.Body, "email_html": &n.EmailHTML, "template": &n.Template} {
		if *into, err = b.Text(name); err != nil {
			return n, err
		}
	}
	if !b.Given("body") && n.EmailHTML == "" && n.Template == "" {
		return n, fault.Invalidf("body", "give body, email_html or template")
	}
	if b.Given("context") {
		if n.Context = b.Members["context"]; n.Context[0] != '{' {
			return n, fault.Invalidf("context", "context must be an object")
		}
	}
	if err := readMode(b, &n); err != nil {
		return n, err
	}
	n.Together = len(n.Targets) > 1 && n.Mode == users.Email
	if literal && n.Mode == "" {
		return n, fault.Invalidf("mode", "mode is required for targets with the role %s", notifications.LiteralRole)
	}
	return n, nil
}

// readMode reads priority, mode and category. Exactly one must be given; it decides the mode.
func readMode(b jsonbody.Object, n *notifications.Request) error {
	priority, err := b.Text("priority")
	if err != nil {
		return err
	}
	mode, err := b.Text("mode")
	if err != nil {
		return err
	}
	if n.Category, err = b.Text("category"); err != nil {
		return err
	}
	given := 0
	for _, text := range []string{priority, mode, n.Category} {
		if text != "" {
			given++
		}
	}
	if given != 1 {
		return fault.Invalidf("mode", "give one of priority, mode and category")
	}
	var known bool
	if n.Priority, known = users.ParsePriority(priority); priority != "" && !known {
		return fault.Invalidf("priority", "there is no priority %.40q", priority)
	}
	if n.Mode, known = users.ParseMode(mode); mode != "" && !known {
		return fault.Invalidf("mode", "there is no mode %.40q", mode)
	}
	return nil
}
