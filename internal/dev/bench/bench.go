package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/legacy/apiclient"
)

// Options configure a measurement. Exactly one of Burst, Rate, Notifications and Storm must be set.
type Options struct {
	Burst         int           // post this many incidents as fast as possible
	Rate          float64       // post incidents at this rate per second
	For           time.Duration // duration of Rate
	Notifications int           // post this many out-of-band notifications as fast as possible
	Storm         int           // post this many groups of alerts again and again, as two Alertmanagers do, and new incidents meanwhile

	// A running server, whose SMTP vendor must be Sink.
	URL  string
	App  string
	Key  string
	Plan string // of App; for incidents

	// Servers that the bench starts, if URL is empty.
	Processors  int     // default 1
	KillHalf    bool    // kill half of the processors with SIGKILL during the run
	DatabaseURL string  // "" = a temporary PostgreSQL
	Fill        float64 // fill the database first with this share of the full size, see Fill
	Program     string  // the iris binary; "" = this executable
	ConfigFile  string  // for the servers
	Environ     []string
	ProfileDir  string // "" = no profiles

	Sink        string        // address of the sink; "" = a free port of 127.0.0.1
	Connections int           // maximum of simultaneous requests; default 64
	Patience    time.Duration // time without a delivery after which missing messages are lost; default 60 s
	Out         io.Writer     // progress
}

func (o Options) withDefaults() Options {
	if o.Processors == 0 {
		o.Processors = 1
	}
	if o.Sink == "" {
		o.Sink = "127.0.0.1:0"
	}
	if o.Connections == 0 {
		o.Connections = 64
	}
	if o.Patience == 0 {
		o.Patience = time.Minute
	}
	if o.Rate > 0 && o.For == 0 {
		o.For = time.Minute
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	return o
}

func (o Options) validate() error {
	kinds := 0
	for _, given := range []bool{o.Burst != 0, o.Rate != 0, o.Notifications != 0, o.Storm != 0} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return errors.New("give exactly one of --burst, --rate, --notifications and --storm")
	case o.Burst < 0 || o.Rate < 0 || o.Notifications < 0 || o.Storm < 0 || o.For < 0 || o.Processors < 1 ||
		o.Connections < 1 || o.planned() < 1:
		return errors.New("numbers must be more than 0")
	case o.URL == "" && (o.App != "" || o.Key != "" || o.Plan != ""):
		return errors.New("--app, --key and --plan are for a running server: give its --url")
	case o.URL != "" && (o.App == "" || o.Key == ""):
		return errors.New("--url needs --app and --key")
	case o.URL != "" && o.Plan == "" && o.Notifications == 0:
		return errors.New("--url needs --plan, a plan whose first step sends an e-mail")
	case o.URL != "" && strings.HasSuffix(o.Sink, ":0"):
		return errors.New("--url needs --sink HOST:PORT, the address in the server's IRIS_SMTP_ADDR")
	case o.URL != "" && (o.KillHalf || o.ProfileDir != ""):
		return errors.New("--kill and --profile need servers that the bench starts: leave out --url")
	case o.URL != "" && o.Fill != 0 || o.Fill < 0:
		return errors.New("--fill needs a number above 0, and a database that the bench uses alone: leave out --url")
	case o.KillHalf && o.Processors < 2:
		return errors.New("--kill half needs --processors 2 or more")
	}
	return nil
}

// planned returns how many units will be posted, except the new incidents of a storm.
func (o Options) planned() int {
	if o.Rate > 0 {
		return int(math.Round(o.Rate * o.For.Seconds()))
	}
	return o.Burst + o.Notifications + o.Storm
}

// Run performs one measurement. If ctx ends early, it returns the result so far and an error.
func Run(ctx context.Context, o Options) (Result, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return Result{}, err
	}
	t := newTally(o.planned(), o.Notifications == 0, o.URL == "")
	r := &run{Options: o, tally: t}
	sink, err := startSink(ctx, o, t.deliver)
	if err != nil {
		return Result{}, err
	}
	defer sink.stop()
	r.sink = sink
	if o.URL == "" {
		s, err := startStand(ctx, o, sink.addr)
		if err != nil {
			return Result{}, err
		}
		defer func() { s.stop(r.keepLogs()) }()
		r.stand = s
		o.URL, o.App, o.Key, o.Plan = s.url, s.app, s.key, s.plan
		r.Options = o
	}
	result, err := r.measure(ctx)
	r.failed = err != nil
	return result, err
}

// run is a measurement in progress.
type run struct {
	Options
	tally *tally
	sink  *sinkProcess
	stand *stand // nil with a running server

	shown   progress // last printed progress, used by watch
	before  reading  // at the first request
	usage   *Usage   // until everything had arrived, used by watch
	samples []Sample // one a minute, used by watch
	waiting bool     // reported that messages are in flight, used by watch
	failed  bool
}

// keepLogs reports whether the logs of the servers are needed to explain the result.
func (r *run) keepLogs() bool {
	p := r.tally.progress(time.Now())
	return r.failed || p.reached < p.posted
}

