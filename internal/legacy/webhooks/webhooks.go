package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/incidents/load"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Incidents opens, updates and resolves incidents. A method returns when its change is durable.
type Incidents interface {
	// Open opens an incident, unless an incident with the same application, plan and dedup key is open (Known).
	Open(ctx context.Context, n incidents.New) (incidents.Opened, error)
	// ByKey finds the incident of an earlier delivery with the same dedup key: an open one (Known), or a resolved one
	// that holds the delivery because it is late (Held). It returns false if there is none.
	ByKey(ctx context.Context, n incidents.New) (incidents.Opened, bool, error)
	// Update stores new alerts on an open incident and adds a timeline entry. It returns true if the escalation starts
	// again.
	Update(ctx context.Context, id incidents.ID, d incidents.Delivery) (restarted bool, err error)
	// ResolveByKey resolves the open incident with the application and key of the delivery and the name of the plan,
	// even if the plan is no longer active. It also removes a held late delivery. It returns false if there is neither.
	ResolveByKey(ctx context.Context, n incidents.New, plan string, c incidents.Change) (incidents.ID, bool, error)
}

// Plans finds active plans by name. The result may be a few seconds old. If there is no such plan, it returns a
// NotFound fault.
type Plans interface {
	Recent(ctx context.Context, name string) (escalation.PlanSteps, error)
}

// Load knows the pending work of applications.
type Load interface {
	// Overloaded returns zero if the application may send more, else how long it should wait.
	Overloaded(ctx context.Context, app auth.Application) (time.Duration, error)
	// Accepted counts n accepted incidents of an application.
	Accepted(applicationID int64, n int)
}

// Deps are the parts that webhooks work on.
type Deps struct {
	Applications auth.Applications
	Incidents    Incidents
	Plans        Plans
	Load         Load
	Errors       *wire.Errors
	Wake         func(context.Context, buckets.Set) // notifies the processors of changed buckets; never blocks
	Log          *zap.Logger
	// Enabled are the served formats, from Names; empty = alertmanager and grafana.
	Enabled []string
	// Rates limits how many incidents are opened; nil = no limit.
	Rates *load.Rates `optional:"true"`
	// CatchAll is the name of the catch-all plan; "" = none. It is used if neither the delivery nor the application has
	// a usable plan.
	CatchAll string
	// FallbackRates limits how many incidents are opened on default plans and on CatchAll; nil = no limit.
	FallbackRates *load.Rates           `optional:"true"`
	Registerer    prometheus.Registerer `optional:"true"` // nil = metrics are not exported
	// Openings: with NoCredentials, keys are not checked.
	Openings auth.Openings
}

// Names returns the names of all formats.
func Names() []string { return slices.Sorted(maps.Keys(formats())) }

// payload is a posted JSON object.
type payload struct {
	members map[string]json.RawMessage
	body    []byte // without NUL
	plan    string // the plan in the query; "" = the query names none
}

// format reads a payload. It leaves the context of the delivery empty; parse sets it.
type format func(payload) (delivery, error)

// formats returns the formats by the last part of their route.
func formats() map[string]format {
	return map[string]format{"alertmanager": alertmanager, "freshping": freshping, "grafana": grafana,
		"rackspace": rackspace}
}

// parse reads a posted body. plan is the plan in the query.
func (f format) parse(body []byte, plan string) (delivery, error) {
	members, err := wire.Object(body)
	if err != nil {
		return delivery{}, err
	}
	body = wire.WithoutNUL(body)
	d, err := f(payload{members, body, plan})
	if err != nil {
		return delivery{}, err
	}
	d.context, err = intake.LimitedContext(body)
	return d, err
}

// Webhooks serves the routes below /v0/webhooks. It is safe for concurrent use.
type Webhooks struct {
	d       Deps
	metrics *metrics
}

