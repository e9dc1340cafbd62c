package pg_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/users/pg"
)

// paging is a database with two applications, two versions of a plan and two people.
type paging struct {
	*postgres.DB
	in          *pgincidents.Incidents
	demo, other int64
	plan, newer int64
	ann, bob    users.User
}

func newPaging(t testing.TB) paging {
	t.Helper()
	p := paging{DB: pgtest.New(t)}
	p.in = pgincidents.New(p.DB)
	u := pg.NewUsers(p.DB)
	var err error
	p.ann, err = u.Create(t.Context(), pg.NewUser{Name: "ann"})
	require.NoError(t, err)
	p.bob, err = u.Create(t.Context(), pg.NewUser{Name: "bob"})
	require.NoError(t, err)
	require.NoError(t, p.Pool().QueryRow(t.Context(), `
		with a as (insert into applications (name, title_variable) values ('demo', 'title'), ('other', null) returning id, name),
		     p as (insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset)
		           values ('Plan', $1, 1, 1, 1, 1), ('Plan', $1, 1, 1, 1, 1) returning id)
		select (select id from a where name = 'demo'), (select id from a where name = 'other'),
		       (select min(id) from p), (select max(id) from p)`, p.ann.ID).Scan(&p.demo, &p.other, &p.plan, &p.newer))
	return p
}

func (p paging) request(key string) incidents.New {
	return incidents.New{
		PlanID: p.plan, ApplicationID: p.demo, Context: json.RawMessage(`{"title": "disk",  "z": 1, "a": "\u0000"}`),
		Actor: "application demo", DedupKey: key,
	}
}

func (p paging) open(t testing.TB) incidents.ID {
	t.Helper()
	o, err := p.in.Open(t.Context(), p.request(""))
	require.NoError(t, err)
	require.False(t, o.Known)
	return o.ID
}

func (p paging) texts(t testing.TB, id incidents.ID) []string {
	t.Helper()
	entries, err := p.in.Timeline(t.Context(), id)
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, string(e.Kind)+": "+e.Text)
	}
	return out
}

// state reads the columns that the runner uses.
func (p paging) state(t testing.TB, id incidents.ID) (version int, due *time.Time) {
	t.Helper()
	require.NoError(t, p.Pool().QueryRow(t.Context(), "select version, due_at from incidents where id = $1",
		id).Scan(&version, &due))
	return version, due
}

func TestOpen(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	n := p.request("")
	n.DynamicTargets = []incidents.DynamicTarget{{Index: 0, Role: "user", TargetID: p.ann.TargetID},
		{Index: 1, Role: "team", TargetID: 9}}
	o, err := p.in.Open(t.Context(), n)
	require.NoError(t, err)
	require.Equal(t, int(o.ID)&255, o.Bucket)

	got, err := p.in.Get(t.Context(), o.ID)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), got.CreatedAt, time.Minute)
	got.CreatedAt, got.UpdatedAt = time.Time{}, time.Time{}
	require.Equal(t, incidents.Incident{
		ID: o.ID, Bucket: o.Bucket, PlanID: p.plan, Plan: "Plan", ApplicationID: p.demo, Application: "demo", Active: true,
		Context: n.Context, TitleVariable: "title",
	}, got)
	require.Equal(t, []string{"opened: opened by application demo with plan Plan"}, p.texts(t, o.ID))
	version, due := p.state(t, o.ID)
	require.Zero(t, version)
	require.WithinDuration(t, time.Now(), *due, time.Minute)
	var targets string
	require.NoError(t, p.Pool().QueryRow(t.Context(),
		`select string_agg(dynamic_index || role || target_id, ',' order by dynamic_index)
		from incident_dynamic_targets where incident_id = $1`, o.ID).Scan(&targets))
	require.Equal(t, fmt.Sprintf("0user%d,1team9", p.ann.TargetID), targets)

	_, err = p.in.Get(t.Context(), 99999)
	require.Equal(t, fault.NotFound, fault.KindOf(err))
}

