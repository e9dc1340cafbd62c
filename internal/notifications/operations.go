package notifications

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// One names a notification.
type One struct {
	ID int64 `path:"id" json:"id"`
}

// Filter selects notifications.
type Filter struct {
	operation.Paging
	operation.Period
	Application string `query:"application" json:"application,omitempty" doc:"The name of an application."`
}

// Draft is a notification to be sent.
type Draft struct {
	Targets   []Target                   `json:"targets" minItems:"1" maxItems:"1000" doc:"Who gets it, at most 1000 recipients."`
	Subject   string                     `json:"subject"`
	Text      operation.Optional[string] `json:"body,omitzero" doc:"Text; body, email_html or template is required."`
	EmailHTML operation.Text             `json:"email_html" required:"false"`
	Template  operation.Text             `json:"template" required:"false"`
	Context   json.RawMessage            `json:"context,omitempty" doc:"An object, for the template."`
	Priority  operation.Text             `json:"priority" required:"false" doc:"One of priority, mode and category decides the mode."`
	Mode      operation.Text             `json:"mode" required:"false"`
	Category  operation.Text             `json:"category" required:"false" doc:"A category of the application."`
}

// Check implements operation.Checker.
func (d Draft) Check() error {
	var wrong fault.Wrong
	wrong.If(d.Text.Value == nil && d.EmailHTML == "" && d.Template == "", "body",
		"give body, email_html or template")
	wrong.If(d.context() != nil && d.Context[0] != '{', "context", "context must be an object")
	given, literal := 0, false
	for _, text := range []operation.Text{d.Priority, d.Mode, d.Category} {
		if text != "" {
			given++
		}
	}
	for _, t := range d.Targets {
		literal = literal || t.Role == LiteralRole
	}
	_, priority := users.ParsePriority(string(d.Priority))
	_, mode := users.ParseMode(string(d.Mode))
	switch {
	case given != 1:
		wrong.Add("mode", "give one of priority, mode and category")
	case d.Priority != "" && !priority:
		wrong.Add("priority", "there is no priority %.40q", string(d.Priority))
	case d.Mode != "" && !mode:
		wrong.Add("mode", "there is no mode %.40q", string(d.Mode))
	case literal && d.Mode == "":
		wrong.Add("mode", "mode is required for targets with the role %s", LiteralRole)
	}
	return wrong.Err()
}

// context returns nil for null.
func (d Draft) context() json.RawMessage {
	if string(d.Context) == "null" || len(d.Context) == 0 {
		return nil
	}
	return d.Context
}

func (d Draft) request() Request {
	r := Request{Targets: d.Targets, Subject: d.Subject, EmailHTML: string(d.EmailHTML), Template: string(d.Template),
		Context: d.context(), Category: string(d.Category)}
	if d.Text.Value != nil {
		r.Body = *d.Text.Value
	}
	r.Priority, _ = users.ParsePriority(string(d.Priority))
	r.Mode, _ = users.ParseMode(string(d.Mode))
	r.Together = len(r.Targets) > 1 && r.Mode == users.Email
	return r
}

// The operations on notifications.
var (
	List = operation.Define[Filter, operation.Page[messages.Accepted]](operation.Doc{Name: "notification.list",
		Method: http.MethodGet, Path: "/v1/notifications", Needs: operation.Reader,
		Summary: "Out-of-band notifications, newest first",
		Note:    "With filters, a page may have fewer items than limit and still a next: go on until next is null."})
	Create = operation.Define[Draft, messages.Accepted](operation.Doc{Name: "notification.send",
		Method: http.MethodPost, Path: "/v1/notifications", Needs: operation.Member,
		Summary: "Send an out-of-band notification", Errors: []int{409, 422, 429},
		Note: "The notification and its messages are durable before the answer. 429: too many messages of the application wait. 403: people and tokens may only send to contacts of people, unless they are administrators."})
	Get = operation.Define[One, messages.Accepted](operation.Doc{Name: "notification.get", Method: http.MethodGet,
		Path: "/v1/notifications/{id}", Needs: operation.Reader, Rule: operation.Confined,
		Summary: "An out-of-band notification; its messages are GET /v1/messages?notification_id="})
)

// Requests reads notifications. A notification that does not exist is a NotFound fault.
type Requests interface {
	List(ctx context.Context, q filters.Query) ([]messages.Accepted, error)
	Get(ctx context.Context, id int64) (messages.Accepted, error)
}

// Notifications are the operations on notifications. They are safe for concurrent use.
type Notifications struct {
	List   operation.Op[Filter, operation.Page[messages.Accepted]]
	Create operation.Op[Draft, messages.Accepted]
	Get    operation.Op[One, messages.Accepted]

	store        Requests
	acceptor     *Acceptor
	applications auth.Applications
	wake         func(context.Context, buckets.Set)
}

// NewNotifications returns the operations. wake wakes the processors of changed buckets; it never blocks.
func NewNotifications(store Requests, a *Acceptor, applications auth.Applications, wake func(context.Context, buckets.Set)) *Notifications {
	n := &Notifications{store: store, acceptor: a, applications: applications, wake: wake}
	n.List, n.Create, n.Get = List.By(n.list), Create.By(n.create), Get.By(n.get)
	return n
}

func (n *Notifications) list(ctx context.Context, by operation.Actor, f Filter) (out operation.Page[messages.Accepted], err error) {
	var q filters.Query
	q.Add("application", filters.Eq, f.Application)
	f.Add(&q)
	if err := f.Newest(&q); err != nil {
		return out, err
	}
	read := filters.Reader[messages.Accepted](n.store.List)
	found, next, err := read.Search(ctx, by.Within(q),
		func(one messages.Accepted) filters.Place { return filters.Place{At: one.CreatedAt, ID: one.ID} })
	return operation.PageTo(found, next, messages.Accepted.UTC), err
}

// create accepts a notification of the application by which the caller calls.
func (n *Notifications) create(ctx context.Context, by operation.Actor, d Draft) (out messages.Accepted, err error) {
	app, err := n.applications.ByName(ctx, by.Through)
	if err != nil {
		return out, err
	}
	id, err := n.acceptor.Accept(ctx, by, app, d.request())
	if err != nil {
		return out, err
	}
	n.wake(ctx, buckets.Of(int(id%buckets.Count)))
	return n.get(ctx, by, One{id})
}

func (n *Notifications) get(ctx context.Context, by operation.Actor, one One) (messages.Accepted, error) {
	found, err := n.store.Get(ctx, one.ID)
	return found.UTC(), by.Reached(found.Application, err)
}
