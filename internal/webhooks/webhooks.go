// Package webhooks turns alerts from other systems into incidents, one file per format. A webhook shows its application and
// key in the query instead of signing. A delivery that repeats what is known opens nothing; one that says that the problem is
// over resolves the incident.
package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
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
	// UpdateFacts replaces context and facts of an open incident and says so on its timeline.
	UpdateFacts(ctx context.Context, id incidents.ID, context, facts json.RawMessage, text string) error
	// ResolveByKey resolves the open incident of the application, the plan's name and the key, whether or not the plan is
	// still active; false when none is open.
	ResolveByKey(ctx context.Context, applicationID int64, plan, key string, c incidents.Change) (incidents.ID, bool, error)
}

// Plans finds active plans by name, a little behind at most; a NotFound fault when there is none.
type Plans interface {
	Recent(ctx context.Context, name string) (escalation.PlanSteps, error)
	// HasWords reports whether some template of the plan has words for the application.
	HasWords(ctx context.Context, plan escalation.PlanID, applicationID int64) (bool, error)
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
}

// Webhooks serves the routes below /v0/webhooks. It is safe for concurrent use.
type Webhooks struct{ d Deps }

// New checks that every part is there.
func New(d Deps) (*Webhooks, error) {
	if d.Applications == nil || d.Incidents == nil || d.Plans == nil || d.Load == nil || d.Errors == nil || d.Wake == nil {
		return nil, errors.New("webhooks: a part is missing")
	}
	d.Log = d.Log.Named("webhooks")
	return &Webhooks{d: d}, nil
}

// Routes mounts the webhooks.
func (s *Webhooks) Routes(r chi.Router) {
	for _, path := range []string{"/v0/webhooks/alertmanager", "/v0/webhooks/alertmanager/"} {
		r.Post(path, s.alertmanager)
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
	return auth.AuthenticateKey(r.Context(), s.d.Applications, q.Get("application"), q.Get("key"))
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
	key      string          // the sender's key of the group
	facts    json.RawMessage // canonical: equal facts mean that nothing is new
	context  json.RawMessage // the whole payload
	resolved bool
	news     func(known json.RawMessage) string // what this delivery brings beyond the known facts; "" = nothing
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
	if wait, err := s.d.Load.Overloaded(r.Context(), app); err != nil || wait > 0 {
		if err == nil {
			err = &fault.Error{Kind: fault.Throttled, Message: "too many messages of this application are waiting", RetryAfter: wait}
		}
		s.fail(w, r, err)
		return
	}
	opened, err := s.d.Incidents.Open(r.Context(), incidents.New{PlanID: int64(plan), ApplicationID: app.ID, Context: d.context,
		Actor: "application " + app.Name, DedupKey: d.key, DedupFacts: d.facts})
	if err == nil && opened.Known {
		if text := d.news(opened.Facts); text != "" {
			err = s.d.Incidents.UpdateFacts(r.Context(), opened.ID, d.context, d.facts, text)
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if !opened.Known {
		s.d.Load.Accepted(app.ID, 1)
		s.d.Wake(buckets.Of(opened.Bucket))
	}
	created(w, opened.ID)
}

// resolve ends the open incident of the delivery, even if its plan was deactivated meanwhile.
func (s *Webhooks) resolve(w http.ResponseWriter, r *http.Request, app auth.Application, d delivery) {
	id, found, err := s.d.Incidents.ResolveByKey(r.Context(), app.ID, d.plan, d.key,
		incidents.Change{Actor: "application " + app.Name, Via: incidents.ViaHook})
	if err == nil && !found {
		_, err = s.active(r.Context(), d.plan) // an unknown plan is a mistake to be told
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if !found {
		wire.JSON(w, http.StatusCreated, nil)
		return
	}
	s.d.Wake(buckets.Of(int(int64(id) % buckets.Count)))
	created(w, id)
}

// active finds the active version of a plan. That there is none is answered with an empty 404; the words are for the log.
func (s *Webhooks) active(ctx context.Context, name string) (escalation.PlanSteps, error) {
	plan, err := s.d.Plans.Recent(ctx, name)
	if fault.Is(err, fault.NotFound) {
		err = fault.Newf(fault.NotFound, "there is no active plan named %s", name)
	}
	return plan, err
}

// plan finds the active plan and checks what must hold before an incident can be opened on it.
func (s *Webhooks) plan(ctx context.Context, app auth.Application, d delivery) (escalation.PlanID, error) {
	plan, err := s.active(ctx, d.plan)
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
	ok, err := s.d.Plans.HasWords(ctx, plan.ID, app.ID)
	if err == nil && !ok {
		err = fault.New(fault.Invalid, "No plan template actions exist for this app")
	}
	return plan.ID, err
}

func created(w http.ResponseWriter, id incidents.ID) {
	n := strconv.FormatInt(int64(id), 10)
	w.Header().Set("Location", "/incidents/"+n)
	wire.Raw(w, http.StatusCreated, []byte(n))
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			return v
		}
	}
	return ""
}
