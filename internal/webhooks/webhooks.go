// Package webhooks turns alerts from other systems into incidents, one file per format. A webhook shows its application and
// key in the query instead of signing. A repeated delivery opens nothing; a resolved one
// resolves the incident.
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
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/load"
	"github.com/iris-oncall/iris/internal/wire"
)

// Incidents opens, updates and resolves. Every answer comes when the change is durable.
type Incidents interface {
	// Open opens an incident unless one with the same application, plan and dedup key is open (Known).
	Open(ctx context.Context, n incidents.New) (incidents.Opened, error)
	// ByKey finds the incident that takes a delivery instead of a new one: an open one (Known), or a resolved one on which the
	// delivery waits because it is late (Held); false when there is none.
	ByKey(ctx context.Context, n incidents.New) (incidents.Opened, bool, error)
	// Update stores what is new on an open incident and adds a timeline entry; true when its escalation starts again.
	Update(ctx context.Context, id incidents.ID, d incidents.Delivery) (restarted bool, err error)
	// ResolveByKey resolves the open incident of the delivery's application and key and of the plan's name, whether or not the
	// plan is still active, and ends the wait of a late delivery; false when there is neither.
	ResolveByKey(ctx context.Context, n incidents.New, plan string, c incidents.Change) (incidents.ID, bool, error)
}

// Plans finds active plans by name, a little behind at most; a NotFound fault when there is none.
type Plans interface {
	Recent(ctx context.Context, name string) (escalation.PlanSteps, error)
}

// Load knows the pending work of applications. It decides whether more is accepted, and counts what was accepted.
type Load interface {
	// Overloaded returns zero when there is room; otherwise it is how long the sender should wait.
	Overloaded(ctx context.Context, app auth.Application) (time.Duration, error)
	Accepted(applicationID int64, n int)
}

// Deps are the parts that webhooks work on. All are required.
type Deps struct {
	Applications auth.Applications
	Incidents    Incidents
	Plans        Plans
	Load         Load
	Errors       *wire.Errors
	Wake         func(buckets.Set) // tells the processors of changed buckets; never blocks
	Log          *zap.Logger
	// Enabled are the formats that are served, of Names; empty = alertmanager alone.
	Enabled []string
	// Rates bounds how many incidents are opened; nil = any number.
	Rates *load.Rates
	// CatchAll is the name of the plan for alerts without a usable plan, of applications without a default plan; "" = none.
	CatchAll string
	// FallbackRates bounds how many incidents are opened on default plans and on CatchAll; nil = any number.
	FallbackRates *load.Rates
	Registerer    prometheus.Registerer // nil: none
	// Openings: where authentication is switched off, keys are not checked.
	Openings auth.Openings
}

// Names are the formats that there are.
func Names() []string { return slices.Sorted(maps.Keys(formats)) }

// formats are the parsers by the name of the route. Each reads a delivery of its sender; the plan is the query's, "" when
// there is none.
var formats = map[string]func(body []byte, plan string) (delivery, error){
	"alertmanager": parseAlertmanager, "freshping": parseFreshping, "grafana": parseGrafana, "rackspace": parseRackspace,
}

// Webhooks serves the routes below /v0/webhooks. It is safe for concurrent use.
type Webhooks struct {
	d       Deps
	metrics *metrics
}

