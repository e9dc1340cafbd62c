package postgres_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/edits"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/users"
)

// onDuty lets e's runner page from the calendar, which is looked at anew for every page, and gives team db a zone.
func onDuty(e *escalating, zone string) {
	e.t.Helper()
	e.exec(`update teams set time_zone = $1 where name = 'db'`, zone)
	dir := postgres.NewDirectory(e.db)
	var err error
	store := postgres.NewRunner(e.db)
	e.runner, err = runner.New(runner.Deps{
		Work: store, Ledger: store, Digests: store, Timers: store, Reader: dir, Holder: e.holder, Waker: e.wake, Log: zaptest.NewLogger(e.t),
		Resolver: oncall.NewResolver(dir, oncall.NewLiveCalendar(postgres.NewOncallCalendars(e.db), oncall.LiveConfig{Keep: -1, Wait: 10 * time.Second}), 0),
	}, runner.Config{Keep: -1, Now: func() time.Time { return e.now }})
	require.NoError(e.t, err)
}

// shift gives a role of team db to somebody and returns the shift's number.
func (e *escalating) shift(who, role string, start, end time.Time) oncall.ShiftID {
	e.t.Helper()
	return oncall.ShiftID(e.id(`insert into shifts (team_id, role_id, user_id, starts_at, ends_at)
		select t.id, r.id, $1, $3, $4 from teams t, oncall_roles r where t.name = 'db' and r.name = $2 returning id`,
		e.people[who], role, start, end))
}

// edit changes the calendar of team db the way the API does.
func (e *escalating) edit(decide func(desk edits.Editor, chosen []oncall.Shift) (oncall.Changes, error), ids ...oncall.ShiftID) {
	e.t.Helper()
	_, err := postgres.NewOncallShifts(e.db).Edit(e.ctx(), edits.Selection{IDs: ids}, oncall.By{Owner: "ana"}, false,
		func(now time.Time, team edits.Membership, chosen []oncall.Shift) (edits.Decision, error) {
			for _, id := range e.people {
				team.Members[users.ID(id)] = true
			}
			c, err := decide(edits.Editor{Now: now, Team: team, NewLink: func() string { return "" }}, chosen)
			return edits.Decision{Changes: c}, err
		})
	require.NoError(e.t, err)
}

// foretell simulates the plan now and returns what pages and timeline would say.
func (e *escalating) foretell(plan int64) (pages, timeline []string) {
	e.t.Helper()
	keys, err := auth.NewKeys(bytes.Repeat([]byte{1}, auth.SecretSize))
	require.NoError(e.t, err)
	dir := postgres.NewDirectory(e.db)
	s, err := simulation.NewSimulator(simulation.SimulatorDeps{
		Reader: dir, Rules: dir, Names: postgres.NewNames(e.db, postgres.NewApplications(e.db, keys)), Clock: e.db,
		Resolver: func() *oncall.Resolver {
			return oncall.NewResolver(dir, oncall.NewSimulationCalendar(postgres.NewOncallCalendars(e.db), oncall.LiveConfig{}), time.Hour)
		},
	})
	require.NoError(e.t, err)
	before := e.id(`select (select count(*) from messages) + (select count(*) from timeline_entries) + (select count(*) from incidents)`)
	sim, err := s.Simulate(e.ctx(), simulation.Question{Plan: escalation.PlanID(plan), Application: e.app, At: e.now})
	require.NoError(e.t, err)
	require.Equal(e.t, simulation.EndExhausted, sim.End)
	require.Equal(e.t, before, e.id(`select (select count(*) from messages) + (select count(*) from timeline_entries) + (select count(*) from incidents)`))
	for _, p := range sim.Pages {
		state := "sent"
		if !p.HeldUntil.IsZero() {
			state = "aggregated"
		}
		pages = append(pages, fmt.Sprintf("%d.%d.%d %s %s %s %s", p.Step, p.Position, p.Repeat, p.Purpose, p.Target, p.Mode, state))
	}
	for _, l := range sim.Timeline {
		timeline = append(timeline, fmt.Sprintf("%s %s: %s", l.At.UTC().Format(time.RFC3339), l.Kind, l.Text))
	}
	return pages, timeline
}

