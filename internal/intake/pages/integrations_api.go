// This file serves the routes of /v1 about integrations: the senders of alerts, their tokens, rules and payloads. A
// token is in one answer only. Because answers to a POST may be stored (Idempotency-Key), tokens are made by PUT.

package pages

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Integrations stores integrations. Methods that change one check that it is as it was read; otherwise they return a
// Stale fault. A name that does not exist is a NotFound fault, a name or token in use a Conflict fault.
type Integrations interface {
	// List returns the selected integrations by name, upper case as lower case.
	List(ctx context.Context, q intake.Query) ([]intake.Integration, error)
	ByName(ctx context.Context, name string) (intake.Integration, error)
	Create(ctx context.Context, application auth.Application, c intake.Content, token, actor string) (intake.ID, error)
	Replace(ctx context.Context, before intake.Integration, c intake.Content, actor string) error
	Delete(ctx context.Context, i intake.Integration, actor string) error
}

// Records stores tokens and secrets, and reads payloads.
type Records interface {
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

// APIDeps are the parts that the routes work on. All are required.
type APIDeps struct {
	Integrations Integrations
	Records      Records
	Applications Applications
	Previewer    receiving.Previewer
	Types        []string // the types of integrations
}

type routes struct{ APIDeps }

// Routes returns the routes on the parts.
func Routes(d APIDeps) []routing.Route {
	a := routes{d}
	const one = "/v1/integrations/{integration}"
	return []routing.Route{
		routing.Get("/v1/integrations", routing.Someone, a.list),
		routing.Get(one, routing.Someone, a.get),
		routing.Put(one, routing.Write, a.put),
		routing.Delete(one, routing.Write, a.remove),
		routing.Put(one+"/token", routing.Write, a.addToken),
		routing.Delete(one+"/token", routing.Write, a.dropTokens),
		routing.Put(one+"/secrets", routing.Write, a.setSecrets),
		routing.Get(one+"/payloads", routing.Someone, a.payloads),
		routing.Post(one+"/route-test", routing.Write, a.testRoute),
		routing.Post(one+"/preview", routing.Write, a.preview),
	}
}

// apiIntegration is an integration on the wire.
type apiIntegration struct {
	ID              int64           `json:"id"`
	Name            string          `json:"name"`
	Type            string          `json:"type"`
	Application     string          `json:"application"`
	Team            *string         `json:"team"`    // that owns the application
	Address         string          `json:"address"` // a path
	DefaultPlan     *string         `json:"default_plan"`
	DefaultSeverity *string         `json:"default_severity"`
	Rules           any             `json:"rules"` // []routing.Rule
	Settings        json.RawMessage `json:"settings"`
	RatePerMinute   int             `json:"rate_per_minute"`
	Enabled         bool            `json:"enabled"`
	ResolveAfter    int             `json:"resolve_after_seconds"`
	CloseAfter      *int            `json:"close_after_seconds"`
	CreatedBy       string          `json:"created_by"`
	CreatedAt       *string         `json:"created_at"`
	Tokens          []token         `json:"tokens"`
	Secrets         []secret        `json:"secrets"`
	Activity        apiActivity     `json:"activity"`
	MayEdit         *bool           `json:"may_edit,omitempty"` // the caller; not in lists
	Token           string          `json:"token,omitempty"`    // when it was made
}

type token struct {
	CreatedAt  *string `json:"created_at"`
	LastUsedAt *string `json:"last_used_at"`
}

// secret is a secret on the wire: nothing shows its content.
type secret struct {
	CreatedAt *string `json:"created_at"`
}

type apiActivity struct {
	Accepted       int64   `json:"accepted"`
	Refused        int64   `json:"refused"`
	LastAcceptedAt *string `json:"last_accepted_at"`
	LastRefusedAt  *string `json:"last_refused_at"`
	LastRefusal    *string `json:"last_refusal"`

	FailedExpressions int64   `json:"failed_expressions"`
	LastFailureAt     *string `json:"last_failure_at"`
	LastFailure       *string `json:"last_failure"`
}

func show(i intake.Integration) any { return shown(i, "") }

func shown(i intake.Integration, made string) apiIntegration {
	address, _ := intake.Address(i.Type, "")
	out := apiIntegration{ID: int64(i.ID), Name: i.Name, Type: i.Type, Application: i.Application,
		Team: listing.OrNull(i.Team), Address: address,
		DefaultPlan: listing.OrNull(i.DefaultPlan), DefaultSeverity: listing.OrNull(string(i.DefaultSeverity)), Rules: routing.OrEmpty(i.Rules),
		Settings: i.Settings, RatePerMinute: i.RatePerMinute, Enabled: i.Enabled, CreatedBy: i.CreatedBy, CreatedAt: listing.Time(i.CreatedAt),
		Tokens: []token{}, Secrets: []secret{}, Token: made, Activity: apiActivity{i.Activity.Accepted,
			i.Activity.Refused, listing.Time(i.Activity.LastAcceptedAt),
			listing.Time(i.Activity.LastRefusedAt), listing.OrNull(i.Activity.LastRefusal), i.Activity.FailedExpressions, listing.Time(i.Activity.LastFailureAt),
			listing.OrNull(i.Activity.LastFailure)}}
	out.ResolveAfter = int(i.Ends.ResolveAfter / time.Second)
	if i.Ends.CloseAfter != nil {
		seconds := int(*i.Ends.CloseAfter / time.Second)
		out.CloseAfter = &seconds
	}
	for _, t := range i.Tokens {
		out.Tokens = append(out.Tokens, token{listing.Time(t.CreatedAt), listing.Time(t.LastUsedAt)})
	}
	for _, at := range i.SecretsSetAt {
		out.Secrets = append(out.Secrets, secret{listing.Time(at)})
	}
	return out
}

// list answers with integrations by name.
func (a routes) list(w http.ResponseWriter, r *http.Request) error {
	q, err := listing.Read(r, "team", "text", "application", "refused")
	if err != nil {
		return err
	}
	team, _ := q.Text("team")
	part, _ := q.Text("text")
	application, _ := q.Text("application")
	refused, err := q.Flag("refused", false)
	if err != nil {
		return err
	}
	found, err := a.Integrations.List(r.Context(), intake.Query{After: q.AfterName(), Part: part, Team: team,
		Application: application, Refused: refused, Most: q.Size + 1})
	if err != nil {
		return err
	}
	return listing.AnswerFrom(w, q, found, show, func(i intake.Integration) string { return i.Name })
}

func (a routes) get(w http.ResponseWriter, r *http.Request) error {
	found, err := a.Integrations.ByName(r.Context(), wire.Param(r, "integration"))
	if err != nil {
		return err
	}
	_, err = a.application(r, found.Application)
	if err != nil && !fault.Is(err, fault.Forbidden) {
		return err
	}
	return answerWith(w, http.StatusOK, found, "", err == nil)
}

// answer answers callers who may change the integration.
func answer(w http.ResponseWriter, status int, i intake.Integration, made string) error {
	return answerWith(w, status, i, made, true)
}

func answerWith(w http.ResponseWriter, status int, i intake.Integration, made string, mayEdit bool) error {
	routing.ShowTag(w, i.Tag())
	out := shown(i, made)
	out.MayEdit = &mayEdit
	return routing.Answer(w, status, out)
}

// owned is editable for an edit of the integration itself, which may have a condition.
func (a routes) owned(r *http.Request) (intake.Integration, error) {
	found, err := a.editable(r)
	if err != nil {
		return found, err
	}
	_, err = routing.CheckTag(r, found.Tag())
	return found, err
}

// editable finds the integration of the path and checks that the caller may change it: an owner of its application, or
// an administrator.
func (a routes) editable(r *http.Request) (intake.Integration, error) {
	found, err := a.Integrations.ByName(r.Context(), wire.Param(r, "integration"))
	if err != nil {
		if actor := wire.Actor(r.Context()); fault.Is(err, fault.NotFound) && actor.Username == "" && !actor.Admin {
			err = auth.ErrOwnerOnly // as for one that exists
		}
		return found, err
	}
	_, err = a.application(r, found.Application)
	return found, err
}

// application finds an application and checks that the caller may edit it. Others get the same refusal for an unknown
// application.
func (a routes) application(r *http.Request, name string) (auth.Application, error) {
	found, err := a.Applications.Describe(r.Context(), name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return auth.Application{}, err
	}
	if refused := wire.Actor(r.Context()).Owning(found.ID, found.OwnerIDs, found.Team).MayEditApplication(found.ID); refused != nil {
		return auth.Application{}, refused
	}
	if err != nil {
		return auth.Application{}, fault.Invalidf("application", "there is no application %.100q", name)
	}
	return a.Applications.ByName(r.Context(), name)
}

func (a routes) remove(w http.ResponseWriter, r *http.Request) error {
	found, err := a.owned(r)
	if err == nil {
		err = a.Integrations.Delete(r.Context(), found, wire.Actor(r.Context()).String())
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// addToken answers with a new token, once. The older of two tokens becomes invalid.
func (a routes) addToken(w http.ResponseWriter, r *http.Request) error {
	found, err := a.owned(r)
	if err != nil {
		return err
	}
	made := intake.NewToken(found.Type)
	if err := a.Records.AddToken(r.Context(), found, made, wire.Actor(r.Context()).String()); err != nil {
		return err
	}
	if found, err = a.Integrations.ByName(r.Context(), found.Name); err != nil {
		return err
	}
	return answer(w, http.StatusCreated, found, made)
}

func (a routes) dropTokens(w http.ResponseWriter, r *http.Request) error {
	found, err := a.owned(r)
	if err == nil {
		err = a.Records.DropOldTokens(r.Context(), found, wire.Actor(r.Context()).String())
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// setSecrets replaces the secrets that check signatures.
func (a routes) setSecrets(w http.ResponseWriter, r *http.Request) error {
	found, err := a.owned(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "secrets")
	if err != nil {
		return err
	}
	secrets, given, err := b.Texts("secrets")
	if err == nil && !given {
		err = b.Missing("secrets")
	}
	if err == nil {
		err = intake.CheckSecrets(found.Type, secrets)
	}
	if err == nil {
		err = a.Records.SetSecrets(r.Context(), found, secrets, wire.Actor(r.Context()).String())
	}
	if err != nil {
		return err
	}
	if found, err = a.Integrations.ByName(r.Context(), found.Name); err != nil {
		return err
	}
	return answer(w, http.StatusOK, found, "")
}

// payloads answers with the latest deliveries, newest first. They may have secrets of the sender, so only owners and
// administrators may.
func (a routes) payloads(w http.ResponseWriter, r *http.Request) error {
	found, err := a.owned(r)
	if err != nil {
		return err
	}
	rows, err := a.Records.Payloads(r.Context(), found.ID)
	if err != nil {
		return err
	}
	type payload struct {
		At      *string `json:"at"`
		Outcome string  `json:"outcome"`
		Body    string  `json:"body"`
	}
	return listing.Answer(w, rows, func(p intake.Payload) any {
		return payload{listing.Time(p.At), p.Outcome,
			p.Body}
	}, "")
}

func location(w http.ResponseWriter, name string) {
	w.Header().Set("Location", "/v1/integrations/"+url.PathEscape(name))
}
