package pg_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	kitclock "github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/silences"
	"github.com/iris-oncall/iris/internal/silences/pg"
)

type everything struct{}

func (everything) Leases() (out []buckets.Lease) {
	for b := range buckets.Count {
		out = append(out, buckets.Lease{Bucket: b})
	}
	return out
}

// stand is an installation with the applications demo (2) and other (3), and the plans p (1) and q (2).
type stand struct {
	t       testing.TB
	db      *postgres.DB
	store   *pg.Store
	keeper  *silences.Keeper
	clock   *kitclock.Database
	ops     *silences.Silences
	opener  silences.Opener
	admin   operation.Actor
	stopped func()
}

func newStand(t *testing.T) *stand {
	t.Helper()
	return newStandOn(t, pgtest.New(t))
}

func newStandOn(t testing.TB, d *postgres.DB) *stand {
	t.Helper()
	s := &stand{t: t, db: d, clock: &kitclock.Database{}, store: pg.New(d),
		admin: operation.Actor{Person: 1, Name: "ann", Role: operation.Admin}}
	s.exec(`insert into users (name) values ('ann'), ('bob'); insert into applications (name) values ('demo'), ('other'); insert into teams (name) values ('db');
		insert into team_members (team_id, user_id, position) values (1, 2, 1);
		insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset)
			values ('p', 1, 0, 0, 0, 0), ('q', 1, 0, 0, 0, 0);
		insert into plan_active (name_key, plan_id) select name, id from plans;
		insert into plan_notifications (plan_id, step, position, priority, role, target_id, template, wait_seconds, repeat, optional)
			select 2, 1, 0, 'high', 'team', target_id, 't', 60, 0, false from teams where name = 'db'`)
	current := silences.NewCurrent(s.store, s.clock)
	s.keeper = silences.NewKeeper(s.store, current, everything{}, func(context.Context, buckets.Set) {}, zap.NewNop())
	s.ops = silences.New(s.store, s.keeper)
	s.opener = silences.Opener{Incidents: pgincidents.New(d), Current: current}
	return s
}

func (s *stand) exec(sql string) {
	s.t.Helper()
	_, err := s.db.Pool().Exec(s.t.Context(), sql)
	require.NoError(s.t, err)
}

func (s *stand) open(plan int64, body string) incidents.ID {
	s.t.Helper()
	opened, err := s.opener.Open(s.t.Context(), incidents.New{PlanID: plan, ApplicationID: 2,
		Context: json.RawMessage(body), Actor: "application demo"})
	require.NoError(s.t, err)
	return opened.ID
}

func (s *stand) states(ids ...incidents.ID) []incidents.State {
	s.t.Helper()
	out := make([]incidents.State, len(ids))
	for k, id := range ids {
		var status incidents.Status
		require.NoError(s.t, s.db.Pool().QueryRow(s.t.Context(),
			`select active, owner_id is not null, silenced_until is not null, resolved from incidents where id = $1`,
			int64(id)).Scan(&status.Active, &status.Owned, &status.Silenced, &status.Resolved))
		out[k] = status.State()
	}
	return out
}

func (s *stand) run() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = s.keeper.Run(ctx) }()
	s.stopped = func() { cancel(); <-done }
	s.t.Cleanup(s.stopped)
}

func (s *stand) replace(id silences.ID, d silences.Draft) (silences.Silence, error) {
	return s.ops.Replace.Do(s.t.Context(), s.admin, silences.Edit{One: silences.One{ID: id}, Body: d})
}

func (s *stand) end(id silences.ID) error {
	_, err := s.ops.End.Do(s.t.Context(), s.admin, silences.One{ID: id})
	return err
}

func silenceOf(change func(*silences.Content)) silences.Draft {
	c := silences.Content{Scope: silences.Scope{Match: `team="db"`}, From: time.Now().Add(-time.Minute),
		To: time.Now().Add(time.Hour), Comment: "upgrade"}
	if change != nil {
		change(&c)
	}
	return silences.Draft{Content: c}
}

