//go:build mariadb

package imports_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// oldEvent is a row of Oncall's table event. schedule 0 = by hand.
type oldEvent struct {
	team, role, user, schedule int
	start, end                 time.Time
}

// oldSchedule is a schedule of Oncall. pattern is start and length from Sunday 00:00.
type oldSchedule struct {
	id, team, role int
	zone           *time.Location
	algorithm      string
	threshold      int // days
	pattern        [][2]time.Duration
	roster         []int // active and in rotation, in order
	last           time.Time
	lastUser       int
}

// oldCalendar simulates Oncall's scheduler daemon. It is written from the contract of its algorithms and shares no code
// with Iris. Where Oncall chooses arbitrarily, the roster's order decides.
type oldCalendar struct {
	events    []oldEvent
	schedules []*oldSchedule
}

// wall is the clock of a zone as if it were UTC, and instant its reverse.
func wall(t time.Time, z *time.Location) time.Time {
	_, offset := t.In(z).Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

func instant(w time.Time, z *time.Location) time.Time {
	return time.Date(w.Year(), w.Month(), w.Day(), w.Hour(), w.Minute(), w.Second(), 0, z).UTC()
}

func sunday(w time.Time) time.Time {
	return time.Date(w.Year(), w.Month(), w.Day()-int(w.Weekday()), 0, 0, 0, 0, time.UTC)
}

// run is one round of the daemon, team by team and algorithm by algorithm.
func (c *oldCalendar) run(now time.Time) {
	type job struct {
		s     *oldSchedule
		slots []oldEvent
	}
	jobs := map[string][]job{}
	for _, s := range c.schedules {
		first, last := s.pattern[0][0], time.Duration(0)
		for _, p := range s.pattern {
			first, last = min(first, p[0]), max(last, p[0]+p[1])
		}
		days := 7 * max(1, int((last-first+7*24*time.Hour-1)/(7*24*time.Hour)))
		epoch := sunday(wall(now, s.zone))
		if !s.last.IsZero() {
			w := wall(s.last, s.zone)
			if epoch = sunday(w); w.Sub(epoch) >= 84*time.Hour {
				epoch = epoch.AddDate(0, 0, 7)
			}
			epoch = epoch.AddDate(0, 0, days)
		}
		for ; now.UTC().AddDate(0, 0, s.threshold).After(epoch); epoch = epoch.AddDate(0, 0, days) {
			var slots []oldEvent
			for _, p := range s.pattern {
				slots = append(slots, oldEvent{s.team, s.role, 0, s.id, instant(epoch.Add(p[0]), s.zone),
					instant(epoch.Add(p[0]+p[1]), s.zone)})
			}
			key := fmt.Sprint(s.team, s.algorithm)
			jobs[key] = append(jobs[key], job{s, slots})
			s.last = instant(epoch, s.zone)
		}
	}
	for _, list := range jobs {
		slices.SortStableFunc(list, func(a, b job) int {
			return cmp.Or(a.slots[0].start.Compare(b.slots[0].start), cmp.Compare(a.s.role, b.s.role))
		})
		for _, j := range list {
			c.assign(j.s, j.slots)
		}
	}
}

const vacation = 5

func (c *oldCalendar) assign(s *oldSchedule, slots []oldEvent) {
	if s.algorithm == "default" {
		same := 0
		for _, e := range c.events {
			if slices.ContainsFunc(slots, func(x oldEvent) bool {
				return x.team == e.team && x.role == e.role && x.start.Equal(e.start) && x.end.Equal(e.end)
			}) {
				same++
			}
		}
		if same == len(slots) {
			return
		}
	}
	user := 0
	if s.algorithm == "round-robin" {
		user = s.roster[(slices.Index(s.roster, s.lastUser)+1)%len(s.roster)]
		s.lastUser = user
	} else {
		user = c.rested(s, slots)
	}
	for _, x := range slots {
		if user != 0 {
			x.user = user
			c.events = append(c.events, x)
		}
	}
}

func (c *oldCalendar) rested(s *oldSchedule, slots []oldEvent) int {
	best, oldest := 0, time.Time{}
	for _, user := range s.roster {
		busy, last := false, time.Time{}
		for _, e := range c.events {
			if e.user != user {
				continue
			}
			counts := e.team == s.team || e.role == vacation || s.algorithm == "multi-team"
			busy = busy || counts && slices.ContainsFunc(slots,
				func(x oldEvent) bool { return x.start.Before(e.end) && e.start.Before(x.end) })
			if e.team == s.team && e.role == s.role && !e.end.After(slots[0].start) && e.end.After(last) {
				last = e.end
			}
		}
		if !busy && (best == 0 || last.Before(oldest)) {
			best, oldest = user, last
		}
	}
	return best
}

func hours(pattern ...float64) [][2]time.Duration {
	var out [][2]time.Duration
	for i := 0; i < len(pattern); i += 2 {
		out = append(out, [2]time.Duration{time.Duration(pattern[i] * float64(time.Hour)),
			time.Duration(pattern[i+1] * float64(time.Hour))})
	}
	return out
}

// sql writes the calendar as Oncall's tables.
func (c *oldCalendar) sql() string {
	var b strings.Builder
	for _, s := range c.schedules {
		fmt.Fprintf(&b, "insert into roster (id, name, team_id) values (%d, 'r%d', %d);\n", s.id, s.id, s.team)
		fmt.Fprintf(&b, "insert into schedule (id, team_id, roster_id, role_id, auto_populate_threshold, advanced_mode, last_epoch_scheduled, last_scheduled_user_id, scheduler_id) "+
			"select %d, %d, %d, %d, %d, 1, %d, %s, id from scheduler where name = '%s';\n", s.id, s.team, s.id, s.role, s.threshold, s.last.Unix(),
			strings.TrimSuffix(fmt.Sprint(s.lastUser), "0")+map[bool]string{true: "null"}[s.lastUser == 0], s.algorithm)
		for _, p := range s.pattern {
			fmt.Fprintf(&b, "insert into schedule_event (schedule_id, start, duration) values (%d, %d, %d);\n", s.id,
				p[0]/time.Second, p[1]/time.Second)
		}
		for i, u := range s.roster {
			fmt.Fprintf(&b, "insert into roster_user (roster_id, user_id, in_rotation, roster_priority) values (%d, %d, 1, %d);\n", s.id, u, i)
			if s.algorithm == "round-robin" {
				fmt.Fprintf(&b, "insert into schedule_order (schedule_id, user_id, priority) values (%d, %d, %d);\n",
					s.id, u, i)
			}
		}
		fmt.Fprintf(&b, "insert into roster_user (roster_id, user_id, in_rotation, roster_priority) values (%d, 8, 1, 0), (%d, 9, 0, 1);\n", s.id, s.id) // left; not in rotation
	}
	for _, e := range c.events {
		schedule := fmt.Sprint(e.schedule)
		if e.schedule == 0 {
			schedule = "null"
		}
		fmt.Fprintf(&b, "insert into event (team_id, role_id, user_id, schedule_id, start, end) values (%d, %d, %d, %s, %d, %d);\n",
			e.team, e.role, e.user, schedule, e.start.Unix(), e.end.Unix())
	}
	return b.String()
}

// TestOncallSchedulesGoOn: the shifts that our processor makes from imported schedules are those that Oncall's daemon
// would make, across both changes of the clocks, without a gap or a double shift at the moment of the import.
func TestOncallSchedulesGoOn(t *testing.T) {
	t.Parallel()
	zone := func(name string) *time.Location {
		z, err := time.LoadLocation(name)
		require.NoError(t, err)
		return z
	}
	now := time.Now().UTC().Truncate(time.Second)
	week := 7 * 24.0
	c := &oldCalendar{schedules: []*oldSchedule{
		{id: 1, team: 1, role: 1, zone: zone("US/Pacific"), algorithm: "default", threshold: 180,
			pattern: hours(33, week), roster: []int{1, 2, 3, 4}},
		{id: 2, team: 1, role: 2, zone: zone("US/Pacific"), algorithm: "default", threshold: 60,
			pattern: hours(0, 12, 24, 12, 48, 12, 72, 12, 96, 12, 120, 12, 144, 12), roster: []int{4, 3, 2, 1}},
		{id: 3, team: 2, role: 1, zone: zone("Asia/Kathmandu"), algorithm: "round-robin", threshold: 90,
			pattern: hours(10, 2*week), roster: []int{5, 6, 7}},
		{id: 4, team: 3, role: 1, zone: zone("Australia/Lord_Howe"), algorithm: "multi-team", threshold: 365,
			pattern: hours(9, 8.5, 105, 8.5), roster: []int{10, 11, 12}},
		{id: 5, team: 4, role: 2, zone: zone("America/Havana"), algorithm: "no-skip-matching", threshold: 30,
			pattern: hours(20, week), roster: []int{13, 14}},
	}}
	// By hand: an override in the past, vacations to come, a week to come that somebody took beforehand.
	hand := sunday(wall(now.AddDate(0, 0, 179), c.schedules[0].zone)).Add(33 * time.Hour)
	c.events = []oldEvent{
		{1, 1, 3, 0, now.AddDate(0, 0, -30), now.AddDate(0, 0, -29)}, {9, vacation, 2, 0, now.AddDate(0, 0, 40),
			now.AddDate(0, 0, 55)},
		{3, vacation, 11, 0, now.AddDate(0, 0, 20), now.AddDate(0, 0, 50)},
		{1, 1, 1, 0, instant(hand, c.schedules[0].zone), instant(hand.Add(7*24*time.Hour), c.schedules[0].zone)},
	}
	for day := -100; day <= -31; day++ { // the daemon was stopped a month ago
		c.run(now.AddDate(0, 0, day))
	}
	before := len(c.events)

	s := newStage(t, "oncall_schema.sql")
	s.predecessor = "oncall"
	s.my.SetMaxOpenConns(1)
	s.mysql("set foreign_key_checks = 0; insert into role (id, name, display_order) values (1, 'primary', 1), (2, 'secondary', 2), (5, 'vacation', 5);" +
		"insert into scheduler (id, name, description) values (1, 'default', ''), (2, 'round-robin', ''), (3, 'no-skip-matching', ''), (4, 'multi-team', '')")
	for i := 1; i <= 14; i++ {
		s.mysql(fmt.Sprintf("insert into user (id, name, active) values (%d, 'u%d', %d)", i, i,
			map[bool]int{true: 1}[i != 8]))
	}
	for id, z := range map[int]string{1: "US/Pacific", 2: "Asia/Kathmandu", 3: "Australia/Lord_Howe", 4: "America/Havana", 9: "UTC"} {
		s.mysql(fmt.Sprintf("insert into team (id, name, scheduling_timezone) values (%d, 't%d', '%s')", id, id, z))
	}
	s.mysql(c.sql())
	code, report := s.move()
	require.Zero(t, code, report)
	require.Empty(t, report.OnCall.Differences)

	program(t, s, "message-processor", "IRIS_GOSSIP_ADDR=127.0.0.1:0")
	c.run(now)
	require.Greater(t, len(c.events), before+20)
	want := make([]string, 0, len(c.events))
	for _, e := range c.events {
		want = append(want, fmt.Sprintf("%d|%d|%d|%s|%s", e.team, e.role, e.user, e.start.Format(time.DateTime),
			e.end.Format(time.DateTime)))
	}
	slices.Sort(want)
	made := func() []string {
		return s.ours("select t.oncall_id, s.role_id, u.oncall_id, s.starts_at, s.ends_at from shifts s join teams t on t.id = s.team_id join users u on u.id = s.user_id")
	}
	require.Eventually(t, func() bool { return len(made()) >= len(want) }, time.Minute, 200*time.Millisecond,
		"%d of %d are made", len(made()), len(want))
	require.Equal(t, want, made())
}