func TestOpenWithAKeyOpensOnce(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	var mu sync.Mutex
	ids, opened := map[incidents.ID]bool{}, 0
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			n := p.request("group")
			n.DedupFacts = json.RawMessage(`{"f":1}`)
			if i%2 == 1 {
				n.PlanID = p.newer // another version of the same plan
			}
			o, err := p.in.Open(t.Context(), n)
			require.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			ids[o.ID] = true
			if !o.Known {
				opened++
			} else {
				require.JSONEq(t, `{"f":1}`, string(o.Facts))
			}
		})
	}
	wg.Wait()
	require.Len(t, ids, 1)
	require.Equal(t, 1, opened)

	n := p.request("group")
	n.ApplicationID = p.other
	o, err := p.in.Open(t.Context(), n)
	require.NoError(t, err)
	require.False(t, o.Known, "another application")

	var first incidents.ID
	for id := range ids {
		first = id
	}
	id, found, err := p.in.ResolveByKey(t.Context(), p.request("group"), "PLAN ",
		incidents.Change{Actor: "application demo", Via: incidents.ViaHook})
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, first, id)
	_, found, err = p.in.ResolveByKey(t.Context(), p.request("group"), "Plan", incidents.Change{})
	require.NoError(t, err)
	require.False(t, found)
	require.Equal(t, "resolved: resolved by application demo through a webhook", p.texts(t, id)[1])
	o, err = p.in.Open(t.Context(), p.request("group"))
	require.NoError(t, err)
	require.False(t, o.Known, "the first is resolved")

	// The first incident is reopened after a second one was opened: the second keeps the key.
	_, err = p.in.Resolve(t.Context(), incidents.Change{IDs: []incidents.ID{first}, Actor: "ann"}, false)
	require.NoError(t, err)
	again, err := p.in.Open(t.Context(), p.request("group"))
	require.NoError(t, err)
	require.Equal(t, o.ID, again.ID)
}

// Two processes repeatedly open the same keys in opposite orders.
func TestOpenDoesNotDeadlock(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	second := pgtest.Open(t, p.Pool().Config().ConnString(), postgres.Config{})
	others := []*pgincidents.Incidents{p.in, pgincidents.New(second)}
	ids := make([]map[string]incidents.ID, 2)
	var wg sync.WaitGroup
	for w, in := range others {
		ids[w] = map[string]incidents.ID{}
		var mu sync.Mutex
		for k := range 300 {
			wg.Go(func() {
				if w == 1 {
					k = 299 - k
				}
				key := fmt.Sprintf("key-%d", k)
				o, err := in.Open(t.Context(), p.request(key))
				require.NoError(t, err)
				mu.Lock()
				ids[w][key] = o.ID
				mu.Unlock()
			})
		}
	}
	wg.Wait()
	require.Len(t, ids[0], 300)
	require.Equal(t, ids[0], ids[1])
	var n int
	require.NoError(t, p.Pool().QueryRow(t.Context(), "select count(*) from incidents").Scan(&n))
	require.Equal(t, 300, n)
}

func TestABadRequestOfABatchFailsAlone(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			n := p.request("")
			switch i {
			case 10:
				n.PlanID = 9999
			case 20:
				n.Context = json.RawMessage(`{"broken`)
			case 30:
				n.Context = json.RawMessage("{\"a\":\"\xff\"}")
			case 40:
				n.DynamicTargets = []incidents.DynamicTarget{{Role: "king", TargetID: 1}}
			case 50:
				n.DedupKey, n.DedupFacts = "k", json.RawMessage(`{"a":"\u0000"}`)
			case 60:
				n.Actor, n.DedupKey = "a\x00\xff", strings.Repeat("long", 2000)
			}
			_, err := p.in.Open(t.Context(), n)
			if i%10 == 0 && i >= 10 && i <= 50 {
				require.Equal(t, fault.Invalid, fault.KindOf(err), i)
			} else {
				require.NoError(t, err, i)
			}
		})
	}
	wg.Wait()
	for table, want := range map[string]int{"incidents": 95, "incident_contexts": 95, "timeline_entries": 95, "incident_dynamic_targets": 0} {
		var n int
		require.NoError(t, p.Pool().QueryRow(t.Context(), "select count(*) from "+table).Scan(&n))
		require.Equal(t, want, n, table)
	}
}

func TestOpenIsSplitByBytes(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	body := json.RawMessage(`{"a":"` + strings.Repeat("x", 60000) + `"}`)
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			n := p.request("")
			n.Context = body
			_, err := p.in.Open(t.Context(), n)
			require.NoError(t, err)
		})
	}
	wg.Wait()
}

func TestOpenReportsAnUnreachableDatabase(t *testing.T) {
	t.Parallel()
	d, err := postgres.Open(t.Context(), postgres.Config{URL: "postgres://x@127.0.0.1:1/x"})
	require.NoError(t, err)
	defer d.Close()
	in := pgincidents.New(d)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			_, err := in.Open(t.Context(), incidents.New{PlanID: 1, ApplicationID: 1, Context: json.RawMessage(`{}`)})
			require.Equal(t, fault.Unavailable, fault.KindOf(err))
		})
	}
	wg.Wait()
}

