package delivery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/batch"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	// renderBatch is how many messages are put into words together.
	renderBatch = 32
	// renderWithin is how long that may take before its templates are suspected to be slow.
	renderWithin = time.Second
	// suspectFor is how long a slow template's messages are rendered apart from the others.
	suspectFor = 5 * time.Minute
	// plainFor is how long built-in words are used after a template failed slowly.
	plainFor = time.Minute
	// mostApart bounds how many messages wait for one such template; more of them wait in the queue.
	mostApart = 8
	// mostTrusted bounds how many templates are remembered.
	mostTrusted = 10_000
	// quarantineAfter takes that ended without a call, a message goes out in built-in words.
	quarantineAfter = 3
)

// item is a message on its way through this process.
type item struct {
	c        Claimed
	line     *line
	outlet   *outlet // by which it is to leave; nil = all were closed
	closed   shut    // why they were
	turn     rate.Turn
	taken    time.Time     // before it was taken
	claimEnd time.Time     // when the claim may be over
	plain    bool          // built-in words, whatever the template
	waited   time.Duration // idly: for its slot or for a call to end
	// retracted: its attempt was taken back, and if there was none to take back, the message is still taken.
	retracted bool
	content   messages.Content
}

// waited is the message's age, and the time spent in its mode, by now.
func (it *item) age() time.Duration { return it.c.Age + time.Since(it.taken) }

func (it *item) inMode() time.Duration {
	if it.c.ModeAttempt == 0 {
		return 0
	}
	return it.c.InMode + time.Since(it.taken)
}

// waitedInMode is how long the message has had its mode, whether it was called or not.
func (it *item) waitedInMode() time.Duration { return it.c.Waited + time.Since(it.taken) }

// leastCall is what a call gets, however little of the mode's budget is left: a shorter one would leave more messages in doubt.
const leastCall = 5 * time.Second

// callTime is how long a call may take: no longer than the mode's budget, so that a server that hangs does not keep the message
// from its next mode.
func (it *item) callTime() time.Duration {
	left := it.line.w.cfg.Budgets[it.c.Class].PerMode - it.waitedInMode()
	return min(it.outlet.timeout, max(leastCall, left))
}

// desk puts the messages of a line into words. Two goroutines serve the templates that are known to be quick, in batches.
// One that nobody has seen yet, or that was slow of late, gets a goroutine of its own, so that it delays only itself.
// Safe for concurrent use.
type desk struct {
	line    *line
	arrived *batch.Queue[*item]

	mu       sync.Mutex
	trusted  map[templateKey]bool
	suspects map[templateKey]time.Time // not to be trusted until
	failed   map[templateKey]time.Time // not to be used until
	apart    map[templateKey][]*item   // waiting for the goroutine that serves this template
}

type templateKey struct {
	application int64
	template    string
}

func keyOf(it *item) templateKey { return templateKey{it.c.ApplicationID, it.c.Template} }

func newDesk(l *line) *desk {
	return &desk{
		line: l, arrived: batch.NewQueue[*item](0), trusted: map[templateKey]bool{},
		suspects: map[templateKey]time.Time{}, failed: map[templateKey]time.Time{}, apart: map[templateKey][]*item{},
	}
}

// run serves until ctx ends.
func (d *desk) run(ctx context.Context) {
	for {
		items := d.arrived.Next(ctx, renderBatch)
		if items == nil {
			return
		}
		now := time.Now()
		items = slices.DeleteFunc(items, func(it *item) bool { return d.setApart(ctx, it) })
		if len(items) == 0 {
			continue
		}
		d.render(ctx, items)
		if time.Since(now) > renderWithin {
			d.suspect(items)
		}
	}
}

// setApart hands the item of a template that is not trusted to the goroutine that serves it, and reports whether it did.
func (d *desk) setApart(ctx context.Context, it *item) bool {
	k := keyOf(it)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.trusted[k] {
		return false
	}
	waiting, served := d.apart[k]
	if _, slow := d.suspects[k]; slow && len(waiting) >= mostApart {
		d.later(it)
		return true
	}
	d.apart[k] = append(waiting, it)
	if !served {
		d.line.w.background.Go(func() { d.serve(ctx, k) })
	}
	return true
}

// later puts the message of a slow template off: such messages must not fill the line either.
func (d *desk) later(it *item) {
	d.line.w.turn(it, Verdict{State: messages.Pending, RetryIn: time.Second/2 + time.Duration(spread()*float64(time.Second))})
}

// serve renders the messages of one template one by one, until none wait or it has shown that it is quick.
func (d *desk) serve(ctx context.Context, k templateKey) {
	for {
		d.mu.Lock()
		waiting := d.apart[k]
		if len(waiting) == 0 || d.trusted[k] {
			delete(d.apart, k)
			d.mu.Unlock()
			d.arrived.Add(waiting...)
			return
		}
		d.apart[k] = waiting[1:]
		d.mu.Unlock()
		it := waiting[0]
		it.plain = it.plain || d.failing(k)
		began := time.Now()
		d.render(ctx, waiting[:1])
		d.judge(k, it, time.Since(began))
	}
}

