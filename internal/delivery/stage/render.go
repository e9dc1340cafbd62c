package stage

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/kit/batch"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	// renderBatch is how many messages are rendered together.
	renderBatch = 64
	// renderGap is the least time between the starts of two batches in a flood. Each batch costs one or two statements.
	renderGap = 5 * time.Millisecond
	// renderWithin is how long a batch may take. If a batch takes longer, its templates are timed again, each alone.
	renderWithin = time.Second
	// slowFor is how long the messages of a slow template are rendered separately.
	slowFor = 5 * time.Minute
	// plainFor is how long the built-in text replaces a template that was slow and failed.
	plainFor = time.Minute
	// mostSeparate bounds how many messages wait for one slow template. The others go back to the database.
	mostSeparate = 8
	// mostQuick bounds how many quick templates are remembered. At the bound all are forgotten.
	mostQuick = 10_000
)

// Renderer gives messages their text, in the order given. An error means that the data of the batch could not be read.
type Renderer interface {
	Render(ctx context.Context, reqs []messages.Request) ([]messages.Content, error)
}

// Template names a template of an application.
type Template struct {
	Application int64
	Name        string
}

// Text is the answer of Render: the content of a message, or why it has none.
type Text struct {
	Content messages.Content
	Missing Missing
}

// Missing says why a message has no text.
type Missing int

// Why a message has no text.
const (
	NotMissing Missing = iota
	NotNow             // the database is not available
	SlowQueue          // its template is slow, and too many messages wait for it
	Impossible         // its data cannot be rendered
)

// Render gives the messages of a mode their text. The goroutines of Run serve the templates that are known to be quick,
// in batches. A new template, or one that was slow lately, gets a goroutine of its own, so that it delays only itself.
// Safe for concurrent use.
type Render struct {
	renderer Renderer
	report   Reporter
	mode     users.Mode
	arrived  *batch.Queue[*unrendered]
	serving  *sync.WaitGroup

	mu       sync.Mutex
	quick    map[Template]bool          // rendered in batches
	slow     map[Template]time.Time     // rendered separately until then
	failed   map[Template]time.Time     // replaced by the built-in text until then
	separate map[Template][]*unrendered // waiting for the goroutine that serves this template
}

// unrendered is a message that waits for its text.
type unrendered struct {
	template Template
	request  messages.Request
	plain    bool      // the built-in text is used, whatever the template
	problem  string    // of its template
	answer   chan Text // buffered
}

// NewRender returns a Render that works while Run runs. The goroutines of single templates are added to serving: a
// renderer that hangs may keep them longer than Run.
func NewRender(r Renderer, m users.Mode, report Reporter, serving *sync.WaitGroup) *Render {
	return &Render{
		renderer: r, report: report, mode: m, serving: serving, arrived: batch.NewQueue[*unrendered](renderGap), quick: map[Template]bool{},
		slow: map[Template]time.Time{}, failed: map[Template]time.Time{}, separate: map[Template][]*unrendered{},
	}
}

// Do renders a message and waits for its text, until ctx ends at the latest.
func (r *Render) Do(ctx context.Context, t Template, request messages.Request) Text {
	one := &unrendered{template: t, request: request, answer: make(chan Text, 1)}
	r.arrived.Add(one)
	select {
	case text := <-one.answer:
		return text
	case <-ctx.Done():
		return Text{Missing: NotNow}
	}
}

// Run works until ctx ends and nothing waits. It may be called by several goroutines.
func (r *Render) Run(ctx context.Context) {
	for {
		waiting := r.arrived.Next(ctx, renderBatch)
		if waiting == nil {
			return
		}
		began := time.Now()
		waiting = slices.DeleteFunc(waiting, func(m *unrendered) bool { return r.separated(ctx, m) })
		if len(waiting) == 0 {
			continue
		}
		r.render(ctx, waiting)
		if time.Since(began) > renderWithin {
			r.forget(waiting)
		}
	}
}

