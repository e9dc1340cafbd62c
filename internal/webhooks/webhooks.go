// Package webhooks turns alerts from other systems into incidents, one file per format. A webhook shows its application and
// key in the query instead of signing. A delivery that repeats what is known opens nothing; one that says that the problem is
// over resolves the incident.
package webhooks

import (
	"bytes"
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
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/wire"
)

// Incidents opens, updates and resolves. Every answer comes when the change is durable.
type Incidents interface {
	// Open opens an incident unless one with the same application, plan and dedup key is open (Known).
	Open(ctx context.Context, n incidents.New) (incidents.Opened, error)
	// ByKey finds the incident that takes a delivery instead of a new one: an open one (Known), or a resolved one on which the
	// delivery waits because it is late (Held); false when there is none.
	ByKey(ctx context.Context, n incidents.New) (incidents.Opened, bool, error)
	// Update stores what is new on an open incident and says so on its timeline; true when its escalation starts again.
	Update(ctx context.Context, id incidents.ID, d incidents.Delivery) (restarted bool, err error)
	// ResolveByKey resolves the open incident of the delivery's application and key and of the plan's name, whether or not the
	// plan is still active, and ends the wait of a late delivery; false when there is neither.
	ResolveByKey(ctx context.Context, n incidents.New, plan string, c incidents.Change) (incidents.ID, bool, error)
}

// Plans finds active plans by name, a little behind at most; a NotFound fault when there is none.
type Plans interface {
	Recent(ctx context.Context, name string) (escalation.PlanSteps, error)
}

// Load tells whether an application already has more waiting than it may, and is told what was accepted.
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
	Rates *wire.Rates
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
type Webhooks struct{ d Deps }

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
	return &Webhooks{d: d}, nil
}

// Routes mounts the webhooks. Those that are not enabled answer as if they did not exist; the log says why.
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
		s.fail(w, r, fault.New(fault.NotFound, "webhooks of the configuration does not list "+name))
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

// maxBody is well above the largest context, so that a delivery that is too large is told how large it may be.
const maxBody = 1 << 20

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

// fail answers with an error. What the sender should deliver again is always 503 with Retry-After: senders of alerts retry
// 5xx and give up on 429.
func (s *Webhooks) fail(w http.ResponseWriter, r *http.Request, err error) {
	if fault.Is(err, fault.Throttled) || fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Conflict) {
		var f *fault.Error
		wait := retryAfter
		if errors.As(err, &f) && f.RetryAfter > 0 {
			wait = f.RetryAfter
		}
		err = &fault.Error{Kind: fault.Unavailable, Message: "Iris cannot take this alert now, send it again", RetryAfter: wait, Err: err}
	} else if status := wire.Status(err); status < http.StatusInternalServerError {
		// Senders do not repeat what is refused, and few people read their logs: this may be a page that nobody gets.
		s.d.Log.Warn("alert refused", zap.String("application", r.URL.Query().Get("application")), zap.Int("status", status),
			zap.String("reason", fault.Public(err)))
	}
	s.d.Errors.Write(w, r, err)
}

// delivery is one posted alert group, whatever its format.
type delivery struct {
	plan     string
	key      string // the sender's key of the group; "" = every delivery is a problem of its own
	alerts   []incidents.Alert
	facts    json.RawMessage // canonical: equal facts mean that nothing is new
	context  json.RawMessage // the whole payload
	resolved bool
	news     func(known json.RawMessage) string // what this delivery brings beyond the known facts; "" = nothing
	// unknownPlan is the title of the refusal when there is no such active plan; "" = an empty 404.
	unknownPlan string
	// quiet deliveries are answered without the incident's number.
	quiet bool
}

// take does what a delivery asks for and answers with the incident's number.
func (s *Webhooks) take(w http.ResponseWriter, r *http.Request, app auth.Application, d delivery) {
	if d.resolved {
		s.resolve(w, r, app, d)
		return
	}
	plan, err := s.plan(r.Context(), app, d)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	opened, err := s.open(r.Context(), app, d.request(app, plan))
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
func (s *Webhooks) open(ctx context.Context, app auth.Application, n incidents.New) (incidents.Opened, error) {
	if n.DedupKey != "" {
		if known, found, err := s.d.Incidents.ByKey(ctx, n); found || err != nil {
			return known, err
		}
	}
	if err := s.room(ctx, app, n.PlanID); err != nil {
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

// resolve ends the open incident of the delivery, even if its plan was deactivated meanwhile.
func (s *Webhooks) resolve(w http.ResponseWriter, r *http.Request, app auth.Application, d delivery) {
	id, found, err := s.d.Incidents.ResolveByKey(r.Context(), d.request(app, 0), d.plan,
		incidents.Change{Actor: "application " + app.Name, Via: incidents.ViaHook})
	if err == nil && !found {
		_, err = s.active(r.Context(), d) // an unknown plan is a mistake to be told
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	switch {
	case found:
		s.d.Wake(buckets.Of(int(int64(id) % buckets.Count)))
		created(w, d, id)
	case d.quiet:
		created(w, d, 0)
	default:
		wire.JSON(w, http.StatusCreated, nil)
	}
}

// active finds the active version of a plan. Where an empty 404 says that there is none, the words are for the log.
func (s *Webhooks) active(ctx context.Context, d delivery) (escalation.PlanSteps, error) {
	plan, err := s.d.Plans.Recent(ctx, d.plan)
	if fault.Is(err, fault.NotFound) {
		err = fault.Newf(fault.NotFound, "there is no active plan named %s", d.plan)
		if d.unknownPlan != "" {
			err = fault.Invalidf("plan", "%s", d.unknownPlan)
		}
	}
	return plan, err
}

// plan finds the active plan and checks what must hold before an incident can be opened on it.
func (s *Webhooks) plan(ctx context.Context, app auth.Application, d delivery) (escalation.PlanID, error) {
	plan, err := s.active(ctx, d)
	if err != nil {
		return 0, err
	}
	for _, step := range plan.Steps {
		for _, n := range step.Notifications {
			if n.DynamicIndex != nil {
				return 0, fault.Invalidf("plan", "Invalid number of dynamic targets: plan %s needs targets that a webhook cannot give", plan.Name)
			}
		}
	}
	return plan.ID, nil // it needs no template: the built-in rendering shows what every source says
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

// compacted is the payload as it is kept. tooLong is the title when it is too long.
func compacted(body []byte, tooLong string) (json.RawMessage, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, body); err != nil {
		return nil, fault.New(fault.Invalid, wire.InvalidJSON)
	}
	if wire.JSONSize(compact.Bytes()) > incidents.MaxContext {
		return nil, fault.New(fault.Invalid, tooLong)
	}
	return compact.Bytes(), nil
}

// has reports whether every one of the names stands in the payload, with more than null.
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
