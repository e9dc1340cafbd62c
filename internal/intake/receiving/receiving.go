package receiving

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/incidents/load"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Incidents opens, updates, acknowledges and resolves incidents. A method returns when its change is durable.
type Incidents interface {
	// Open opens an incident, unless an incident with the same dedup key is open (Known).
	Open(ctx context.Context, n incidents.New) (incidents.Opened, error)
	// ByKey finds the incident of an earlier delivery with the same dedup key: an open one (Known), or a resolved one
	// that holds the delivery because it is late (Held). It returns false if there is none.
	ByKey(ctx context.Context, n incidents.New) (incidents.Opened, bool, error)
	// Update stores new alerts on an open incident and adds a timeline entry. It returns true if the escalation starts
	// again. A resolved incident is a Conflict fault.
	Update(ctx context.Context, id incidents.ID, d incidents.Delivery) (restarted bool, err error)
	// AcknowledgeByKey ends the escalation of the open incident. It returns false if there is none.
	AcknowledgeByKey(ctx context.Context, n incidents.New, c incidents.Change) (incidents.ID, bool, error)
	// ResolveByKey resolves the open incident and removes a held late delivery. It returns false if there is neither.
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

// Wake notifies the processors of changed buckets. It never blocks.
type Wake = func(context.Context, buckets.Set)

// Deps are the parts that a Receiver works on.
type Deps struct {
	Incidents Incidents
	Chooser   Chooser
	Load      Load
	Wake      Wake
	Log       *zap.Logger
	// Rates limits how many incidents are opened; nil = no limit.
	Rates *load.Rates `optional:"true"`
	// FallbackRates limits how many incidents are opened on default plans and on CatchAll; nil = no limit.
	FallbackRates *load.Rates           `optional:"true"`
	Types         []string              // the types of integrations
	Registerer    prometheus.Registerer `optional:"true"` // nil = metrics are not exported
}

// Outcome says what an event did.
type Outcome string

// The outcomes.
const (
	Opened       Outcome = "opened"
	Updated      Outcome = "updated" // the incident was open
	Held         Outcome = "held"    // the delivery is late and waits on a resolved incident
	Acknowledged Outcome = "acknowledged"
	Resolved     Outcome = "resolved"
	Ignored      Outcome = "ignored"   // no incident is open with the key
	Recorded     Outcome = "recorded"  // a rule, or the event itself, says that it opens no incident
	HeldBack     Outcome = "held_back" // a rule opens an incident only after several events
	Grouped      Outcome = "grouped"   // a rule made the event an alert of an open incident
)

// Result is what an event did, and to which incident; ID 0 = none.
type Result struct {
	ID      incidents.ID
	Outcome Outcome
	Key     string // of the incident, if it has one of the other keys of the event; "" = that of the event
	Note    string // how many events were held back; "" = nothing
}

// Text says for people what the event did.
func (r Result) Text() string {
	text := strings.ReplaceAll(string(r.Outcome), "_", " ")
	if r.ID != 0 {
		text += fmt.Sprintf(" incident %d", r.ID)
	}
	if r.Note != "" {
		text += ": " + r.Note
	}
	if r.Key != "" {
		text += " (it keeps the key with which it was opened until it ends)"
	}
	return text
}

// Receiver carries out events. It is safe for concurrent use.
type Receiver struct {
	d       Deps
	metrics *metrics
}

// New returns a Receiver.
func New(d Deps) (*Receiver, error) {
	m, err := newMetrics(d.Types, d.Registerer)
	d.Log = d.Log.Named("intake")
	return &Receiver{d: d, metrics: m}, err
}

// conflicts is how often an event is carried out again because its incident was resolved at the same time.
const conflicts = 3

// Receive carries out an event of an integration that belongs to app. An error that the sender can end by sending the
// event again is Throttled, Unavailable or Conflict. An event that no plan can take is a NotFound fault.
func (r *Receiver) Receive(ctx context.Context, app auth.Application, from intake.Integration, e intake.Event, now time.Time) (Result, error) {
	result, err := r.receive(ctx, app, from, e, now)
	for try := 1; try < conflicts && fault.Is(err, fault.Conflict); try++ {
		result, err = r.receive(ctx, app, from, e, now)
	}
	if err == nil {
		r.metrics.events.WithLabelValues(from.Type, string(result.Outcome)).Inc()
	}
	return result, err
}

func (r *Receiver) receive(ctx context.Context, app auth.Application, from intake.Integration, e intake.Event, now time.Time) (Result, error) {
	key, err := r.key(ctx, app, from, e)
	if err != nil {
		return Result{}, err
	}
	if key != e.Key {
		e.Key, e.OtherKeys = key, nil
		result, err := r.receive(ctx, app, from, e, now)
		result.Key = key
		return result, err
	}
	n, err := request(app, from, e)
	if err != nil {
		return Result{}, err
	}
	by := incidents.Change{Actor: n.Actor, Via: incidents.ViaHook}
	switch {
	case e.Status == intake.Firing:
		return r.fire(ctx, app, from, e, n, now)
	case e.Key == "":
		return Result{Outcome: Ignored}, nil
	case e.Status == intake.Acknowledged:
		id, found, err := r.d.Incidents.AcknowledgeByKey(ctx, n, by)
		return r.changed(ctx, id, found, Acknowledged), err
	}
	id, found, err := r.d.Incidents.ResolveByKey(ctx, n, "", by)
	return r.changed(ctx, id, found, Resolved), err
}

// key returns the key of the event, or another one of its keys if only with that an incident is open.
func (r *Receiver) key(ctx context.Context, app auth.Application, from intake.Integration, e intake.Event) (string, error) {
	if len(e.OtherKeys) == 0 || e.Key == "" {
		return e.Key, nil
	}
	n := incidents.New{ApplicationID: app.ID, Integration: int64(from.ID), DedupFacts: intake.Stored(facts(e))}
	for _, key := range append([]string{e.Key}, e.OtherKeys...) {
		n.DedupKey = key
		known, found, err := r.d.Incidents.ByKey(ctx, n)
		if err != nil {
			return "", err
		}
		if found && known.Known {
			return key, nil
		}
	}
	return e.Key, nil
}

// changed returns the result of an event that ends the escalation of an incident.
func (r *Receiver) changed(ctx context.Context, id incidents.ID, found bool, o Outcome) Result {
	if !found {
		return Result{Outcome: Ignored}
	}
	r.d.Wake(ctx, buckets.Of(int(int64(id)%buckets.Count)))
	return Result{ID: id, Outcome: o}
}

// fire opens or updates the incident of a firing event.
func (r *Receiver) fire(ctx context.Context, app auth.Application, from intake.Integration, e intake.Event, n incidents.New, now time.Time) (Result, error) {
	if n.DedupKey != "" {
		known, found, err := r.d.Incidents.ByKey(ctx, n)
		if err != nil {
			return Result{}, err
		}
		if found {
			return r.update(ctx, app, from, e, n, known, now)
		}
		n.Early = known.Early
	}
	chosen, err := r.d.Chooser.Choose(ctx, app, from, e, now)
	if err != nil || chosen.RecordOnly {
		return Result{Outcome: Recorded}, err
	}
	if err := r.checkLimits(ctx, app, chosen); err != nil {
		return Result{}, err
	}
	n.PlanID, n.DynamicTargets, n.Threshold, n.Group = int64(chosen.plan), chosen.targets, chosen.threshold, chosen.group
	n.Early = n.Early && n.Threshold == nil
	opened, err := r.d.Incidents.Open(ctx, n)
	if err != nil {
		return Result{}, err
	}
	switch {
	case opened.Known || opened.Held:
		return r.update(ctx, app, from, e, n, opened, now)
	case opened.Joined:
		if opened.Restarted {
			r.d.Wake(ctx, buckets.Of(opened.Bucket))
		}
		return Result{ID: opened.ID, Outcome: Grouped}, nil
	case opened.HeldBack > 0:
		return Result{Outcome: HeldBack, Note: chosen.threshold.HeldText(opened.HeldBack)}, nil
	}
	r.d.Load.Accepted(app.ID, 1)
	r.d.Wake(ctx, buckets.Of(opened.Bucket))
	r.reportFallback(from, chosen, opened.ID)
	return Result{ID: opened.ID, Outcome: Opened}, nil
}

// update stores what a firing event says about an open incident, if that is new.
func (r *Receiver) update(ctx context.Context, app auth.Application, from intake.Integration, e intake.Event, n incidents.New, known incidents.Opened, now time.Time) (Result, error) {
	if known.Held {
		return Result{ID: known.ID, Outcome: Held}, nil
	}
	d := incidents.Delivery{Context: n.Context, Facts: n.DedupFacts, Alerts: n.Alerts, Late: n.Late,
		Text: intake.News(known.Facts, facts(e))}
	if known.Grouped {
		d.Event = &incidents.GroupedEvent{Integration: n.Integration, Key: n.DedupKey, Alert: n.Alert}
	}
	before := intake.Severity(known.Severity)
	switch {
	case len(e.Alerts) > 0 && e.UpdateOnly: // no listed alert fires: none says how severe the incident is
	case intake.Worse(intake.Severity(n.Severity), before):
		d.Severity, d.Rose = n.Severity, true
		if before != "" {
			d.Text = joined(d.Text, "the severity rose from "+known.Severity+" to "+n.Severity)
		}
	case known.Grouped: // another event may be as severe as before
	case intake.Worse(before, e.Severity) && e.Severity != "": // a default severity lowers nothing
		d.Severity = n.Severity
		d.Text = joined(d.Text, "the severity fell from "+known.Severity+" to "+n.Severity)
	}
	if d.Text == "" && !known.Repage {
		return Result{ID: known.ID, Outcome: Updated}, nil
	}
	if d.Rose {
		var err error
		if d.Reroute, err = r.reroute(ctx, app, from, e, now); err != nil {
			return Result{}, err
		}
	}
	restarted, err := r.d.Incidents.Update(ctx, known.ID, d)
	if restarted {
		r.d.Wake(ctx, buckets.Of(known.Bucket))
	}
	return Result{ID: known.ID, Outcome: Updated}, err
}

// reroute returns the plan of the rule that matches an event whose severity rose; nil = no rule with a plan does, or the
// plan cannot be used: then the incident keeps its plan.
func (r *Receiver) reroute(ctx context.Context, app auth.Application, from intake.Integration, e intake.Event, now time.Time) (*incidents.Reroute, error) {
	chosen, err := r.d.Chooser.Choose(ctx, app, from, e, now)
	if fault.Is(err, fault.NotFound) || err == nil && chosen.Owner != RulePlan {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &incidents.Reroute{PlanID: int64(chosen.plan), Plan: chosen.Plan, Targets: chosen.targets, Reason: chosen.Reason}, nil
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
