package pg_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/escalation"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	pgoncall "github.com/iris-oncall/iris/internal/oncall/pg"
	"github.com/iris-oncall/iris/internal/users"
)

// onDuty makes e's runner resolve from the calendar, which is read again for every page, and sets the time zone of team
// db.
func onDuty(e *pgtest.Escalating, zone string) {
	e.T.Helper()
	e.Exec(`update teams set time_zone = $1 where name = 'db'`, zone)
	dir := pgescalation.NewDirectory(e.DB)
	var err error
	store := pgescalation.NewRunner(e.DB)
	e.Runner, err = runner.New(runner.Deps{
		Store: store, Reader: dir, Holder: e.Holder, Waker: e.Wake, Log: zaptest.NewLogger(e.T),
		Resolver: oncall.NewResolver(dir, oncall.NewLiveCalendar(pgoncall.NewCalendars(e.DB),
			oncall.LiveConfig{Keep: -1, Wait: 10 * time.Second}), 0),
	}, runner.Config{Keep: -1, Now: func() time.Time { return e.Now }})
	require.NoError(e.T, err)
}

// addShift adds a shift of a person in a role of team db and returns the shift's number.
func addShift(e *pgtest.Escalating, who, role string, start, end time.Time) oncall.ShiftID {
	e.T.Helper()
	return oncall.ShiftID(e.ID(`insert into shifts (team_id, role_id, user_id, starts_at, ends_at)
		select t.id, r.id, $1, $3, $4 from teams t, oncall_roles r where t.name = 'db' and r.name = $2 returning id`,
		e.People[who], role, start, end))
}

// editShifts changes the calendar of team db as the API does.
func editShifts(e *pgtest.Escalating, decide func(desk editing.Editor, chosen []oncall.Shift) (oncall.Changes, error), ids ...oncall.ShiftID) {
	e.T.Helper()
	_, err := pgoncall.NewShifts(e.DB).Edit(e.Ctx(), edited(editing.Selection{IDs: ids}, func(d editing.Editor, chosen []oncall.Shift) (oncall.Changes, error) {
		for _, id := range e.People {
			d.Team.Members[users.ID(id)] = true
		}
		return decide(d, chosen)
	}), oncall.By{Owner: "ana"})
	require.NoError(e.T, err)
}

// simulate simulates the plan now, until it is exhausted, and returns the predicted pages and timeline.
func simulate(e *pgtest.Escalating, plan int64) (pages, timeline []string) {
	e.T.Helper()
	return simulateTo(e, plan, simulation.EndExhausted)
}

func simulateTo(e *pgtest.Escalating, plan int64, end simulation.End) (pages, timeline []string) {
	e.T.Helper()
	keys, err := auth.NewKeys(bytes.Repeat([]byte{1}, auth.SecretSize))
	require.NoError(e.T, err)
	dir := pgescalation.NewDirectory(e.DB)
	s, err := simulation.NewSimulator(simulation.SimulatorDeps{
		Reader: dir, Rules: dir, Names: pg.NewNames(e.DB, pg.NewApplications(e.DB, keys)), Clock: e.DB,
		Resolver: func() *oncall.Resolver {
			return oncall.NewResolver(dir, oncall.NewSimulationCalendar(pgoncall.NewCalendars(e.DB),
				oncall.LiveConfig{}), time.Hour)
		},
	})
	require.NoError(e.T, err)
	before := e.ID(`select (select count(*) from messages) + (select count(*) from timeline_entries) + (select count(*) from incidents)`)
	sim, err := s.Simulate(e.Ctx(), simulation.Question{Plan: escalation.PlanID(plan), Application: e.App, At: e.Now})
	require.NoError(e.T, err)
	require.Equal(e.T, end, sim.End)
	require.Equal(e.T, before, e.ID(`select (select count(*) from messages) + (select count(*) from timeline_entries) + (select count(*) from incidents)`))
	for _, p := range sim.Pages {
		state := "sent"
		if !p.HeldUntil.IsZero() {
			state = "aggregated"
		}
		pages = append(pages, fmt.Sprintf("%d.%d.%d %s %s %s %s", p.Step, p.Position, p.Repeat, p.Purpose, p.Target,
			p.Mode, state))
	}
	for _, l := range sim.Timeline {
		timeline = append(timeline, fmt.Sprintf("%s %s: %s", l.At.UTC().Format(time.RFC3339), l.Kind, l.Text))
	}
	return pages, timeline
}