// liveThrough has the real runner take an incident to its end; every message leaves at once.
func (e *escalating) liveThrough(incident int64) (pages, timeline []string) {
	e.t.Helper()
	for looks := 0; ; looks++ {
		require.Less(e.t, looks, 200)
		e.pass()
		e.settle(incident, "sent")
		s := e.standing(incident)
		if !s.Active {
			break
		}
		e.later(max(s.Due, 0))
	}
	rows, err := e.db.Pool().Query(e.ctx(), `select to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ' ' || kind || ': ' || text
		from timeline_entries where incident_id = $1 order by id`, incident)
	require.NoError(e.t, err)
	for rows.Next() {
		var line string
		require.NoError(e.t, rows.Scan(&line))
		timeline = append(timeline, line)
	}
	require.NoError(e.t, rows.Err())
	return e.pages(incident), timeline
}

func TestAHandOffPagesTheRightPersonOnEachSide(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		zone string
		day  oncall.Local
	}{
		"any day":                {"Europe/Zurich", oncall.LocalDate(2027, 2, 1, 0)},
		"clocks go back":         {"America/New_York", oncall.LocalDate(2027, 11, 7, 0)},
		"clocks go forward":      {"America/New_York", oncall.LocalDate(2027, 3, 14, 0)},
		"half an hour off":       {"Australia/Lord_Howe", oncall.LocalDate(2027, 10, 3, 0)},
		"forty-five minutes off": {"Asia/Kathmandu", oncall.LocalDate(2027, 6, 1, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEscalating(t)
			onDuty(e, tc.zone)
			zone, err := time.LoadLocation(tc.zone)
			require.NoError(t, err)
			handOff := (tc.day + 2*3600).In(zone)
			e.shift("cy", "primary", (tc.day - 7*86400 + 2*3600).In(zone), handOff)
			e.shift("bo", "primary", handOff, (tc.day + 7*86400 + 2*3600).In(zone))
			plan := e.plan("night", intent{step: 1, role: "oncall-primary", target: "db", priority: "high", wait: time.Hour})

			e.now = handOff.Add(-time.Second)
			before := e.open(plan)
			e.pass()
			require.Equal(t, []string{"1.0.0 primary cy sms pending"}, e.pages(before))
			e.now = handOff
			after := e.open(plan)
			e.pass()
			require.Equal(t, []string{"1.0.0 primary bo sms pending"}, e.pages(after))
			require.Contains(t, e.timeline(after)[0], "step 1: paging bo by sms (high, primary of team db: shift until ")
		})
	}
}

func TestAnOverrideAndASwapOfASecondAgoArePaged(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	onDuty(e, "UTC")
	mine := e.shift("ana", "primary", e.now.Add(-time.Hour), e.now.Add(time.Hour))
	theirs := e.shift("bo", "primary", e.now.Add(time.Hour), e.now.Add(2*time.Hour))
	plan := e.plan("night", intent{step: 1, role: "oncall-primary", target: "db", priority: "high", wait: time.Hour})
	page := func() []string {
		t.Helper()
		id := e.open(plan)
		e.pass()
		return e.pages(id)
	}
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, page())

	e.edit(func(d edits.Editor, chosen []oncall.Shift) (oncall.Changes, error) {
		return d.Swap([]edits.Side{{Shifts: chosen[:1]}, {Shifts: chosen[1:]}})
	}, mine, theirs)
	require.Equal(t, []string{"1.0.0 primary bo sms pending"}, page(), "swapped")

	e.edit(func(d edits.Editor, chosen []oncall.Shift) (oncall.Changes, error) {
		c, _, err := d.Override(chosen, e.now.Add(-time.Second), e.now.Add(30*time.Minute), users.ID(e.people["cy"]))
		return c, err
	}, mine)
	require.Equal(t, []string{"1.0.0 primary cy sms pending"}, page(), "overridden")
	e.later(30 * time.Minute)
	require.Equal(t, []string{"1.0.0 primary bo sms pending"}, page(), "until the override is over")
}

