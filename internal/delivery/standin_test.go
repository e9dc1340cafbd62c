package delivery_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// serve records the modes that a member serves.
func (o *office) serve(id string, modes ...string) {
	o.t.Helper()
	o.exec(`update members set modes = $2 where process_id = $1`, id, append([]string{}, modes...))
}

// standIn gives a holder the stand-in buckets of the present view.
func (o *office) standIn(h *holder, modes ...string) {
	o.t.Helper()
	v, err := pgbuckets.NewCluster(o.db).View(context.Background())
	require.NoError(o.t, err)
	h.others = buckets.StandInsOf(&v, buckets.Member{ProcessID: h.id, Modes: modes})
}

// with adds what a processor knows of the modes of others.
func (o *office) with(d delivery.Deps) delivery.Deps {
	d.Served = pg.NewServed(o.db)
	return d
}

// Two members that serve one mode each send all messages of both modes, whoever owns the bucket.
func TestMessagesAreSentByAMemberThatServesTheirMode(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	mails, texts := o.own("mails", 0, 128), o.own("texts", 128, 256)
	o.serve("mails", "email")
	o.serve("texts", "sms")
	o.standIn(mails, "email")
	o.standIn(texts, "sms")
	require.Len(t, mails.others, 128)
	mail := &post{name: "smtp", account: "main", modes: []users.Mode{users.Email}}
	phone := &post{name: "twilio", account: "main", modes: []users.Mode{users.SMS}}
	const n = 60
	o.flood(n, users.Email)
	o.flood(n, users.SMS)
	limits := map[string]rate.Limit{delivery.ModeKey(users.Email): {PerSecond: 100, Burst: 10}}
	o.work(o.with(o.deps(mails, mail)), delivery.Config{Poll: 50 * time.Millisecond, Limits: limits})
	o.work(o.with(o.deps(texts, phone)), delivery.Config{Poll: 50 * time.Millisecond, Limits: limits})
	o.eventually("all sent", func() bool { return o.number(`select count(*) from messages where state = 'sent'`) == 2*n })
	require.Equal(t, n, mail.count())
	require.Equal(t, n, phone.count())
	require.Zero(t, o.number(`select count(*) from attempts a join messages m on m.id = a.message_id where a.process_id <> case m.mode when 'email' then 'mails' else 'texts' end`))
	require.Zero(t, o.number(`select count(*) from messages where 'email' = any(refused_modes)`))
}

// A member that only drops takes no message from the others, and a message does not fail while another member serves
// its mode.
func TestAMessageWaitsForAMemberThatServesItsMode(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	bad := o.own("bad", 0, 256)
	good := o.own("good", 0, 0)
	o.serve("bad", "drop")
	o.serve("good", "drop", "email")
	_, message := o.incident(users.Email, messages.ClassUrgent)
	deps := o.with(o.deps(bad, &post{name: "drop", modes: []users.Mode{users.Drop}}))
	searched := &counted{Queue: pg.New(o.db)}
	deps.Queue = searched
	_, stop := o.work(deps, delivery.Config{Poll: 20 * time.Millisecond})
	o.eventually("the owner searches", func() bool { return searched.found.Load() > 5 })
	require.Equal(t, "pending", o.state(messages.ID(message)))
	require.Zero(t, searched.takes.Load(), "the owner leaves it alone")

	dry := o.own("dry", 0, 0)
	o.serve("dry", "drop", "email")
	o.standIn(dry, "drop", "email")
	mail := &post{name: "smtp", account: "main", modes: []users.Mode{users.Email}}
	rehearsed := &counted{Queue: pg.New(o.db)}
	deps = o.with(o.deps(dry, mail))
	deps.Queue = rehearsed
	_, stopDry := o.work(deps, delivery.Config{Poll: 20 * time.Millisecond, DryRun: delivery.DryRunStore})
	stopDry()
	require.Zero(t, rehearsed.takes.Load(), "a dry run takes nothing of others")

	o.standIn(good, "drop", "email")
	o.work(o.with(o.deps(good, mail)), delivery.Config{Poll: 20 * time.Millisecond})
	o.eventually("sent", func() bool { return o.state(messages.ID(message)) == "sent" })
	stop()
	require.Equal(t, 1, mail.count())
}

