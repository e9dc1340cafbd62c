package escalation

import (
	"context"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Decider decides what happens to one incident now. It calls Next, resolves the targets to people, and chooses a mode
// for each person. The runner and the simulator share it, so that a simulation shows what the engine does (promise P9).
// It reads, but writes nothing. It is safe for concurrent use.
type Decider struct {
	resolver   *oncall.Resolver
	responders *oncall.Recent[users.ResponderKey, users.Responder]
	gaveUp     func(incidents.ID) bool
	timeouts   timeouts
}

// NewDecider returns a decider. gaveUp reports whether the look-ups of an incident failed so often that its fallback is
// paged. It is called from many goroutines.
func NewDecider(resolver *oncall.Resolver, responders *oncall.Recent[users.ResponderKey, users.Responder], gaveUp func(incidents.ID) bool) *Decider {
	return &Decider{resolver: resolver, responders: responders, gaveUp: gaveUp}
}

// Facts are the plans and applications of the incidents to decide.
type Facts struct {
	Plans        map[PlanID]Plan
	Applications map[int64]Application
}

// ExplainedChange is the change of one incident, with reasons. Reasons has the reason of each message in
// Change.Messages, in the same order.
type ExplainedChange struct {
	Change
	Reasons []Reason
}

// Reason says why a message goes to this person, and why in this mode.
type Reason struct {
	Rule     string
	Wanted   users.Mode // the mode that the person prefers; "" = a literal destination
	ModeRule string
}

// changeBuilder collects the change of one incident while it is decided.
type changeBuilder struct {
	ExplainedChange
	due     Due
	plan    Plan
	app     Application
	pages   []page // of the rounds made in this decision, for the timeline
	waiting bool   // a round waits until somebody is on call
	// cancelled are follow-ups that an acknowledgement cancelled; only after it was taken back.
	cancelled []Past
}

// Decide applies Next until there is nothing more to do at this instant. It calls Next again only if a notification
// reached nobody, because then its step may be over at once. An error is about this incident or the database.
func (r *Decider) Decide(ctx context.Context, d Due, f Facts) (ExplainedChange, error) {
	b, err := r.build(ctx, d, f)
	if err != nil {
		return ExplainedChange{}, err
	}
	return b.ExplainedChange, nil
}

func (r *Decider) build(ctx context.Context, d Due, f Facts) (*changeBuilder, error) {
	plan, ok := f.Plans[d.PlanID]
	if !ok {
		return nil, fmt.Errorf("plan %d does not exist", d.PlanID)
	}
	app, ok := f.Applications[d.ApplicationID]
	if !ok {
		return nil, fmt.Errorf("application %d does not exist", d.ApplicationID)
	}
	plan = plan.AllRounds(app)
	b := &changeBuilder{due: d, plan: plan, app: app, ExplainedChange: ExplainedChange{Change: Change{
		ID: d.ID, Lease: d.Lease, Version: d.Version, Seen: d.Seen, Progress: d.Progress, Active: true, At: d.ReadAt, Application: app.Name, Plan: plan.Name,
	}}}
	b.Progress.OpenedAt = d.CreatedAt
	b.Progress.Past, b.cancelled = withoutFollowUps(d.Progress.Past)
	if a, ok := plan.Aggregation(); ok {
		b.Aggregation = &a
	}
	if d.ProgressErr != nil {
		b.add(incidents.EntryFailure, nil,
			"the stored progress cannot be read (%v); %s begins again, and nobody is paged twice",
			d.ProgressErr, plan.StepName(d.Progress.Step))
	}
	if d.PlanPaused || d.ApplicationPaused {
		pauseIncident(b)
		return b, nil
	}
	if b.Progress.Paused {
		b.Progress.Paused = false
		b.add(incidents.EntryOperator, nil, "escalation continues")
	}
	for range len(plan.Steps) + 4 {
		decision := Next(plan, b.Progress, d.ReadAt)
		again, err := r.carryOut(ctx, b, decision)
		if err != nil {
			return nil, err
		}
		b.DueAt = decision.Due
		if retry := d.ReadAt.Add(waitPoll); b.waiting && (b.DueAt.IsZero() || retry.Before(b.DueAt)) {
			b.DueAt = retry
		}
		if decision.Over != "" {
			b.Active = false
			if decision.Over == NoSteps {
				if err := r.stepless(ctx, b); err != nil {
					return nil, err
				}
			}
			b.over(decision.Over)
			break
		}
		if !again {
			break
		}
		b.DueAt = d.ReadAt // if the loop ends here, the next pass continues at once
	}
	b.Visible = len(b.Entries) > 0
	return b, nil
}

// stepless pages the fallback of a plan without notifications: an accepted incident must page somebody (promise P8).
func (r *Decider) stepless(ctx context.Context, b *changeBuilder) error {
	_, _, err := r.makeFallback(ctx, b, Round{Step: 1}, Notification{Priority: users.High}, nil, "plan "+b.plan.Name+
		" has no steps")
	return err
}

// carryOut adds everything that a decision asks for to the change. It reports whether Next must be called again.
func (r *Decider) carryOut(ctx context.Context, b *changeBuilder, d Decision) (again bool, err error) {
	before := b.Progress
	b.Progress = d.Progress
	if d.Tracking {
		if !b.track(before) {
			b.Progress.Unsettled--
			again = true
		}
	}
	b.delayed(d.DelayedTo)
	b.late(d.Late)
	b.lost(d.Lost)
	b.leftOut(d.LeftOut)
	b.pages = b.pages[:0]
	for _, round := range d.Rounds {
		waits, err := r.waits(ctx, b, round)
		if err != nil {
			return false, err
		}
		if waits {
			b.wait(round, before)
			continue
		}
		made, reached, err := r.makeRound(ctx, b, round)
		if err != nil {
			return false, err
		}
		b.Progress.Unsettled += made - 1
		if round.Step != b.Progress.Step {
			continue // of an earlier step, made again
		}
		state := &b.Progress.Notifications[round.Position]
		state.Unsettled = made
		if made == 0 {
			again = true
			state.Skipped = !reached
		}
	}
	b.logPages(d)
	if d.Reopened && before.Step > 0 { // a plan that begins again makes new pages
		err = r.followAgain(ctx, b)
	}
	return again, err
}

// TargetIn returns the target of the notification: the plan's, or that of the incident for a dynamic index.
func (n Notification) TargetIn(dynamic map[int]Target) (Target, bool) {
	switch {
	case n.DynamicIndex != nil:
		t, ok := dynamic[*n.DynamicIndex]
		return t, ok
	case n.Target != nil:
		return *n.Target, true
	}
	return Target{}, false
}

// track makes the tracking message, if its template has content for the application. It reports whether it did.
func (b *changeBuilder) track(before Progress) bool {
	t := b.plan.Tracking
	if t.Mode == users.Call || t.Key == "" || !t.Covers(b.app.Name) {
		return false
	}
	reopen := 0 // the first tracking message has 0, so that it exists once per incident
	if before.Tracked {
		reopen = b.Progress.Reopen
	}
	b.Reasons = append(b.Reasons, Reason{Rule: "the plan's tracking address"})
	b.Messages = append(b.Messages, messages.New{
		IncidentID: b.ID, ApplicationID: b.app.ID, PlanID: int64(b.plan.ID), Reopen: reopen,
		Recipient: messages.ToLiteral(t.Key), Purpose: messages.TrackingMsg, Target: t.Key, Class: messages.ClassRoutine,
		Mode: t.Mode, Literal: t.Key,
	})
	b.add(incidents.EntryStep, nil, "notifying the plan's tracking address by %s", t.Mode)
	return true
}

const (
	// pausedFor is how long a paused incident is not due. The runner makes it due as soon as its plan and application
	// are resumed; pausedFor covers a resume that was missed. It is spread over pausedSpread, so that many incidents do
	// not become due at one instant.
	pausedFor    = time.Hour
	pausedSpread = 10 * time.Minute
)

// pauseIncident delays an incident whose plan or application an operator has paused, and writes one line to its
// timeline.
func pauseIncident(b *changeBuilder) {
	b.DueAt = b.due.ReadAt.Add(pausedFor + time.Duration(b.ID)*time.Second%pausedSpread)
	if b.Progress.Paused {
		return
	}
	b.Progress.Paused = true
	what := "plan " + b.plan.Name
	if b.due.ApplicationPaused {
		what = "application " + b.app.Name
	}
	b.add(incidents.EntryOperator, nil, "escalation waits: %s is paused", what)
}
