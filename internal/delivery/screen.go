package delivery

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/delivery/account"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	// quarantineAfter takes that ended without a call, a message is sent with the built-in text.
	quarantineAfter = 3
)

// item is a message between its take and its record.
type item struct {
	c        Claimed
	mode     *modeWorker
	outlet   *account.Outlet // through which it is to be sent; nil = all were closed
	closed   shut            // why they were
	turn     rate.Turn
	taken    time.Time     // before it was taken
	claimEnd time.Time     // when the claim may be over
	waited   time.Duration // for its slot, or for a call of another message to end
	// retracted: its attempt is cancelled because the answer to its mark was lost. If there is no attempt, the message is still taken.
	retracted bool
	content   messages.Content
}

// age is how long ago the message was made.
func (it *item) age() time.Duration { return it.c.Age + time.Since(it.taken) }

// inMode is how long the message has been tried in its mode; 0 = no attempt was made.
func (it *item) inMode() time.Duration {
	if it.c.ModeAttempt == 0 {
		return 0
	}
	return it.c.InMode + time.Since(it.taken)
}

// waitedInMode is how long the message has had its mode, whether an attempt was made or not.
func (it *item) waitedInMode() time.Duration { return it.c.Waited + time.Since(it.taken) }

// leastCall is the shortest timeout of a call, however little of the mode's budget is left: a shorter one would leave more attempts
// in doubt.
const leastCall = 5 * time.Second

// callTime is how long a call may take: no longer than the mode's budget, so that a server that hangs does not keep the message
// from its next mode.
func (it *item) callTime() time.Duration {
	left := it.mode.w.cfg.Budgets[it.c.Class].PerMode - it.waitedInMode()
	return min(it.outlet.Timeout, max(leastCall, left))
}

// Template implements stage.Unrendered.
func (it *item) Template() stage.Template {
	return stage.Template{Application: it.c.ApplicationID, Name: it.c.Template}
}

// Request implements stage.Unrendered.
func (it *item) Request() messages.Request { return it.mode.w.request(it.c) }

// Rendered implements stage.Unrendered.
func (it *item) Rendered(c messages.Content) {
	w := it.mode.w
	it.content = c
	if c.Problem != "" {
		w.metrics.problems.Inc()
	}
	if w.cfg.DryRun == DryRunRender {
		w.turn(it, Verdict{State: messages.Dropped, Why: "Dry run: it was put into words only."})
		return
	}
	w.background.Go(func() { w.send(it) })
}

// NotRendered implements stage.Unrendered.
func (it *item) NotRendered(why stage.NotRendered) {
	w := it.mode.w
	switch why {
	case stage.NotNow:
		w.release(it)
	case stage.SlowQueue:
		w.turn(it, Verdict{State: messages.Pending, RetryIn: time.Second/2 + time.Duration(spread()*float64(time.Second))})
	default:
		w.background.Go(func() { w.refused(it, "its words could not be put together", w.longGap(it)) })
	}
}

// retakenPause is how long a message waits that was taken again while an earlier attempt is still being recorded.
const retakenPause = 50 * time.Millisecond

// begin decides how a taken message goes on.
func (w *Worker) begin(it *item) {
	it.mode.inFlight.Add(1)
	w.items.Add(1)
	w.metrics.inFlight.WithLabelValues(string(it.mode.mode)).Inc()
	switch {
	case w.inFlight.has(it.c.ID):
		// A crash of the database lost the claim of an earlier take, and the outcome or retraction of that take is not stored yet. It would
		// be stored for the attempt that this take makes.
		w.turn(it, Verdict{State: messages.Pending, RetryIn: retakenPause})
	case it.c.Expired:
		w.turn(it, Verdict{State: messages.Dropped, Why: "It expired before it could be sent."})
	case it.c.Gone:
		w.turn(it, Verdict{
			State: messages.Failed, ForGood: true, AskFallback: asksFallback(it.c) && !it.c.FallbackAsked,
			Why: it.c.Target + " is not active any more and is not told.",
		})
	case (it.c.Mode == users.SMS || it.c.Mode == users.Call) && users.RefusedNumber(it.c.Destination, w.cfg.RefusedNumbers):
		w.background.Go(func() {
			w.elsewhere(it, fmt.Sprintf("The %s number of %s is one that nobody is reached at: delivery.refused_numbers.", it.c.Mode, shownTarget(it.c)))
		})
	case !w.cfg.CallMainlandChina && it.c.Mode == users.Call && mainlandChina(it.c.Destination):
		w.turn(it, Verdict{State: messages.Pending, Mode: users.SMS, Tried: append(slices.Clone(it.c.Tried), users.Call), Refused: it.c.Refused,
			Why: fmt.Sprintf("Calls to +86 are not permitted; %s is told by sms.", it.c.Target), Audit: callingRestriction})
	case slices.Contains(it.c.Refused, it.c.Mode): // a receipt said so after the call
		w.background.Go(func() {
			w.elsewhere(it, fmt.Sprintf("%s to %s was not delivered.", capital(string(it.c.Mode)), it.c.Target))
		})
	case it.c.Destination == "" && it.c.Mode != users.Drop:
		w.background.Go(func() {
			w.elsewhere(it, fmt.Sprintf("%s has no %s contact.", it.c.Target, it.c.Mode))
		})
	case !it.c.Allowed:
		w.background.Go(func() {
			w.elsewhere(it, fmt.Sprintf("The application may not use %s.", it.c.Mode))
		})
	case it.outlet == nil:
		w.background.Go(func() { w.refused(it, it.closed.why, w.longGap(it)) })
	default:
		it.mode.render.Add(it)
	}
}

