package pg_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"golang.org/x/sync/errgroup"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Two runners own all buckets, one of them with a stale lease. People acknowledge and reopen, and a delivery records
// sent messages, all at the same time and on the database's clock. At the end every incident must have its correct
// state, and every message must exist once.
func TestRunnerAmongAcknowledgementsReopeningsAndDelivery(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("busy",
		pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "urgent", Repeat: 1},
		pgtest.Intent{Step: 1, Role: "team", Target: "db", Priority: "high"},
		pgtest.Intent{Step: 2, Role: "user", Target: "bo", Priority: "urgent", Wait: time.Second})
	const count = 120
	var ids []incidents.ID
	for range count {
		ids = append(ids, incidents.ID(e.ID(`insert into incidents (plan_id, application_id, due_at) values ($1, $2, clock_timestamp()) returning id`, plan, e.App)))
	}
	core, logs := observer.New(zap.ErrorLevel)
	run := func(h *pgtest.Holding) *runner.Runner {
		dir := pg.NewDirectory(e.DB)
		store := pg.NewRunner(e.DB)
		r, err := runner.New(runner.Deps{
			Store: store, Reader: dir, Resolver: oncall.NewResolver(dir, nil, time.Second), Holder: h,
			Waker: e.Wake, Log: zap.New(core),
		}, runner.Config{Batch: 20})
		require.NoError(t, err)
		return r
	}
	stale := run(e.Own("stale"))
	owner := run(e.Own("owner"))
	ctx, stop := context.WithCancel(t.Context())
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() error { return stale.Run(gctx) })
	group.Go(func() error { return owner.Run(gctx) })
	group.Go(func() error { return deliver(gctx, e) })

	answers := pgincidents.New(e.DB)
	ana := users.User{ID: users.ID(e.People["ana"]), Name: "ana"}
	for range 150 {
		id := ids[rand.IntN(count/2)] // the other half is not changed
		_, err := answers.Acknowledge(ctx, incidents.Change{IDs: []incidents.ID{id}, Actor: "ana",
			Via: incidents.ViaAPI}, ana)
		require.NoError(t, err)
		if rand.IntN(2) == 0 {
			_, err = answers.Reopen(ctx, incidents.Change{IDs: []incidents.ID{id}, Actor: "ana", Via: incidents.ViaAPI})
			require.NoError(t, err)
		}
		owner.Wake(buckets.Of(int(id & 255)))
	}
	require.Eventually(t, func() bool {
		return e.ID(`select count(*) from incidents where active or due_at is not null`) == 0
	}, 30*time.Second, 50*time.Millisecond)
	stop()
	require.NoError(t, group.Wait())
	require.Empty(t, logs.All(), "nothing failed")

	require.Zero(t, e.ID(`select count(*) from messages where state in ('pending', 'taken', 'sending')`))
	require.Zero(t, e.ID(`select count(*) from (select from messages where state = 'sent'
		group by incident_id, step, repeat, position, recipient, purpose having count(*) > 1) twice`), "what left is not made again")
	// For incidents that nobody changed, every page of the plan was sent once and in order, and the plan is exhausted.
	for _, id := range ids[count/2:] {
		require.Equal(t, []string{
			"1.0.0 primary ana call sent", "1.0.1 primary ana call sent",
			"1.1.0 primary ana sms sent", "1.1.0 primary bo sms sent", "1.1.0 primary cy sms sent",
			"2.0.0 primary bo call sent",
		}, e.Pages(int64(id)))
		require.Len(t, e.Timeline(int64(id)), 4)
	}
	require.Zero(t, e.ID(`select count(*) from messages a join messages b on b.incident_id = a.incident_id and b.step > a.step
		and b.reopen_count = a.reopen_count where a.settled_at > b.created_at and a.state = 'sent'`), "no step began before the one before it had left")
}

// deliver records messages as sent, as delivery does: it locks the incidents first and makes them due earlier.
func deliver(ctx context.Context, e *pgtest.Escalating) error {
	for ctx.Err() == nil {
		err := pgx.BeginFunc(ctx, e.DB.Pool(), func(tx pgx.Tx) error {
			rows, err := tx.Query(ctx, `select i.id from incidents i where i.active and exists (
				select from messages m where m.incident_id = i.id and m.state = 'pending') order by i.id limit 15 for no key update skip locked`)
			if err != nil {
				return err
			}
			ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `with sent as (
					update messages set state = 'sent', settled_at = clock_timestamp() where incident_id = any($1) and state = 'pending'
					returning incident_id, settled_at + make_interval(secs => wait_seconds) as at
				)
				update incidents i set due_at = least(i.due_at, s.at)
				from (select incident_id, min(at) as at from sent group by incident_id) s where i.id = s.incident_id and i.active`, ids)
			return err
		})
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}
