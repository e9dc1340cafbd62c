package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// The story controls the clock of PostgreSQL: its start and its rate. Schedules and waits use this clock.
const storyClock = `
	create table story_clock (story timestamptz not null, world timestamptz not null, rate float8 not null);
	insert into story_clock values (%s, pg_catalog.clock_timestamp(), 1);
	create function public.clock_timestamp() returns timestamptz language sql volatile as
		'select story + (pg_catalog.clock_timestamp() - world) * rate from public.story_clock';
	create function public.statement_timestamp() returns timestamptz language sql stable as
		'select story + (pg_catalog.statement_timestamp() - world) * rate from public.story_clock';
	create function public.now() returns timestamptz language sql stable as
		'select story + (pg_catalog.now() - world) * rate from public.story_clock';
	do $$ begin execute format('alter database %%I set search_path = public, pg_catalog', current_database()); end $$;`

// nextTwo returns a time zone where it is 02:00 soon, on a day without a change of the clocks, and that instant.
func nextTwo(t *testing.T, now time.Time) (zone *time.Location, two time.Time) {
	t.Helper()
	for _, name := range []string{"Pacific/Kiritimati", "Pacific/Apia", "Pacific/Auckland", "Pacific/Noumea", "Australia/Sydney", "Asia/Tokyo", "Asia/Singapore",
		"Asia/Bangkok", "Asia/Dhaka", "Asia/Kolkata", "Asia/Karachi", "Asia/Dubai", "Asia/Riyadh", "Africa/Cairo", "Europe/Zurich", "Europe/Lisbon", "Atlantic/Azores",
		"Atlantic/Cape_Verde", "America/Sao_Paulo", "America/Halifax", "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles",
		"America/Anchorage", "Pacific/Honolulu", "Pacific/Pago_Pago"} {
		z, err := time.LoadLocation(name)
		require.NoError(t, err)
		here := now.In(z)
		at := time.Date(here.Year(), here.Month(), here.Day(), 2, 0, 0, 0, z)
		if at.Sub(now) < 2*time.Minute {
			at = at.AddDate(0, 0, 1)
		}
		_, before := at.AddDate(0, 0, -1).Zone()
		_, after := at.AddDate(0, 0, 1).Zone()
		if before == after && (zone == nil || at.Before(two)) {
			zone, two = z, at
		}
	}
	return zone, two
}

// The hand-off is at 02:00:00 in the team's time zone. The first person is paged until 01:59:59, the second person from
// 02:00:00. Look-ups and the simulation give the same answers.
func TestHandOffIsExactToTheSecond(t *testing.T) {
	t.Parallel()
	zone, two := nextTwo(t, time.Now())
	s := newStage(t, options{database: func(url string) {
		conn, err := pgx.Connect(t.Context(), url)
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), fmt.Sprintf(storyClock, "'"+
			two.Add(-10*time.Minute).UTC().Format(time.RFC3339)+"'"))
		require.NoError(t, err)
		require.NoError(t, conn.Close(t.Context()))
	}})
	s.alarm()
	_, err := s.db.Exec(t.Context(), "update teams set time_zone = $1",
		zone.String()) // set in the database, because the API accepts fewer zones
	require.NoError(t, err)
	s.edit("ann", http.MethodPost, "/api/v0/teams/ops/rosters", map[string]any{"name": "all"}, nil)
	for _, name := range []string{"ann", "bob"} {
		s.edit("ann", http.MethodPost, "/api/v0/teams/ops/rosters/all/users", map[string]any{"name": name}, nil)
	}
	// Weeks begin at 02:00 of today's weekday; ann has the first week. Until then bob is on call.
	s.edit("ann", http.MethodPost, "/api/v0/events", map[string]any{"team": "ops", "user": "bob", "role": "primary",
		"start": two.Add(-6 * time.Hour).Unix(), "end": two.Unix()}, nil)
	weekday := int64(two.Weekday())*86400 + 2*3600
	var schedule struct{ ID int64 }
	s.edit("ann", http.MethodPost, "/api/v0/teams/ops/rosters/all/schedules",
		map[string]any{"role": "primary", "advanced_mode": 0, "auto_populate_threshold": 28,
			"scheduler": map[string]any{"name": "round-robin", "data": []string{"ann",
				"bob"}}, "events": []map[string]any{{"start": weekday, "duration": 7 * 86400}}}, &schedule)
	s.edit("ann", http.MethodPost, fmt.Sprintf("/api/v0/schedules/%d/populate", schedule.ID),
		map[string]any{"start": two.Add(-10 * time.Minute).Unix()}, nil)
	s.plan("duty", []notification{notify("oncall-primary", "ops", "low", 3600)})
	var shifts []struct {
		User       string
		Start, End int64
	}
	s.edit("ann", http.MethodGet, fmt.Sprintf("/api/v0/events?team=ops&role=primary&end__ge=%d&start__le=%d",
		two.Unix(), two.Unix()), nil, &shifts)
	require.Len(t, shifts, 2, "one shift ends and one begins at 02:00: %v", shifts)
	require.Equal(t, []int64{two.Unix(), two.Unix()}, []int64{shifts[0].End, shifts[1].Start})
	require.Equal(t, []string{"bob", "ann"}, []string{shifts[0].User, shifts[1].User})
	s.aSecondLater()

	clock := func(at time.Time, rate float64) {
		t.Helper()
		_, err := s.db.Exec(t.Context(),
			"update story_clock set story = $1, world = pg_catalog.clock_timestamp(), rate = $2", at, rate)
		require.NoError(t, err)
	}
	var all []int64
	paged := func(name string) {
		t.Helper()
		var now []struct{ User string }
		s.edit("ann", http.MethodGet, "/api/v0/teams/ops/oncall/primary", nil, &now)
		require.Len(t, now, 1)
		require.Equal(t, name, now[0].User, "who is on call, says the API")
		target, _ := s.foretold("duty")
		require.Equal(t, name, target, "whom a simulation pages")
		id := s.open("duty", "who is it")
		s.expect(id, "email", name+"@example.com")
		require.Equal(t, 1, s.messagesOf(id))
		all = append(all, id)
	}
	local := func() string {
		t.Helper()
		var at time.Time
		require.NoError(t, s.db.QueryRow(t.Context(), "select clock_timestamp()").Scan(&at))
		return at.In(zone).Format("15:04:05")
	}
	clock(two.Add(-time.Second), 1.0/100)
	paged("bob")
	require.Equal(t, "01:59:59", local())
	clock(two, 1.0/100)
	paged("ann")
	require.Equal(t, "02:00:00", local())
	clock(two, 1)
	s.check(all)
}
