package delivery

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	// renderBatch is how many messages are put into words together.
	renderBatch = 64
	// renderWithin is how long that may take before its templates are suspected to be slow.
	renderWithin = time.Second
	// suspectFor is how long a suspect's messages are rendered apart from the others.
	suspectFor = 5 * time.Minute
	// quarantineAfter takes that ended without a call, a message goes out in built-in words.
	quarantineAfter = 3
)

// item is a message on its way through this process.
type item struct {
	c        Claimed
	line     *line
	outlet   *outlet // by which it is to leave; nil = all were closed
	closed   string  // why they were
	slot     slot    // valid only if limited
	limited  bool
	taken    time.Time // before it was taken
	claimEnd time.Time // when the claim may be over
	content  messages.Content
}

// waited is the message's age, and the time spent in its mode, by now.
func (it *item) age() time.Duration { return it.c.Age + time.Since(it.taken) }

func (it *item) inMode() time.Duration {
	if it.c.ModeAttempt == 0 {
		return 0
	}
	return it.c.InMode + time.Since(it.taken)
}

// desk puts the messages of a line into words. Two goroutines serve everybody; a template that turned out to be slow gets
// one of its own, so that it delays only itself. Safe for concurrent use.
type desk struct {
	line    *line
	arrived *batcher[*item]

	mu       sync.Mutex
	suspects map[templateKey]time.Time // until when
	apart    map[templateKey][]*item   // waiting for the goroutine that serves this template
}

type templateKey struct {
	application int64
	template    string
}

func keyOf(it *item) templateKey { return templateKey{it.c.ApplicationID, it.c.Template} }

func newDesk(l *line) *desk {
	return &desk{
		line: l, arrived: newBatcher[*item](),
		suspects: map[templateKey]time.Time{}, apart: map[templateKey][]*item{},
	}
}

// run serves until ctx ends.
func (d *desk) run(ctx context.Context) {
	for {
		batch := d.arrived.next(ctx, renderBatch)
		if batch == nil {
			return
		}
		now := time.Now()
		batch = slices.DeleteFunc(batch, func(it *item) bool { return d.setApart(ctx, now, it) })
		if len(batch) == 0 {
			continue
		}
		d.render(ctx, batch)
		if time.Since(now) > renderWithin {
			d.suspect(batch)
		}
	}
}

// setApart hands the item of a suspect template to the goroutine that serves it, and reports whether it did.
func (d *desk) setApart(ctx context.Context, now time.Time, it *item) bool {
	k := keyOf(it)
	d.mu.Lock()
	defer d.mu.Unlock()
	if until, suspected := d.suspects[k]; !suspected || now.After(until) {
		delete(d.suspects, k)
		return false
	}
	waiting, served := d.apart[k]
	d.apart[k] = append(waiting, it)
	if !served {
		d.line.w.background.Go(func() { d.serve(ctx, k) })
	}
	return true
}

func (d *desk) serve(ctx context.Context, k templateKey) {
	for {
		d.mu.Lock()
		batch := d.apart[k]
		if len(batch) == 0 {
			delete(d.apart, k)
			d.mu.Unlock()
			return
		}
		n := min(8, len(batch))
		d.apart[k] = batch[n:]
		d.mu.Unlock()
		began := time.Now()
		d.render(ctx, batch[:n])
		if time.Since(began) < renderWithin/10 {
			d.mu.Lock()
			delete(d.suspects, k)
			d.mu.Unlock()
		}
	}
}

func (d *desk) suspect(batch []*item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, it := range batch {
		d.suspects[keyOf(it)] = time.Now().Add(suspectFor)
	}
}

// render fetches the words of a batch and sends each message on.
func (d *desk) render(ctx context.Context, batch []*item) {
	w := d.line.w
	reqs := make([]messages.Request, len(batch))
	for i, it := range batch {
		reqs[i] = w.request(it.c)
	}
	contents, err := w.render(ctx, reqs)
	if err != nil {
		w.failed("render", err, zap.String("mode", string(d.line.mode)))
		for _, it := range batch {
			w.release(it)
		}
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
	case it.c.Destination == "" && it.c.Mode != users.Drop:
		w.background.Go(func() {
			w.elsewhere(it, fmt.Sprintf("%s has no %s contact.", it.c.Target, it.c.Mode))
		})
	case !it.c.Allowed:
		w.background.Go(func() {
			w.elsewhere(it, fmt.Sprintf("The application may not use %s.", it.c.Mode))
		})
	case it.outlet == nil:
		w.background.Go(func() { w.refused(it, it.closed) })
	default:
		it.line.desk.arrived.add(it)
	}
}

// request asks for the words of a message.
func (w *Worker) request(c Claimed) messages.Request {
	r := messages.Request{
		MessageID: c.ID, IncidentID: c.IncidentID, RequestID: c.RequestID, PlanID: c.PlanID, Step: c.Step,
		Position: c.Position, Purpose: c.Purpose, Mode: c.Mode, Priority: c.Priority, Target: c.Target,
		Template: c.Template, Plain: c.Takes >= quarantineAfter,
	}
	if c.IncidentID != 0 {
		r.IncidentURL = w.deps.Links.IncidentURL(c.IncidentID)
		if c.UserID != 0 {
			r.AckURL = w.deps.Links.AckURL(c.IncidentID, c.ID, c.UserID)
		}
	}
	return r
}

// elsewhere moves a message on that cannot use its mode at all.
func (w *Worker) elsewhere(it *item, why string) {
	w.turn(it, w.nextMode(it, why, false, true))
}

// refused moves a message on whose mode has no open outlet: it waits, and goes another way when its budget is used up.
func (w *Worker) refused(it *item, why string) {
	b := w.cfg.Budgets[it.c.Class]
	waited := it.c.Waited + time.Since(it.taken)
	age := it.age()
	switch {
	case len(it.line.outlets) == 0:
		w.turn(it, w.nextMode(it, capital(why)+".", false, true))
	case age >= b.GiveUp:
		w.turn(it, w.gaveUp(it, why))
	case age >= b.Total || waited >= b.PerMode:
		w.turn(it, w.nextMode(it, fmt.Sprintf("%s to %s could not be sent: %s.", capital(string(it.c.Mode)), it.c.Target, why), true, false))
	default:
		w.turn(it, Verdict{State: messages.Pending, RetryIn: b.gap(100, spread())})
	}
}