func TestAcknowledge(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	ctx := t.Context()
	first, second := p.open(t), p.open(t)
	c := incidents.Change{IDs: []incidents.ID{second, 9999, first}, Actor: "ann", Via: incidents.ViaLink}
	done, err := p.in.Acknowledge(ctx, c, p.ann)
	require.NoError(t, err)
	require.Equal(t, []incidents.Acknowledged{
		{ID: second, Found: true, Application: "demo"}, {ID: 9999}, {ID: first, Found: true, Application: "demo"},
	}, done)
	want := []string{"opened: opened by application demo with plan Plan",
		"acknowledged: acknowledged by ann with the link of a message"}
	require.Equal(t, want, p.texts(t, first))
	got, err := p.in.Get(ctx, first)
	require.NoError(t, err)
	require.Equal(t, "ann", got.Owner)
	require.False(t, got.Active)
	version, due := p.state(t, first)
	require.Equal(t, 1, version)
	require.NotNil(t, due, "the owner of the bucket must cancel what is pending")

	done, err = p.in.Acknowledge(ctx, c, p.ann)
	require.NoError(t, err)
	require.Equal(t, "ann", done[0].PreviousOwner)
	require.Equal(t, want, p.texts(t, first), "nothing new")
	again, _ := p.state(t, first)
	require.Equal(t, version, again)

	_, err = p.in.Acknowledge(ctx, incidents.Change{IDs: []incidents.ID{first}, Actor: "application demo",
		Via: incidents.ViaAPI}, p.bob)
	require.NoError(t, err)
	require.Equal(t, "acknowledged: acknowledged by bob, asked for by application demo through the API, taking over from ann",
		p.texts(t, first)[2])
	done, err = p.in.Acknowledge(ctx, incidents.Change{}, p.ann)
	require.NoError(t, err)
	require.Empty(t, done)
}

func TestAcknowledgeWithAskFirstDoesNotTakeOver(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	ctx := t.Context()
	id, free := p.open(t), p.open(t)
	_, err := p.in.Acknowledge(ctx, incidents.Change{IDs: []incidents.ID{id}, Actor: "ann", Via: incidents.ViaWeb,
		AskFirst: true}, p.ann)
	require.NoError(t, err)
	c := incidents.Change{IDs: []incidents.ID{id, free}, Actor: "bob", Via: incidents.ViaWeb, AskFirst: true}
	done, err := p.in.Acknowledge(ctx, c, p.bob)
	require.NoError(t, err)
	require.Equal(t, p.ann.ID, done[0].OwnedBy)
	require.Equal(t, "ann", done[0].PreviousOwner)
	require.Zero(t, done[1].OwnedBy, "the other one is bob's")
	require.Len(t, p.texts(t, id), 2)
	got, err := p.in.Get(ctx, id)
	require.NoError(t, err)
	require.Equal(t, "ann", got.Owner)

	c.Replace = p.ann.ID
	done, err = p.in.Acknowledge(ctx, c, p.bob)
	require.NoError(t, err)
	require.Zero(t, done[0].OwnedBy)
	got, err = p.in.Get(ctx, id)
	require.NoError(t, err)
	require.Equal(t, "bob", got.Owner)
}

func TestConcurrentAcknowledgementsAddOneTimelineEntry(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	ids := []incidents.ID{p.open(t), p.open(t), p.open(t)}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			order := append([]incidents.ID(nil), ids...)
			if i%2 == 1 {
				order[0], order[2] = order[2], order[0]
			}
			done, err := p.in.Acknowledge(t.Context(), incidents.Change{IDs: order, Actor: "ann",
				Via: incidents.ViaWeb}, p.ann)
			require.NoError(t, err)
			require.Len(t, done, 3)
		})
	}
	wg.Wait()
	for _, id := range ids {
		require.Len(t, p.texts(t, id), 2)
	}
}

