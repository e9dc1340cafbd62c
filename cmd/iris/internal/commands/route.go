package commands

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/cmd/iris/internal/text"
)

// Route is the group of commands about routing rules.
type Route struct {
	Test routeTest `cmd:"" help:"Print which plan an event of an integration would use, and why. Nothing is opened."`
}

type routeTest struct {
	integrationName
	Label    map[string]string `help:"A label of the event. May be repeated." placeholder:"NAME=VALUE"`
	Severity string            `help:"Severity of the event."`
	Title    string            `help:"Title of the event."`
	At       string            `help:"When the event arrives; default: now." placeholder:"RFC3339"`
}

// Run prints the route.
func (c routeTest) Run(ctx context.Context, e remote.Env) error {
	body := map[string]any{}
	for name, value := range map[string]string{"severity": c.Severity, "title": c.Title, "at": c.At} {
		if value != "" {
			body[name] = value
		}
	}
	if c.Label != nil {
		body["labels"] = c.Label
	}
	if _, err := time.Parse(time.RFC3339, c.At); c.At != "" && err != nil {
		return remote.Usagef("--at: %q is not like 2026-11-22T09:00:00Z", c.At)
	}
	var r text.Route
	if err := c.do(ctx, e, http.MethodPost, "/route-test", body, &r); err != nil {
		return err
	}
	r.Write(e.Out)
	if r.Refusal != "" {
		return errors.New(r.Refusal)
	}
	return nil
}
