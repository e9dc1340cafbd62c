package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/pgtest"
	"github.com/iris-oncall/iris/internal/users"
)

// escalating is what one test works on: a database, a clock that stands still until it is moved, and a runner that holds every bucket.
type escalating struct {
	t      testing.TB
	db     *postgres.DB
	now    time.Time
	holder *holding
	runner *runner.Runner
	mu     sync.Mutex
	woken  buckets.Set
	app    int64
	people map[string]int64 // user ids
}

type holding struct {
	mu      sync.Mutex
	id      string
	held    []buckets.Lease
	lostSet buckets.Set
}

func (h *holding) ProcessID() string       { return h.id }
func (h *holding) Leases() []buckets.Lease { return h.held }

func (h *holding) Lost(bs buckets.Set) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lostSet.Union(bs)
}

func newEscalating(t testing.TB) *escalating {
	t.Helper()
	e := &escalating{t: t, db: pgtest.New(t), now: time.Now().UTC().Truncate(time.Second), people: map[string]int64{}}
	e.app = e.id(`insert into applications (name) values ('shop') returning id`)
	e.exec(`insert into application_modes (application_id, mode) select $1, name from modes where name <> 'drop'`, e.app)
	for _, name := range []string{"ana", "bo", "cy", "boss", "owner"} {
		e.person(name, "email", "sms", "call", "slack")
	}
	team := e.id(`insert into teams (name, manager_id) values ('db', $1) returning id`, e.people["boss"])
	for i, name := range []string{"ana", "bo", "cy"} {
		e.exec(`insert into team_members (team_id, user_id, position) values ($1, $2, $3)`, team, e.people[name], i)
	}
	e.holder = e.own("me")
	e.runner = e.start(e.holder)
	return e
}

// person adds a user with contacts for the given modes.
func (e *escalating) person(name string, modes ...string) {
	e.t.Helper()
	id := e.id(`insert into users (name) values ($1) returning id`, name)
	e.people[name] = id
	for _, m := range modes {
		e.exec(`insert into user_contacts (user_id, mode, destination) values ($1, $2, $3)`, id, m, name+"@"+m)
	}
}

// own gives every bucket to a process, one epoch further.
func (e *escalating) own(process string) *holding {
	e.t.Helper()
	h := &holding{id: process}
	rows, err := e.db.Pool().Query(e.t.Context(),
		`update bucket_leases set owner = $1, epoch = epoch + 1 returning bucket, epoch`, process)
	require.NoError(e.t, err)
	h.held, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (l buckets.Lease, err error) {
		return l, row.Scan(&l.Bucket, &l.Epoch)
	})
	require.NoError(e.t, err)
	require.Len(e.t, h.held, buckets.Count)
	return h
}

func (e *escalating) start(h runner.Holder) *runner.Runner {
	e.t.Helper()
	dir := postgres.NewDirectory(e.db)
	store := postgres.NewRunner(e.db)
	r, err := runner.New(runner.Deps{
		Work: store, Ledger: store, Digests: store, Timers: store, Reader: dir, Resolver: oncall.NewResolver(dir, nil, 0), Holder: h,
		Waker: e.wake, Log: zaptest.NewLogger(e.t),
	}, runner.Config{Keep: -1, PauseLook: time.Nanosecond, Now: func() time.Time { return e.now }})
	require.NoError(e.t, err)
	return r
}

func (e *escalating) wake(bs buckets.Set) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.woken.Union(bs)
}

func (e *escalating) exec(sql string, args ...any) {
	e.t.Helper()
	_, err := e.db.Pool().Exec(e.ctx(), sql, args...)
	require.NoError(e.t, err)
}

func (e *escalating) ctx() context.Context { return e.t.Context() }

func (e *escalating) id(sql string, args ...any) int64 {
	e.t.Helper()
	var id int64
	require.NoError(e.t, e.db.Pool().QueryRow(e.ctx(), sql, args...).Scan(&id))
	return id
}

// intent is a notification of a test's plan.
type intent struct {
	step     int
	role     string
	target   string
	priority string
	wait     time.Duration
	repeat   int
	optional bool
	dynamic  *int
}

func (e *escalating) plan(name string, intents ...intent) int64 {
	e.t.Helper()
	plan := e.id(`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset)
		values ($1, $2, 0, 0, 0, 0) returning id`, name, e.people["owner"])
	positions := map[int]int{}
	for _, n := range intents {
		if n.dynamic != nil {
			e.exec(`insert into plan_notifications (plan_id, step, position, priority, dynamic_index, template, wait_seconds, repeat, optional)
				values ($1, $2, $3, $4, $5, 'alert', $6, $7, $8)`, plan, n.step, positions[n.step], n.priority, *n.dynamic,
				int(n.wait.Seconds()), n.repeat, n.optional)
		} else {
			e.exec(`insert into plan_notifications (plan_id, step, position, priority, role, target_id, template, wait_seconds, repeat, optional)
				values ($1, $2, $3, $4, $5, (select target_id from targets where name = $6), 'alert', $7, $8, $9)`,
				plan, n.step, positions[n.step], n.priority, n.role, n.target, int(n.wait.Seconds()), n.repeat, n.optional)
		}
		positions[n.step]++
	}
	return plan
}

