package escalation

import (
	"cmp"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// MaxRepeat is the highest number of repeats of a notification. A plan that asks for more gets MaxRepeat.
const MaxRepeat = 10_000

// exhaustedRecheck is the time until the next decision about an incident whose plan has ended while pages are not
// settled. Delivery makes the incident due when a page settles; the recheck covers a case in which it did not.
const exhaustedRecheck = time.Minute

// maxDelay is how long messages that are not sent can delay the wait of a round. After it the wait begins anyway, so
// that an outage of a vendor delays only the people it was to reach (promise P7).
func maxDelay(p users.Priority) time.Duration {
	switch p {
	case users.Urgent:
		return time.Minute
	case users.High:
		return 2 * time.Minute
	default:
		return 15 * time.Minute
	}
}

// Round is one set of messages to be made now: the given repeat of the notification at the given position of a step.
type Round struct {
	Step     int // from 1
	Position int // from 0
	Repeat   int // 0 is the first
	// Again: the round was made before, but an acknowledgement that was taken back had cancelled messages of it.
	// Recipients in Served already have a message.
	Again  bool
	Served []messages.Recipient
}

// Late reports that the wait of a round begins although messages of the round have not been sent yet.
type Late struct {
	Step      int
	Unsettled int // messages that are not settled
}

// Lost reports that every message of a round failed for good. The notification is neither waited for nor repeated.
type Lost struct {
	Step     int
	Position int
}

// Over is the reason why a plan ended.
type Over string

// The reasons why a plan ends.
const (
	Exhausted  Over = "exhausted"   // the last step is over
	NoSteps    Over = "no steps"    // the plan has no notification
	BeyondPlan Over = "beyond plan" // the stored step does not exist in the plan
)

// Decision is what happens to an incident now. To carry it out, the caller stores Progress, makes Rounds (and the
// tracking message), writes Late, Lost and Over to the timeline, and calls Next again at Due.
type Decision struct {
	// Progress after the decision. A round made now counts as one unsettled message; the caller replaces that by the
	// number of messages it made.
	Progress Progress
	// Entered lists the steps that begin now, in order. There is more than one only if a step has no notifications.
	Entered []int
	// LeftOut lists the steps that are left out, because their conditions do not hold.
	LeftOut []int
	// DelayedTo is when step 1 begins; only in the first decision of an incident whose plan has a delay.
	DelayedTo time.Time
	// Tracking asks for the tracking message.
	Tracking bool
	// Rounds to make, in the order of steps and positions.
	Rounds []Round
	Late   []Late
	Lost   []Lost
	// Reopened: this is the first decision after an acknowledgement was taken back.
	Reopened bool
	// Over is set when the plan has ended. The incident is not decided again.
	Over Over
	// Due is the next instant, after now, at which something can happen without a message settling. Zero when Over is
	// set.
	Due time.Time
}

// Next decides what happens to an incident at now. It is pure: the same inputs give the same decision. Applying a
// decision and asking again at the same instant gives an empty decision. Next accepts any progress, also an
// inconsistent one.
//
//   - A round is settled when each of its messages was sent or failed for good. Its wait begins then, but at the latest
//     maxDelay after the round was made.
//   - A notification is over when it was made repeat+1 times and the wait of its last round has passed. It is also over
//     when it reached nobody (skipped), or when every message of its last round failed for good, fallbacks included:
//     then it is neither waited for nor repeated. An outage is no such failure.
//   - A step is over when all its notifications are over. Then the next step begins; notifications of earlier steps are
//     not repeated.
//   - A step whose condition does not hold when it would begin is left out.
//   - Step 1 begins when the delay of the plan has passed since the incident was opened.
//   - The plan is exhausted when its last step is over and no message is unsettled.
func Next(plan Plan, p Progress, now time.Time) Decision {
	d := Decision{Progress: p.clone()}
	d.track(plan, p)
	d.reopen(plan, p, now)
	if len(plan.Steps) == 0 {
		d.end(NoSteps, now)
		return d
	}
	if p.Step < 0 || p.Step > len(plan.Steps) {
		d.end(BeyondPlan, now)
		return d
	}
	if p.Step > 0 && !d.advance(plan.Steps[p.Step-1], now) {
		return d
	}
	if start := p.OpenedAt.Add(plan.Delay); p.Step == 0 && now.Before(start) {
		d.delay(start)
		return d
	}
	for step := p.Step + 1; step <= len(plan.Steps); step++ {
		if !plan.Steps[step-1].When.Holds(now) {
			d.leaveOut(step, len(plan.Steps[step-1].Notifications), now)
			continue
		}
		d.enter(step, plan.Steps[step-1], now)
		if len(plan.Steps[step-1].Notifications) > 0 {
			return d
		}
	}
	d.end(Exhausted, now)
	return d
}

// track asks for the tracking message, once and before the first step.
func (d *Decision) track(plan Plan, p Progress) {
	if plan.Tracking != nil && p.Step == 0 && !p.Tracked {
		d.Tracking = true
		d.Progress.Tracked = true
		d.Progress.Unsettled++
	}
}

// delay makes the incident due when step 1 begins.
func (d *Decision) delay(to time.Time) {
	d.dueBy(to)
	if !d.Progress.Delayed {
		d.DelayedTo, d.Progress.Delayed = to, true
	}
}

// leaveOut passes over a step whose condition does not hold.
func (d *Decision) leaveOut(step, notifications int, now time.Time) {
	d.LeftOut = append(d.LeftOut, step)
	d.Progress.Step, d.Progress.StepAt = step, now
	d.Progress.Notifications = make([]Rounds, notifications)
	for i := range d.Progress.Notifications {
		d.Progress.Notifications[i].Skipped = true
	}
}

// enter begins a step: it makes the first round of each notification.
func (d *Decision) enter(step int, s Step, now time.Time) {
	d.Entered = append(d.Entered, step)
	d.Progress.Step, d.Progress.StepAt = step, now
	d.Progress.Notifications = make([]Rounds, len(s.Notifications))
	for i := range s.Notifications {
		d.make(s.Notifications[i], i, now)
	}
}

// make adds the next round of the notification at position i of the current step.
func (d *Decision) make(n Notification, i int, now time.Time) {
	r := &d.Progress.Notifications[i]
	d.Rounds = append(d.Rounds, Round{Step: d.Progress.Step, Position: i, Repeat: r.Made})
	*r = Rounds{Made: r.Made + 1, At: now, Unsettled: 1}
	d.Progress.Unsettled++
	d.dueBy(now.Add(maxDelay(n.Priority)))
}

// dueBy makes the incident due at an instant, unless it is due earlier.
func (d *Decision) dueBy(at time.Time) {
	if d.Due.IsZero() || at.Before(d.Due) {
		d.Due = at
	}
}

// advance continues the notifications of the current step. It reports whether the step is over.
func (d *Decision) advance(s Step, now time.Time) bool {
	rs := d.Progress.Notifications
	if len(rs) != len(s.Notifications) { // inconsistent or lost: missing entries count as not made
		rs = append(slices.Clone(rs), make([]Rounds, len(s.Notifications))...)[:len(s.Notifications)]
		d.Progress.Notifications = rs
	}
	over := true
	for i, n := range s.Notifications {
		if !d.advanceOne(n, i, now) {
			over = false
		}
	}
	if over {
		d.Due = time.Time{}
	}
	return over
}

// advanceOne continues one notification. It reports whether the notification is over.
func (d *Decision) advanceOne(n Notification, i int, now time.Time) bool {
	r := &d.Progress.Notifications[i]
	if r.Skipped {
		return true
	}
	if r.Made <= 0 {
		r.Made = 0
		d.make(n, i, now)
		return false
	}
	if r.Lost && r.Unsettled == 0 {
		r.Skipped = true
		d.Lost = append(d.Lost, Lost{Step: d.Progress.Step, Position: i})
		return true
	}
	latest := r.At.Add(maxDelay(n.Priority))
	if r.Unsettled > 0 && now.Before(latest) {
		d.dueBy(latest)
		return false
	}
	if end := r.waitFrom(latest).Add(max(n.Wait, 0)); now.Before(end) {
		d.late(r)
		d.dueBy(end)
		return false
	}
	d.late(r)
	if r.Made <= min(n.Repeat, MaxRepeat) {
		d.make(n, i, now)
		return false
	}
	return true
}

// late notes, once per round, that its wait begins although messages are not settled.
func (d *Decision) late(r *Rounds) {
	if r.Unsettled == 0 || r.Late {
		return
	}
	r.Late = true
	d.Late = append(d.Late, Late{Step: d.Progress.Step, Unsettled: r.Unsettled})
}

// waitFrom returns when the wait of the last round begins. latest is the latest such instant.
func (r Rounds) waitFrom(latest time.Time) time.Time {
	if r.Unsettled > 0 || r.SettledAt.After(latest) {
		return latest
	}
	if r.SettledAt.Before(r.At) { // zero: the messages of the round were not found
		return r.At
	}
	return r.SettledAt
}

// end ends the plan, but not while a message is unsettled: messages of an inactive incident are cancelled, and a page
// that was decided must be sent.
func (d *Decision) end(why Over, now time.Time) {
	if d.Progress.Unsettled > 0 {
		d.dueBy(now.Add(exhaustedRecheck))
		return
	}
	d.Over, d.Due = why, time.Time{}
}

// reopen makes rounds again whose messages an acknowledgement had cancelled: the last round of each notification.
func (d *Decision) reopen(plan Plan, p Progress, now time.Time) {
	if p.Reopened <= p.Reopen {
		return
	}
	d.Reopened = true
	d.Progress.Reopen = p.Reopened
	for _, again := range cancelled(p.Past) {
		if again.Step == 0 {
			if plan.Tracking != nil && !d.Tracking {
				d.Tracking = true
				d.Progress.Unsettled++
			}
			continue
		}
		if again.Step < 0 || again.Step > min(p.Step, len(plan.Steps)) || again.Position < 0 ||
			again.Position >= len(plan.Steps[again.Step-1].Notifications) {
			continue
		}
		if again.Step == p.Step && again.Position < len(d.Progress.Notifications) {
			r := &d.Progress.Notifications[again.Position]
			if r.Made != again.Repeat+1 {
				continue
			}
			*r = Rounds{Made: r.Made, At: now, Unsettled: 1}
		}
		d.Progress.Unsettled++
		d.Rounds = append(d.Rounds, again)
	}
}

// cancelled returns the rounds to make again: the last round of each notification, if one of its messages was cancelled
// or all of them failed. In the second case the acknowledgement prevented the page to the fallback.
func cancelled(past []Past) []Round {
	type key struct{ step, position int }
	keys, byNotification := grouped(past, func(m Past) key { return key{m.Step, m.Position} })
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.step, b.step),
			cmp.Compare(a.position, b.position))
	})
	out := make([]Round, 0, len(keys))
	for _, k := range keys {
		last := slices.MaxFunc(byNotification[k], func(a, b Past) int { return cmp.Compare(a.Repeat, b.Repeat) }).Repeat
		made := slices.DeleteFunc(byNotification[k], func(m Past) bool { return m.Repeat != last })
		has := func(fate Fate) bool { return slices.ContainsFunc(made, func(m Past) bool { return m.Fate == fate }) }
		lostFallback := slices.ContainsFunc(made, func(m Past) bool {
			return m.Fate == PastCancelled &&
				m.Purpose == messages.Fallback
		})
		if !has(PastCancelled) {
			if k.step <= 0 || !has(PastFailed) || has(PastLeft) || has(PastOnItsWay) {
				continue
			}
			lostFallback = true
		}
		r := Round{Step: k.step, Position: k.position, Repeat: last, Again: true}
		for _, m := range made {
			// A recipient who could not be reached is paged again if the page to the fallback was cancelled.
			if m.Fate != PastCancelled && (m.Fate != PastFailed || !lostFallback) {
				r.Served = append(r.Served, m.Recipient)
			}
		}
		slices.Sort(r.Served)
		r.Served = slices.Compact(r.Served)
		out = append(out, r)
	}
	return out
}
