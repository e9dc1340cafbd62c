package stage

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/batch"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	// renderBatch is how many messages are rendered together.
	renderBatch = 32
	// renderWithin is how long that may take before its templates are suspected to be slow.
	renderWithin = time.Second
	// suspectFor is how long the messages of a slow template are rendered apart from the others.
	suspectFor = 5 * time.Minute
	// plainFor is how long the built-in text is used after a template failed slowly.
	plainFor = time.Minute
	// mostApart bounds how many messages wait for one such template; more of them wait in the queue.
	mostApart = 8
	// mostTrusted bounds how many templates are remembered.
	mostTrusted = 10_000
)

// Renderer gives messages their text, in the order given. An error means that nothing could be rendered for want of data.
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
	NotNow             // the database is away
	SlowQueue          // its template is slow, and others wait for it
	Impossible         // its data cannot be rendered
)

// Render gives the messages of a mode their text. The goroutines of Run serve the templates that are known to be quick, in
// batches. A new template, or one that was slow lately, gets a goroutine of its own, so that it delays only itself. Safe for
// concurrent use.
type Render struct {
	renderer Renderer
	report   Reporter
	mode     users.Mode
	arrived  *batch.Queue[*unrendered]
	serving  *sync.WaitGroup

	mu       sync.Mutex
	trusted  map[Template]bool
	suspects map[Template]time.Time     // not to be trusted until
	failed   map[Template]time.Time     // not to be used until
	apart    map[Template][]*unrendered // waiting for the goroutine that serves this template
}

// unrendered is a message that waits for its text, and where the text goes.
type unrendered struct {
	template Template
	request  messages.Request
	plain    bool      // the built-in text is used, whatever the template
	problem  string    // of its template
	answer   chan Text // buffered
}

// NewRender returns a Render that works while Run runs. The goroutines of single templates are added to serving: a renderer that
// hangs may keep them longer than Run.
func NewRender(r Renderer, m users.Mode, report Reporter, serving *sync.WaitGroup) *Render {
	return &Render{
		renderer: r, report: report, mode: m, serving: serving, arrived: batch.NewQueue[*unrendered](0), trusted: map[Template]bool{},
		suspects: map[Template]time.Time{}, failed: map[Template]time.Time{}, apart: map[Template][]*unrendered{},
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
		waiting = slices.DeleteFunc(waiting, func(m *unrendered) bool { return r.setApart(ctx, m) })
		if len(waiting) == 0 {
			continue
		}
		r.render(ctx, waiting)
		if time.Since(began) > renderWithin {
			r.suspect(waiting)
		}
	}
}

// setApart gives the message of a template that is not trusted to the goroutine that serves the template, and reports whether it
// did.
func (r *Render) setApart(ctx context.Context, m *unrendered) bool {
	k := m.template
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trusted[k] {
		return false
	}
	waiting, served := r.apart[k]
	if _, slow := r.suspects[k]; slow && len(waiting) >= mostApart {
		m.answer <- Text{Missing: SlowQueue} // such messages must not fill the process either
		return true
	}
	r.apart[k] = append(waiting, m)
	if !served {
		r.serving.Go(func() { r.serve(ctx, k) })
	}
	return true
}

// serve renders the messages of one template one by one, until none wait or it has shown that it is quick.
func (r *Render) serve(ctx context.Context, k Template) {
	for {
		r.mu.Lock()
		waiting := r.apart[k]
		if len(waiting) == 0 || r.trusted[k] {
			delete(r.apart, k)
			r.mu.Unlock()
			r.arrived.Add(waiting...)
			return
		}
		r.apart[k] = waiting[1:]
		m := waiting[0]
		m.plain = time.Now().Before(r.failed[k]) // it has just failed and taken long for it
		r.mu.Unlock()
		began := time.Now()
		r.render(ctx, waiting[:1])
		r.judge(k, m, time.Since(began))
	}
}

// judge decides whether a template that was rendered apart may be trusted.
func (r *Render) judge(k Template, m *unrendered, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	switch {
	case m.plain:
	case took > renderWithin/4:
		r.suspects[k] = now.Add(suspectFor)
		if waiting := r.apart[k]; len(waiting) > mostApart {
			for _, other := range waiting[mostApart:] {
				other.answer <- Text{Missing: SlowQueue}
			}
			r.apart[k] = waiting[:mostApart]
		}
		if m.problem != "" {
			r.failed[k] = now.Add(plainFor)
		}
	case now.After(r.suspects[k]):
		delete(r.suspects, k)
		if len(r.trusted) >= mostTrusted {
			clear(r.trusted)
		}
		r.trusted[k] = true
	}
}

// suspect no longer trusts the templates of a batch that was slow.
func (r *Render) suspect(slow []*unrendered) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range slow {
		delete(r.trusted, m.template)
	}
}

// render renders a batch. Where one message is the reason why the batch fails, the others are rendered alone.
func (r *Render) render(ctx context.Context, waiting []*unrendered) {
	_ = batch.Split(waiting, func(ms []*unrendered) error { return r.all(ctx, ms) }, func(error) bool { return true },
		func(m *unrendered, _ error) { m.answer <- Text{Missing: Impossible} })
}

// all renders a batch. Its error is of one of the messages.
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