func TestWhoIsOnCallWithoutAPhoneIsPassedOver(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	onDuty(e, "UTC")
	e.person("mute")
	e.person("mailonly", "email")
	e.shift("mute", "primary", e.now.Add(-time.Hour), e.now.Add(time.Hour))
	e.shift("mailonly", "secondary", e.now.Add(-time.Hour), e.now.Add(time.Hour))
	id := e.open(e.plan("night",
		intent{step: 1, role: "oncall-primary", target: "db", priority: "urgent", wait: time.Minute},
		intent{step: 1, role: "oncall-secondary", target: "db", priority: "urgent", wait: time.Minute}))
	e.pass()
	require.Equal(t, []string{"1.0.0 fallback owner call pending", "1.1.0 primary mailonly email pending"}, e.pages(id))
	require.Equal(t, []string{
		"fallback: step 1: mute cannot be paged in any mode: there is no call contact; paging owner by call instead (creator of plan night)",
		"step: step 1: paging mailonly by email because there is no call contact (urgent, secondary of team db: shift until " +
			e.now.Add(time.Hour).Format("Mon 2006-01-02 15:04 MST") + ")",
	}, e.timeline(id))
}

// The screen and the engine agree (promise P9): a simulation over the database says what the runner then does, over hand-offs,
// an override, a vacation, gaps, people who cannot be reached, and their own settings.
func TestASimulationIsWhatTheRunnerDoes(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	onDuty(e, "Europe/Zurich")
	e.person("mute")
	at := func(minutes int) time.Time { return e.now.Add(time.Duration(minutes) * time.Minute) }
	first := e.shift("ana", "primary", at(-60), at(7))
	e.shift("bo", "primary", at(7), at(20))
	e.shift("mute", "primary", at(20), at(30))
	e.shift("cy", "secondary", at(-60), at(15)) // then the fixed order stands in
	e.shift("bo", "vacation", at(-600), at(600))
	e.edit(func(d edits.Editor, chosen []oncall.Shift) (oncall.Changes, error) {
		c, _, err := d.Override(chosen, at(3), at(5), users.ID(e.people["cy"]))
		return c, err
	}, first)
	e.exec(`insert into user_modes (user_id, priority, mode) values ($1, 'urgent', 'slack')`, e.people["cy"])
	e.exec(`insert into user_reprioritizations (user_id, source_mode, destination_mode, count, window_seconds) values ($1, 'call', 'email', 1, 3600)`, e.people["bo"])
	plan := e.plan("night",
		intent{step: 1, role: "oncall-primary", target: "db", priority: "urgent", wait: 2 * time.Minute, repeat: 12},
		intent{step: 1, role: "oncall-secondary", target: "db", priority: "high", wait: 5 * time.Minute, repeat: 3},
		intent{step: 2, role: "team", target: "db", priority: "medium", wait: time.Minute},
		intent{step: 2, role: "manager", target: "db", priority: "high"},
		intent{step: 3, role: "user", target: "mute", priority: "low", optional: true})
	e.exec(`update plans set fallback_role = 'user', fallback_target_id = (select target_id from users where name = 'boss'),
		threshold_count = 4, threshold_window = 3600, aggregation_window = 86400, aggregation_reset = 300 where id = $1`, plan)

	foretold, lines := e.foretell(plan)
	pages, timeline := e.liveThrough(e.open(plan))
	require.ElementsMatch(t, pages, foretold)
	require.Equal(t, timeline, lines)
	for _, want := range []string{"primary cy slack", "primary bo call", "primary bo email", "fallback boss call", "aggregated"} {
		require.Contains(t, fmt.Sprint(pages), want, "the story has all of it")
	}
}