func (r *run) measure(ctx context.Context) (Result, error) {
	c, err := apiclient.New(apiclient.Config{URL: r.URL, App: r.App, Key: r.Key, HTTP: loadClient(r.Connections)})
	if err != nil {
		return Result{}, err
	}
	work, stopProfiles := context.WithCancel(ctx)
	defer stopProfiles()
	profiled := make(chan error, 1)
	if r.ProfileDir != "" {
		go func() { profiled <- r.stand.profile(work, r.ProfileDir) }()
	} else {
		profiled <- nil
	}
	if r.stand != nil {
		if r.before, err = r.stand.read(ctx, r.sink.child.Pid()); err != nil {
			return Result{}, err
		}
	}
	posting := make(chan struct{})
	alertStorm := &storm{tally: r.tally, post: alertGroups(c, r.App, r.Key, r.Plan)}
	go func() {
		defer close(posting)
		switch {
		case r.Storm > 0:
			alertStorm.run(ctx, r.Storm, r.Connections)
		case r.Rate > 0:
			steady(ctx, r.tally, incidents(c, r.Plan), r.Rate, r.planned(), r.Connections)
		case r.Burst > 0:
			burst(ctx, r.tally, incidents(c, r.Plan), r.Burst, r.Connections)
		default:
			burst(ctx, r.tally, notifications(c, "bench@bench.invalid"), r.Notifications, r.Connections)
		}
	}()
	killed, watchErr := r.watch(ctx, posting)
	<-posting
	stopProfiles()
	watchErr = errors.Join(watchErr, <-profiled)
	result := r.tally.result()
	result.Usage, result.Samples = r.usage, r.samples
	if r.Storm > 0 {
		result.Storm = alertStorm.result()
	}
	if killed != nil {
		n, err := r.stand.inDoubt(context.WithoutCancel(ctx))
		result.Killed, result.ReownedSeconds, result.InDoubt = &killed.n, &killed.reowned, &n
		watchErr = errors.Join(watchErr, err)
	}
	return result, errors.Join(watchErr, ctx.Err())
}

// kill is the result of killing processors.
type kill struct {
	n       int
	reowned float64
}

// settle is how long the run continues after everything has arrived and nothing is in flight, so that duplicates can
// arrive: a message in doubt is sent again when its claim ends.
const settle = 2 * time.Second

// watch prints the progress, kills processors if requested, and returns when everything has arrived or nothing arrives
// any more.
func (r *run) watch(ctx context.Context, posting <-chan struct{}) (*kill, error) {
	var done *kill
	var killing chan kill
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	shown, complete, asked := time.Now(), time.Time{}, time.Time{}
	sampled := shown
	for {
		select {
		case <-ctx.Done():
			return done, nil
		case <-r.sink.ended:
			return done, fmt.Errorf("the sink ended: %w", r.sink.err)
		case k := <-killing:
			done, killing = &k, nil
			fmt.Fprintf(r.Out, "killed %d processors; every bucket has a live owner again after %.2f s\n", k.n,
				k.reowned)
		case <-tick.C:
		}
		if r.stand != nil {
			if err := r.stand.ended(); err != nil {
				return done, err
			}
		}
		now := time.Now()
		p := r.tally.progress(now)
		if now.Sub(shown) >= time.Second {
			shown = now
			r.show(p)
		}
		if r.stand != nil && now.Sub(sampled) >= sampleEvery {
			sampled = now
			if err := r.sample(ctx, p); err != nil {
				return done, err
			}
		}
		if r.KillHalf && done == nil && killing == nil && p.reached >= r.planned()/3 {
			n, at, err := r.stand.killHalf(ctx)
			if err != nil {
				return nil, err
			}
			killing = make(chan kill, 1)
			go func(to chan<- kill) { to <- kill{n: n, reowned: r.stand.reowned(ctx, at)} }(killing)
		}
		if !closed(posting) || killing != nil || r.KillHalf && done == nil && p.quiet < r.Patience {
			continue
		}
		if p.reached == p.accepted {
			if now.Sub(asked) < settle/4 {
				continue
			}
			asked = now
			if complete.IsZero() {
				complete = now
				r.show(p)
				if err := r.readUsage(ctx); err != nil {
					return done, err
				}
			}
			if now.Sub(complete) >= settle && (p.quiet >= r.Patience || r.settled(ctx)) {
				return done, nil
			}
		} else if p.quiet >= r.Patience {
			return done, nil
		}
	}
}

// readUsage stores what the bench's own servers used so far.
func (r *run) readUsage(ctx context.Context) error {
	if r.stand == nil {
		return nil
	}
	now, err := r.stand.read(ctx, r.sink.child.Pid())
	if err == nil {
		r.usage = now.since(r.before)
	}
	return err
}

// settled reports whether no message is in flight, as far as the bench can know.
func (r *run) settled(ctx context.Context) bool {
	if r.stand == nil {
		return true
	}
	n, err := r.stand.unsettled(ctx)
	if err == nil && n > 0 && !r.waiting {
		r.waiting = true
		fmt.Fprintf(r.Out, "everything has arrived; waiting for %d messages that may be sent again\n", n)
	}
	return err == nil && n == 0
}

// show prints the progress if it has changed.
func (r *run) show(p progress) {
	p.quiet = 0
	if p == r.shown {
		return
	}
	r.shown = p
	planned := fmt.Sprintf(" of %d", r.planned())
	if r.Storm > 0 {
		planned = "" // it posts new groups as long as the known ones
	}
	fmt.Fprintf(r.Out, "posted %d%s, accepted %d, delivered %d\n", p.posted, planned, p.accepted, p.reached)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
