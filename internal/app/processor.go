package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/postgres"
)

const (
	processorAdminAddr = "127.0.0.1:16650"
	gossipAddr         = ":7946"
	// dataShape is the highest shape of data that this release reads and writes.
	dataShape = 1
)

// Processor is message-processor.
type Processor struct {
	cfg     config.Processor
	log     *zap.Logger
	reg     *prometheus.Registry
	health  *health
	admin   net.Listener // nil = none
	vendors []messages.Vendor
	db      *postgres.DB
	// cluster is a small pool of its own, so that heartbeats never wait behind busy workers.
	cluster *postgres.DB
}

// NewProcessor checks what can be checked without the database. Run must be called afterwards.
func NewProcessor(cfg config.Processor, deps Deps) (*Processor, error) {
	p := &Processor{cfg: cfg, log: deps.Log, reg: deps.Registry}
	if p.reg == nil {
		p.reg = NewRegistry(Version())
	}
	p.health = newHealth(p.log, p.reg)
	var err error
	ctx := context.Background() // pools live as long as the process; opening them connects to nothing
	if p.db, err = openDatabase(ctx, cfg.Common, "message-processor", 0, pool(p.reg, "main"), p.log); err != nil {
		return nil, err
	}
	if p.vendors, err = newVendors(cfg, postgres.NewDevices(p.db), p.log); err != nil {
		return nil, err
	}
	if p.cluster, err = openDatabase(ctx, cfg.Common, "message-processor cluster", 3, pool(p.reg, "cluster"), p.log); err != nil {
		return nil, err
	}
	if p.admin, err = listenAdmin(cfg.Admin.Addr, processorAdminAddr, p.log); err != nil {
		return nil, err
	}
	return p, nil
}

func pool(reg prometheus.Registerer, name string) prometheus.Registerer {
	return prometheus.WrapRegistererWith(prometheus.Labels{"pool": name}, reg)
}

// AdminAddr is where the admin listener can be reached, "" without one.
func (p *Processor) AdminAddr() string {
	if p.admin == nil {
		return ""
	}
	return p.admin.Addr().String()
}

// Run works until ctx ends, then stops in order within the configured time. It returns nil unless something failed that
// trying again cannot help.
func (p *Processor) Run(ctx context.Context) error {
	defer p.db.Close()
	defer p.cluster.Close()
	outer, closeAdmin := context.WithCancel(context.WithoutCancel(ctx))
	defer closeAdmin()
	var admin errgroup.Group
	if p.admin != nil {
		p.log.Info("admin listener", zap.String("address", p.AdminAddr()))
		admin.Go(func() error { return serve(outer, p.admin, adminRoutes(p.health, p.reg), time.Second, p.log) })
	}
	admin.Go(func() error { p.health.watch(outer); return nil })

	err := p.run(ctx)
	closeAdmin()
	return errors.Join(err, admin.Wait())
}

func (p *Processor) run(ctx context.Context) error {
	installation, err := awaitDatabase(ctx, p.db, p.cfg.Common, p.health, p.log)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	parts, err := p.build(installation)
	if err != nil {
		return err
	}
	p.health.set(append(newWatch(postgres.NewRunner(p.db), p.reg, p.log).checks(), databaseCheck(p.db),
		check{"cluster", func(context.Context) error { return parts.holder.Ready() }})...)
	return p.work(ctx, parts)
}

// processorParts is what runs.
type processorParts struct {
	holder   *buckets.Holder
	gossip   *buckets.Gossip // nil = none
	runner   *escalation.Runner
	worker   *delivery.Worker
	listener *postgres.Listener
	history  *delivery.Historian
	receipts func(context.Context) error
	populate *populator
	remind   *reminder
	people   *directorySync
}

