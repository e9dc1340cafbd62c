package pgtest

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
	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Escalating is the setup of one test: a database, a clock that only the test moves, and a runner that holds every
// bucket.
type Escalating struct {
	PerDay int // calls and texts of people without a limit of their own; 0 = no limit
	T      testing.TB
	DB     *postgres.DB
	Now    time.Time
	Holder *Holding
	Runner *runner.Runner
	mu     sync.Mutex
	Woken  buckets.Set
	App    int64
	People map[string]int64 // user ids
}

// Holding is a process that holds leases; it records the leases that were reported as lost.
type Holding struct {
	mu      sync.Mutex
	id      string
	Held    []buckets.Lease
	LostSet buckets.Set
}

// ProcessID implements runner.Holder.
func (h *Holding) ProcessID() string { return h.id }

// Leases implements runner.Holder.
func (h *Holding) Leases() []buckets.Lease { return h.Held }

// StandIns implements delivery.Leases.
func (h *Holding) StandIns() []buckets.StandIn { return nil }

// Lost implements runner.Holder.
func (h *Holding) Lost(bs buckets.Set) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.LostSet.Union(bs)
}

// NewEscalating returns a new database with people, a team and an application, and a runner that owns every bucket.
func NewEscalating(t testing.TB) *Escalating {
	t.Helper()
	e := &Escalating{T: t, DB: New(t), Now: time.Now().UTC().Truncate(time.Second), People: map[string]int64{}}
	e.App = e.ID(`insert into applications (name) values ('shop') returning id`)
	e.Exec(`insert into application_modes (application_id, mode) select $1, name from modes where name <> 'drop'`,
		e.App)
	for _, name := range []string{"ana", "bo", "cy", "boss", "owner"} {
		e.Person(name, "email", "sms", "call", "slack")
	}
	team := e.ID(`insert into teams (name, manager_id) values ('db', $1) returning id`, e.People["boss"])
	for i, name := range []string{"ana", "bo", "cy"} {
		e.Exec(`insert into team_members (team_id, user_id, position) values ($1, $2, $3)`, team, e.People[name], i)
	}
	e.Holder = e.Own("me")
	e.Runner = e.Start(e.Holder)
	return e
}

// Person adds a user with contacts for the given modes.
func (e *Escalating) Person(name string, modes ...string) {
	e.T.Helper()
	id := e.ID(`insert into users (name) values ($1) returning id`, name)
	e.People[name] = id
	for _, m := range modes {
		e.Exec(`insert into user_contacts (user_id, mode, destination) values ($1, $2, $3)`, id, m, name+"@"+m)
	}
}

// Own gives every bucket to a process and raises the epochs.
func (e *Escalating) Own(process string) *Holding {
	e.T.Helper()
	h := &Holding{id: process}
	rows, err := e.DB.Pool().Query(e.T.Context(),
		`update bucket_leases set owner = $1, epoch = epoch + 1 returning bucket, epoch`, process)
	require.NoError(e.T, err)
	h.Held, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (l buckets.Lease, err error) {
		return l, row.Scan(&l.Bucket, &l.Epoch)
	})
	require.NoError(e.T, err)
	require.Len(e.T, h.Held, buckets.Count)
	return h
}

// Start returns a runner for a process.
func (e *Escalating) Start(h runner.Holder) *runner.Runner {
	e.T.Helper()
	dir := pgescalation.NewDirectory(e.DB)
	store := pgescalation.NewRunner(e.DB).WithQuota(nil, e.PerDay)
	r, err := runner.New(runner.Deps{
		Store: store, Reader: dir, Resolver: oncall.NewResolver(dir, nil, 0), Holder: h,
		Waker: e.Wake, Log: zaptest.NewLogger(e.T),
	}, runner.Config{Keep: -1, ResumeEvery: time.Nanosecond, Now: func() time.Time { return e.Now }})
	require.NoError(e.T, err)
	return r
}