func (e *escalating) open(plan int64) int64 {
	e.t.Helper()
	return e.id(`insert into incidents (plan_id, application_id, created_at, due_at) values ($1, $2, $3, $3) returning id`,
		plan, e.app, e.now)
}

func (e *escalating) pass() {
	e.t.Helper()
	require.NoError(e.t, e.runner.Pass(e.ctx()))
}

func (e *escalating) later(d time.Duration) {
	e.now = e.now.Add(d)
}

// settle lets messages leave, as delivery records it: state, and the incident's next look.
func (e *escalating) settle(incident int64, state string) {
	e.t.Helper()
	e.exec(`with settled as (
			update messages set state = $2, settled_at = $3 where incident_id = $1 and state in ('pending', 'taken', 'sending')
			returning incident_id, wait_seconds
		)
		update incidents i set due_at = least(i.due_at, $3::timestamptz + make_interval(secs => s.wait_seconds))
		from (select incident_id, min(wait_seconds) as wait_seconds from settled group by incident_id) s
		where i.id = s.incident_id and i.active`, incident, state, e.now)
}

// pages lists an incident's messages as "step.position.repeat purpose target mode state[/reopen]".
func (e *escalating) pages(incident int64) []string {
	e.t.Helper()
	rows, err := e.db.Pool().Query(e.ctx(), `select format('%s.%s.%s %s %s %s %s', step, position, repeat, purpose, target, mode, state)
		|| case when reopen_count > 0 then '/' || reopen_count else '' end
		from messages where incident_id = $1 order by step, position, repeat, reopen_count, recipient`, incident)
	require.NoError(e.t, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(e.t, err)
	return out
}

func (e *escalating) timeline(incident int64) []string {
	e.t.Helper()
	rows, err := e.db.Pool().Query(e.ctx(), `select kind || ': ' || text from timeline_entries where incident_id = $1 order by id`, incident)
	require.NoError(e.t, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(e.t, err)
	return out
}

type standing struct {
	Step   int
	Active bool
	Due    time.Duration // from now; 0 with HasDue false = none
	HasDue bool
}

func (e *escalating) standing(incident int64) standing {
	e.t.Helper()
	var s standing
	var due *time.Time
	require.NoError(e.t, e.db.Pool().QueryRow(e.ctx(), `select current_step, active, due_at from incidents where id = $1`, incident).
		Scan(&s.Step, &s.Active, &due))
	if due != nil {
		s.HasDue, s.Due = true, due.Sub(e.now)
	}
	return s
}

// acknowledge ends the escalation of an incident, as the API does.
func (e *escalating) acknowledge(incident int64) {
	e.t.Helper()
	e.exec(`update incidents set active = false, owner_id = $2, version = version + 1, due_at = $3 where id = $1`,
		incident, e.people["ana"], e.now)
}

func (e *escalating) reopen(incident int64) {
	e.t.Helper()
	e.exec(`update incidents set active = true, owner_id = null, reopen_count = reopen_count + 1, version = version + 1,
		due_at = $2 where id = $1`, incident, e.now)
}

// mailingList adds a list of people.
func (e *escalating) mailingList(name string, members ...string) (targetID int64) {
	e.t.Helper()
	id := e.id(`insert into mailing_lists (name, member_count) values ($1, $2) returning id`, name, len(members))
	for _, m := range members {
		e.exec(`insert into mailing_list_members values ($1, $2)`, id, e.people[m])
	}
	return e.id(`select target_id from mailing_lists where id = $1`, id)
}

// fallbackTo sets the fallback of a plan or an application to a user or team.
func (e *escalating) fallbackTo(table string, id int64, role, target string) {
	e.t.Helper()
	e.exec(`update `+table+` set fallback_role = $2, fallback_target_id = (select target_id from targets where name = $3) where id = $1`, id, role, target)
}

func (e *escalating) text(sql string, args ...any) string {
	e.t.Helper()
	var s string
	require.NoError(e.t, e.db.Pool().QueryRow(e.ctx(), sql, args...).Scan(&s))
	return s
}

func takeMessages(e *escalating, q *postgres.Queue) []delivery.Claimed {
	e.t.Helper()
	var takes []delivery.Take
	for _, c := range []messages.Class{0, 1, 2} {
		for _, mode := range []string{"sms", "email", "drop", "call"} {
			takes = append(takes, delivery.Take{Lane: delivery.Lane{Mode: users.Mode(mode), Class: c, Application: e.app}, Max: 100, Buckets: buckets.All().List()})
		}
	}
	claimed, err := q.Take(e.ctx(), delivery.TakeRequest{ProcessID: e.holder.id, Leases: e.holder.held, Takes: takes, ClaimFor: time.Minute})
	require.NoError(e.t, err)
	return claimed
}

func starts(claimed []delivery.Claimed) []delivery.Start {
	var out []delivery.Start
	for _, c := range claimed {
		out = append(out, delivery.Start{ID: c.ID, IncidentID: c.IncidentID, Vendor: "v", Account: "main", Destination: c.Destination, CallFor: time.Minute})
	}
	return out
}
