package floods

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

func TestQuietTimeLimits(t *testing.T) {
	t.Parallel()
	zurich, err := time.LoadLocation("Europe/Zurich")
	require.NoError(t, err)
	page := func(p users.Priority, m users.Mode) messages.New {
		return messages.New{IncidentID: 1, Recipient: "user:1", Target: "ana", Purpose: messages.Primary, Priority: p,
			Mode: m}
	}
	at := func(day, hour int) time.Time {
		return time.Date(2026, 11, day, hour, 0, 0, 0,
			zurich)
	} // the 20th is a Friday
	q := QuietLimits{Limited: true, PerDay: 1, WorkingDays: []users.Priority{users.Low}, Zone: zurich,
		Holidays: []string{"2026-11-23"}}
	for name, c := range map[string]struct {
		page  messages.New
		count DayCount
		at    time.Time
		until time.Time
		why   string
	}{
		"within the limit": {page: page(users.High, users.SMS), at: at(20, 12)},
		"beyond it": {page: page(users.High, users.SMS), count: DayCount{"2026-11-20", 1},
			at: at(20, 12), until: at(21, 8), why: "they have had their 1 call or text of the day"},
		"urgent": {page: page(users.Urgent, users.Call), count: DayCount{"2026-11-20", 1},
			at: at(20, 12)},
		"another mode": {page: page(users.High, users.Email), count: DayCount{"2026-11-20", 1},
			at: at(20, 12)},
		"of another day": {page: page(users.High, users.Call), count: DayCount{"2026-11-19", 1},
			at: at(20, 0)},
		"the day is of their zone": {page: page(users.High, users.Call), count: DayCount{"2026-11-21", 1},
			at: at(20, 23).Add(90 * time.Minute).UTC(), until: at(22,
				8), why: "they have had their 1 call or text of the day"},
		"a working day": {page: page(users.Low, users.Email), at: at(20, 23)},
		"a weekend before a holiday": {page: page(users.Low, users.Email), at: at(21, 3), until: at(24, 8),
			why: "they get low pages on working days only"},
		"a holiday": {page: page(users.Low, users.Email), at: at(23, 9), until: at(24, 8),
			why: "they get low pages on working days only"},
		"no priority": {page: page("", users.SMS), count: DayCount{"2026-11-20", 1}, at: at(20, 12)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			until, why := q.Hold(c.page, &c.count, c.at)
			require.True(t, c.until.Equal(until), until)
			require.Equal(t, c.why, why)
		})
	}
}

// On no day a person gets more calls and texts below urgent than the limit. A held page is sent later, on a morning of
// the person, and on a working day if its priority needs one. Urgent pages are never held.
func TestQuietTimeLimitsHoldNoMoreThanTheyMust(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom([]string{"UTC", "Europe/Zurich", "America/Sao_Paulo",
			"Pacific/Chatham", "Australia/Lord_Howe"}).Draw(rt, "zone"))
		require.NoError(rt, err)
		q := QuietLimits{Limited: rapid.Bool().Draw(rt, "limited"), PerDay: rapid.IntRange(0, 3).Draw(rt, "per day"),
			Zone: zone,
			WorkingDays: rapid.SampledFrom([][]users.Priority{nil, {users.Low}, {users.Low, users.Medium}}).Draw(rt,
				"working days")}
		now := time.Date(2025, 3, 28, 0, 0, 0, 0, time.UTC)
		count, sent := DayCount{}, map[string]int{}
		for range rapid.IntRange(1, 60).Draw(rt, "pages") {
			now = now.Add(time.Duration(rapid.IntRange(0, 8*3600).Draw(rt, "pause")) * time.Second)
			m := messages.New{IncidentID: 1, Recipient: "user:1", Purpose: messages.Primary,
				Priority: rapid.SampledFrom(users.Priorities).Draw(rt, "priority"),
				Mode:     rapid.SampledFrom([]users.Mode{users.SMS, users.Call, users.Email}).Draw(rt, "mode")}
			until, why := q.Hold(m, &count, now)
			require.Equal(rt, until.IsZero(), why == "")
			if until.IsZero() {
				if q.Counts(m) {
					sent[now.In(zone).Format(time.DateOnly)]++
				}
				continue
			}
			require.NotEqual(rt, users.Urgent, m.Priority)
			require.True(rt, until.After(now))
			require.Equal(rt, morning, until.In(zone).Hour())
			if len(q.WorkingDays) > 0 && m.Priority == users.Low && !q.working(now.In(zone)) {
				require.True(rt, q.working(until.In(zone)))
				require.Less(rt, until.Sub(now), 4*24*time.Hour)
			}
		}
		for day, n := range sent {
			require.LessOrEqual(rt, n, q.PerDay, day)
		}
	})
}