// Wake records the buckets that were woken.
func (e *Escalating) Wake(bs buckets.Set) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.Woken.Union(bs)
}

// Exec runs a statement.
func (e *Escalating) Exec(sql string, args ...any) {
	e.T.Helper()
	_, err := e.DB.Pool().Exec(e.Ctx(), sql, args...)
	require.NoError(e.T, err)
}

// Ctx is the context of the test.
func (e *Escalating) Ctx() context.Context { return e.T.Context() }

// ID runs a query that returns a number.
func (e *Escalating) ID(sql string, args ...any) int64 {
	e.T.Helper()
	var id int64
	require.NoError(e.T, e.DB.Pool().QueryRow(e.Ctx(), sql, args...).Scan(&id))
	return id
}

// Intent is a notification of a test's plan.
type Intent struct {
	Step     int
	Role     string
	Target   string
	Priority string
	Wait     time.Duration
	Repeat   int
	Optional bool
	Dynamic  *int
}

// Plan stores a plan with these notifications and returns its number.
func (e *Escalating) Plan(name string, intents ...Intent) int64 {
	e.T.Helper()
	plan := e.ID(`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset)
		values ($1, $2, 0, 0, 0, 0) returning id`, name, e.People["owner"])
	positions := map[int]int{}
	for _, n := range intents {
		if n.Dynamic != nil {
			e.Exec(`insert into plan_notifications (plan_id, step, position, priority, dynamic_index, template, wait_seconds, repeat, optional)
				values ($1, $2, $3, $4, $5, 'alert', $6, $7, $8)`, plan, n.Step, positions[n.Step], n.Priority, *n.Dynamic,
				int(n.Wait.Seconds()), n.Repeat, n.Optional)
		} else {
			e.Exec(`insert into plan_notifications (plan_id, step, position, priority, role, target_id, template, wait_seconds, repeat, optional)
				values ($1, $2, $3, $4, $5, (select target_id from targets where name = $6), 'alert', $7, $8, $9)`,
				plan, n.Step, positions[n.Step], n.Priority, n.Role, n.Target, int(n.Wait.Seconds()), n.Repeat, n.Optional)
		}
		positions[n.Step]++
	}
	return plan
}

// Open stores an incident that is due now.
func (e *Escalating) Open(plan int64) int64 {
	e.T.Helper()
	return e.ID(`insert into incidents (plan_id, application_id, created_at, due_at) values ($1, $2, $3, $3) returning id`,
		plan, e.App, e.Now)
}

// Pass runs one pass of the runner.
func (e *Escalating) Pass() {
	e.T.Helper()
	require.NoError(e.T, e.Runner.Pass(e.Ctx()))
}

// Later advances the clock of the runner. The database has its own.
func (e *Escalating) Later(d time.Duration) {
	e.Now = e.Now.Add(d)
}

// Settle settles messages as delivery does: their state, and the next due time of the incident.
func (e *Escalating) Settle(incident int64, state string) {
	e.T.Helper()
	e.Exec(`with settled as (
			update messages set state = $2, settled_at = $3 where incident_id = $1 and state in ('pending', 'taken', 'sending')
			returning incident_id, wait_seconds
		)
		update incidents i set due_at = least(i.due_at, $3::timestamptz + make_interval(secs => s.wait_seconds))
		from (select incident_id, min(wait_seconds) as wait_seconds from settled group by incident_id) s
		where i.id = s.incident_id and i.active`, incident, state, e.Now)
}