// runThrough runs the real runner until an incident ends; every message is sent at once.
func runThrough(e *pgtest.Escalating, incident int64) (pages, timeline []string) {
	e.T.Helper()
	for looks := 0; ; looks++ {
		require.Less(e.T, looks, 200)
		e.Pass()
		e.Settle(incident, "sent")
		s := e.Progress(incident)
		if !s.Active {
			break
		}
		e.Later(max(s.Due, 0))
	}
	rows, err := e.DB.Pool().Query(e.Ctx(),
		`select to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ' ' || kind || ': ' || text
		from timeline_entries where incident_id = $1 order by id`, incident)
	require.NoError(e.T, err)
	for rows.Next() {
		var line string
		require.NoError(e.T, rows.Scan(&line))
		timeline = append(timeline, line)
	}
	require.NoError(e.T, rows.Err())
	return e.Pages(incident), timeline
}

// A gap of any length is one: the team's fixed order does not answer for a role that the calendar has at some time.
// Paging and simulation follow the same rule.
func TestAPageWaitsThroughAGapOfAnyLength(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, prepare := range map[string]func(*pgtest.Escalating){
		"an hour ago": func(e *pgtest.Escalating) {
			addShift(e, "cy", "primary", e.Now.Add(-3*time.Hour), e.Now.Add(-2*time.Hour))
		},
		"a month ago": func(e *pgtest.Escalating) {
			addShift(e, "cy", "primary", e.Now.Add(-40*day),
				e.Now.Add(-30*day))
		},
		"in a month": func(e *pgtest.Escalating) {
			addShift(e, "cy", "primary", e.Now.Add(30*day),
				e.Now.Add(40*day))
		},
		"never": func(*pgtest.Escalating) {},
		"another role's": func(e *pgtest.Escalating) {
			addShift(e, "cy", "secondary", e.Now.Add(-40*day),
				e.Now.Add(-30*day))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := pgtest.NewEscalating(t)
			onDuty(e, "Europe/Zurich")
			prepare(e)
			plan := e.Plan("night", pgtest.Intent{Step: 1, Role: "oncall-primary", Target: "db", Priority: "high",
				Wait: time.Hour})
			e.Exec(`update plans set settings = '{"wait_for_on_call": true}' where id = $1`, plan)
			waits, end := name != "never" && name != "another role's", simulation.EndExhausted
			if waits {
				end = simulation.EndCut
			}
			predicted, _ := simulateTo(e, plan, end)
			id := e.Open(plan)
			e.Pass()
			if waits {
				require.Empty(t, predicted)
				require.Empty(t, e.Pages(id))
				require.Contains(t, e.Timeline(id),
					"held: step 1: nobody is on call for oncall-primary of db; the page waits until somebody is")
				addShift(e, "cy", "primary", e.Now, e.Now.Add(day))
				e.Later(time.Minute)
				e.Pass()
				require.Equal(t, []string{"1.0.0 primary cy sms pending"}, e.Pages(id))
				return
			}
			require.Len(t, predicted, 1)
			require.Len(t, e.Pages(id), 1)
		})
	}
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
			e := pgtest.NewEscalating(t)
			onDuty(e, tc.zone)
			zone, err := time.LoadLocation(tc.zone)
			require.NoError(t, err)
			handOff := (tc.day + 2*3600).In(zone)
			addShift(e, "cy", "primary", (tc.day - 7*86400 + 2*3600).In(zone), handOff)
			addShift(e, "bo", "primary", handOff, (tc.day + 7*86400 + 2*3600).In(zone))
			plan := e.Plan("night", pgtest.Intent{Step: 1, Role: "oncall-primary", Target: "db", Priority: "high",
				Wait: time.Hour})

			e.Now = handOff.Add(-time.Second)
			before := e.Open(plan)
			e.Pass()
			require.Equal(t, []string{"1.0.0 primary cy sms pending"}, e.Pages(before))
			e.Now = handOff
			after := e.Open(plan)
			e.Pass()
			require.Equal(t, []string{"1.0.0 primary bo sms pending"}, e.Pages(after))
			require.Contains(t, e.Timeline(after)[0],
				"step 1: paging bo by sms (high, primary of team db: shift until ")
		})
	}
}

