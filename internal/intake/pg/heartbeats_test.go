package pg_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/intake"
	domain "github.com/iris-oncall/iris/internal/intake/heartbeats"
	"github.com/iris-oncall/iris/internal/intake/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

const process = "11111111-1111-1111-1111-111111111111"

// fixture has the integrations hb (type heartbeat) and og (opsgenie), with the tokens hb-token and og-token. Process 1
// owns all buckets in epoch 1.
type fixture struct {
	*testing.T
	db    *postgres.DB
	store *pg.Heartbeats
	of    intake.Integration
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, db: pgtest.New(t)}
	f.store = pg.New(f.db)
	f.exec(`insert into applications (name) values ('demo') on conflict do nothing;
		insert into integrations (application_id, name, type, rate_per_minute, created_by)
			select id, n, case n when 'hb' then 'heartbeat' else 'opsgenie' end, 600, 'ann' from applications, unnest(array['hb', 'og']) n where applications.name = 'demo';
		insert into integration_tokens (integration_id, hash) select id, sha256((name || '-token')::bytea) from integrations;
		update bucket_leases set owner = '` + process + `', epoch = 1`)
	f.of.Name = "hb"
	require.NoError(t, f.db.Pool().QueryRow(t.Context(),
		`select id from integrations where name = 'hb'`).Scan(&f.of.ID))
	return f
}

func (f *fixture) exec(sql string, args ...any) {
	f.Helper()
	_, err := f.db.Pool().Exec(f.Context(), sql, args...)
	require.NoError(f, err)
}

// at returns the store at a virtual time.
func (f *fixture) at(now time.Time) *pg.Heartbeats { return f.store.At(now) }

func (f *fixture) add(name string, every time.Duration) {
	f.Helper()
	require.NoError(f, f.store.Save(f.Context(), f.of, domain.Heartbeat{},
		domain.Content{Name: name, Every: every, Enabled: true}, "ann"))
}

func (f *fixture) one(name string) domain.Heartbeat {
	f.Helper()
	all, _, err := f.store.Of(f.Context(), f.of.ID, 0)
	require.NoError(f, err)
	for _, h := range all {
		if h.Name == name {
			return h
		}
	}
	require.Fail(f, "no heartbeat", name)
	return domain.Heartbeat{}
}

// all returns the leases of all buckets.
func all() []buckets.Lease {
	out := make([]buckets.Lease, buckets.Count)
	for k := range out {
		out[k] = buckets.Lease{Bucket: k, Epoch: 1}
	}
	return out
}

func ping(name string) domain.Ping {
	return domain.Ping{Token: "hb-token", Type: "heartbeat", Name: name, Signal: domain.Success}
}