// New checks that every part is there.
func New(d Deps) (*Webhooks, error) {
	if name := routing.Missing(d); name != "" {
		return nil, errors.New("webhooks: a part is missing: " + name)
	}
	if len(d.Enabled) == 0 {
		d.Enabled = []string{"alertmanager", "grafana"}
	}
	for _, name := range d.Enabled {
		if formats()[name] == nil {
			return nil, fmt.Errorf("webhooks: there is no format %q", name)
		}
	}
	d.Log = d.Log.Named("webhooks")
	m, err := newMetrics(d.Registerer)
	if err != nil {
		return nil, fmt.Errorf("webhooks: metrics: %w", err)
	}
	return &Webhooks{d: d, metrics: m}, nil
}

// Routes mounts the webhooks. A format that is not enabled answers 404 with the reason.
func (s *Webhooks) Routes(r chi.Router) {
	for name, f := range formats() {
		serve := s.receive(f)
		if !slices.Contains(s.d.Enabled, name) {
			serve = s.disabled(name)
		}
		r.Post("/v0/webhooks/"+name, serve)
		r.Post("/v0/webhooks/"+name+"/", serve)
	}
}

func (s *Webhooks) disabled(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, fault.New(fault.NotFound, "the setting webhooks does not list "+name))
	}
}

// receive returns the handler of one format.
func (s *Webhooks) receive(f format) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		app, err := s.authenticate(r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		r = r.WithContext(wire.WithActor(r.Context(), auth.Through(app), app))
		body, r, err := wire.Body(w, r, maxBody)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		d, err := f.parse(body, r.URL.Query().Get("plan"))
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.handle(w, r, app, d)
	}
}

// maxBody is the largest accepted delivery, in bytes. Credentials are checked before the body is read.
const maxBody = 16 << 20

// retryAfter is the time to the next attempt of a sender while the database is unavailable.
const retryAfter = 5 * time.Second

// authenticate finds the application by the query and checks its key.
func (s *Webhooks) authenticate(r *http.Request) (auth.Application, error) {
	q := r.URL.Query()
	for _, name := range []string{"application", "key"} {
		if q.Get(name) == "" {
			return auth.Application{}, fault.Titled("Missing parameter", `The "`+name+`" parameter is required.`)
		}
	}
	return auth.AuthenticateKey(r.Context(), s.d.Applications, q.Get("application"), q.Get("key"), s.d.Openings)
}

// fail answers with an error. If the sender should deliver again, the answer is 503 with Retry-After, because senders
// of alerts retry after 5xx and not after 429.
func (s *Webhooks) fail(w http.ResponseWriter, r *http.Request, err error) {
	if fault.Is(err, fault.Throttled) || fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Conflict) {
		var f *fault.Error
		wait := retryAfter
		if errors.As(err, &f) && f.RetryAfter > 0 {
			wait = f.RetryAfter
		}
		err = &fault.Error{Kind: fault.Unavailable, Message: "Iris cannot take this alert now, send it again",
			RetryAfter: wait, Err: err}
	}
	status := wire.Status(err)
	s.metrics.refused(r, err)
	if status < http.StatusInternalServerError {
		// Senders do not repeat refused deliveries, so a page may be lost.
		s.d.Log.Warn("alert refused", zap.String("application", r.URL.Query().Get("application")),
			zap.Int("status", status),
			zap.String("reason", fault.Public(err)))
	}
	if status == http.StatusNotFound { // elsewhere below /v0 a 404 has no body
		wire.JSON(w, status, struct {
			Title string `json:"title"`
		}{fault.Public(err)})
		return
	}
	s.d.Errors.Write(w, r, err)
}

// delivery is one posted alert group of any format.
type delivery struct {
	plan     string // "" = the delivery names no plan, or a name that no plan can have
	noPlan   error  // the refusal if plan is "" and there is no fallback plan
	key      string // the sender's key of the group; "" = every delivery opens an incident
	alerts   []incidents.Alert
	facts    []intake.Fact   // in canonical form: equal facts mean that nothing is new
	context  json.RawMessage // the whole payload
	resolved bool
	cut      bool // the sender left out alerts of the group, and they may fire
	// unknownPlan is the title of the refusal if there is no such active plan; "" = a 404.
	unknownPlan string
	// emptyAnswer: the answer does not contain the number of the incident.
	emptyAnswer bool
}

