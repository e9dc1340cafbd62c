package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"text/tabwriter"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/cmd/iris/internal/text"
	"github.com/iris-oncall/iris/internal/program/client"
)

// Audit is the group of commands about the audit log.
type Audit struct {
	List   auditList   `cmd:"" help:"List entries of the audit log, newest first."`
	Export auditExport `cmd:"" help:"Print entries of the audit log as JSON, one a line, newest first."`
}

// auditFilters select entries.
type auditFilters struct {
	remote.Flags
	Actor     string `help:"Only changes of this actor." placeholder:"NAME"`
	ActorKind string `help:"Only changes of this kind of actor: person, application, service_token, operator, directory, provider, program or nobody." placeholder:"KIND"`
	Action    string `help:"Only this action, such as 'plan saved'."`
	Object    string `help:"Only changes of this object, such as 'plan db'."`
	After     string `help:"Only entries of then or later, as RFC 3339." placeholder:"TIME"`
	Before    string `help:"Only earlier entries, as RFC 3339." placeholder:"TIME"`
}

// path returns the path of the list.
func (c auditFilters) path() string {
	query := url.Values{"limit": {"500"}}
	for name, value := range map[string]string{"actor": c.Actor, "actor_kind": c.ActorKind, "action": c.Action, "object": c.Object, "created_after": c.After,
		"created_before": c.Before} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return "/v1/audit?" + query.Encode()
}

type auditList struct {
	auditFilters
	Most int `help:"How many are listed at most." default:"100" placeholder:"N"`
}

// Run lists entries.
func (c auditList) Run(ctx context.Context, e remote.Env) error {
	if c.Most < 1 {
		return remote.Usagef("--most must be more than 0")
	}
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	type entry struct {
		At                            time.Time
		Actor, Action, Object, Detail string
	}
	found, err := client.First[entry](ctx, api, c.path(), c.Most)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Out, 0, 4, 2, ' ', 0)
	_ = text.Row(w, "AT", "ACTOR", "ACTION", "OBJECT", "DETAIL") // Flush returns the error
	for _, a := range found {
		_ = text.Row(w, text.Moment(a.At), a.Actor, a.Action, a.Object, a.Detail)
	}
	return w.Flush()
}

type auditExport struct{ auditFilters }

// Run prints the entries as they come, so that a long log needs little memory.
func (c auditExport) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	return client.Each(ctx, api, c.path(), func(entry json.RawMessage) error {
		var line bytes.Buffer
		if err := json.Compact(&line, entry); err != nil {
			return err
		}
		line.WriteByte('\n')
		_, err := line.WriteTo(e.Out)
		return err
	})
}
