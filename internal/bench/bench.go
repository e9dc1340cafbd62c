// Package bench measures Iris from outside: it posts incidents or notifications over HTTP, receives the mails with its own mail
// server in a separate process, and compares the two lists.
//
// It loads a running server, or an installation that it starts itself from its own binary: PostgreSQL unless one is
// configured, one iris-api, any number of processors. `iris bench` calls it.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/apiclient"
)

// Options say what to do. Exactly one of Burst, Rate and Notifications must be given.
type Options struct {
	Burst         int           // post so many incidents as fast as possible
	Rate          float64       // post incidents at this rate per second
	For           time.Duration // for so long; with Rate
	Notifications int           // post so many out-of-band notifications as fast as possible

	// A running server; its SMTP vendor must point to Sink.
	URL  string
	App  string
	Key  string
	Plan string // of App; for incidents

	// An installation of our own, when URL is empty.
	Processors  int     // default 1
	KillHalf    bool    // kill half of the processors with SIGKILL in the middle
	DatabaseURL string  // "" = a temporary PostgreSQL
	Fill        float64 // fill the database with this share of the full size before the load, see Fill
	Program     string  // our own binary; "" = this executable
	ConfigFile  string  // for the servers
	Environ     []string
	ProfileDir  string // "" = no profiles

	Sink        string        // address of the sink; "" = a free port of 127.0.0.1
	Connections int           // of the load generator; default 64
	Patience    time.Duration // without any delivery after which the rest counts as lost; default 60 s
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
	for _, given := range []bool{o.Burst != 0, o.Rate != 0, o.Notifications != 0} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return errors.New("give exactly one of --burst, --rate and --notifications")
	case o.Burst < 0 || o.Rate < 0 || o.Notifications < 0 || o.For < 0 || o.Processors < 1 || o.Connections < 1 || o.planned() < 1:
		return errors.New("numbers must be more than 0")
	case o.URL == "" && (o.App != "" || o.Key != "" || o.Plan != ""):
		return errors.New("--app, --key and --plan belong to a running server: give its --url")
	case o.URL != "" && (o.App == "" || o.Key == ""):
		return errors.New("--url needs --app and --key")
	case o.URL != "" && o.Plan == "" && o.Notifications == 0:
		return errors.New("--url needs --plan, a plan whose first step mails to somebody")
	case o.URL != "" && strings.HasSuffix(o.Sink, ":0"):
		return errors.New("--url needs --sink HOST:PORT, the address that the server's IRIS_SMTP_ADDR names")
	case o.URL != "" && (o.KillHalf || o.ProfileDir != ""):
		return errors.New("--kill and --profile need processors of the bench's own: leave out --url")
	case o.URL != "" && o.Fill != 0 || o.Fill < 0:
		return errors.New("--fill fills a database of the bench's own: give a number above 0 and leave out --url")
	case o.KillHalf && o.Processors < 2:
		return errors.New("--kill half needs --processors 2 or more")
	}
	return nil
}

// planned is how many units will be posted.
func (o Options) planned() int {
	if o.Rate > 0 {
		return int(math.Round(o.Rate * o.For.Seconds()))
	}
	return o.Burst + o.Notifications
}

// Run does one measurement. When ctx ends early it returns the figures so far together with an error.
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
		defer func() { s.stop(r.worthALook()) }()
		r.stand = s
		o.URL, o.App, o.Key, o.Plan = s.url, s.app, s.key, s.plan
		r.Options = o
	}
	result, err := r.measure(ctx)
	r.failed = err != nil
	return result, err
}

// run is one measurement under way.
type run struct {
	Options
	tally *tally
	sink  *sinkProcess
	stand *stand // nil with a running server

	shown   progress // last line of progress, by watch
	waiting bool     // said that messages are still under way, by watch
	failed  bool
}

// worthALook reports whether somebody may want to read the servers' logs.
func (r *run) worthALook() bool {
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
	posting := make(chan struct{})
	go func() {
		defer close(posting)
		switch {
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
	if killed != nil {
		n, err := r.stand.inDoubt(context.WithoutCancel(ctx))
		result.Killed, result.ReownedSeconds, result.InDoubt = &killed.n, &killed.reowned, &n
		watchErr = errors.Join(watchErr, err)
	}
	return result, errors.Join(watchErr, ctx.Err())
}

// kill is a killing of processors and what followed.
type kill struct {
	n       int
	reowned float64
}

// settle is how long the run goes on after everything has arrived and, in our own installation, nothing is under way any
// more, so that duplicates can show themselves: a mail that was in doubt is sent again when its sender's claim has ended.
const settle = 2 * time.Second

// watch shows progress, kills when asked to, and returns when everything has arrived or nothing does any more.
func (r *run) watch(ctx context.Context, posting <-chan struct{}) (*kill, error) {
	var done *kill
	var killing chan kill
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	shown, complete, asked := time.Now(), time.Time{}, time.Time{}
	for {
		select {
		case <-ctx.Done():
			return done, nil
		case <-r.sink.ended:
			return done, fmt.Errorf("the sink ended: %w", r.sink.err)
		case k := <-killing:
			done, killing = &k, nil
			fmt.Fprintf(r.Out, "killed %d processors; every bucket has a living owner again after %.2f s\n", k.n, k.reowned)
		case <-tick.C:
		}
		if r.stand != nil {
			if err := r.stand.fallen(); err != nil {
				return done, err
			}
		}
		now := time.Now()
		p := r.tally.progress(now)
		if now.Sub(shown) >= time.Second {
			shown = now
			r.show(p)
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
			}
			if now.Sub(complete) >= settle && (p.quiet >= r.Patience || r.settled(ctx)) {
				return done, nil
			}
		} else if p.quiet >= r.Patience {
			return done, nil
		}
	}
}

// settled reports whether nothing is under way any more, as far as that can be known.
func (r *run) settled(ctx context.Context) bool {
	if r.stand == nil {
		return true
	}
	n, err := r.stand.unsettled(ctx)
	if err == nil && n > 0 && !r.waiting {
		r.waiting = true
		fmt.Fprintf(r.Out, "everything has arrived; %d messages may be sent again, waiting for them\n", n)
	}
	return err == nil && n == 0
}

// show prints a line of progress if anything has changed since the last one.
func (r *run) show(p progress) {
	p.quiet = 0
	if p == r.shown {
		return
	}
	r.shown = p
	fmt.Fprintf(r.Out, "posted %d of %d, accepted %d, delivered %d\n", p.posted, r.planned(), p.accepted, p.reached)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