func TestAnOverrideAndASwapArePagedOneSecondLater(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	onDuty(e, "UTC")
	mine := addShift(e, "ana", "primary", e.Now.Add(-time.Hour), e.Now.Add(time.Hour))
	theirs := addShift(e, "bo", "primary", e.Now.Add(time.Hour), e.Now.Add(2*time.Hour))
	plan := e.Plan("night", pgtest.Intent{Step: 1, Role: "oncall-primary", Target: "db", Priority: "high",
		Wait: time.Hour})
	page := func() []string {
		t.Helper()
		id := e.Open(plan)
		e.Pass()
		return e.Pages(id)
	}
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, page())

	editShifts(e, func(d editing.Editor, chosen []oncall.Shift) (oncall.Changes, error) {
		return d.Swap([]editing.Side{{Shifts: chosen[:1]}, {Shifts: chosen[1:]}})
	}, mine, theirs)
	require.Equal(t, []string{"1.0.0 primary bo sms pending"}, page(), "swapped")

	editShifts(e, func(d editing.Editor, chosen []oncall.Shift) (oncall.Changes, error) {
		c, _, err := d.Override(chosen, e.Now.Add(-time.Second), e.Now.Add(30*time.Minute), users.ID(e.People["cy"]))
		return c, err
	}, mine)
	require.Equal(t, []string{"1.0.0 primary cy sms pending"}, page(), "overridden")
	e.Later(30 * time.Minute)
	require.Equal(t, []string{"1.0.0 primary bo sms pending"}, page(), "until the override is over")
}

func TestAPersonOnCallWithoutAContactIsSkipped(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	onDuty(e, "UTC")
	e.Person("mute")
	e.Person("mailonly", "email")
	addShift(e, "mute", "primary", e.Now.Add(-time.Hour), e.Now.Add(time.Hour))
	addShift(e, "mailonly", "secondary", e.Now.Add(-time.Hour), e.Now.Add(time.Hour))
	id := e.Open(e.Plan("night",
		pgtest.Intent{Step: 1, Role: "oncall-primary", Target: "db", Priority: "urgent", Wait: time.Minute},
		pgtest.Intent{Step: 1, Role: "oncall-secondary", Target: "db", Priority: "urgent", Wait: time.Minute}))
	e.Pass()
	require.Equal(t, []string{"1.0.0 fallback owner call pending", "1.1.0 primary mailonly email pending"}, e.Pages(id))
	require.Equal(t, []string{
		"fallback: step 1: mute cannot be paged in any mode: there is no call contact; paging owner by call instead (creator of plan night)",
		"step: step 1: paging mailonly by email because there is no call contact (urgent, secondary of team db: shift until " +
			e.Now.Add(time.Hour).Format("Mon 2006-01-02 15:04 MST") + ")",
	}, e.Timeline(id))
}

// A simulation over the database predicts what the runner then does (promise P9). The cases are hand-offs, an override,
// a vacation, gaps, people who cannot be reached, and people's settings.
func TestASimulationPredictsWhatTheRunnerDoes(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	onDuty(e, "Europe/Zurich")
	e.Person("mute")
	at := func(minutes int) time.Time { return e.Now.Add(time.Duration(minutes) * time.Minute) }
	first := addShift(e, "ana", "primary", at(-60), at(7))
	addShift(e, "bo", "primary", at(7), at(20))
	addShift(e, "mute", "primary", at(20), at(30))
	addShift(e, "cy", "secondary", at(-60), at(15)) // after that, the fixed order applies
	addShift(e, "bo", "vacation", at(-600), at(600))
	editShifts(e, func(d editing.Editor, chosen []oncall.Shift) (oncall.Changes, error) {
		c, _, err := d.Override(chosen, at(3), at(5), users.ID(e.People["cy"]))
		return c, err
	}, first)
	e.Exec(`insert into user_modes (user_id, priority, mode) values ($1, 'urgent', 'slack')`, e.People["cy"])
	e.Exec(`insert into user_reprioritizations (user_id, source_mode, destination_mode, count, window_seconds) values ($1, 'call', 'email', 1, 3600)`, e.People["bo"])
	plan := e.Plan("night",
		pgtest.Intent{Step: 1, Role: "oncall-primary", Target: "db", Priority: "urgent", Wait: 2 * time.Minute,
			Repeat: 12},
		pgtest.Intent{Step: 1, Role: "oncall-secondary", Target: "db", Priority: "high", Wait: 5 * time.Minute,
			Repeat: 3},
		pgtest.Intent{Step: 2, Role: "team", Target: "db", Priority: "medium", Wait: time.Minute},
		pgtest.Intent{Step: 2, Role: "manager", Target: "db", Priority: "high"},
		pgtest.Intent{Step: 3, Role: "user", Target: "mute", Priority: "low", Optional: true})
	e.Exec(`update plans set fallback_role = 'user', fallback_target_id = (select target_id from users where name = 'boss'),
		threshold_count = 4, threshold_window = 3600, aggregation_window = 86400, aggregation_reset = 300 where id = $1`, plan)

	foretold, lines := simulate(e, plan)
	pages, timeline := runThrough(e, e.Open(plan))
	require.ElementsMatch(t, pages, foretold)
	require.Equal(t, timeline, lines)
	for _, want := range []string{"primary cy slack", "primary bo call", "primary bo email", "fallback boss call", "aggregated"} {
		require.Contains(t, fmt.Sprint(pages), want, "the story has all of it")
	}
}