// An acknowledgement waits for an incident that another transaction has locked for longer than the lock timeout.
func TestAcknowledgeWaitsForALockedIncident(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	id := p.open(t)
	tx, err := p.Pool().Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `select id from incidents where id = $1 for update`, int64(id))
	require.NoError(t, err)
	var holding sync.WaitGroup
	holding.Go(func() {
		_, _ = tx.Exec(t.Context(), `select pg_sleep(1.3)`)
		_ = tx.Rollback(t.Context())
	})
	done, err := p.in.Acknowledge(t.Context(), incidents.Change{IDs: []incidents.ID{id}, Actor: "ann"}, p.ann)
	require.NoError(t, err)
	require.False(t, done[0].Active)
	holding.Wait()
}

func TestReopenAndResolve(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	ctx := t.Context()
	id := p.open(t)
	c := incidents.Change{IDs: []incidents.ID{id}, Actor: "bob", Via: incidents.ViaWeb}
	get := func() incidents.Incident {
		got, err := p.in.Get(ctx, id)
		require.NoError(t, err)
		return got
	}

	done, err := p.in.Reopen(ctx, c)
	require.NoError(t, err)
	require.True(t, done[0].Active)
	require.Zero(t, get().ReopenCount, "it was open")

	_, err = p.in.Acknowledge(ctx, c, p.bob)
	require.NoError(t, err)
	_, err = p.Pool().Exec(ctx, "update incidents set due_at = null")
	require.NoError(t, err)
	done, err = p.in.Reopen(ctx, c)
	require.NoError(t, err)
	require.Equal(t, []incidents.Acknowledged{{ID: id, Found: true, Active: true, PreviousOwner: "bob",
		Application: "demo"}}, done)
	require.Equal(t, 1, get().ReopenCount)
	require.Empty(t, get().Owner)
	_, due := p.state(t, id)
	require.NotNil(t, due)

	// The plan was exhausted: the incident has no owner and does not escalate.
	_, err = p.Pool().Exec(ctx, "update incidents set active = false")
	require.NoError(t, err)
	_, err = p.in.Reopen(ctx, c)
	require.NoError(t, err)
	require.True(t, get().Active)
	require.Equal(t, 2, get().ReopenCount)

	_, err = p.in.Acknowledge(ctx, c, p.bob)
	require.NoError(t, err)
	for range 2 {
		done, err = p.in.Resolve(ctx, c, true)
		require.NoError(t, err)
		require.False(t, done[0].Active)
		require.Equal(t, "bob", get().Owner)
		require.True(t, get().Resolved)
	}
	done, err = p.in.Reopen(ctx, c)
	require.NoError(t, err)
	require.False(t, done[0].Active, "a resolved incident stays quiet")
	require.Empty(t, get().Owner)
	for range 2 {
		_, err = p.in.Resolve(ctx, c, false)
		require.NoError(t, err)
		require.False(t, get().Resolved)
		require.False(t, get().Active)
	}
	require.Equal(t, []string{
		"opened: opened by application demo with plan Plan",
		"acknowledged: acknowledged by bob on the web page",
		"reopened: acknowledgement taken back by bob on the web page, escalating on",
		"reopened: escalation started again by bob on the web page",
		"acknowledged: acknowledged by bob on the web page",
		"resolved: resolved by bob on the web page",
		"reopened: owner removed by bob on the web page, not escalating because it is resolved",
		"reopened: no longer resolved by bob on the web page",
	}, p.texts(t, id))
}

func TestADeliveryUpdatesAnOpenIncident(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	n := p.request("k")
	n.DedupFacts = json.RawMessage(`{"f":1}`)
	o, err := p.in.Open(t.Context(), n)
	require.NoError(t, err)
	before, _ := p.state(t, o.ID)
	update := func(id incidents.ID, context, facts, text string) error {
		restarted, err := p.in.Update(t.Context(), id, incidents.Delivery{Context: json.RawMessage(context),
			Facts: json.RawMessage(facts), Text: text})
		require.False(t, restarted)
		return err
	}

	var wg sync.WaitGroup
	for range 5 { // every peer of the pair delivers it
		wg.Go(func() { require.NoError(t, update(o.ID, `{"b":2,  "a":1}`, `{"f": 2}`, "another alert")) })
	}
	wg.Wait()
	require.Equal(t, "updated: another alert; nobody is paged again", p.texts(t, o.ID)[1])
	require.Len(t, p.texts(t, o.ID), 2)
	got, err := p.in.Get(t.Context(), o.ID)
	require.NoError(t, err)
	require.Equal(t, `{"b":2,  "a":1}`, string(got.Context), "in the sender's order")
	require.True(t, got.UpdatedAt.After(got.CreatedAt))
	after, _ := p.state(t, o.ID)
	require.Equal(t, before, after, "pages nobody again")
	known, err := p.in.Open(t.Context(), n)
	require.NoError(t, err)
	require.JSONEq(t, `{"f":2}`, string(known.Facts))

	require.Equal(t, fault.Invalid, fault.KindOf(update(o.ID, `{`, `{"f":3}`, "x")))
	_, err = p.in.Resolve(t.Context(), incidents.Change{IDs: []incidents.ID{o.ID}}, true)
	require.NoError(t, err)
	require.Equal(t, fault.Conflict, fault.KindOf(update(o.ID, `{}`, `{"f":4}`, "x")))
	require.Equal(t, fault.NotFound, fault.KindOf(update(9999, `{}`, `{"f":4}`, "x")))
}

