package integrations

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/intake/recipes"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// Row is an integration as lists show it.
type Row struct {
	ID              intake.ID       `json:"id"`
	Name            string          `json:"name"`
	Type            string          `json:"type"`
	Application     string          `json:"application"`
	Team            operation.Text  `json:"team" doc:"The team that owns its application; null = none."`
	Address         string          `json:"address" doc:"The path that deliveries are sent to."`
	DefaultPlan     operation.Text  `json:"default_plan"`
	DefaultSeverity operation.Text  `json:"default_severity"`
	Rules           []intake.Rule   `json:"rules"`
	Settings        json.RawMessage `json:"settings" doc:"An object."`
	RatePerMinute   int             `json:"rate_per_minute"`
	Enabled         bool            `json:"enabled"`
	ResolveAfter    int64           `json:"resolve_after_seconds" doc:"An incident is resolved after this time without a delivery; 0 = never."`
	CloseAfter      *int64          `json:"close_after_seconds" doc:"An incident is closed after this time without news; 0 = never, null = incidents.close_after of the configuration."`
	CreatedBy       string          `json:"created_by"`
	CreatedAt       *time.Time      `json:"created_at"`
	Tokens          []Token         `json:"tokens"`
	Secrets         []Secret        `json:"secrets" doc:"Nothing shows their content."`
	Activity        Activity        `json:"activity"`
}

