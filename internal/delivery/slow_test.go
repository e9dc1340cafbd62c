package delivery_test

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// slowCommits delays the commit of every transaction that writes attempts, as a distant synchronous standby does.
func (o *office) slowCommits(d time.Duration) {
	o.t.Helper()
	o.exec(fmt.Sprintf(`create or replace function slow_commit() returns trigger language plpgsql as $$
		begin
			if current_setting('test.slept', true) is distinct from txid_current()::text then
				perform set_config('test.slept', txid_current()::text, false), pg_sleep(%f);
			end if;
			return null;
		end $$`, d.Seconds()))
	o.exec(`create constraint trigger slow_commit after insert or update on attempts
		deferrable initially deferred for each row execute function slow_commit()`)
}

func TestPagesAreSentWithSlowCommits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		commit time.Duration
		limits map[string]rate.Limit
	}{
		"400 ms": {commit: 400 * time.Millisecond},
		"2 s":    {commit: 2 * time.Second},
		"200 ms, limited to 50/s": {200 * time.Millisecond,
			map[string]rate.Limit{delivery.ModeKey(users.Email): {PerSecond: 50}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.slowCommits(c.commit)
			p := &post{name: "smtp", account: "main", modes: []users.Mode{users.Email}}
			w, _ := o.work(o.deps(o.own("me", 0, 256), p), delivery.Config{Limits: c.limits})
			for range 10 {
				o.incident(users.Email, messages.ClassUrgent)
			}
			w.Wake(buckets.All())
			o.eventually("all pages are sent", func() bool {
				return o.number(`select count(*) from messages where state = 'sent'`) == 10
			})
			require.Len(t, p.all(), 10)
		})
	}
}

// Promise P4 with slow commits: the incident is read after the mark. A call begins at most 300 ms after that read was
// sent.
func TestAnAcknowledgementStopsPagesWithSlowCommits(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.slowCommits(time.Second)
	p := &post{name: "smtp", account: "main", modes: []users.Mode{users.Email}}
	w, _ := o.work(o.deps(o.own("me", 0, 256), p), delivery.Config{})
	incident, page := o.incident(users.Email, messages.ClassUrgent)
	w.Wake(buckets.All())
	// The acknowledgement is committed after the mark has read the incident and before the mark is committed.
	o.eventually("the mark waits in its commit", func() bool {
		return o.number(`select count(*) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`) > 0
	})
	o.exec(`update incidents set active = false, owner_id = $2 where id = $1`, incident, o.user)
	o.eventually("the call was not begun", func() bool {
		return o.number(`select count(*) from attempts where message_id = $1 and outcome = 'cancelled'`, page) > 0
	})
	_, other := o.incident(users.Email, messages.ClassUrgent)
	w.Wake(buckets.All())
	o.eventually("another page is sent", func() bool { return o.state(messages.ID(other)) == "sent" })
	require.Len(t, p.all(), 1)
	require.Equal(t, messages.ID(other), p.all()[0].m.MessageID)
}

