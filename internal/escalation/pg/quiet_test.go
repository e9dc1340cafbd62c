package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/escalation/floods"
	"github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/users"
)

func TestPagesBeyondTheLimitOfTheDayAreSentAsOneDigest(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	e.Now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) // a Friday
	e.Exec(`insert into user_quiet_limits values ($1, 1, '{low}')`, e.People["ana"])
	followUps(e, "ana", "high", "slack", 60)
	one := e.Plan("one", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Minute},
		pgtest.Intent{Step: 2, Role: "user", Target: "bo", Priority: "high"})
	two := e.Plan("two", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour})
	first := e.Open(one)
	e.Pass()
	require.ElementsMatch(t, []string{"1.0.0 primary ana sms pending", "1.0.0 follow-up-1 ana slack pending"},
		e.Pages(first))
	second, third, fourth := e.Open(one), e.Open(two), e.Open(two)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana sms aggregated"}, e.Pages(second), "without its follow-up")
	require.Contains(t, e.Timeline(second),
		"held: page to ana by sms held: they have had their 1 call or text of the day; it is sent Sat 2026-11-21 08:00 UTC")
	require.Equal(t, time.Minute, e.Progress(second).Due, "a held page counts as sent")
	urgent := e.Open(e.Plan("three", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "urgent",
		Wait: time.Hour}))
	low := e.Open(e.Plan("four", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "low", Wait: time.Hour}))
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana call pending"}, e.Pages(urgent), "never held")
	require.Equal(t, []string{"1.0.0 primary ana email pending"}, e.Pages(low), "on a working day")
	e.Acknowledge(fourth)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana sms cancelled"}, e.Pages(fourth))

	e.Later(14 * time.Hour) // Saturday, 2 a.m.
	weekend := e.Open(e.Plan("five", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "low",
		Wait: time.Hour}))
	e.Pass()
	require.Contains(t, e.Timeline(weekend),
		"held: page to ana by email held: they get low pages on working days only; it is sent Mon 2026-11-23 08:00 UTC")
	require.Equal(t, int64(0), e.ID(`select count(*) from messages where purpose = 'digest'`))
	e.Later(6 * time.Hour)
	e.Pass()
	require.Equal(t, "ana sms high 2 pending",
		e.Text(`select target || ' ' || mode || ' ' || priority || ' ' || batch_size || ' ' || state from messages where purpose = 'digest'`))
	require.Equal(t, "2 pages that were held for you",
		e.Text(`select c.subject from message_contents c join messages m on m.id = c.message_id where m.incident_id = $1`, third))
	require.Equal(t, []string{"1.0.0 primary ana email aggregated"}, e.Pages(weekend))
	e.Later(48 * time.Hour)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana email pending"}, e.Pages(weekend), "alone, as it is")
	require.Zero(t, e.ID(`select count(*) from aggregations where release_at is not null`))
}

func TestTheLimitOfTheInstallationIsForPeopleWithoutTheirOwn(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	e.Now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	e.Exec(`insert into user_quiet_limits values ($1, 5, '{}')`, e.People["bo"])
	e.PerDay = 1
	e.Runner = e.Start(e.Holder)
	plan := e.Plan("one", pgtest.Intent{Step: 1, Role: "team", Target: "db", Priority: "high", Wait: time.Hour})
	first := e.Open(plan)
	e.Pass()
	require.Len(t, e.Pages(first), 3)
	second := e.Open(plan)
	e.Pass()
	require.Equal(t, "2 1", e.Text(`select count(*) filter (where state = 'aggregated') || ' ' || count(*) filter (where state = 'pending') from messages where incident_id = $1`, second))
}

func TestQuietTimeLimitsAreReadWithTheHolidaysOfTheTeams(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	monday := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	e.Exec(`update users set time_zone = 'Asia/Tokyo' where name = 'ana'`)
	e.Exec(`insert into user_quiet_limits (user_id, per_day, working_days) values ($1, null, '{low}')`, e.People["ana"])
	team := e.ID(`select id from teams where name = 'db'`)
	e.Exec(`insert into holiday_calendars (team_id, source) values ($1, '')`, team)
	e.Exec(`insert into holidays (team_id, day) values ($1, '2026-11-24'), ($1, '2020-01-01')`, team)
	dir := pg.NewDirectory(e.DB)
	q, ok, err := dir.Quiet(t.Context(), users.ID(e.People["ana"]), monday)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "Asia/Tokyo", q.Zone.String())
	q.Zone = nil
	require.Equal(t, floods.QuietLimits{WorkingDays: []users.Priority{users.Low}, Holidays: []string{"2026-11-24"}}, q)

	boss := users.ID(e.People["boss"])
	_, ok, err = dir.Quiet(t.Context(), boss, monday)
	require.NoError(t, err)
	require.False(t, ok)
	q, ok, err = dir.WithDailyLimit(3).Quiet(t.Context(), boss, monday)
	require.NoError(t, err)
	require.True(t, ok)
	require.True(t, q.Limited)
	require.Equal(t, 3, q.PerDay)
}