// separated queues a message for the goroutine of its template, unless the template is known to be quick. It reports
// whether it did.
func (r *Render) separated(ctx context.Context, m *unrendered) bool {
	k := m.template
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.quick[k] {
		return false
	}
	waiting, served := r.separate[k]
	if _, known := r.slow[k]; known && len(waiting) >= mostSeparate {
		m.answer <- Text{Missing: SlowQueue} // without a bound, messages of slow templates would fill the memory
		return true
	}
	r.separate[k] = append(waiting, m)
	if !served {
		r.serving.Go(func() { r.serve(ctx, k) })
	}
	return true
}

// serve renders the messages of one template one by one, until none waits or the template proves quick.
func (r *Render) serve(ctx context.Context, k Template) {
	for {
		r.mu.Lock()
		waiting := r.separate[k]
		if len(waiting) == 0 || r.quick[k] {
			delete(r.separate, k)
			r.mu.Unlock()
			r.arrived.Add(waiting...)
			return
		}
		r.separate[k] = waiting[1:]
		m := waiting[0]
		m.plain = time.Now().Before(r.failed[k]) // the template was slow and failed a short time ago
		r.mu.Unlock()
		began := time.Now()
		r.render(ctx, waiting[:1])
		r.judge(k, m, time.Since(began))
	}
}

// judge marks a template as quick or slow by the time that one message took.
func (r *Render) judge(k Template, m *unrendered, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	switch {
	case m.plain:
	case took > renderWithin/4:
		r.slow[k] = now.Add(slowFor)
		if waiting := r.separate[k]; len(waiting) > mostSeparate {
			for _, other := range waiting[mostSeparate:] {
				other.answer <- Text{Missing: SlowQueue}
			}
			r.separate[k] = waiting[:mostSeparate]
		}
		if m.problem != "" {
			r.failed[k] = now.Add(plainFor)
		}
	case now.After(r.slow[k]):
		delete(r.slow, k)
		if len(r.quick) >= mostQuick {
			clear(r.quick)
		}
		r.quick[k] = true
	}
}

// forget removes the templates of a slow batch from the quick ones, so that they are timed again.
func (r *Render) forget(ms []*unrendered) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range ms {
		delete(r.quick, m.template)
	}
}

// render renders a batch. If the batch fails because of one message, the other messages are still rendered.
func (r *Render) render(ctx context.Context, waiting []*unrendered) {
	_ = batch.Split(waiting, func(ms []*unrendered) error { return r.all(ctx, ms) }, func(error) bool { return true },
		func(m *unrendered, _ error) { m.answer <- Text{Missing: Impossible} })
}

// all renders a batch. It returns an error only if one of the messages causes it.
func (r *Render) all(ctx context.Context, waiting []*unrendered) error {
	reqs := make([]messages.Request, len(waiting))
	for i, m := range waiting {
		reqs[i] = m.request
		reqs[i].Plain = reqs[i].Plain || m.plain
	}
	contents, err := r.call(ctx, reqs)
	if err != nil {
		r.report.Failed("render", err, zap.String("mode", string(r.mode)))
	}
	switch {
	case InData(err):
		return err
	case err != nil:
		for _, m := range waiting {
			m.answer <- Text{Missing: NotNow}
		}
		return nil
	}
	for i, m := range waiting {
		m.problem = contents[i].Problem
		m.answer <- Text{Content: contents[i]}
	}
	return nil
}

// call calls the renderer. A panic of the renderer is an error.
func (r *Render) call(ctx context.Context, reqs []messages.Request) (out []messages.Content, err error) {
	defer fault.Recover(&err)
	out, err = r.renderer.Render(ctx, reqs)
	if err == nil && len(out) != len(reqs) {
		err = fmt.Errorf("renderer answered %d of %d requests", len(out), len(reqs))
	}
	return out, err
}