// New checks that every part is there.
func New(d Deps) (*Webhooks, error) {
	if d.Applications == nil || d.Incidents == nil || d.Plans == nil || d.Load == nil || d.Errors == nil || d.Wake == nil {
		return nil, errors.New("webhooks: a part is missing")
	}
	if len(d.Enabled) == 0 {
		d.Enabled = []string{"alertmanager"}
	}
	for _, name := range d.Enabled {
		if formats[name] == nil {
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

// Routes mounts the webhooks. Those that are not enabled answer 404 and say why.
func (s *Webhooks) Routes(r chi.Router) {
	for name, parse := range formats {
		serve := s.receive(parse)
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

// receive serves one format.
func (s *Webhooks) receive(parse func([]byte, string) (delivery, error)) http.HandlerFunc {
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
		d, err := parse(body, r.URL.Query().Get("plan"))
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.take(w, r, app, d)
	}
}

// maxBody is the largest accepted delivery. Credentials are checked before any of it is read.
const maxBody = 16 << 20

// retryAfter is when a sender should try again while the database is away.
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

// fail answers with an error. If the sender should deliver again, that is 503 with Retry-After: senders of alerts retry 5xx
// and not 429.
func (s *Webhooks) fail(w http.ResponseWriter, r *http.Request, err error) {
	if fault.Is(err, fault.Throttled) || fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Conflict) {
		var f *fault.Error
		wait := retryAfter
		if errors.As(err, &f) && f.RetryAfter > 0 {
			wait = f.RetryAfter
		}
		err = &fault.Error{Kind: fault.Unavailable, Message: "Iris cannot take this alert now, send it again", RetryAfter: wait, Err: err}
	}
	status := wire.Status(err)
	s.metrics.refused(r, err)
	if status < http.StatusInternalServerError {
		// Senders do not repeat refused deliveries, and few people read their logs: a page may be lost.
		s.d.Log.Warn("alert refused", zap.String("application", r.URL.Query().Get("application")), zap.Int("status", status),
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

// delivery is one posted alert group, whatever its format.
type delivery struct {
	plan     string // "" = none that could exist
	noPlan   error  // the refusal if plan is "" and there is no other one
	key      string // the sender's key of the group; "" = every delivery opens an incident
	alerts   []incidents.Alert
	facts    json.RawMessage // canonical: equal facts mean that nothing is new
	context  json.RawMessage // the whole payload
	resolved bool
	news     func(known json.RawMessage) string // what this delivery brings beyond the known facts; "" = nothing
	// unknownPlan is the title of the refusal when there is no such active plan; "" = a 404.
	unknownPlan string
	// quiet deliveries are answered without the incident's number.
	quiet bool
}

// take opens, updates or resolves, and answers with the incident's number.
func (s *Webhooks) take(w http.ResponseWriter, r *http.Request, app auth.Application, d delivery) {
	if d.resolved {
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
		if text := d.news(opened.Facts); text != "" || opened.Repage {
			var restarted bool
			restarted, err = s.d.Incidents.Update(r.Context(), opened.ID,
				incidents.Delivery{Context: d.context, Facts: d.facts, Alerts: d.alerts, Late: late(app), Text: text})
			if restarted {
				s.d.Wake(buckets.Of(opened.Bucket))
			}
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if !opened.Known && !opened.Held {
		s.d.Load.Accepted(app.ID, 1)
		s.d.Wake(buckets.Of(opened.Bucket))
		s.fellBack(app, d, chosen, opened.ID)
	}
	created(w, d, opened.ID)
}

// request is what the delivery asks for.
func (d delivery) request(app auth.Application, plan escalation.PlanID) incidents.New {
	return incidents.New{PlanID: int64(plan), ApplicationID: app.ID, Context: d.context, Actor: "application " + app.Name,
		DedupKey: d.key, DedupFacts: d.facts, Alerts: d.alerts, Late: late(app)}
}

func late(app auth.Application) incidents.Late {
	return incidents.Late{Within: app.LateWithin, Hold: app.LateHold}
}

// open finds the incident that takes the delivery, or opens one if there is room for one more.
func (s *Webhooks) open(ctx context.Context, app auth.Application, c choice, n incidents.New) (incidents.Opened, error) {
	if n.DedupKey != "" {
		if known, found, err := s.d.Incidents.ByKey(ctx, n); found || err != nil {
			return known, err
		}
	}
	err := s.room(ctx, app, n.PlanID)
	if err == nil && c.from != named {
		err = s.d.FallbackRates.Check(ctx, app, n.PlanID)
	}
	if err != nil {
		return incidents.Opened{}, err
	}
	return s.d.Incidents.Open(ctx, n)
}

// room returns a Throttled fault where the application may not open an incident on the plan now.
func (s *Webhooks) room(ctx context.Context, app auth.Application, plan int64) error {
	wait, err := s.d.Load.Overloaded(ctx, app)
	if err != nil {
		return err
	}
	if wait > 0 {
		return &fault.Error{Kind: fault.Throttled, Message: "too many messages of this application are waiting", RetryAfter: wait}
	}
	return s.d.Rates.Check(ctx, app, plan)
}

func created(w http.ResponseWriter, d delivery, id incidents.ID) {
	if d.quiet {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		return
	}
	n := strconv.FormatInt(int64(id), 10)
	w.Header().Set("Location", "/incidents/"+n)
	wire.Raw(w, http.StatusCreated, []byte(n))
}

// has reports whether every name is in the payload with a value other than null.
func has(members map[string]json.RawMessage, names ...string) bool {
	for _, name := range names {
		if raw, ok := members[name]; !ok || string(raw) == "null" {
			return false
		}
	}
	return true
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			return v
		}
	}
	return ""
}
