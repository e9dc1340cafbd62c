package processor

import (
	"context"
	"maps"
	"net"
	"os"
	"slices"
	"time"

	"go.uber.org/zap"

	pgauth "github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/messages"
	pgnotifications "github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/health"
	programjobs "github.com/iris-oncall/iris/internal/program/jobs"
	"github.com/iris-oncall/iris/internal/program/server"
)

// processorParts are the parts that run. They are built one after the other. A part that needs a later one gets wake or
// a closure over a field: all fields are set before the parts run.
type processorParts struct {
	holder *buckets.Holder
	gossip *buckets.Gossip // nil = none
	runner *runner.Runner
	worker *delivery.Worker
	// hideSilenced hides and releases the incidents of silences until its context ends.
	hideSilenced func(context.Context) error
	listener     *postgres.Listener
	clock        health.Check
	jobs         map[string]func(context.Context) error // by name
}

func (p *processorParts) wake(bs buckets.Set) {
	p.runner.Wake(bs)
	p.worker.Wake(bs)
}

// wakeAfter is wake for changes that are committed.
func (p *processorParts) wakeAfter(_ context.Context, bs buckets.Set) { p.wake(bs) }

// build creates the parts. Each dependency between two parts is one line here or in the functions that build calls.
func (p *Processor) build(ctx context.Context, in pgauth.Installation) (*processorParts, error) {
	parts := &processorParts{}
	id := buckets.NewProcessID()
	log := p.log.With(zap.String("member", id))
	stores := server.NewStores(p.db, in.Keys, p.cfg.Common, p.cfg.Oncall)
	measure, check := stores.MeasureClock(ctx, p.reg, log)
	parts.clock = check
	if err := p.buildMembership(parts, in, id, stores.Clock.Skew, log); err != nil {
		return nil, err
	}
	if err := p.buildLoops(parts, stores, log); err != nil {
		return nil, err
	}
	if err := p.buildJobs(parts, stores, log); err != nil {
		return nil, err
	}
	parts.jobs["clock"] = measure
	log.Info("built", zap.Int("vendors", len(p.vendors)), zap.String("cluster", in.Name))
	return parts, nil
}

// buildMembership creates the parts that decide which buckets this process owns.
func (p *Processor) buildMembership(parts *processorParts, in pgauth.Installation, id string, skew func() (time.Duration, bool), log *zap.Logger) error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	var detector buckets.Detector
	if p.cfg.Gossip.Addr != "off" {
		gc, err := p.gossipConfig(in)
		if err != nil {
			return err
		}
		parts.gossip, err = buckets.NewGossip(id, gc, buckets.GossipHooks{
			Changed: func() { parts.holder.Hint() },
			Wake:    parts.wake,
			Demand:  func(node string, hint []byte) { parts.worker.UpdatePeer(node, hint) },
			Peers:   func() []string { return parts.holder.Peers() },
		}, log)
		if err != nil {
			return err
		}
		detector = parts.gossip
	}
	cluster := pgbuckets.NewCluster(p.cluster)
	parts.holder, err = buckets.NewHolder(buckets.Deps{
		Store: cluster, Ended: cluster,
		Self: buckets.Member{ProcessID: id, Host: host, Version: server.Version(), DataShape: dataShape,
			Modes: modesOf(p.vendors)},
		Detector: detector, Skew: skew, Gained: parts.wake, Log: log, Metrics: p.reg,
	}, buckets.Config{})
	if err != nil {
		return err
	}
	parts.listener = pgbuckets.NewListener(p.db,
		pgbuckets.WakeupHandlers{Escalation: func(bs buckets.Set) { parts.runner.Wake(bs) },
			Delivery: func(bs buckets.Set) { parts.worker.Wake(bs) }, Members: parts.holder.Hint})
	return nil
}

// buildLoops creates the parts that escalate and send.
func (p *Processor) buildLoops(parts *processorParts, s *server.Stores, log *zap.Logger) (err error) {
	keeper := s.SilenceKeeper(parts.holder, parts.wakeAfter, log)
	parts.hideSilenced = keeper.Run
	parts.runner, err = runner.New(runner.Deps{
		Store: s.Runner, Reader: s.Directory,
		Resolver: s.Resolver(p.cfg.MailingLists.MaxMembers, p.cfg.Compatibility.DummyRoles),
		Holder:   parts.holder, Clock: s.Clock,
		Waker:    func(bs buckets.Set) { parts.worker.Wake(bs) },
		NoteNew:  func(made []runner.NewMessage) { parts.worker.NoteNew(lanes(made)) },
		Silences: keeper,
		Log:      log, Registerer: p.reg,
	}, runner.Config{})
	if err != nil {
		return err
	}
	dc := deliveryConfig(p.cfg)
	dc.StopWithin = p.cfg.ShutdownTimeout / 3 // the worker may use it twice, see Worker.Run
	var hints delivery.Hints
	if parts.gossip != nil {
		hints = parts.gossip
	}
	parts.worker, err = delivery.New(delivery.Deps{
		Queue: s.Queue, Ledger: s.Queue, Rescuer: s.Queue, Limits: s.QueueLimits, Leases: parts.holder,
		Renderer: messages.NewRenderer(s.QueueLoader), Directory: s.Reach, Served: s.Served,
		Links: &links{public: p.cfg.PublicURL, sign: s.Keys.Links()}, Reveal: s.Keys.RevealTo,
		Vendors: p.vendors, Hints: hints, Log: log, Metrics: p.reg,
	}, dc)
	if err != nil {
		return err
	}
	parts.holder.Watch("escalation", parts.runner.LastPass)
	parts.holder.Watch("delivery", parts.worker.LastPass)
	return nil
}