// build puts the parts together. It is long because it is the drawing of the whole: every arrow between two parts is one
// line here.
func (p *Processor) build(in postgres.Installation) (*processorParts, error) {
	parts := &processorParts{}
	id := buckets.NewProcessID()
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	log := p.log.With(zap.String("member", id))
	// Hints reach the loops through these, because the parts are built one after the other.
	wake := func(bs buckets.Set) {
		parts.runner.Wake(bs)
		parts.worker.Wake(bs)
	}

	var ear buckets.Ear
	var hints delivery.Hints
	if p.cfg.Gossip.Addr != "off" {
		gc, err := p.gossipConfig(in)
		if err != nil {
			return nil, err
		}
		parts.gossip, err = buckets.NewGossip(id, gc, buckets.GossipHooks{
			Changed: func() { parts.holder.Hint() },
			Wake:    wake,
			Demand:  func(node string, hint []byte) { parts.worker.Hear(node, hint) },
			Peers:   func() []string { return parts.holder.Peers() },
		}, log)
		if err != nil {
			return nil, err
		}
		ear, hints = parts.gossip, parts.gossip
	}

	parts.holder, err = buckets.NewHolder(buckets.Deps{
		Store: postgres.NewCluster(p.cluster),
		Self:  buckets.Member{ProcessID: id, Host: host, Version: Version(), DataShape: dataShape},
		Ear:   ear, Gained: wake, Log: log, Metrics: p.reg,
	}, buckets.Config{})
	if err != nil {
		return nil, err
	}

	directory := postgres.NewDirectory(p.db)
	resolver := oncall.NewResolver(oncall.LimitLists(directory, p.cfg.MailingLists.MaxMembers),
		oncall.NewLiveCalendar(postgres.NewOncallCalendars(p.db), oncall.LiveConfig{}), oncall.DefaultKeep)
	if p.cfg.Compatibility.DummyRoles {
		resolver = resolver.Dummy(postgres.NewUsers(p.db).ByName)
	}
	parts.runner, err = escalation.New(escalation.Deps{
		Store: postgres.NewRunner(p.db).WithQuota(standardQuota(p.cfg.DefaultQuota)), Directory: directory,
		Resolver: resolver,
		Holder:   parts.holder,
		Waker:    func(bs buckets.Set) { parts.worker.Wake(bs) },
		Log:      log, Registerer: p.reg,
	}, escalation.Config{})
	if err != nil {
		return nil, err
	}

	queue := postgres.NewQueue(p.db)
	dc := deliveryConfig(p.cfg)
	dc.StopWithin = p.cfg.ShutdownTimeout / 3 // twice at most, see Worker.Run
	parts.worker, err = delivery.New(delivery.Deps{
		Queue: queue, Ledger: queue, Rescuer: queue, Limits: postgres.NewLimits(p.db), Leases: parts.holder,
		Renderer: messages.NewRenderer(postgres.NewWords(p.db)), Directory: postgres.NewReach(p.db),
		Links:   &links{public: p.cfg.PublicURL, sign: in.Keys.Links()},
		Vendors: p.vendors, Hints: hints, Log: log, Metrics: p.reg,
	}, dc)
	if err != nil {
		return nil, err
	}
	parts.holder.Watch("escalation", parts.runner.LastPass)
	parts.holder.Watch("delivery", parts.worker.LastPass)
	parts.listener = postgres.NewListener(p.db, wake).OnMembers(parts.holder.Hint)
	parts.history, err = delivery.NewHistorian(postgres.NewHistory(p.db), parts.holder,
		delivery.HistorianConfig{Retention: p.cfg.History.Retention}, log)
	if err != nil {
		return nil, err
	}
	oncallTeams := postgres.NewOncallTeams(p.db, nil)
	parts.populate = newPopulator(populateStores{
		schedules: postgres.NewOncallSchedules(p.db), calendars: postgres.NewOncallCalendars(p.db), coverage: postgres.NewOncallCoverage(p.db), teams: oncallTeams,
		people: postgres.NewOncallPeople(p.db), applications: postgres.NewApplications(p.db, in.Keys),
		warnings: postgres.NewOncallWarnings(postgres.NewNotifications(p.db)),
	}, parts.holder, wake, p.cfg.Oncall.PopulateEvery, p.cfg.Oncall.WarnAhead, log, p.reg)
	parts.remind = newReminder(openReminders(postgres.NewApplications(p.db, in.Keys), postgres.NewNotifications(p.db).WithQuota(standardQuota(p.cfg.DefaultQuota)), p.cfg.PublicURL),
		parts.holder, wake, phoneCheck(p.cfg.Oncall), log, p.reg)
	syncer, err := newSyncer(p.cfg.Sync, p.cfg.LDAP, p.cfg.Slack)
	if err != nil {
		return nil, err
	}
	parts.people = newDirectorySync(syncer, p.cfg.Sync, postgres.NewDirectorySync(p.db, syncActor), parts.holder, log, p.reg)
	parts.receipts = matchReceipts(postgres.NewReceipts(p.db), parts.holder, wake, log)
	log.Info("built", zap.Int("vendors", len(p.vendors)), zap.String("cluster", in.Name))
	return parts, nil
}

