package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/users"
)

func TestDirectoryReadsMailingLists(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	all := e.mailingList("all@example.com", "cy", "ana")
	empty := e.mailingList("empty")
	e.exec(`update mailing_lists set active = false, member_count = 7000 where target_id = $1`, empty)
	got, err := postgres.NewDirectory(e.db).Lists(t.Context(), []int64{all, empty, 999_999})
	require.NoError(t, err)
	require.Equal(t, map[int64]oncall.List{
		all: {TargetID: all, Name: "all@example.com", Active: true, Size: 2,
			Members: []users.ID{users.ID(e.people["ana"]), users.ID(e.people["cy"])}},
		empty: {TargetID: empty, Name: "empty", Size: 7000, Members: []users.ID{}},
	}, got)
}

func TestAPlanPagesAMailingList(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	e.mailingList("all@example.com", "ana", "bo", "cy")
	e.exec(`update users set active = false where name = 'bo'`)
	id := e.open(e.plan("everybody", intent{step: 1, role: "mailing-list", target: "all@example.com", priority: "low", wait: time.Minute}))
	e.pass()
	require.Equal(t, []string{"1.0.0 primary ana email pending", "1.0.0 primary cy email pending"}, e.pages(id))
	require.Contains(t, e.timeline(id)[0], "mailing list all@example.com")
}

func TestAMailingListOfNobodyOrOfTooManyGoesToTheFallback(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	e.mailingList("none")
	e.mailingList("huge", "ana", "cy")
	dir := postgres.NewDirectory(e.db)
	store := postgres.NewRunner(e.db)
	r, err := runner.New(runner.Deps{
		Work: store, Ledger: store, Digests: store, Timers: store, Reader: dir, Resolver: oncall.NewResolver(oncall.LimitLists(dir, 2), nil, 0), Holder: e.holder,
		Waker: e.wake, Log: zaptest.NewLogger(t),
	}, runner.Config{Keep: -1, Now: func() time.Time { return e.now }})
	require.NoError(t, err)
	for list, why := range map[string]string{
		"none": "mailing list none has no active member",
		"huge": "mailing list huge is too large: it has 2 members, and lists of 2 or more are not unrolled",
	} {
		plan := e.plan(list, intent{step: 1, role: "mailing-list", target: list, priority: "high", wait: time.Minute})
		e.fallbackTo("plans", plan, "user", "bo")
		id := e.open(plan)
		require.NoError(t, r.Pass(t.Context()))
		require.Equal(t, []string{"1.0.0 fallback bo sms pending"}, e.pages(id))
		require.Equal(t, "fallback: step 1: mailing list "+list+" cannot be paged: "+why+"; paging bo by sms instead (fallback of plan "+list+", bo)",
			e.timeline(id)[0])
	}
}

func TestAPlanThatNamesAMailingListIsWarnedOfLikeOthers(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	e.mailingList("all@example.com", "ana", "bo")
	e.exec(`delete from user_contacts where user_id = $1`, e.people["bo"])
	reach, err := postgres.NewPlans(e.db).Reach(t.Context(), []string{"all@example.com"}, nil)
	require.NoError(t, err)
	found := reach.Targets["all@example.com"]
	require.Len(t, found, 1)
	require.Equal(t, "mailing-list", found[0].Kind)
	require.Equal(t, 2, found[0].People)
	require.Equal(t, 1, found[0].Reachable)
	require.Equal(t, 2, found[0].Size)
}