// farAway opens the database through a proxy that delays every packet by d in each direction.
func farAway(t *testing.T, o *office, d time.Duration) *postgres.DB {
	t.Helper()
	u, err := url.Parse(o.db.Pool().Config().ConnString())
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	network, target := "tcp", u.Host
	if host := o.db.Pool().Config().ConnConfig.Host; host != "" && host[0] == '/' {
		network, target = "unix", fmt.Sprintf("%s/.s.PGSQL.%d", host, o.db.Pool().Config().ConnConfig.Port)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var ends []net.Conn
	wg.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial(network, target)
			if err != nil {
				_ = near.Close()
				continue
			}
			mu.Lock()
			ends = append(ends, near, far)
			mu.Unlock()
			wg.Go(func() { late(near, far, d) })
			wg.Go(func() { late(far, near, d) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range ends {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	config := o.db.Pool().Config().ConnConfig
	far := url.URL{Scheme: "postgres", Host: l.Addr().String(), Path: "/" + config.Database,
		User: url.UserPassword(config.User, config.Password), RawQuery: "sslmode=disable"}
	return pgtest.Open(t, far.String(), postgres.Config{KeyedPlans: true})
}

// late copies one direction of a connection and delays every packet by d. It does not limit the throughput.
func late(from, to net.Conn, d time.Duration) {
	type packet struct {
		data []byte
		due  time.Time
	}
	packets := make(chan packet, 1<<12)
	go func() {
		defer close(packets)
		for {
			buffer := make([]byte, 32<<10)
			n, err := from.Read(buffer)
			if n > 0 {
				packets <- packet{buffer[:n], time.Now().Add(d)}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range packets {
		<-time.After(time.Until(p.due))
		if _, err := to.Write(p.data); err != nil {
			_, _ = io.Copy(io.Discard, from)
		}
	}
	_ = to.Close()
}

func TestPagesAreSentFarFromTheDatabase(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]map[string]rate.Limit{
		"unlimited":       nil,
		"limited to 50/s": {delivery.ModeKey(users.Email): {PerSecond: 50}},
		"limited to 50/s, and the application": {
			delivery.ModeKey(users.Email): {PerSecond: 50}, delivery.ApplicationKey("shop",
				users.Email): {PerSecond: 50},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			p := &post{name: "smtp", account: "main", modes: []users.Mode{users.Email}}
			deps := o.deps(o.own("me", 0, 256), p)
			far := farAway(t, o, 60*time.Millisecond)
			q := pg.New(far)
			deps.Queue, deps.Ledger, deps.Rescuer = q, q, q
			deps.Limits, deps.Directory = pg.NewLimits(far), pgescalation.NewReach(far)
			w, _ := o.work(deps, delivery.Config{Limits: limits})
			for range 20 {
				o.incident(users.Email, messages.ClassUrgent)
			}
			w.Wake(buckets.All())
			require.Eventually(t, func() bool {
				return o.number(`select count(*) from messages where state = 'sent'`) == 20
			}, time.Minute, 50*time.Millisecond)
			require.Len(t, p.all(), 20)
		})
	}
}

// A page that is not sent in time, for any reason, is on the timeline of its incident.
func TestAPageNotSentInTimeIsOnTheTimeline(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	q := pg.New(o.db)
	incident, page := o.incident(users.Email, messages.ClassUrgent)
	young, _ := o.incident(users.Email, messages.ClassUrgent)
	closed, other := o.incident(users.Email, messages.ClassUrgent)
	o.exec(`update incidents set active = false where id = $1`, closed)
	h := o.own("me", 0, 256)
	cs := o.take(h, o.lane(users.Email, messages.ClassUrgent), 3)
	for _, c := range cs {
		if int64(c.ID) == page {
			o.mark(h, c)
			o.record(outcome(c, 1, messages.OutcomeCancelled,
				stage.Verdict{State: messages.Pending, RetryIn: time.Minute, Unstarted: true}))
		}
	}
	o.exec(`update messages set created_at = clock_timestamp() - interval '45 seconds' where id in ($1, $2)`, page,
		other)
	for range 2 {
		late, err := q.NoteUnsent(t.Context(), buckets.All().List(), 30*time.Second, time.Time{})
		require.NoError(t, err)
		if len(late) > 0 {
			require.Equal(t, messages.ID(page), late[0].ID)
			require.Equal(t, "shop", late[0].Application)
			require.GreaterOrEqual(t, late[0].Age, 45*time.Second)
		}
	}
	require.Regexp(t, `The email to ana has not been sent after 4\d s: said so. It is tried again.`,
		o.text(`select text from timeline_entries where incident_id = $1 and kind = 'delivery'`, incident))
	require.Zero(t, o.number(`select count(*) from timeline_entries where incident_id in ($1, $2)`, young, closed))
}