func TestASilenceHidesAndReleases(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	before, other := s.open(1, `{"team":"db"}`), s.open(1, `{"team":"web"}`)
	made, err := s.ops.Create.Do(t.Context(), s.admin, silenceOf(nil))
	require.NoError(t, err)
	require.Equal(t, 1, made.Hidden, "an escalating incident is hidden before the answer")
	after := s.open(1, `{"labels":{"team":"db"}}`)
	require.Equal(t, []incidents.State{incidents.StateSilenced, incidents.StateEscalating, incidents.StateSilenced},
		s.states(before, other, after))
	hidden, err := s.store.Incidents(t.Context(), made.ID, 0, 0, 10)
	require.NoError(t, err)
	require.Equal(t, []silences.HiddenIncident{{ID: after}, {ID: before}}, hidden)
	var lines int
	require.NoError(t, s.db.Pool().QueryRow(t.Context(),
		`select count(*) from timeline_entries where kind = 'silenced' and text like 'silence 1 of ann hides the incident until %: upgrade'`).Scan(&lines))
	require.Equal(t, 2, lines)

	// What the runner asks before it pages, for an incident that began to escalate meanwhile.
	s.exec(`update incidents set active = true, silenced_until = null, due_at = clock_timestamp() where id = 1`)
	gone, err := s.keeper.Hide(t.Context(), []incidents.ID{before, other})
	require.NoError(t, err)
	require.Equal(t, []incidents.ID{before}, gone)

	s.exec(`insert into incident_alerts (incident_id, fingerprint, status) values (3, 'f', 'resolved')`)
	require.NoError(t, s.end(made.ID))
	require.True(t, fault.Is(s.end(made.ID), fault.Conflict))
	s.exec(`update incidents set silenced_until = clock_timestamp() where silence_id = 1`) // the spread is up to two minutes
	s.run()
	require.Eventually(t, func() bool {
		now := s.states(before, after)
		return now[0] == incidents.StateEscalating && now[1] == incidents.StateExhausted
	}, 20*time.Second, 50*time.Millisecond, "what fires escalates, and what the source no longer reports does not")
}

// A source that resolves nothing stopped to repeat an alert under a silence. A further delivery of the same alert
// escalates after all.
func TestWhatItsSourceNoLongerRepeatsPagesNobody(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.exec(`insert into integrations (application_id, name, type, rate_per_minute, created_by, created_at, repeat_seconds)
		values (2, 'checks', 'generic', 600, 'ann', clock_timestamp() - interval '8 days', 60)`)
	alert := func(key string) incidents.New {
		return incidents.New{PlanID: 1, ApplicationID: 2, Integration: 1, Actor: "integration checks", DedupKey: key,
			Context: json.RawMessage(`{"team":"db"}`),
			DedupFacts: json.RawMessage(`[{"f":"` + key +
				`","s":"firing"}]`), Alerts: []incidents.Alert{{Fingerprint: key, Firing: true}}}
	}
	var ids []incidents.ID
	for _, key := range []string{"repeated", "gone"} {
		opened, err := s.opener.Open(t.Context(), alert(key))
		require.NoError(t, err)
		ids = append(ids, opened.ID)
	}
	_, err := s.ops.Create.Do(t.Context(), s.admin, silenceOf(nil))
	require.NoError(t, err)
	s.exec(`update incidents set silenced_until = clock_timestamp(), created_at = clock_timestamp() - interval '1 hour';
		update incidents set delivered_at = clock_timestamp() - interval '100 seconds' where id = 1;
		update silences set ended_at = clock_timestamp(); update silence_version set version = version + 1`)
	s.run()
	require.Eventually(t, func() bool {
		now := s.states(ids...)
		return now[0] == incidents.StateEscalating && now[1] == incidents.StateExhausted
	}, 20*time.Second, 50*time.Millisecond)
	var line string
	require.NoError(t, s.db.Pool().QueryRow(t.Context(),
		`select text from timeline_entries where incident_id = 2 order by id desc limit 1`).Scan(&line))
	require.Regexp(t, "^the silence ended, and the source reported nothing for 1 h.*, although it repeats alerts at least every 1 min: nobody is paged unless it reports again$", line)

	in, again := pgincidents.New(s.db), alert("gone")
	known, found, err := in.ByKey(t.Context(), again)
	require.NoError(t, err)
	require.True(t, found)
	require.Empty(t, known.Facts, "the delivery is news")
	restarted, err := in.Update(t.Context(), known.ID, incidents.Delivery{Context: again.Context,
		Facts: again.DedupFacts, Alerts: again.Alerts, Text: "1 new alert"})
	require.NoError(t, err)
	require.True(t, restarted)
	require.Equal(t, incidents.StateEscalating, s.states(ids[1])[0])
}

