package processor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/database"
	programhealth "github.com/iris-oncall/iris/internal/program/health"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/program/vendoraccounts"
	"github.com/iris-oncall/iris/internal/users/pg"
)

const (
	processorAdminAddr = "127.0.0.1:16650"
	gossipAddr         = ":7946"
	// dataShape is the highest version of stored data that this release reads and writes.
	dataShape = 1
)

// Processor is message-processor.
type Processor struct {
	cfg     config.Processor
	log     *zap.Logger
	reg     *prometheus.Registry
	health  *programhealth.Probes
	admin   net.Listener // nil = none
	vendors []messages.Vendor
	db      *postgres.DB
	// cluster is a small separate pool, so that heartbeats never wait for a connection.
	cluster *postgres.DB
}

// New checks what can be checked without the database. The caller must call Run.
func New(cfg config.Processor, deps server.Deps) (*Processor, error) {
	p := &Processor{cfg: cfg, log: deps.Log, reg: deps.Registry}
	if p.reg == nil {
		p.reg = server.NewRegistry(server.Version())
	}
	p.health = programhealth.New(p.log, p.reg)
	var err error
	ctx := context.Background() // pools live as long as the process; Open does not connect
	if p.db, err = database.Open(ctx, cfg.Common, "message-processor", 0, server.PoolMetrics(p.reg, "main"), p.log); err != nil {
		return nil, err
	}
	oneClick, err := server.NewOneClick(cfg.Common)
	if err != nil {
		return nil, err
	}
	if p.vendors, err = vendoraccounts.New(cfg, pg.NewDevices(p.db), server.OneClickButton(oneClick), p.log); err != nil {
		return nil, err
	}
	p.reg.MustRegister(programhealth.Accounts(p.vendors))
	if p.cluster, err = database.Open(ctx, cfg.Common, "message-processor cluster", 3, server.PoolMetrics(p.reg, "cluster"), p.log); err != nil {
		return nil, err
	}
	if p.admin, err = server.ListenAdmin(cfg.Admin.Addr, processorAdminAddr, p.log); err != nil {
		return nil, err
	}
	return p, nil
}

// AdminAddr returns the address of the admin listener, "" without one.
func (p *Processor) AdminAddr() string {
	if p.admin == nil {
		return ""
	}
	return p.admin.Addr().String()
}

// Run works until ctx ends, then stops in order within the configured time. It returns an error only if a retry cannot
// help.
func (p *Processor) Run(ctx context.Context) error {
	defer p.db.Close()
	defer p.cluster.Close()
	outer, closeAdmin := context.WithCancel(context.WithoutCancel(ctx))
	defer closeAdmin()
	var admin errgroup.Group
	if p.admin != nil {
		p.log.Info("admin listener", zap.String("address", p.AdminAddr()))
		admin.Go(func() error {
			return server.Serve(outer, p.admin, server.AdminRoutes(p.health, nil, p.reg), time.Second, p.log)
		})
	}
	admin.Go(func() error { p.health.Watch(outer); return nil })

	err := p.run(ctx)
	closeAdmin()
	return errors.Join(err, admin.Wait())
}

func (p *Processor) run(ctx context.Context) error {
	installation, err := server.AwaitDatabase(ctx, p.db, p.cfg.Common, p.health, p.log)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	parts, err := p.build(ctx, installation)
	if err != nil {
		return err
	}
	p.health.Set(append(programhealth.NewOverdue(pgescalation.NewRunner(p.db), p.reg, p.log).Checks(),
		programhealth.DatabaseCheck(p.db), parts.clock, programhealth.VendorCheck(p.vendors),
		programhealth.ModesCheck(parts.holder, parts.holder.ProcessID(), p.reg),
		programhealth.Check{Name: "cluster", Ask: func(context.Context) error { return parts.holder.Ready() }})...)
	return p.work(ctx, parts)
}

// work runs the parts until ctx ends or a part fails. It stops them in this order: take no new work and release the
// buckets, finish and record running calls, leave the cluster, then the rest.
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
				p.log.Error("a part of the process failed: stopping", zap.Error(err))
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
	for name, job := range parts.jobs {
		run(&loops, loopCtx, name, job)
	}

	select {
	case <-ctx.Done():
	case <-failed:
	}
	p.health.NotReady(programhealth.Stopping, errors.New("the process is stopping"))
	p.log.Info("stopping")
	deadline, cancel := context.WithTimeout(base, p.cfg.ShutdownTimeout)
	defer cancel()
	parts.holder.Retire(deadline)
	stopLoops()
	err := loops.Wait()
	if drainErr := parts.holder.Drain(deadline); drainErr != nil {
		p.log.Warn("buckets could not be released: other processors take them over in a few seconds",
			zap.Error(drainErr))
	}
	stopHosts()
	err = errors.Join(err, hosts.Wait())
	p.log.Info("stopped")
	return err
}