func TestAHeartbeatFromPingToPing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("backup", time.Minute)
	begin := time.Now().Add(time.Hour).Truncate(time.Second)
	reads := 0
	due := func(now time.Time) (found []domain.Heartbeat, r domain.Reception) {
		t.Helper()
		_, err := f.at(now).KeepReception(t.Context())
		require.NoError(t, err)
		read, r, err := f.store.Due(t.Context(), all())
		require.NoError(t, err)
		reads += len(read)
		for _, h := range read {
			if domain.Decide(h, r) != domain.Nothing {
				found = append(found, h)
			} else {
				require.NoError(t, f.store.Postpone(t.Context(), []domain.Heartbeat{h}, r))
			}
		}
		return found, r
	}
	found, _ := due(begin.Add(24 * time.Hour))
	require.Empty(t, found, "it was never pinged")
	begin = begin.Add(48 * time.Hour)
	pinged, err := f.at(begin).Ping(t.Context(), ping("backup"))
	require.NoError(t, err)
	require.NotZero(t, pinged.Heartbeat)
	require.Equal(t, "hb", pinged.Integration.Name)
	for s := range 30 { // no outage
		found, _ = due(begin.Add(time.Duration(2*s) * time.Second))
		require.Empty(t, found)
	}
	require.Equal(t, 2, reads, "it is read when it is to be checked, not in every pass")
	found, r := due(begin.Add(62 * time.Second))
	require.Len(t, found, 1)
	require.Equal(t, domain.Miss, domain.Decide(found[0], r))

	lease := buckets.Lease{Bucket: int(int64(found[0].ID) % buckets.Count), Epoch: 1}
	stale := lease
	stale.Epoch = 0
	_, err = f.store.Miss(t.Context(), process, stale, found[0], begin)
	require.True(t, fault.Is(err, fault.Conflict), "a process that lost the bucket")
	missed, err := f.at(begin.Add(62*time.Second)).Miss(t.Context(), process, lease, found[0], begin)
	require.NoError(t, err)
	require.True(t, missed.Equal(begin.Add(62*time.Second)))
	again, err := f.store.Miss(t.Context(), process, lease, found[0], begin)
	require.NoError(t, err)
	require.Zero(t, again, "once")

	found, r = due(begin.Add(64 * time.Second))
	require.Equal(t, domain.Report, domain.Decide(found[0], r))
	require.NoError(t, f.store.Reported(t.Context(), found[0], 42))
	found, _ = due(begin.Add(66 * time.Second))
	require.Empty(t, found)
	require.EqualValues(t, 42, f.one("backup").Incident)

	_, err = f.at(begin.Add(70*time.Second)).Ping(t.Context(), ping("backup"))
	require.NoError(t, err)
	found, r = due(begin.Add(71 * time.Second))
	require.Equal(t, domain.Resolve, domain.Decide(found[0], r))
	late := found[0]
	require.NoError(t, f.store.Ended(t.Context(), found[0]))
	require.Equal(t, domain.Alive, f.one("backup").State())

	// A process that was paused reports late: the next pass resolves its incident.
	require.NoError(t, f.store.Reported(t.Context(), late, 43))
	found, r = due(begin.Add(73 * time.Second))
	require.Equal(t, domain.Resolve, domain.Decide(found[0], r))
}

// A check must not be postponed beyond what somebody changed since the heartbeat was read.
func TestAChangedHeartbeatIsCheckedAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("a", time.Hour)
	read := func() []domain.Heartbeat {
		t.Helper()
		found, _, err := f.store.Due(t.Context(), all())
		require.NoError(t, err)
		return found
	}
	stale := read()
	require.Len(t, stale, 1)
	r := domain.Reception{LastAt: time.Now()}
	require.NoError(t, f.store.Postpone(t.Context(), stale, r))
	require.Empty(t, read())
	c := f.one("a").Content
	c.Every = time.Second
	require.NoError(t, f.store.Save(t.Context(), f.of, f.one("a"), c, "ann"))
	now := read()
	require.Len(t, now, 1)
	require.NoError(t, f.store.Postpone(t.Context(), []domain.Heartbeat{{ID: now[0].ID, CheckAt: time.Now()}}, r))
	require.Len(t, read(), 1, "it was changed since it was read")
}

func TestAPingMeanwhilePreventsAMiss(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("a", time.Second)
	begin := time.Now().Add(time.Hour)
	_, err := f.at(begin).Ping(t.Context(), ping("a"))
	require.NoError(t, err)
	read := f.one("a")
	_, err = f.at(begin.Add(2*time.Second)).Ping(t.Context(), ping("a"))
	require.NoError(t, err)
	at, err := f.store.Miss(t.Context(), process, buckets.Lease{Bucket: int(int64(read.ID) % buckets.Count), Epoch: 1},
		read, begin)
	require.NoError(t, err)
	require.Zero(t, at)
}

func TestAnOutageGivesTheWholeIntervalAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	begin := time.Now().Add(time.Hour)
	keep := func(after time.Duration) time.Duration {
		t.Helper()
		gap, err := f.at(begin.Add(after)).KeepReception(t.Context())
		require.NoError(t, err)
		return gap
	}
	reception := func() domain.Reception {
		t.Helper()
		_, r, err := f.store.Of(t.Context(), 0, 0)
		require.NoError(t, err)
		return r
	}
	require.Greater(t, keep(0), 50*time.Minute, "nobody received pings for an hour")
	require.True(t, reception().Since.Equal(reception().LastAt))
	since := reception().Since
	require.Zero(t, keep(500*time.Millisecond), "another process did so just now")
	require.True(t, reception().LastAt.Equal(since))
	require.Zero(t, keep(time.Second))
	require.Zero(t, keep(5*time.Second), "too short for an outage")
	require.True(t, reception().Since.Equal(since))
	require.Equal(t, 6*time.Second, keep(11*time.Second))
	require.True(t, reception().Since.After(since))
}