func TestAWindowBeginsAndAnotherSilenceTakesOver(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	id := s.open(2, `{}`)
	s.run()
	window, err := s.ops.Create.Do(t.Context(), s.admin, silenceOf(func(c *silences.Content) {
		c.Match, c.Team, c.Recurrence, c.From = "", "db", "FREQ=DAILY", time.Now().Add(2*time.Second)
	}))
	require.NoError(t, err)
	require.Equal(t, silences.Planned, window.State)
	require.Eventually(t, func() bool { return s.states(id)[0] == incidents.StateSilenced }, 20*time.Second,
		50*time.Millisecond)
	longer, err := s.ops.Create.Do(t.Context(), s.admin,
		silenceOf(func(c *silences.Content) { c.Match, c.Plan, c.To = "", "q", time.Now().Add(3*time.Hour) }))
	require.NoError(t, err)
	require.NoError(t, s.end(window.ID))
	s.exec(`update incidents set silenced_until = clock_timestamp() + interval '2 seconds'`)
	require.Eventually(t, func() bool {
		now, err := s.store.ByID(t.Context(), longer.ID)
		return err == nil && now.Hidden == 1
	}, 20*time.Second, 50*time.Millisecond)
	require.Equal(t, []incidents.State{incidents.StateSilenced}, s.states(id))
	changed, err := s.replace(longer.ID, silenceOf(func(c *silences.Content) { c.Match, c.Plan = "", "p" }))
	require.NoError(t, err)
	require.EqualValues(t, "p", changed.Plan)
	require.Eventually(t, func() bool { return s.states(id)[0] == incidents.StateEscalating }, 20*time.Second,
		50*time.Millisecond)
}

func TestWhoMaySilence(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.exec(`insert into application_owners (application_id, user_id) values (2, 2)`)
	bob := operation.Actor{Person: 2, Name: "bob", Role: operation.Member}
	for name, c := range map[string]struct {
		change func(*silences.Content)
		kind   fault.Kind
	}{
		"only labels":           {nil, fault.Forbidden},
		"an application":        {func(c *silences.Content) { c.Application = "demo" }, ""},
		"a foreign application": {func(c *silences.Content) { c.Application = "other" }, fault.Forbidden},
		"a team":                {func(c *silences.Content) { c.Team = "db" }, ""},
		"a plan of the team":    {func(c *silences.Content) { c.Plan = "q" }, ""},
		"another plan":          {func(c *silences.Content) { c.Plan = "p" }, fault.Forbidden},
		"an unknown team": {func(c *silences.Content) { c.Application, c.Team = "demo", "nobody" },
			fault.Invalid},
	} {
		_, err := s.ops.Create.Do(t.Context(), bob, silenceOf(c.change))
		if c.kind == "" {
			require.NoError(t, err, name)
		} else {
			require.Equal(t, c.kind, fault.KindOf(err), name)
		}
	}
	_, err := s.ops.Create.Do(t.Context(), operation.Actor{Name: "application demo", Role: operation.Member,
		Program: true}, silenceOf(nil))
	require.True(t, fault.Is(err, fault.Forbidden))
	_, err = s.ops.Get.Do(t.Context(), bob, silences.One{ID: 99})
	require.True(t, fault.Is(err, fault.NotFound))
}

func TestTheSilencesOfATeamAreBounded(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.exec(`insert into silences (match, team_id, starts_at, ends_at, comment, author)
		select 'a=b', 1, now(), now() + interval '1 hour', 'c', 'ann' from generate_series(1, 500)`)
	_, err := s.ops.Create.Do(t.Context(), s.admin, silenceOf(func(c *silences.Content) { c.Team = "db" }))
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, fault.Conflict, f.Kind)
	require.Equal(t, "team", f.Field)
	require.ErrorContains(t, err, "500 silences of the team")
	other, err := s.ops.Create.Do(t.Context(), s.admin, silenceOf(nil))
	require.NoError(t, err, "other silences are not bounded by those of the team")
	_, err = s.replace(other.ID, silenceOf(func(c *silences.Content) { c.Team = "db" }))
	require.True(t, fault.Is(err, fault.Conflict), "a change is no way around the limit")
	_, err = s.replace(1, silenceOf(func(c *silences.Content) { c.Team = "db" }))
	require.NoError(t, err, "one of the 500 can be changed")
	require.NoError(t, s.end(2))
	_, err = s.ops.Create.Do(t.Context(), s.admin, silenceOf(func(c *silences.Content) { c.Team = "db" }))
	require.NoError(t, err)
}

func TestASilenceBeginsInTheLastYear(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	old := time.Date(1760, 1, 1, 0, 0, 0, 0, time.UTC)
	ancient := silenceOf(func(c *silences.Content) {
		c.From, c.To, c.Recurrence = old, old.Add(time.Hour),
			"FREQ=DAILY"
	})
	_, err := s.ops.Create.Do(t.Context(), s.admin, ancient)
	require.True(t, fault.Is(err, fault.Invalid))
	require.ErrorContains(t, err, "from is more than 366 days in the past")
	made, err := s.ops.Create.Do(t.Context(), s.admin, silenceOf(nil))
	require.NoError(t, err)
	_, err = s.replace(made.ID, ancient)
	require.True(t, fault.Is(err, fault.Invalid))
	s.exec(`update silences set starts_at = '1760-01-01T00:00:00Z', ends_at = '1760-01-01T01:00:00Z', recurrence = 'FREQ=DAILY'`)
	ancient.Comment = "longer"
	_, err = s.replace(made.ID, ancient)
	require.NoError(t, err, "one that is stored already can be changed")
}