// work runs the parts until ctx ends or one fails, and stops them in this order: take nothing new and give the buckets
// away, finish what is being sent and record it, leave the cluster, then everything else.
func (p *Processor) work(ctx context.Context, parts *processorParts) error {
	base := context.WithoutCancel(ctx)
	loopCtx, stopLoops := context.WithCancel(base)
	defer stopLoops()
	hostCtx, stopHosts := context.WithCancel(base)
	defer stopHosts()
	failed := make(chan struct{})
	var loops, hosts errgroup.Group
	run := func(g *errgroup.Group, ctx context.Context, name string, f func(context.Context) error) {
		g.Go(func() error {
			err := f(ctx)
			if err != nil {
				err = fmt.Errorf("%s: %w", name, err)
				p.log.Error("a part of the process failed, stopping", zap.Error(err))
				select {
				case failed <- struct{}{}:
				case <-ctx.Done():
				}
			}
			return err
		})
	}
	run(&hosts, hostCtx, "buckets", parts.holder.Run)
	run(&hosts, hostCtx, "listener", parts.listener.Run)
	if parts.gossip != nil {
		run(&hosts, hostCtx, "gossip", parts.gossip.Run)
	}
	run(&loops, loopCtx, "escalation", parts.runner.Run)
	run(&loops, loopCtx, "delivery", parts.worker.Run)
	run(&loops, loopCtx, "history", parts.history.Run)
	run(&loops, loopCtx, "receipts", parts.receipts)
	run(&loops, loopCtx, "populate", parts.populate.run)
	run(&loops, loopCtx, "remind", parts.remind.run)
	run(&loops, loopCtx, "directory", parts.people.run)

	select {
	case <-ctx.Done():
	case <-failed:
	}
	p.health.waiting(checkStop, errors.New("the process is stopping"))
	p.log.Info("stopping")
	deadline, cancel := context.WithTimeout(base, p.cfg.ShutdownTimeout)
	defer cancel()
	parts.holder.Retire(deadline)
	stopLoops()
	err := loops.Wait()
	if drainErr := parts.holder.Drain(deadline); drainErr != nil {
		p.log.Warn("could not say goodbye, the others take over in a moment", zap.Error(drainErr))
	}
	stopHosts()
	err = errors.Join(err, hosts.Wait())
	p.log.Info("stopped")
	return err
}

func (p *Processor) gossipConfig(in postgres.Installation) (buckets.GossipConfig, error) {
	c := buckets.GossipConfig{Bind: p.cfg.Gossip.Addr, Advertise: p.cfg.Gossip.Advertise, Cluster: in.Name}
	if c.Bind == "" {
		c.Bind = gossipAddr
		if !canBind(c.Bind) {
			p.log.Warn("gossip port taken, using a free one; set gossip.addr (IRIS_GOSSIP_ADDR)", zap.String("wanted", c.Bind))
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
	// The derived key is always understood: without that no rotation could begin or end with it, and whoever knows the
	// secret that it comes from can do worse. It is the one that is used, the first, unless another one is configured.
	at := len(c.Keys)
	if p.cfg.Gossip.Key == "" {
		at = 0
	}
	c.Keys = slices.Insert(c.Keys, at, in.Keys.Gossip())
	return c, nil
}

// canBind reports whether both kinds of socket can be opened there at the moment.
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

// links makes the addresses that stand in messages.
type links struct {
	public string
	sign   *auth.Links
}
