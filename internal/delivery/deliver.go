package delivery

import (
	"context"
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/delivery/account"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/messages"
)

// item is a message between its take and its record. One goroutine at a time uses it.
type item struct {
	c        Claimed
	mode     *modeWorker
	outlet   *account.Outlet // through which it is to be sent; nil = all outlets were closed
	closed   closure         // why all outlets were closed
	turn     rate.Turn
	taken    time.Time     // before it was taken
	claimEnd time.Time     // when the claim may be over
	waited   time.Duration // for its slot, or for a call of another message to end
	// retracted: the answer to its mark was lost, so the attempt is cancelled. If no attempt was stored, the message is
	// still taken.
	retracted bool
	stopped   bool // the call was not begun because the incident was no longer open
	content   messages.Content
	out       messages.Outbound // for the vendor, made of the content before the mark
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

// idle waits until an instant; false when stop is closed first.
func (it *item) idle(until time.Time, stop <-chan struct{}) bool {
	d := time.Until(until)
	if d <= 0 {
		return true
	}
	began := time.Now()
	defer func() { it.waited += time.Since(began) }()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stop:
		return false
	}
}

// path carries messages from their take to their record. Each message has a goroutine and passes each step once.
type path struct {
	screen screen
	admit  admission
	mark   *stage.Mark
	caller caller
	end    ending

	cfg        *Config
	decide     *decider
	inFlight   *inFlight
	metrics    *metrics
	background *sync.WaitGroup // of the messages' goroutines
}

// begin starts the goroutine of a taken message. The steps end with ctx at the latest.
func (p *path) begin(ctx context.Context, it *item) {
	p.end.began(it)
	p.background.Go(func() { p.deliver(ctx, it) })
}

// deliver does the steps for one message: screen, render, slot, connect, mark, call, record.
func (p *path) deliver(ctx context.Context, it *item) {
	if p.inFlight.has(it.c.ID) {
		// A crash of the database lost the claim of an earlier take, whose outcome or retraction is not stored yet. If
		// this take made an attempt, that outcome would be stored for it.
		p.end.turn(it, stage.Verdict{State: messages.Pending, RetryIn: retakenPause})
		return
	}
	if v, found := p.screen.obstacle(ctx, it); found {
		p.end.turn(it, v)
		return
	}
	if l := p.render(ctx, it); l != nil {
		p.end.leave(it, l)
		return
	}
	done, l := p.admit.wait(ctx, it)
	if l != nil {
		p.end.leave(it, l)
		return
	}
	c := p.caller.prepare(ctx, it)
	p.inFlight.add(it.c.ID)
	asked := time.Now()
	m := p.mark.Do(p.caller.start(it))
	if !m.Lost {
		it.mode.turns.Pace.Marked(time.Since(asked))
	}
	if m.Attempt == 0 {
		c.Close()
		c.End()
		done(messages.NotBegun())
		p.end.unmarked(it, m)
		return
	}
	r := p.caller.call(ctx, it, c, m)
	done(r)
	it.mode.kick()
	p.end.called(ctx, it, m.Attempt, r, p.decide.after(ctx, it, r))
}

// retakenPause is how long a message waits that was taken again while an earlier attempt is still being recorded.
const retakenPause = 50 * time.Millisecond

// render gives the message its text.
func (p *path) render(ctx context.Context, it *item) *departure {
	text := it.mode.render.Do(ctx, stage.Template{Application: it.c.ApplicationID, Name: it.c.Template},
		p.screen.request(it.c))
	switch text.Missing {
	case stage.NotMissing:
	case stage.NotNow:
		return released()
	case stage.SlowQueue:
		return moved(later(time.Second/2, time.Second))
	default:
		return moved(p.decide.refused(ctx, it, "its text could not be rendered", p.decide.longGap(it)))
	}
	it.content = text.Content
	if it.content.Problem != "" {
		p.metrics.problems.Inc()
	}
	if p.cfg.DryRun == DryRunRender {
		return moved(stage.Verdict{State: messages.Dropped, Why: "Dry run: it was only rendered."})
	}
	return nil
}

// departure says how a message leaves the path without a call.
type departure struct {
	release bool // back into the queue, as if it had not been taken
	verdict stage.Verdict
}

func released() *departure { return &departure{release: true} }

func moved(v stage.Verdict) *departure { return &departure{verdict: v} }

// later is the verdict that tries a message again after a random pause between least and least + more.
func later(least, more time.Duration) stage.Verdict {
	return stage.Verdict{State: messages.Pending, RetryIn: least + time.Duration(spread()*float64(more))}
}

// inFlight is the messages that this process is sending or has yet to record. It is safe for concurrent use.
type inFlight struct {
	mu  sync.Mutex
	ids map[messages.ID]bool
}

func (f *inFlight) add(id messages.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids[id] = true
}

func (f *inFlight) remove(id messages.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.ids, id)
}

func (f *inFlight) has(id messages.ID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ids[id]
}