// A rule about matches became stricter after a silence was stored: the silence can be changed to a match that the rule
// allows.
func TestAnOutgrownSilenceCanBeChanged(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	made, err := s.ops.Create.Do(t.Context(), s.admin, silenceOf(nil))
	require.NoError(t, err)
	s.exec("update silences set match = 'host=~\"(x{0,30}){0,30}\"'")
	same := silenceOf(func(c *silences.Content) { c.Match = `host=~"(x{0,30}){0,30}"` })
	_, err = s.replace(made.ID, same)
	require.True(t, fault.Is(err, fault.Invalid))
	changed, err := s.replace(made.ID, silenceOf(func(c *silences.Content) { c.Match = `host=~"x.*"` }))
	require.NoError(t, err)
	require.EqualValues(t, `host=~"x.*"`, changed.Match)
}

// BenchmarkList is what each process asks the database for each second, with as many silences as there can be.
func BenchmarkList(b *testing.B) {
	d := pgtest.New(b)
	_, err := d.Pool().Exec(b.Context(), `insert into silences (match, starts_at, ends_at, comment, author)
		select 'host="h' || n || '"', now(), now() + interval '1 hour', 'c', 'ann' from generate_series(1, 10000) n`)
	require.NoError(b, err)
	store := pg.New(d)
	for b.Loop() {
		_, err := store.List(b.Context())
		require.NoError(b, err)
	}
}

// BenchmarkCreate adds and ends silences while 500,000 incidents escalate, 400,000 of them of one application, and
// 1,000 silences are in force. The number of incidents must not matter.
func BenchmarkCreate(b *testing.B) {
	d := pgtest.New(b)
	s := newStandOn(b, d)
	for from := 0; from < 500_000; from += 20_000 { // a statement may take some seconds only
		s.exec(fmt.Sprintf(`insert into incidents (plan_id, application_id, created_at, due_at, active, current_step)
			select 1 + n %% 2, case when n %% 5 = 0 then 3 else 2 end, clock_timestamp() - n * interval '1 second', clock_timestamp() + interval '1 hour', true, 1
			from generate_series(%d, %d) n`, from+1, from+20_000))
	}
	s.exec(`insert into silences (match, starts_at, ends_at, comment, author)
			select 'host="h' || n || '"', now(), now() + interval '1 hour', 'c', 'ann' from generate_series(1, 1000) n`)
	s.exec("analyze incidents, silences")
	for name, change := range map[string]func(*silences.Content){
		"labels":                func(c *silences.Content) { c.Match = `host="none"` },
		"the large application": func(c *silences.Content) { c.Match, c.Application = `host="none"`, "demo" },
		"a plan":                func(c *silences.Content) { c.Match, c.Plan = `host="none"`, "p" },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				made, err := s.ops.Create.Do(b.Context(), s.admin, silenceOf(change))
				require.NoError(b, err)
				require.NoError(b, s.end(made.ID)) // 500 of an application is the limit
			}
		})
	}
}

// The clock of the database is ahead of the clock of this process, or behind: silences begin and end by the clock of
// the database.
func TestSilencesBeginAndEndByTheClockOfTheDatabase(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{time.Hour, -time.Hour} {
		d := pgtest.Skewed(t, ahead)
		s := newStandOn(t, d)
		require.NoError(t, s.clock.Measure(t.Context(), d.Clock))
		now := s.ops.Now()
		require.WithinDuration(t, time.Now().Add(ahead), now, 30*time.Second)
		made, err := s.ops.Create.Do(t.Context(), s.admin,
			silenceOf(func(c *silences.Content) { c.From, c.To = now.Add(-10*time.Minute), now.Add(10*time.Minute) }))
		require.NoError(t, err)
		require.Equal(t, silences.Active, made.State)
		id := s.open(1, `{"team":"db"}`)
		require.Equal(t, incidents.StateSilenced, s.states(id)[0], "opened while the silence is in force, %s", ahead)
		_, err = s.replace(made.ID, silenceOf(func(c *silences.Content) {
			c.From, c.To = now.Add(-20*time.Minute),
				now.Add(-10*time.Minute)
		}))
		require.NoError(t, err)
		id = s.open(1, `{"team":"db"}`)
		require.Equal(t, incidents.StateEscalating, s.states(id)[0], "opened after its end, %s", ahead)
	}
}