// handle opens, updates or resolves an incident, and answers with its number.
func (s *Webhooks) handle(w http.ResponseWriter, r *http.Request, app auth.Application, d delivery) {
	switch {
	case d.resolved && d.cut:
		wire.JSON(w, http.StatusCreated, nil) // like a resolve that finds no incident
		return
	case d.resolved:
		s.resolve(w, r, app, d)
		return
	}
	chosen, err := s.choose(r.Context(), app, d)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	opened, err := s.open(r.Context(), app, chosen, d.request(app, chosen.plan))
	if err == nil && opened.Known {
		if text := intake.News(opened.Facts, d.facts); text != "" || opened.Repage {
			var restarted bool
			restarted, err = s.d.Incidents.Update(r.Context(), opened.ID,
				incidents.Delivery{Context: d.context, Facts: intake.Stored(d.facts), Alerts: d.alerts,
					Late: late(app), Text: text})
			if restarted {
				s.d.Wake(r.Context(), buckets.Of(opened.Bucket))
			}
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if !opened.Known && !opened.Held {
		s.d.Load.Accepted(app.ID, 1)
		s.d.Wake(r.Context(), buckets.Of(opened.Bucket))
		s.reportFallback(app, d, chosen, opened.ID)
	}
	created(w, d, opened.ID)
}

// request returns the incident that the delivery asks for.
func (d delivery) request(app auth.Application, plan escalation.PlanID) incidents.New {
	return incidents.New{PlanID: int64(plan), ApplicationID: app.ID, Context: d.context, Actor: "application " +
		app.Name,
		DedupKey: d.key, DedupFacts: intake.Stored(d.facts), Alerts: d.alerts, Late: late(app)}
}

func late(app auth.Application) incidents.Late {
	return incidents.Late{Within: app.LateWithin, Hold: app.LateHold}
}

// open returns the incident of an earlier delivery with the same key, or opens one if limits allow it.
func (s *Webhooks) open(ctx context.Context, app auth.Application, c choice, n incidents.New) (incidents.Opened, error) {
	if n.DedupKey != "" {
		known, found, err := s.d.Incidents.ByKey(ctx, n)
		if found || err != nil {
			return known, err
		}
		n.Early = known.Early
	}
	err := s.checkLimits(ctx, app, n.PlanID)
	if err == nil && c.owner != deliveryPlan {
		err = s.d.FallbackRates.Check(ctx, app, n.PlanID)
	}
	if err != nil {
		return incidents.Opened{}, err
	}
	return s.d.Incidents.Open(ctx, n)
}

// checkLimits returns a Throttled fault if the application may not open an incident on the plan now.
func (s *Webhooks) checkLimits(ctx context.Context, app auth.Application, plan int64) error {
	wait, err := s.d.Load.Overloaded(ctx, app)
	if err != nil {
		return err
	}
	if wait > 0 {
		return &fault.Error{Kind: fault.Throttled, Message: "too many messages of this application are waiting",
			RetryAfter: wait}
	}
	return s.d.Rates.Check(ctx, app, plan)
}

func created(w http.ResponseWriter, d delivery, id incidents.ID) {
	if d.emptyAnswer {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		return
	}
	n := strconv.FormatInt(int64(id), 10)
	w.Header().Set("Location", "/incidents/"+n)
	wire.Raw(w, http.StatusCreated, []byte(n))
}

// has reports whether the payload has every name, with a value other than null.
func (p payload) has(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		raw, ok := p.members[name]
		return !ok || string(raw) == "null"
	})
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			return v
		}
	}
	return ""
}
