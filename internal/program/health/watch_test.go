package health

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

type lateness struct {
	due     []pg.BucketDue
	pending []pg.UnsentMessage
	err     error
}

func (l *lateness) OldestDue(context.Context) ([]pg.BucketDue, error) { return l.due, nil }

func (l *lateness) OldestUnsent(context.Context) ([]pg.UnsentMessage, error) {
	return l.pending, l.err
}

func TestTheWatchReportsOverdueSteps(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.ErrorLevel)
	l := &lateness{due: []pg.BucketDue{{Bucket: 3, IncidentID: 7, Age: 29 * time.Second}}}
	w := NewOverdue(l, prometheus.NewRegistry(), zap.New(core))
	require.NoError(t, w.steps(t.Context()))
	require.InDelta(t, 29, testutil.ToFloat64(w.stepAge), 0)
	require.Zero(t, logs.Len())

	l.due = append(l.due, pg.BucketDue{Bucket: 4, IncidentID: 8, Age: 31 * time.Second})
	for range 2 {
		require.Equal(t, Concern("a step of incident 8 (bucket 4) is overdue by 31s and no processor takes it"),
			w.steps(t.Context()),
			"one bad incident must not make a server turn the others away")
	}
	require.Equal(t, 1, logs.FilterMessage("a step is overdue and no processor takes it").Len(), "told once")

	l.due = append(l.due, pg.BucketDue{Bucket: 5, IncidentID: 9, Age: time.Minute},
		pg.BucketDue{Bucket: 6, IncidentID: 10, Age: 40 * time.Second})
	err := w.steps(t.Context())
	require.EqualError(t, err, "steps are overdue in 3 buckets and no processor takes them; the oldest, of incident 9, by 1m0s")
	require.NotErrorAs(t, err, new(Concern))
}

func TestTheWatchReportsOldUnsentMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.ErrorLevel)
		l := &lateness{}
		w := NewOverdue(l, prometheus.NewRegistry(), zap.New(core))
		require.NoError(t, w.messages(t.Context()))
		l.pending = []pg.UnsentMessage{{Bucket: 1, MessageID: 5, Mode: "sms", Application: "shop",
			Age: 45 * time.Second}, {Bucket: 2, Age: time.Second}}
		require.NoError(t, w.messages(t.Context()), "not looked up every second")
		<-time.After(pendingEvery)
		require.Equal(t, Concern("message 5 of application shop has been due for 45s and has not been sent by sms (bucket 1)"), w.messages(t.Context()))
		require.InDelta(t, 45, testutil.ToFloat64(w.messageAge), 0)
		require.Equal(t, 1, logs.FilterMessage("a message has not been sent in time").Len())

		<-time.After(pendingEvery)
		l.err = fault.New(fault.Unavailable, "the database did not answer in time")
		require.ErrorAs(t, w.messages(t.Context()), new(Concern),
			"whether the database answers is another check's question")
		<-time.After(pendingEvery)
		l.pending, l.err = nil, nil
		require.NoError(t, w.messages(t.Context()))
	})
}

func TestAConcernIsShownButTheServerStaysReady(t *testing.T) {
	t.Parallel()
	h := New(zap.NewNop(), prometheus.NewRegistry())
	h.Set(Check{"delivery", func(context.Context) error { return Concern("slow") }})
	require.Equal(t, []Finding{{Name: "delivery", Concern: "slow"}}, h.Findings(t.Context()))
	require.InDelta(t, 1, testutil.ToFloat64(h.gauge), 0)
}

type staff []buckets.MemberState

func (s staff) Members(context.Context) ([]buckets.MemberState, error) { return s, nil }

func TestAMemberWithoutAVendorIsNamed(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	member := func(id, host string, age time.Duration, modes ...string) buckets.MemberState {
		return buckets.MemberState{Member: buckets.Member{ProcessID: id, Host: host, Modes: modes}, Age: age}
	}
	s := staff{member("good-1", "h1", 0, "drop", "email"), member("bad", "h2", 0, "drop"),
		member("dead", "h3", time.Minute, "sms"), member("old", "h4", 0)}
	c := ModesCheck(s, "", reg)
	require.Equal(t, Concern("processor bad on h2 has no vendor for email, and others send its messages: give it their vendor settings and restart it"), c.Ask(t.Context()))
	require.NoError(t, testutil.GatherAndCompare(reg,
		strings.NewReader(`# HELP iris_app_mode_lacking Live processors of a host that have no vendor for a mode which other processors serve.
# TYPE iris_app_mode_lacking gauge
iris_app_mode_lacking{host="h2",mode="email"} 1
`)))
	s[1].Modes = []string{"drop", "email"}
	require.NoError(t, c.Ask(t.Context()))
	require.NoError(t, testutil.GatherAndCompare(reg, strings.NewReader("")))
	s[1].Modes = []string{"drop"}
	require.NoError(t, ModesCheck(s, "good-1", prometheus.NewRegistry()).Ask(t.Context()),
		"a processor tells about itself only")
}

type lonely struct{ n, members int }

func (l *lonely) Members(context.Context) ([]buckets.MemberState, error) {
	return make([]buckets.MemberState, l.members), nil
}

func (l *lonely) BucketsWithoutLiveOwner(context.Context) (int, error) { return l.n, nil }

func TestBucketsThatChangeTheirOwnerDoNotFailReadiness(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &lonely{n: 256, members: 1}
		reg := prometheus.NewRegistry()
		c := MembersCheck(l, reg)
		require.EqualError(t, c.Ask(t.Context()),
			"256 of 256 buckets have no live owner: their incidents are not escalated", "nobody has taken them yet")
		l.n = 0
		require.NoError(t, c.Ask(t.Context()))
		l.n = 85
		<-time.After(9 * time.Second)
		require.Equal(t, Concern("85 of 256 buckets are changing their owner"), c.Ask(t.Context()))
		<-time.After(2 * time.Second)
		err := c.Ask(t.Context())
		require.Error(t, err)
		require.NotErrorAs(t, err, new(Concern))
		l.members = 0
		require.ErrorContains(t, c.Ask(t.Context()), "no message-processor is alive")
		require.NoError(t, testutil.GatherAndCompare(reg,
			strings.NewReader(`# HELP iris_app_buckets_without_owner Buckets that no live processor owns: their incidents do not escalate.
# TYPE iris_app_buckets_without_owner gauge
iris_app_buckets_without_owner 85
# HELP iris_app_live_processors Message processors with a fresh heartbeat.
# TYPE iris_app_live_processors gauge
iris_app_live_processors 0
`)))
	})
}
