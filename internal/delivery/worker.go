package delivery

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery/account"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Worker delivers the messages of the buckets that this process holds. Wake, UpdatePeer and LastPass may be called at
// any time from any goroutine; Run once.
type Worker struct {
	cfg   Config
	hints Hints
	log   *zap.Logger

	modes   map[users.Mode]*modeWorker
	finder  *finder
	rescuer *rescuer
	lacking *lacking
	shared  *rate.Shared

	mark   *stage.Mark
	reread *stage.Reread
	record *stage.Record
	move   *stage.Move

	pauses     account.Pauses
	inFlight   inFlight
	stopping   chan struct{}  // closed when no call may begin any more
	items      sync.WaitGroup // taken and not finished
	background sync.WaitGroup // goroutines of items, templates, probes and pauses
}

// New returns a Worker that does nothing until Run.
func New(deps Deps, cfg Config) (*Worker, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if err := deps.validate(); err != nil {
		return nil, err
	}
	w := &Worker{
		cfg: cfg, hints: deps.Hints, log: deps.Log.Named("delivery"), modes: map[users.Mode]*modeWorker{}, stopping: make(chan struct{}),
		inFlight: inFlight{ids: map[messages.ID]bool{}},
	}
	report := &reporter{log: w.log, last: map[string]time.Time{}}
	w.mark, w.reread = stage.NewMark(deps.Ledger, deps.Leases, report), stage.NewReread(deps.Ledger, deps.Leases,
		report)
	w.record, w.move = stage.NewRecord(deps.Ledger, report), stage.NewMove(deps.Queue, deps.Leases, report)
	report.metrics = newMetrics(deps.Metrics, func() float64 { return float64(w.record.Len()) }, deps.Vendors)
	w.shared = rate.NewShared(deps.Limits, cfg.Limits, report)
	w.finder = newFinder(deps, cfg, w.shared.Demand, w.modes, report)
	w.lacking = &lacking{source: deps.Served, report: report, served: map[users.Mode]bool{},
		told: map[users.Mode]bool{}}
	w.rescuer = &rescuer{
		queue: deps.Rescuer, limits: deps.Limits, leases: deps.Leases, finder: w.finder, pauses: &w.pauses, inFlight: &w.inFlight,
		report: report, poll: cfg.Poll,
	}
	p := w.newPath(deps, report)
	for _, m := range users.Modes {
		w.modes[m] = w.newMode(m, deps, p, report)
		if len(w.modes[m].outlets) == 0 {
			w.lacking.modes = append(w.lacking.modes, m)
		}
	}
	return w, nil
}

// newPath returns the steps after the take.
func (w *Worker) newPath(deps Deps, report *reporter) *path {
	decide := &decider{cfg: &w.cfg, directory: deps.Directory, modes: w.modes, lacking: w.lacking, report: report,
		stopping: w.stopping}
	return &path{
		screen: screen{cfg: &w.cfg, links: deps.Links, decide: decide},
		admit:  admission{cfg: &w.cfg, decide: decide, metrics: report.metrics, stopping: w.stopping},
		mark:   w.mark,
		caller: caller{
			cfg: &w.cfg, links: deps.Links, reveal: deps.Reveal, reread: w.reread, metrics: report.metrics, log: w.log, stopping: w.stopping,
		},
		end: ending{
			record: w.record, move: w.move, finder: w.finder, leases: deps.Leases, limits: deps.Limits, pauses: &w.pauses,
			inFlight: &w.inFlight, report: report, items: &w.items, background: &w.background,
		},
		cfg: &w.cfg, decide: decide, inFlight: &w.inFlight, metrics: report.metrics, background: &w.background,
	}
}

func (w *Worker) newMode(m users.Mode, deps Deps, p *path, report *reporter) *modeWorker {
	l := &modeWorker{
		mode: m, turns: rate.NewDealer(w.shared, m), render: stage.NewRender(deps.Renderer, m, report, &w.background),
		cfg: &w.cfg, queue: deps.Queue, leases: deps.Leases, demand: w.shared.Demand, pauses: &w.pauses, finder: w.finder, lacking: w.lacking, path: p,
		report: report, background: &w.background, kicked: make(chan struct{}, 1),
	}
	for _, v := range deps.Vendors {
		for _, vm := range v.Modes() {
			if vm == m {
				l.outlets = append(l.outlets, account.New(v, m, w.cfg.account(v, m), &w.pauses))
			}
		}
	}
	return l
}

