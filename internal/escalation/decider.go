package escalation

import (
	"context"
	"fmt"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// decider decides what happens to one incident now: it asks Next, finds the people who are meant and chooses how they are
// told. The runner and the simulator share it, so that a simulation cannot say anything else than what the engine does
// (promise P9). It writes nothing and is safe for concurrent use.
type decider struct {
	resolver   *oncall.Resolver
	responders *oncall.Recent[users.ResponderKey, users.Responder]
	// givenUp reports whether looking up who is meant failed so often that the fallback is paged instead.
	givenUp func(incidents.ID) bool
	hangs   hangs
}

// draft is the change of one incident while it is being decided.
type draft struct {
	Change
	due   Due
	plan  Plan
	app   Application
	pages []page // of the rounds made in this decision, for the words
	made  []page // of the messages, by their place in Messages: who was chosen and why
}

// decide applies Next until there is nothing more to do at this instant. It is asked again only when a notification
// reached nobody, because then its step may be over at once.
func (r *decider) decide(ctx context.Context, d Due, f facts) (*draft, error) {
	plan, ok := f.plans[d.PlanID]
	if !ok {
		return nil, fmt.Errorf("plan %d does not exist", d.PlanID)
	}
	app, ok := f.apps[d.ApplicationID]
	if !ok {
		return nil, fmt.Errorf("application %d does not exist", d.ApplicationID)
	}
	w := &draft{due: d, plan: plan, app: app, Change: Change{
		ID: d.ID, Lease: d.Lease, Version: d.Version, Seen: d.Seen, Progress: d.Progress, Active: true, At: d.ReadAt, Application: app.Name, Plan: plan.Name,
	}}
	if a, ok := plan.Aggregation(); ok {
		w.Aggregation = &a
	}
	if d.ProgressErr != nil {
		w.add(incidents.EntryFailure, nil, "the stored progress cannot be read (%v); step %d begins anew, nobody is paged twice",
			d.ProgressErr, d.Progress.Step)
	}
	if d.PlanPaused || d.ApplicationPaused {
		pauseIncident(w)
		return w, nil
	}
	if w.Progress.Paused {
		w.Progress.Paused = false
		w.add(incidents.EntryOperator, nil, "escalation goes on")
	}
	for range len(plan.Steps) + 4 {
		decision := Next(plan, w.Progress, d.ReadAt)
		again, err := r.carryOut(ctx, w, decision)
		if err != nil {
			return nil, err
		}
		w.DueAt = decision.Due
		if decision.Over != "" {
			w.Active = false
			if decision.Over == NoSteps {
				if err := r.stepless(ctx, w); err != nil {
					return nil, err
				}
			}
			w.over(decision.Over)
			break
		}
		if !again {
			break
		}
		w.DueAt = d.ReadAt // not reached with a plan that ends; then the next look goes on
	}
	w.Visible = len(w.Entries) > 0
	return w, nil
}

// stepless pages the fallback of a plan that pages nobody itself: an accepted incident is never silently nobody's (promise P8).
func (r *decider) stepless(ctx context.Context, w *draft) error {
	_, _, err := r.makeFallback(ctx, w, Round{Step: 1}, Notification{Priority: users.High}, nil, "plan "+w.plan.Name+" has no steps")
	return err
}

// carryOut adds everything a decision asks for to the change. It reports whether Next must be asked again.
func (r *decider) carryOut(ctx context.Context, w *draft, d Decision) (again bool, err error) {
	before := w.Progress
	w.Progress = d.Progress
	if d.Tracking {
		if !w.track(before) {
			w.Progress.Unsettled--
			again = true
		}
	}
	w.late(d.Late)
	w.lost(d.Lost)
	w.pages = w.pages[:0]
	for _, round := range d.Rounds {
		made, reached, err := r.makeRound(ctx, w, round)
		if err != nil {
			return false, err
		}
		w.Progress.Unsettled += made - 1
		if round.Step != w.Progress.Step {
			continue // of an earlier step, made again
		}
		state := &w.Progress.Notifications[round.Position]
		state.Unsettled = made
		if made == 0 {
			again = true
			state.Skipped = !reached
		}
	}
	w.tellPages(d)
	return again, nil
}

// targetOf returns whom a notification is for: as the plan says, or as the incident does.
func targetOf(n Notification, dynamic map[int]Target) (Target, bool) {
	switch {
	case n.DynamicIndex != nil:
		t, ok := dynamic[*n.DynamicIndex]
		return t, ok
	case n.Target != nil:
		return *n.Target, true
	}
	return Target{}, false
}

// track makes the tracking message, if the plan has words for the application. It reports whether it did.
func (w *draft) track(before Progress) bool {
	t := w.plan.Tracking
	if t.Mode == users.Call || t.Key == "" || !t.Speaks(w.app.Name) {
		return false
	}
	reopen := 0 // once per incident, whatever happened before it could be made
	if before.Tracked {
		reopen = w.Progress.Reopen
	}
	w.made = append(w.made, page{rule: "the plan's tracking address"})
	w.Messages = append(w.Messages, messages.New{
		IncidentID: w.ID, ApplicationID: w.app.ID, PlanID: int64(w.plan.ID), Reopen: reopen,
		Recipient: messages.ToLiteral(t.Key), Purpose: messages.TrackingMsg, Target: t.Key, Class: messages.ClassRoutine,
		Mode: t.Mode, Literal: t.Key,
	})
	w.add(incidents.EntryStep, nil, "telling the plan's tracking address by %s", t.Mode)
	return true
}