// Token says when a token was made and used.
type Token struct {
	CreatedAt  *time.Time `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
}

// Secret says when a secret was set.
type Secret struct {
	CreatedAt *time.Time `json:"created_at"`
}

// Activity says what an integration received.
type Activity struct {
	Accepted          int64          `json:"accepted"`
	Refused           int64          `json:"refused"`
	LastAcceptedAt    *time.Time     `json:"last_accepted_at"`
	LastRefusedAt     *time.Time     `json:"last_refused_at"`
	LastRefusal       operation.Text `json:"last_refusal"`
	FailedExpressions int64          `json:"failed_expressions" doc:"Deliveries that were not fully understood: a template expression failed and its default was used, or the body paged as text."`
	LastFailureAt     *time.Time     `json:"last_failure_at"`
	LastFailure       operation.Text `json:"last_failure"`
}

// Integration is an integration.
type Integration struct {
	Row
	MayEdit bool   `json:"may_edit" doc:"The caller may change it."`
	Token   string `json:"token,omitempty" doc:"Only in the answer that made it."`

	tag string
}

// Tag names the state of the content.
func (i Integration) Tag() string { return i.tag }

// StoredIntegration is an integration that was made or replaced.
type StoredIntegration struct {
	Integration
	made bool
}

// Made reports whether the integration is new.
func (i StoredIntegration) Made() bool { return i.made }

// Location is the address of the integration.
func (i StoredIntegration) Location() string { return operation.Path(Get.Path, i.Name) }

// One names an integration.
type One struct {
	Integration string `path:"integration" json:"integration"`
}

// Filter selects integrations.
type Filter struct {
	operation.Paging
	Team        string `query:"team" json:"team,omitempty" doc:"The name of the team that owns it."`
	Text        string `query:"text" json:"text,omitempty" doc:"A part of the name, of the application or of its team, or the type."`
	Application string `query:"application" json:"application,omitempty" doc:"The name of their application."`
	Refused     bool   `query:"refused" json:"refused,omitempty" doc:"true: only those that refused deliveries or whose expressions failed."`
}

// Content is the content of an integration. What is left out is cleared, or has its default.
type Content struct {
	Name            operation.Text  `json:"name,omitempty" doc:"A new name."`
	Type            operation.Text  `json:"type,omitempty" doc:"Of a new integration; it never changes."`
	Application     operation.Text  `json:"application,omitempty" doc:"Of a new integration; it never changes."`
	DefaultPlan     operation.Text  `json:"default_plan,omitempty" doc:"null = that of the application."`
	DefaultSeverity operation.Text  `json:"default_severity,omitempty" doc:"Of events that name none: critical, error, warning or info; null = error."`
	Rules           []intake.Rule   `json:"rules,omitempty" doc:"The first rule that matches wins."`
	Settings        json.RawMessage `json:"settings,omitempty" doc:"An object: what the type has, such as template expressions."`
	RatePerMinute   int             `json:"rate_per_minute,omitempty" nullable:"true" minimum:"0" maximum:"100000" doc:"Deliveries that are accepted; default: 600."`
	Enabled         *bool           `json:"enabled,omitempty" nullable:"true" doc:"Default: true."`
	ResolveAfter    int64           `json:"resolve_after_seconds,omitempty" nullable:"true" minimum:"0" maximum:"2147483647" doc:"An incident is resolved after this time without a delivery; 0 = never."`
	CloseAfter      *int64          `json:"close_after_seconds,omitempty" nullable:"true" minimum:"0" maximum:"2147483647" doc:"An incident is closed after this time without news; 0 = never, null = incidents.close_after of the configuration."`
}

// Edit makes or replaces an integration.
type Edit struct {
	One
	operation.State
	Body Content `json:"body"`
}

// Change changes an integration without a body.
type Change struct {
	One
	operation.State
}

// NewSecrets replaces the secrets of an integration.
type NewSecrets struct {
	One
	operation.State
	Body Secrets `json:"body"`
}

// Secrets check the signatures of deliveries.
type Secrets struct {
	Secrets []string `json:"secrets" nullable:"false" doc:"At most 2, of 8 to 1024 bytes each."`
}

// Payload is a delivery.
type Payload struct {
	At      *time.Time `json:"at"`
	Outcome string     `json:"outcome"`
	Body    string     `json:"body"`
}

// The operations on integrations.
var (
	List = operation.Define[Filter, operation.Page[Row]](operation.Doc{Name: "integration.list",
		Method: http.MethodGet, Path: "/v1/integrations",
		Needs: operation.Reader, Summary: "Integrations by name: the senders of alerts"})
	Get = operation.Define[One, Integration](operation.Doc{Name: "integration.get", Method: http.MethodGet,
		Path: "/v1/integrations/{integration}", Needs: operation.Reader, Summary: "An integration",
		Note: "ETag names the state of its content."})
	Replace = operation.Define[Edit, StoredIntegration](operation.Doc{Name: "integration.replace",
		Method: http.MethodPut, Path: "/v1/integrations/{integration}",
		Needs: operation.Member, Rule: operation.OfApplication,
		Audit: []audit.Action{audit.IntegrationAdded, audit.IntegrationChanged}, Secret: true,
		Summary: "Create an integration, or replace its content", Errors: []int{409, 412, 422},
		Note: "201 has the token, which no other answer has. The type and the application never change. With If-None-Match: *, only a new integration is created: 412 if the name is in use."})
	Delete = operation.Define[Change, operation.None](operation.Doc{Name: "integration.delete",
		Method: http.MethodDelete, Path: "/v1/integrations/{integration}",
		Needs: operation.Member, Rule: operation.OfApplication, Audit: []audit.Action{audit.IntegrationRemoved},
		Summary: "Delete an integration; its incidents stay", Errors: []int{412}})
	AddToken = operation.Define[Change, Integration](operation.Doc{Name: "integration.add-token",
		Method: http.MethodPut, Path: "/v1/integrations/{integration}/token", Status: http.StatusCreated,
		Needs: operation.Member, Rule: operation.OfApplication, Audit: []audit.Action{audit.IntegrationTokenAdded},
		Secret:  true,
		Summary: "Create a token; if there are two already, the older one becomes invalid", Errors: []int{409, 412}})
	DropTokens = operation.Define[Change, operation.None](operation.Doc{Name: "integration.drop-tokens",
		Method: http.MethodDelete, Path: "/v1/integrations/{integration}/token",
		Needs: operation.Member, Rule: operation.OfApplication,
		Audit:   []audit.Action{audit.OldIntegrationTokenRemoved},
		Summary: "Remove all tokens except the newest", Errors: []int{412}})
	SetSecrets = operation.Define[NewSecrets, Integration](operation.Doc{Name: "integration.set-secrets",
		Method: http.MethodPut, Path: "/v1/integrations/{integration}/secrets",
		Needs: operation.Member, Rule: operation.OfApplication, Audit: []audit.Action{audit.IntegrationSecretsSet},
		Summary: "Replace the secrets that check the signatures of deliveries; no answer has them",
		Errors:  []int{412, 422}})
	Payloads = operation.Define[Change, operation.Page[Payload]](operation.Doc{Name: "integration.payloads",
		Method: http.MethodGet, Path: "/v1/integrations/{integration}/payloads",
		Needs: operation.Member, Rule: operation.OfApplication,
		Summary: "The latest deliveries of an integration, newest first", Errors: []int{412}})
)

// Kind has what all kinds of objects have.
var Kind = operation.Kind(List, Get, Replace, Delete,
	"NAME=name", "TYPE=type", "APPLICATION=application", "PLAN=default_plan", "ENABLED=enabled",
	"ACCEPTED=activity.accepted", "REFUSED=activity.refused", "LAST DELIVERY=activity.last_accepted_at")

// Store stores integrations, their tokens and secrets, and their deliveries. Methods that change one check that it is
// as it was read; otherwise they return a Stale fault. A name that does not exist is a NotFound fault, a name or token
// in use a Conflict fault.
type Store interface {
	// List returns the selected integrations by name, upper case as lower case.
	List(ctx context.Context, q intake.Query) ([]intake.Integration, error)
	ByName(ctx context.Context, name string) (intake.Integration, error)
	Create(ctx context.Context, application auth.Application, c intake.Content, token, actor string) (intake.ID, error)
	Replace(ctx context.Context, before intake.Integration, c intake.Content, actor string) error
	Delete(ctx context.Context, i intake.Integration, actor string) error
	// AddToken stores a further token and deletes the older of two.
	AddToken(ctx context.Context, i intake.Integration, token, actor string) error
	// DropOldTokens deletes all tokens except the newest.
	DropOldTokens(ctx context.Context, i intake.Integration, actor string) error
	Payloads(ctx context.Context, id intake.ID) ([]intake.Payload, error)
	// SetSecrets replaces the secrets.
	SetSecrets(ctx context.Context, i intake.Integration, secrets []string, actor string) error
}

// Applications finds applications and their owners. A name that does not exist is a NotFound fault.
type Applications interface {
	auth.Applications
	Describe(ctx context.Context, name string) (applications.Application, error)
}

// Deps are the parts that the operations work on. All are required.
type Deps struct {
	Store        Store
	Heartbeats   HeartbeatStore
	Applications Applications
	Previewer    receiving.Previewer
	Types        []string // the types of integrations
	Recipes      *recipes.Book
}

// Integrations are the operations on integrations. They are safe for concurrent use.
type Integrations struct {
	List       operation.Op[Filter, operation.Page[Row]]
	Get        operation.Op[One, Integration]
	Replace    operation.Op[Edit, StoredIntegration]
	Delete     operation.Op[Change, operation.None]
	AddToken   operation.Op[Change, Integration]
	DropTokens operation.Op[Change, operation.None]
	SetSecrets operation.Op[NewSecrets, Integration]
	Payloads   operation.Op[Change, operation.Page[Payload]]
	TestRoute  operation.Op[RouteTest, Route]
	Preview    operation.Op[PayloadTest, operation.Page[Previewed]]
	Recipes    operation.Op[operation.Paging, operation.Page[Recipe]]
	Heartbeats *Heartbeats

	deps Deps
}

// New returns the operations.
func New(d Deps) *Integrations {
	i := &Integrations{Heartbeats: newHeartbeats(d), deps: d}
	i.List, i.Get, i.Replace, i.Delete = List.By(i.list), Get.By(i.get), Replace.By(i.replace), Delete.By(i.remove)
	i.AddToken, i.DropTokens, i.SetSecrets = AddToken.By(i.addToken), DropTokens.By(i.dropTokens), SetSecrets.By(i.setSecrets)
	i.Payloads, i.TestRoute, i.Preview = Payloads.By(i.payloads), TestRoute.By(i.testRoute), Preview.By(i.preview)
	i.Recipes = ListRecipes.By(i.listRecipes)
	return i
}

func rowOf(i intake.Integration) Row {
	address, _ := intake.Address(i.Type, "")
	a := i.Activity
	out := Row{ID: i.ID, Name: i.Name, Type: i.Type, Application: i.Application, Team: operation.Text(i.Team),
		Address: address, DefaultPlan: operation.Text(i.DefaultPlan), DefaultSeverity: operation.Text(i.DefaultSeverity),
		Rules: append([]intake.Rule{}, i.Rules...), Settings: i.Settings, RatePerMinute: i.RatePerMinute,
		Enabled: i.Enabled, ResolveAfter: int64(i.Ends.ResolveAfter / time.Second), CreatedBy: i.CreatedBy,
		CreatedAt: instant(i.CreatedAt), Tokens: []Token{}, Secrets: []Secret{},
		Activity: Activity{a.Accepted, a.Refused, instant(a.LastAcceptedAt), instant(a.LastRefusedAt),
			operation.Text(a.LastRefusal), a.FailedExpressions, instant(a.LastFailureAt), operation.Text(a.LastFailure)}}
	if i.Ends.CloseAfter != nil {
		seconds := int64(*i.Ends.CloseAfter / time.Second)
		out.CloseAfter = &seconds
	}
	for _, t := range i.Tokens {
		out.Tokens = append(out.Tokens, Token{instant(t.CreatedAt), instant(t.LastUsedAt)})
	}
	for _, at := range i.SecretsSetAt {
		out.Secrets = append(out.Secrets, Secret{instant(at)})
	}
	return out
}

// instant returns nil for the zero time.
func instant(at time.Time) *time.Time { return operation.OrNull(at.UTC()) }

func (i *Integrations) list(ctx context.Context, _ operation.Actor, f Filter) (out operation.Page[Row], err error) {
	after, err := f.Place()
	if err != nil {
		return out, err
	}
	found, err := i.deps.Store.List(ctx, intake.Query{After: after, Part: f.Text, Team: f.Team,
		Application: f.Application, Refused: f.Refused, Most: f.Size() + 1})
	if len(found) > f.Size() {
		found = found[:f.Size()]
		out.Next = operation.NextOf(found[f.Size()-1].Name)
	}
	out.Items = make([]Row, len(found))
	for k, one := range found {
		out.Items[k] = rowOf(one)
	}
	return out, err
}

func (i *Integrations) get(ctx context.Context, by operation.Actor, one One) (out Integration, err error) {
	found, err := i.deps.Store.ByName(ctx, one.Integration)
	if err != nil {
		return out, err
	}
	_, err = i.deps.application(ctx, by, found.Application)
	return Integration{Row: rowOf(found), MayEdit: err == nil, tag: found.Tag()},
		fault.When(err, fault.Forbidden, nil)
}

// editable finds an integration that the caller may change: administrators, and owners of its application.
func (d Deps) editable(ctx context.Context, by operation.Actor, name string) (intake.Integration, error) {
	found, err := d.Store.ByName(ctx, name)
	if err != nil {
		if fault.Is(err, fault.NotFound) && by.Person == 0 && by.Role != operation.Admin {
			err = operation.ErrOwnerOnly // as for one that exists
		}
		return found, err
	}
	_, err = d.application(ctx, by, found.Application)
	return found, err
}

// application finds an application that the caller may change. It refuses other callers in the same way for an
// application that does not exist.
func (d Deps) application(ctx context.Context, by operation.Actor, name string) (auth.Application, error) {
	found, err := d.Applications.Describe(ctx, name)
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
		return auth.Application{}, err
	case !catalog.MayEdit(by, found.OwnerIDs, found.Team):
		return auth.Application{}, operation.ErrOwnerOnly
	case err != nil:
		return auth.Application{}, fault.Invalidf("application", "there is no application %.100q", name)
	}
	return d.Applications.ByName(ctx, name)
}

// owned is editable for a change of the integration itself, which may have a condition.
func (i *Integrations) owned(ctx context.Context, by operation.Actor, c Change) (intake.Integration, error) {
	found, err := i.deps.editable(ctx, by, c.Integration)
	if err == nil {
		_, err = c.Check(found.Tag())
	}
	return found, err
}

// changed returns an integration after a change of the caller. token is the token that the change made.
func (i *Integrations) changed(ctx context.Context, name, token string) (Integration, error) {
	found, err := i.deps.Store.ByName(ctx, name)
	return Integration{Row: rowOf(found), MayEdit: true, Token: token, tag: found.Tag()}, err
}

// replace makes an integration, or replaces its content.
func (i *Integrations) replace(ctx context.Context, by operation.Actor, e Edit) (out StoredIntegration, err error) {
	found, err := i.deps.Store.ByName(ctx, e.Integration)
	if fault.Is(err, fault.NotFound) {
		return i.create(ctx, by, e)
	}
	if err == nil {
		_, err = e.Check(found.Tag()) // before the check of the owner, so that a name in use is refused with 412
	}
	if err == nil {
		_, err = i.deps.application(ctx, by, found.Application)
	}
	if err != nil {
		return out, err
	}
	var wrong fault.Wrong
	wrong.If(e.Body.Type != "" && string(e.Body.Type) != found.Type, "type",
		"the type of an integration never changes: it is %s", found.Type)
	wrong.If(e.Body.Application != "" && string(e.Body.Application) != found.Application, "application",
		"the application of an integration never changes: it is %s", found.Application)
	c, err := i.content(ctx, e.Body, found.Name, found.Type, wrong)
	if err != nil {
		return out, err
	}
	if err := i.deps.Store.Replace(ctx, found, c, by.Name); err != nil {
		return out, err
	}
	out.Integration, err = i.changed(ctx, c.Name, "")
	return out, err
}

func (i *Integrations) create(ctx context.Context, by operation.Actor, e Edit) (out StoredIntegration, err error) {
	if _, err := e.Check(""); err != nil {
		return out, err
	}
	app, err := i.deps.application(ctx, by, string(e.Body.Application))
	if err != nil {
		return out, err
	}
	c, err := i.content(ctx, e.Body, e.Integration, string(e.Body.Type), nil)
	if err != nil {
		return out, err
	}
	token := intake.NewToken(c.Type)
	if _, err := i.deps.Store.Create(ctx, app, c, token, by.Name); err != nil {
		return out, err
	}
	out.made = true
	out.Integration, err = i.changed(ctx, c.Name, token)
	return out, err
}

// content checks the content of an integration. wrong has what is wrong besides.
func (i *Integrations) content(ctx context.Context, b Content, name, kind string, wrong fault.Wrong) (intake.Content, error) {
	c := intake.Content{Name: cmp.Or(string(b.Name), name), Type: kind, DefaultPlan: string(b.DefaultPlan),
		DefaultSeverity: intake.Severity(b.DefaultSeverity), Rules: b.Rules, Settings: b.Settings,
		RatePerMinute: b.RatePerMinute, Enabled: b.Enabled == nil || *b.Enabled,
		Ends: intake.Ends{ResolveAfter: time.Duration(b.ResolveAfter) * time.Second}}
	if b.CloseAfter != nil {
		after := time.Duration(*b.CloseAfter) * time.Second
		c.Ends.CloseAfter = &after
	}
	wrong.Join(c.Check(i.deps.Types, i.deps.Recipes.Names()))
	if err := wrong.Err(); err != nil {
		return c, err
	}
	return c, i.deps.Previewer.Chooser.CheckPlans(ctx, c)
}

// remove deletes an integration. Its incidents stay.
func (i *Integrations) remove(ctx context.Context, by operation.Actor, c Change) (none operation.None, err error) {
	found, err := i.owned(ctx, by, c)
	if err == nil {
		err = i.deps.Store.Delete(ctx, found, by.Name)
	}
	return none, err
}

// addToken makes a token, which only this answer has. The older of two tokens becomes invalid.
func (i *Integrations) addToken(ctx context.Context, by operation.Actor, c Change) (out Integration, err error) {
	found, err := i.owned(ctx, by, c)
	if err != nil {
		return out, err
	}
	token := intake.NewToken(found.Type)
	if err := i.deps.Store.AddToken(ctx, found, token, by.Name); err != nil {
		return out, err
	}
	return i.changed(ctx, found.Name, token)
}

func (i *Integrations) dropTokens(ctx context.Context, by operation.Actor, c Change) (none operation.None, err error) {
	found, err := i.owned(ctx, by, c)
	if err == nil {
		err = i.deps.Store.DropOldTokens(ctx, found, by.Name)
	}
	return none, err
}

func (i *Integrations) setSecrets(ctx context.Context, by operation.Actor, s NewSecrets) (out Integration, err error) {
	found, err := i.owned(ctx, by, Change{s.One, s.State})
	if err == nil {
		err = intake.CheckSecrets(found.Type, s.Body.Secrets)
	}
	if err == nil {
		err = i.deps.Store.SetSecrets(ctx, found, s.Body.Secrets, by.Name)
	}
	if err != nil {
		return out, err
	}
	return i.changed(ctx, found.Name, "")
}

// payloads returns the latest deliveries. They may have secrets of the sender, so only owners may.
func (i *Integrations) payloads(ctx context.Context, by operation.Actor, c Change) (out operation.Page[Payload], err error) {
	found, err := i.owned(ctx, by, c)
	if err != nil {
		return out, err
	}
	rows, err := i.deps.Store.Payloads(ctx, found.ID)
	out.Items = make([]Payload, len(rows))
	for k, p := range rows {
		out.Items[k] = Payload{instant(p.At), p.Outcome, p.Body}
	}
	return out, err
}