func TestComments(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	id := p.open(t)
	for _, text := range []string{"first", "zweiter ü\x00"} {
		_, err := p.in.AddComment(t.Context(), id, p.ann, text)
		require.NoError(t, err)
	}
	got, err := p.in.Comments(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Equal(t, "first", got[0].Content)
	require.Equal(t, "ann", got[0].Author)
	require.Equal(t, "zweiter ü\uFFFD", got[1].Content)
	require.Equal(t, "comment: first", p.texts(t, id)[1])

	_, err = p.in.AddComment(t.Context(), id, p.ann, "  ")
	require.Equal(t, fault.Invalid, fault.KindOf(err))
	_, err = p.in.AddComment(t.Context(), 9999, p.ann, "x")
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	_, err = p.in.AddComment(t.Context(), id, users.User{ID: 9999}, "x")
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	got, err = p.in.Comments(t.Context(), 9999)
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestTimelineShowsEveryVendorCall(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	id := p.open(t)
	exec := func(sql string, args ...any) {
		_, err := p.Pool().Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	exec(`insert into messages (id, bucket, incident_id, application_id, recipient, target, class, mode)
		values (70, 0, $1, $2, 'user:1', 'ann', 0, 'email')`, id, p.demo)
	exec(`insert into attempts (message_id, attempt, mode, vendor, account, destination, process_id, started_at, finished_at, outcome, in_doubt, late, detail)
		values (70, 1, 'sms', 'twilio', 'main', '+1', 'p', now() + '1 s', now() + '2 s', 'unknown', true, true, 'broken pipe'),
		       (70, 2, 'email', 'smtp', '', 'a@b', 'p', now() + '3 s', now() + '4 s', 'sent', false, false, '250 ok'),
		       (70, 3, 'email', 'smtp', '', 'a@b', 'p', now() + '5 s', null, null, false, false, '')`)
	exec(`insert into message_history (id, created_at, bucket, incident_id, application_id, reopen_count, step, position, repeat, recipient,
		purpose, target, class, mode, state, attempt, mode_changed, destination, subject, body, email_html, render_error, attempts)
		select 71, now(), 0, $1, $2, 0, 1, 0, 0, 'user:2', 'primary', 'bob', 0, 'call', 'failed', 1, false, '', '', '', '', '',
		jsonb_build_array(jsonb_build_object('message_id', 71, 'attempt', 1, 'mode', 'call', 'vendor', 'twilio', 'account', 'twilio',
		'destination', '+2', 'process_id', 'p', 'started_at', now() + '6 s', 'finished_at', now() + '7 s', 'outcome', 'rejected',
		'in_doubt', false, 'late', false, 'detail', 'no such number'))`, id, p.demo)
	exec(`insert into receipts (at, vendor, vendor_message_id, status, outcome, detail, message_id)
		values (now() + '8 s', 'twilio', 'x', 'undelivered', 'rejected', '30003', 71)`)
	require.Equal(t, []string{
		"opened: opened by application demo with plan Plan",
		"delivery: sms to ann by twilio (main): no definite answer, in doubt: it may have arrived, recorded late by a process that had lost its claim (broken pipe)",
		"delivery: email to ann by smtp, attempt 2: accepted by the vendor",
		"delivery: email to ann by smtp, attempt 3: on its way",
		"delivery: call to bob by twilio: refused for good (no such number)",
		"delivery: call to bob: twilio says undelivered (30003)",
	}, p.texts(t, id))
	require.Empty(t, p.texts(t, 9999))
}

func TestListIncidents(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	ctx := t.Context()
	first, second, third := p.open(t), p.open(t), p.open(t)
	_, err := p.in.Acknowledge(ctx, incidents.Change{IDs: []incidents.ID{second}}, p.ann)
	require.NoError(t, err)
	_, err = p.in.Resolve(ctx, incidents.Change{IDs: []incidents.ID{third}}, true)
	require.NoError(t, err)
	_, err = p.Pool().Exec(ctx, `insert into messages (bucket, incident_id, application_id, recipient, target, class, mode)
		values (0, $1, $2, 'user:1', 'Ann', 0, 'email')`, first, p.demo)
	require.NoError(t, err)
	created := time.Now()
	require.NoError(t, p.Pool().QueryRow(ctx, "select created_at from incidents where id = $1", first).Scan(&created))

	for _, c := range []struct {
		cond filters.Condition
		want []incidents.ID
	}{
		{filters.Condition{Field: "id", Op: filters.In, Values: []any{int64(first), int64(third)}},
			[]incidents.ID{first, third}},
		{filters.Condition{Field: "id", Op: filters.Gt, Values: []any{int64(first)}}, []incidents.ID{second, third}},
		{filters.Condition{Field: "plan", Op: filters.Eq, Values: []any{"PLAN  "}},
			[]incidents.ID{first, second, third}},
		{filters.Condition{Field: "plan", Op: filters.StartsWith, Values: []any{"pl_n"}}, nil},
		{filters.Condition{Field: "plan_id", Op: filters.Eq, Values: []any{p.newer}}, nil},
		{filters.Condition{Field: "active", Op: filters.Eq, Values: []any{true}}, []incidents.ID{first}},
		{filters.Condition{Field: "active", Op: filters.In, Values: []any{false}}, []incidents.ID{second, third}},
		{filters.Condition{Field: "resolved", Op: filters.Eq, Values: []any{true}}, []incidents.ID{third}},
		{filters.Condition{Field: "claimed", Op: filters.Eq, Values: []any{true}}, []incidents.ID{second}},
		{filters.Condition{Field: "owner", Op: filters.Contains, Values: []any{"NN"}}, []incidents.ID{second}},
		{filters.Condition{Field: "application", Op: filters.Ne, Values: []any{"demo"}}, nil},
		{filters.Condition{Field: "context", Op: filters.Contains, Values: []any{`"title": "DISK"`}},
			[]incidents.ID{first, second, third}},
		{filters.Condition{Field: "target", Op: filters.In, Values: []any{"ann", "x"}}, []incidents.ID{first}},
		{filters.Condition{Field: "created", Op: filters.Lt, Values: []any{created.Add(-time.Hour)}}, nil},
		{filters.Condition{Field: "updated", Op: filters.Ge, Values: []any{created.Add(-time.Hour)}},
			[]incidents.ID{second, third}},
		{filters.Condition{Field: "current_step", Op: filters.Eq, Values: []any{int64(0)}},
			[]incidents.ID{first, second, third}},
	} {
		got, err := p.in.List(ctx, filters.Query{Conditions: []filters.Condition{c.cond}})
		require.NoError(t, err, c.cond)
		var ids []incidents.ID
		for _, n := range got {
			ids = append(ids, n.ID)
		}
		require.Equal(t, c.want, ids, c.cond)
	}
	for field, kind := range incidents.FilterSchema {
		value := map[filters.Kind]any{filters.Int: int64(1), filters.Text: "x", filters.Time: created,
			filters.Bool: true, filters.Flag: true}[kind]
		_, err := p.in.List(ctx, filters.Query{Conditions: []filters.Condition{{Field: field, Op: filters.Eq,
			Values: []any{value}}}})
		require.NoError(t, err, "every field of the schema can be filtered by: %s", field)
	}
	got, err := p.in.List(ctx, filters.Query{Limit: 2, Fields: []string{"id"}})
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Equal(t, third, got[0].ID)
	require.Nil(t, got[0].Context)
}

func BenchmarkOpen(b *testing.B) {
	p := newPaging(b)
	body := json.RawMessage(`{"title":"` + strings.Repeat("x", 500) + `"}`)
	for _, callers := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			b.SetParallelism(max(1, callers/2)) // times GOMAXPROCS
			if callers == 1 {
				for b.Loop() {
					_, err := p.in.Open(b.Context(), incidents.New{PlanID: p.plan, ApplicationID: p.demo,
						Context: body, Actor: "bench"})
					require.NoError(b, err)
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_, err := p.in.Open(b.Context(), incidents.New{PlanID: p.plan, ApplicationID: p.demo,
						Context: body, Actor: "bench"})
					require.NoError(b, err)
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "incidents/s")
		})
	}
}