// The fence holds for stand-ins too: after the bucket got another owner, nothing is taken by the old view.
func TestAStandInTakesNothingAfterTheBucketHasAnotherOwner(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.own("bad", 0, 256)
	good := o.own("good", 0, 0)
	o.serve("bad", "drop")
	o.standIn(good, "email")
	o.incident(users.Email, messages.ClassUrgent)
	var all []int
	var foreign []buckets.Lease
	for _, s := range good.others {
		all, foreign = append(all, s.Bucket), append(foreign, s.Lease)
	}
	take := func() []delivery.Claimed {
		got, err := pg.New(o.db).Take(t.Context(), delivery.TakeRequest{ProcessID: "good", StandIns: foreign,
			ClaimFor: time.Second,
			Takes: []delivery.Take{{Lane: rate.Lane{Mode: users.Email, Class: messages.ClassUrgent,
				Application: o.app}, Max: 256, Buckets: all}}})
		require.NoError(t, err)
		return got
	}
	o.exec(`update bucket_leases set owner = 'other', epoch = epoch + 1`)
	require.Empty(t, take(), "another owner")
	o.exec(`update bucket_leases set owner = null, epoch = epoch - 1`)
	require.Empty(t, take(), "no owner")
	o.exec(`update bucket_leases set owner = 'bad'`)
	require.Len(t, take(), 1)
	require.Empty(t, take(), "the claim decides")
}

func TestAModeIsUnservedThirtySecondsAfterItsLastMember(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	c := pg.NewServed(o.db)
	unserved := func() []users.Mode {
		got, err := c.Unserved(t.Context(), []users.Mode{users.Call, users.Email, users.SMS})
		require.NoError(t, err)
		slices.Sort(got)
		return got
	}
	o.own("bad", 0, 256)
	o.serve("bad", "drop")
	o.exec(`update members set started_at = clock_timestamp() - interval '1 hour'`)
	require.Equal(t, []users.Mode{users.Call, users.Email, users.SMS}, unserved())
	o.own("good", 0, 0)
	o.serve("good", "email")
	require.Equal(t, []users.Mode{users.Call, users.SMS}, unserved())
	o.exec(`update members set heartbeat_at = clock_timestamp() - interval '29 seconds' where process_id = 'good'`)
	require.Equal(t, []users.Mode{users.Call, users.SMS}, unserved(), "dead for some seconds")
	o.exec(`delete from members where process_id = 'good'`)
	require.Equal(t, []users.Mode{users.Call, users.SMS}, unserved(), "it left, and its row is gone")
	o.exec(`update served_modes set served_at = served_at - interval '1 minute'`)
	require.Equal(t, []users.Mode{users.Call, users.Email, users.SMS}, unserved())
	o.exec(`update members set started_at = clock_timestamp()`)
	require.Equal(t, []users.Mode{users.Call, users.SMS}, unserved(),
		"the whole cluster has just started: the member that serves it may follow")
	o.own("old", 0, 0)
	require.Empty(t, unserved(), "a release that does not publish its modes counts as serving all")
}

// When no member has served the mode for long, the message gets the next mode of the person.
func TestTheNextModeIsUsedWhenNoMemberServesTheMode(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	o.serve("me", "drop", "email")
	mail := &post{name: "smtp", account: "main", modes: []users.Mode{users.Email}}
	_, message := o.incident(users.SMS, messages.ClassUrgent)
	o.work(o.with(o.deps(h, mail)), delivery.Config{Poll: 20 * time.Millisecond})
	o.eventually("sent by e-mail", func() bool { return o.state(messages.ID(message)) == "sent" })
	require.Equal(t, 1, mail.count())
	require.Equal(t, "No vendor for sms is configured. Trying email next.",
		o.text(`select text from timeline_entries order by id limit 1`))
}

// counted counts the searches and takes of a queue.
type counted struct {
	delivery.Queue
	found, takes atomic.Int64
}

func (c *counted) Waiting(ctx context.Context, bs []int, low time.Time) (delivery.Found, error) {
	defer c.found.Add(1)
	return c.Queue.Waiting(ctx, bs, low)
}

func (c *counted) Take(ctx context.Context, r delivery.TakeRequest) ([]delivery.Claimed, error) {
	c.takes.Add(1)
	return c.Queue.Take(ctx, r)
}