// Texts of the audit log for changes that are caused neither by the template nor by a vendor (docs/reference/delivery.md 9).
const (
	callingRestriction = "Changing mode due to calling restriction"
	replacedSMS        = "Replaced SMS body to avoid being blocked by carrier"
)

// shownTarget names a recipient without showing a number that a notification gave literally.
func shownTarget(c Claimed) string {
	if c.UserID == 0 {
		return "the recipient"
	}
	return c.Target
}

func mainlandChina(destination string) bool {
	return strings.HasPrefix(strings.TrimSpace(destination), "+86")
}

// request is the request for the text of a message.
func (w *Worker) request(c Claimed) messages.Request {
	r := messages.Request{
		MessageID: c.ID, IncidentID: c.IncidentID, RequestID: c.RequestID, PlanID: c.PlanID, Step: c.Step,
		Position: c.Position, Purpose: c.Purpose, Mode: c.Mode, Priority: c.Priority, Target: c.Target,
		Template: c.Template, Plain: c.Takes >= quarantineAfter,
	}
	if c.Mode == users.SMS {
		if c.Override && c.IncidentID != 0 {
			r.Override = strings.NewReplacer("%s", fmt.Sprint(c.IncidentID), "%d", fmt.Sprint(c.IncidentID)).Replace(w.cfg.SMSOverride)
		}
		if slices.Contains(c.Tried, users.Call) && !w.cfg.CallMainlandChina && mainlandChina(c.Destination) {
			r.Prefix = w.cfg.MainlandChinaNotice
		}
	}
	if c.IncidentID == 0 && c.Batch != "" {
		r.Batch, r.BatchSize, r.Application, r.Sender = c.Batch, c.BatchSize, c.ApplicationName, c.Sender
	}
	if c.IncidentID != 0 {
		r.IncidentURL = w.deps.Links.IncidentURL(c.IncidentID)
	}
	r.AckURL = w.ackURL(c)
	return r
}

// ackURL is where the recipient acknowledges the message's incident, or those of the digest that it is; "" when there is nothing
// to acknowledge, or no user to do it.
func (w *Worker) ackURL(c Claimed) string {
	if c.UserID == 0 || c.IncidentID == 0 && c.Batch == "" {
		return ""
	}
	return w.deps.Links.AckURL(c.IncidentID, c.ID, c.UserID)
}

// elsewhere gives a message that cannot use its mode at all its next mode.
func (w *Worker) elsewhere(it *item, why string) {
	w.turn(it, w.nextMode(it, why, false, true))
}

// longGap is the longest pause before a message is tried again.
func (w *Worker) longGap(it *item) time.Duration { return w.cfg.Budgets[it.c.Class].Gap(100, spread()) }

// refused moves a message on that no outlet of its mode can send now. The message waits, and gets its next mode when its budget is
// used up. When a pause is known to last longer than the budget, it gets the next mode at once, unless every mode has failed already.
func (w *Worker) refused(it *item, why string, wait time.Duration) {
	b := w.cfg.Budgets[it.c.Class]
	waited := it.waitedInMode()
	age := it.age()
	switch {
	case len(it.mode.outlets) == 0:
		w.turn(it, w.nextMode(it, capital(why)+".", false, true))
	case age >= b.GiveUp:
		w.turn(it, w.gaveUp(it, why))
	case age >= b.Total || waited >= b.PerMode || it.closed.left > 0 && !it.c.FallbackAsked && waited+it.closed.left >= b.PerMode:
		w.turn(it, w.nextMode(it, fmt.Sprintf("%s to %s could not be sent: %s.", capital(string(it.c.Mode)), it.c.Target, why), true, false))
	default:
		w.turn(it, Verdict{State: messages.Pending, RetryIn: min(wait, max(b.FirstGap, b.PerMode-waited))})
	}
}