// Wake reports that there may be new work in these buckets. It does not block.
func (w *Worker) Wake(bs buckets.Set) { w.finder.Wake(bs) }

// NoteNew reports lanes with new messages, so that nothing must be searched. It does not block.
func (w *Worker) NoteNew(lanes []rate.Waiting) { w.finder.kick(w.finder.demand.Add(lanes)) }

// UpdatePeer stores the hint of another process about its waiting work (see Hints); nil removes the process. It does
// not block.
func (w *Worker) UpdatePeer(node string, hint []byte) { w.shared.Peers.Update(time.Now(), node, hint) }

// LastPass is the oldest of the times at which the finder and the modes last completed a pass; zero until each has
// completed one.
func (w *Worker) LastPass() time.Time {
	oldest := w.finder.lastPass.Load()
	for _, l := range w.modes {
		oldest = min(oldest, l.lastPass.Load())
	}
	if oldest == 0 {
		return time.Time{}
	}
	return time.Unix(0, oldest)
}

// Run delivers until ctx ends. Then it takes no more messages, waits for running calls (Config.StopWithin), stores
// their outcomes, puts taken messages back, and returns nil.
func (w *Worker) Run(ctx context.Context) error {
	calls, endCalls := context.WithCancel(context.WithoutCancel(ctx))
	defer endCalls()
	stages, endStages := context.WithCancel(context.WithoutCancel(ctx))
	defer endStages()

	var running, loops sync.WaitGroup
	running.Go(func() { w.mark.Run(stages, calls) })
	running.Go(func() { w.reread.Run(stages, calls) })
	for range 2 { // recording may wait for the lock of an incident
		running.Go(func() { w.record.Run(stages) })
	}
	running.Go(func() { w.move.RunTurns(stages, calls) })
	running.Go(func() { w.move.RunReleases(stages) })
	for _, l := range w.modes {
		loops.Go(func() { l.run(ctx, calls) })
		for range 2 {
			running.Go(func() { l.render.Run(stages) })
		}
	}
	loops.Go(func() { w.finder.run(ctx) })
	loops.Go(func() { w.rescuer.run(ctx) })
	loops.Go(func() { w.sendHints(ctx) })

	<-ctx.Done()
	close(w.stopping)
	loops.Wait()
	if !waitFor(&w.items, w.cfg.StopWithin) {
		w.log.Warn("cutting off vendor calls that did not end in time")
		endCalls()
		if !waitFor(&w.items, w.cfg.StopWithin) {
			w.log.Error("stopping with outcomes that could not be stored", zap.Int("messages", w.record.Len()))
		}
	}
	endCalls()
	endStages()
	running.Wait()
	waitFor(&w.background, time.Second)
	return nil
}

// sendHints sends the lanes that have work here to the other processes, if any limit is configured.
func (w *Worker) sendHints(ctx context.Context) {
	if w.hints == nil || len(w.cfg.Limits) == 0 {
		return
	}
	ticker := time.NewTicker(rate.HintLife / 6)
	defer ticker.Stop()
	silent := true
	for {
		// A lane that this process cannot serve must not take a share of its limit.
		lanes := slices.DeleteFunc(w.shared.Demand.All(), func(l rate.Lane) bool {
			return w.modes[l.Mode] == nil ||
				len(w.modes[l.Mode].outlets) == 0
		})
		if len(lanes) > 0 || !silent {
			w.hints.Demand(rate.EncodeDemand(lanes))
		}
		silent = len(lanes) == 0
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// waitFor waits for a group. It returns false if the group is not done in time.
func waitFor(g *sync.WaitGroup, most time.Duration) bool {
	done := make(chan struct{})
	go func() { g.Wait(); close(done) }()
	select {
	case <-done:
		return true
	case <-time.After(most):
		return false
	}
}
