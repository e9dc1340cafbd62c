package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

func TestDirectoryReadsMailingLists(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	all := e.MailingList("all@example.com", "cy", "ana")
	empty := e.MailingList("empty")
	e.Exec(`update mailing_lists set active = false, member_count = 7000 where target_id = $1`, empty)
	got, err := pgescalation.NewDirectory(e.DB).Lists(t.Context(), []int64{all, empty, 999_999})
	require.NoError(t, err)
	require.Equal(t, map[int64]oncall.List{
		all: {TargetID: all, Name: "all@example.com", Active: true, Size: 2,
			Members: []users.ID{users.ID(e.People["ana"]), users.ID(e.People["cy"])}},
		empty: {TargetID: empty, Name: "empty", Size: 7000, Members: []users.ID{}},
	}, got)
}

func TestAPlanPagesAMailingList(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	e.MailingList("all@example.com", "ana", "bo", "cy")
	e.Exec(`update users set active = false where name = 'bo'`)
	id := e.Open(e.Plan("everybody", pgtest.Intent{Step: 1, Role: "mailing-list", Target: "all@example.com",
		Priority: "low", Wait: time.Minute}))
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana email pending", "1.0.0 primary cy email pending"}, e.Pages(id))
	require.Contains(t, e.Timeline(id)[0], "mailing list all@example.com")
}

func TestAnEmptyOrTooLargeMailingListPagesTheFallback(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	e.MailingList("none")
	e.MailingList("huge", "ana", "cy")
	dir := pgescalation.NewDirectory(e.DB)
	store := pgescalation.NewRunner(e.DB)
	r, err := runner.New(runner.Deps{
		Store: store, Reader: dir, Resolver: oncall.NewResolver(oncall.LimitLists(dir, 2), nil, 0), Holder: e.Holder,
		Waker: e.Wake, Log: zaptest.NewLogger(t),
	}, runner.Config{Keep: -1, Now: func() time.Time { return e.Now }})
	require.NoError(t, err)
	for list, why := range map[string]string{
		"none": "mailing list none has no active member",
		"huge": "mailing list huge is too large: it has 2 members, and lists of 2 or more are not unrolled",
	} {
		plan := e.Plan(list, pgtest.Intent{Step: 1, Role: "mailing-list", Target: list, Priority: "high",
			Wait: time.Minute})
		e.FallbackTo("plans", plan, "user", "bo")
		id := e.Open(plan)
		require.NoError(t, r.Pass(t.Context()))
		require.Equal(t, []string{"1.0.0 fallback bo sms pending"}, e.Pages(id))
		require.Equal(t, "fallback: step 1: mailing list "+list+" cannot be paged: "+why+
			"; paging bo by sms instead (fallback of plan "+list+", bo)",
			e.Timeline(id)[0])
	}
}

func TestReachCountsTheMembersOfAMailingList(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	e.MailingList("all@example.com", "ana", "bo")
	e.Exec(`delete from user_contacts where user_id = $1`, e.People["bo"])
	reach, err := pg.NewPlans(e.DB).Reach(t.Context(), []string{"all@example.com"}, nil)
	require.NoError(t, err)
	found := reach.Targets["all@example.com"]
	require.Len(t, found, 1)
	require.Equal(t, "mailing-list", found[0].Kind)
	require.Equal(t, 2, found[0].People)
	require.Equal(t, 1, found[0].Reachable)
	require.Equal(t, 2, found[0].Size)
}