// failing reports whether a template has just failed and taken long for it: its words would be the built-in ones anyway.
func (d *desk) failing(k templateKey) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Now().Before(d.failed[k])
}

// judge decides whether a template that was rendered apart may be trusted.
func (d *desk) judge(k templateKey, it *item, took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	switch {
	case it.plain:
	case took > renderWithin/4:
		d.suspects[k] = now.Add(suspectFor)
		if waiting := d.apart[k]; len(waiting) > mostApart {
			for _, other := range waiting[mostApart:] {
				d.later(other)
			}
			d.apart[k] = waiting[:mostApart]
		}
		if it.content.Problem != "" {
			d.failed[k] = now.Add(plainFor)
		}
	case now.After(d.suspects[k]):
		delete(d.suspects, k)
		if len(d.trusted) >= mostTrusted {
			clear(d.trusted)
		}
		d.trusted[k] = true
	}
}

// suspect withdraws the trust in the templates of a batch that was slow.
func (d *desk) suspect(batch []*item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, it := range batch {
		delete(d.trusted, keyOf(it))
	}
}

// render fetches the words of a batch and sends each message on.
func (d *desk) render(ctx context.Context, batch []*item) {
	w := d.line.w
	reqs := make([]messages.Request, len(batch))
	for i, it := range batch {
		reqs[i] = w.request(it.c)
		reqs[i].Plain = reqs[i].Plain || it.plain
	}
	contents, err := w.render(ctx, reqs)
	if err != nil {
		w.failed("render", err, zap.String("mode", string(d.line.mode)))
		d.notRendered(ctx, batch, err)
		return
	}
	for i, it := range batch {
		it.content = contents[i]
		if it.content.Problem != "" {
			w.metrics.problems.Inc()
		}
		if w.cfg.DryRun == DryRunRender {
			w.turn(it, Verdict{State: messages.Dropped, Why: "Dry run: it was put into words only."})
			continue
		}
		w.background.Go(func() { w.send(it) })
	}
}

// notRendered looks after a batch whose words could not be fetched. While the database is away it waits in the queue; where one
// message is the reason, the others are rendered alone and that one is treated as if its mode had failed.
func (d *desk) notRendered(ctx context.Context, batch []*item, err error) {
	w := d.line.w
	switch {
	case !stage.InData(err):
		for _, it := range batch {
			w.release(it)
		}
	case len(batch) > 1:
		for i := range batch {
			d.render(ctx, batch[i:i+1])
		}
	default:
		w.background.Go(func() { w.refused(batch[0], "its words could not be put together", w.longGap(batch[0])) })
	}
}

// render calls the renderer and turns a panic of it into an error.
func (w *Worker) render(ctx context.Context, reqs []messages.Request) (out []messages.Content, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("renderer panicked: %v", p)
		}
	}()
	out, err = w.deps.Renderer.Render(ctx, reqs)
	if err == nil && len(out) != len(reqs) {
		err = fmt.Errorf("renderer answered %d of %d requests", len(out), len(reqs))
	}
	return out, err
}

// begin starts a taken message on its way.
func (w *Worker) begin(it *item) {
	it.line.inFlight.Add(1)
	w.items.Add(1)
	w.metrics.inFlight.WithLabelValues(string(it.line.mode)).Inc()
	switch {
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
		it.line.desk.arrived.Add(it)
	}
}

// What the audit log says of changes that are not the template's or a vendor's doing (docs/reference/delivery.md 9).
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

// request asks for the words of a message.
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
// to acknowledge, or nobody to do it.
func (w *Worker) ackURL(c Claimed) string {
	if c.UserID == 0 || c.IncidentID == 0 && c.Batch == "" {
		return ""
	}
	return w.deps.Links.AckURL(c.IncidentID, c.ID, c.UserID)
}

// elsewhere moves a message on that cannot use its mode at all.
func (w *Worker) elsewhere(it *item, why string) {
	w.turn(it, w.nextMode(it, why, false, true))
}

// longGap is the longest pause before a message is tried again.
func (w *Worker) longGap(it *item) time.Duration { return w.cfg.Budgets[it.c.Class].gap(100, spread()) }

// refused moves a message on whose mode has no open outlet: it waits so long, and goes another way when its budget is used up. A pause
// that is known to last longer than the budget is not waited for, unless every mode has been tried in vain already.
func (w *Worker) refused(it *item, why string, wait time.Duration) {
	b := w.cfg.Budgets[it.c.Class]
	waited := it.waitedInMode()
	age := it.age()
	switch {
	case len(it.line.outlets) == 0:
		w.turn(it, w.nextMode(it, capital(why)+".", false, true))
	case age >= b.GiveUp:
		w.turn(it, w.gaveUp(it, why))
	case age >= b.Total || waited >= b.PerMode || it.closed.left > 0 && !it.c.FallbackAsked && waited+it.closed.left >= b.PerMode:
		w.turn(it, w.nextMode(it, fmt.Sprintf("%s to %s could not be sent: %s.", capital(string(it.c.Mode)), it.c.Target, why), true, false))
	default:
		w.turn(it, Verdict{State: messages.Pending, RetryIn: min(wait, max(b.FirstGap, b.PerMode-waited))})
	}
}