func TestPings(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("a", time.Minute)
	for name, c := range map[string]struct {
		p         domain.Ping
		known     bool
		heartbeat bool
	}{
		"stored":             {ping("a"), true, true},
		"unknown heartbeat":  {ping("b"), true, false},
		"unknown token":      {domain.Ping{Token: "x", Type: "heartbeat", Name: "a", Signal: domain.Success}, false, false},
		"of another type":    {domain.Ping{Token: "hb-token", Type: "opsgenie", Name: "a", Signal: domain.Success}, true, true},
		"not storable":       {domain.Ping{Token: "hb-token\x00", Type: "heartbeat", Name: "a\x00", Signal: domain.Success}, false, false},
		"of another's token": {domain.Ping{Token: "og-token", Type: "opsgenie", Name: "a", Signal: domain.Success}, true, false},
	} {
		f.exec(`update heartbeats set last_ping_at = null`)
		got, err := f.store.Ping(t.Context(), c.p)
		require.NoError(t, err, name)
		require.Equal(t, c.known, got.Integration.ID != 0, name)
		require.Equal(t, c.heartbeat, got.Heartbeat != 0, name)
		require.Equal(t, name == "stored", !f.one("a").LastPingAt.IsZero(), name)
	}
	f.exec(`update heartbeats set last_ping_at = null; update integrations set enabled = false`)
	got, err := f.store.Ping(t.Context(), ping("a"))
	require.NoError(t, err)
	require.False(t, got.Integration.Enabled)
	require.Zero(t, f.one("a").LastPingAt)
}

// Simultaneous pings share statements: 500 pings take far fewer transactions than pings.
func TestManyPings(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const n = 50
	for k := range n {
		f.add(fmt.Sprint(k), time.Minute)
	}
	written := func() (rows int) {
		t.Helper()
		require.NoError(t, f.db.Pool().QueryRow(t.Context(),
			`select count(distinct xmin::text) from heartbeats`).Scan(&rows))
		return rows
	}
	g, ctx := errgroup.WithContext(context.Background())
	for k := range 10 * n {
		g.Go(func() error {
			_, err := f.store.Ping(ctx, ping(fmt.Sprint(k%n)))
			return err
		})
	}
	require.NoError(t, g.Wait())
	require.Less(t, written(), n/2)
	for k := range n {
		require.Equal(t, domain.Alive, f.one(fmt.Sprint(k)).State())
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("a", time.Minute)
	err := f.store.Save(t.Context(), f.of, domain.Heartbeat{}, domain.Content{Name: "a", Every: time.Minute}, "ann")
	require.True(t, fault.Is(err, fault.Conflict))
	read := f.one("a")
	changed := read.Content
	changed.Every, changed.Enabled, changed.Plan, changed.Severity = time.Hour, false, "p", "critical"
	require.NoError(t, f.store.Save(t.Context(), f.of, read, changed, "ann"))
	require.Equal(t, changed, f.one("a").Content)
	require.True(t, fault.Is(f.store.Save(t.Context(), f.of, read, changed, "ann"), fault.Stale))
	require.True(t, fault.Is(f.store.Delete(t.Context(), read, "ann"), fault.Stale))
	before := f.one("a")
	on := before.Content
	on.Enabled = true
	require.NoError(t, f.store.Save(t.Context(), f.of, before, on, "ann"))
	require.True(t, f.one("a").Since.After(before.Since), "a whole interval")
	require.NoError(t, f.store.Delete(t.Context(), f.one("a"), "ann"))
	var actions int
	require.NoError(t, f.db.Pool().QueryRow(t.Context(),
		`select count(*) from audit_log where action like 'heartbeat %'`).Scan(&actions))
	require.Equal(t, 4, actions)
}