// lanes returns the lanes of messages that were made.
func lanes(made []runner.NewMessage) []rate.Waiting {
	out := make([]rate.Waiting, len(made))
	for i, m := range made {
		out[i] = rate.Waiting{Lane: rate.Lane{Mode: m.Mode, Class: m.Class, Application: m.ApplicationID},
			ApplicationName: m.Application, Bucket: m.Bucket}
	}
	return out
}

// buildJobs creates the periodic jobs: history, receipts, calendars, reminders, directory.
func (p *Processor) buildJobs(parts *processorParts, s *server.Stores, log *zap.Logger) error {
	old, err := delivery.NewHistorian(s.QueueHistory, parts.holder,
		delivery.HistorianConfig{Retention: p.cfg.History.Retention}, log)
	if err != nil {
		return err
	}
	engine := programjobs.Engine{Leases: parts.holder, Clock: s.Clock, Wake: parts.wake, Log: log, Registerer: p.reg}
	populate := programjobs.NewPopulator(programjobs.PopulateStores{
		Schedules: s.Schedules, Calendars: s.Calendars, Coverage: s.Coverage, Teams: s.Teams, People: s.People, Applications: s.Applications,
		Warnings: pgnotifications.NewWarnings(s.Notifications),
	}, p.cfg.Oncall.PopulateEvery, p.cfg.Oncall.WarnAhead, engine)
	remind := programjobs.NewReminder(programjobs.OpenReminders(s.Applications, s.Notifications, p.cfg.PublicURL), pgnotifications.PhoneCheck{
		Every: p.cfg.Oncall.PhoneCheckEvery, Subject: p.cfg.Oncall.PhoneCheckSubject, Body: p.cfg.Oncall.PhoneCheckBody,
	}, engine)
	others, err := Jobs(p.cfg, s, engine, log)
	if err != nil {
		return err
	}
	heartbeats, err := p.heartbeats(parts, s, log)
	if err != nil {
		return err
	}
	parts.jobs = map[string]func(context.Context) error{
		"history": old.Run, "receipts": programjobs.MatchReceipts(s.Receipts,
			engine), "names": programjobs.FillNames(s.Users, engine),
		"feed keys": programjobs.SealFeedKeys(s.Notices, log), "populate": populate.Run, "remind": remind.Run,
		"statistics": programjobs.CountStatistics(s.Statistics,
			engine), "heartbeats": heartbeats.Run, "silences": parts.hideSilenced,
		"end": programjobs.EndIncidents(s.DB, p.cfg.CloseAfter, engine),
	}
	maps.Copy(parts.jobs, others)
	return nil
}

func (p *Processor) gossipConfig(in pgauth.Installation) (buckets.GossipConfig, error) {
	c := buckets.GossipConfig{Bind: p.cfg.Gossip.Addr, Advertise: p.cfg.Gossip.Advertise, Cluster: in.Name}
	if c.Bind == "" {
		c.Bind = gossipAddr
		if !canBind(c.Bind) {
			p.log.Warn("default gossip port is in use, using a free one; set gossip.addr (IRIS_GOSSIP_ADDR)",
				zap.String("wanted", c.Bind))
			c.Bind = ":0"
		}
	}
	configured := p.cfg.Gossip.AcceptKeys
	if p.cfg.Gossip.Key != "" {
		configured = append([]config.Secret{p.cfg.Gossip.Key}, configured...)
	}
	for _, k := range configured {
		key, err := config.DecodeKey(k)
		if err != nil {
			return c, err
		}
		c.Keys = append(c.Keys, key)
	}
	// The key derived from the installation's secret is always accepted, so that a rotation can begin and end with it.
	// The first key encrypts: the configured one, or else the derived one.
	at := len(c.Keys)
	if p.cfg.Gossip.Key == "" {
		at = 0
	}
	c.Keys = slices.Insert(c.Keys, at, in.Keys.Gossip())
	return c, nil
}

// canBind reports whether a TCP and a UDP socket can be opened on addr now.
func canBind(addr string) bool {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return false
	}
	defer l.Close()
	u, err := net.ListenPacket("udp", addr)
	if err != nil {
		return false
	}
	u.Close()
	return true
}

// modesOf returns the modes of vendors, each once.
func modesOf(vendors []messages.Vendor) []string {
	var out []string
	for _, v := range vendors {
		for _, m := range v.Modes() {
			if !slices.Contains(out, string(m)) {
				out = append(out, string(m))
			}
		}
	}
	slices.Sort(out)
	return out
}