// Pages lists an incident's messages as "step.position.repeat purpose target mode state[/reopen]".
func (e *Escalating) Pages(incident int64) []string {
	e.T.Helper()
	rows, err := e.DB.Pool().Query(e.Ctx(),
		`select format('%s.%s.%s %s %s %s %s', step, position, repeat, purpose, target, mode, state)
		|| case when reopen_count > 0 then '/' || reopen_count else '' end
		from messages where incident_id = $1 order by step, position, repeat, reopen_count, recipient`, incident)
	require.NoError(e.T, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(e.T, err)
	return out
}

// Timeline lists the lines of an incident as "kind: text".
func (e *Escalating) Timeline(incident int64) []string {
	e.T.Helper()
	rows, err := e.DB.Pool().Query(e.Ctx(),
		`select kind || ': ' || text from timeline_entries where incident_id = $1 order by id`, incident)
	require.NoError(e.T, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(e.T, err)
	return out
}

// Progress is the progress of an incident.
type Progress struct {
	Step   int
	Active bool
	Due    time.Duration // from now; 0 with HasDue false = none
	HasDue bool
}

// Progress reads the progress of an incident.
func (e *Escalating) Progress(incident int64) Progress {
	e.T.Helper()
	var s Progress
	var due *time.Time
	require.NoError(e.T, e.DB.Pool().QueryRow(e.Ctx(),
		`select current_step, active, due_at from incidents where id = $1`, incident).
		Scan(&s.Step, &s.Active, &due))
	if due != nil {
		s.HasDue, s.Due = true, due.Sub(e.Now)
	}
	return s
}

// Acknowledge ends the escalation of an incident, as the API does.
func (e *Escalating) Acknowledge(incident int64) {
	e.T.Helper()
	e.Exec(`update incidents set active = false, owner_id = $2, version = version + 1, due_at = $3 where id = $1`,
		incident, e.People["ana"], e.Now)
}

// Reopen undoes an acknowledgement, as the API does.
func (e *Escalating) Reopen(incident int64) {
	e.T.Helper()
	e.Exec(`update incidents set active = true, owner_id = null, reopen_count = reopen_count + 1, version = version + 1,
		due_at = $2 where id = $1`, incident, e.Now)
}

// MailingList adds a list of people.
func (e *Escalating) MailingList(name string, members ...string) (targetID int64) {
	e.T.Helper()
	id := e.ID(`insert into mailing_lists (name, member_count) values ($1, $2) returning id`, name, len(members))
	for _, m := range members {
		e.Exec(`insert into mailing_list_members values ($1, $2)`, id, e.People[m])
	}
	return e.ID(`select target_id from mailing_lists where id = $1`, id)
}

// FallbackTo sets the fallback of a plan or an application to a user or team.
func (e *Escalating) FallbackTo(table string, id int64, role, target string) {
	e.T.Helper()
	e.Exec(`update `+table+` set fallback_role = $2, fallback_target_id = (select target_id from targets where name = $3) where id = $1`, id, role, target)
}

// Text runs a query that returns a text.
func (e *Escalating) Text(sql string, args ...any) string {
	e.T.Helper()
	var s string
	require.NoError(e.T, e.DB.Pool().QueryRow(e.Ctx(), sql, args...).Scan(&s))
	return s
}

// TakeMessages takes up to a hundred messages as a worker does.
func TakeMessages(e *Escalating, q *pg.Queue) []delivery.Claimed {
	e.T.Helper()
	var takes []delivery.Take
	for _, c := range []messages.Class{0, 1, 2} {
		for _, mode := range []string{"sms", "email", "drop", "call"} {
			takes = append(takes, delivery.Take{Lane: rate.Lane{Mode: users.Mode(mode), Class: c,
				Application: e.App}, Max: 100, Buckets: buckets.All().List()})
		}
	}
	claimed, err := q.Take(e.Ctx(), delivery.TakeRequest{ProcessID: e.Holder.id, Leases: e.Holder.Held, Takes: takes,
		ClaimFor: time.Minute})
	require.NoError(e.T, err)
	return claimed
}

// Starts returns the starts of the messages, as a worker marks them.
func Starts(claimed []delivery.Claimed) []stage.Start {
	var out []stage.Start
	for _, c := range claimed {
		out = append(out, stage.Start{ID: c.ID, IncidentID: c.IncidentID, Vendor: "v", Account: "main",
			Destination: c.Destination, CallFor: time.Minute})
	}
	return out
}
