package messages_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// For any sequence of events, the window counts each event younger than the span. It counts none for longer than the
// span plus a 64th of it.
func TestAWindowCountsEventsWithinItsSpan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		span := time.Duration(rapid.IntRange(1, 3600).Draw(t, "span")) * time.Second
		gaps := rapid.SliceOfN(rapid.IntRange(0, int(span.Milliseconds()/20)+1), 1, 400).Draw(t, "gaps")
		var w messages.Window
		var all []time.Time
		now := noon
		for _, gap := range gaps {
			now = now.Add(time.Duration(gap) * time.Millisecond)
			w.Add(now, 1, span)
			all = append(all, now)
			young, nearly := 0, 0
			for _, at := range all {
				if age := now.Sub(at); age < span {
					young++
				} else if age < span+span/32+2*time.Millisecond {
					nearly++
				}
			}
			n := w.Within(now, span)
			require.GreaterOrEqual(t, n, young)
			require.LessOrEqual(t, n, young+nearly)
			if len(all) <= 100 {
				require.Equal(t, young, n, "exact while they are few")
			}
			require.LessOrEqual(t, len(w.Events), 129, "bounded")
		}
	})
}

func TestAWindowAcceptsAClockThatGoesBack(t *testing.T) {
	t.Parallel()
	var w messages.Window
	w.Add(noon, 2, time.Minute)
	w.Add(noon.Add(-time.Second), 1, time.Minute)
	require.Equal(t, 3, w.Within(noon, time.Minute))
	raw, err := json.Marshal(w)
	require.NoError(t, err)
	var back messages.Window
	require.NoError(t, json.Unmarshal(raw, &back))
	require.Equal(t, w, back)
}

func TestReprioritise(t *testing.T) {
	t.Parallel()
	rule := func(from, to users.Mode, count int) messages.Reprioritisation {
		return messages.Reprioritisation{From: from, To: to, Count: count, Within: time.Minute, Usable: true}
	}
	unusable := rule(users.Call, users.SMS, 1)
	unusable.Usable = false
	for name, tc := range map[string]struct {
		rules []messages.Reprioritisation
		want  []users.Mode
	}{
		"no rule": {nil, []users.Mode{users.Call, users.Call, users.Call}},
		"another mode's": {[]messages.Reprioritisation{rule(users.SMS, users.Email, 1)},
			[]users.Mode{users.Call, users.Call, users.Call}},
		"beyond the count": {[]messages.Reprioritisation{rule(users.Call, users.SMS, 2)},
			[]users.Mode{users.Call, users.Call, users.SMS, users.SMS}},
		"a chain": {[]messages.Reprioritisation{rule(users.Call, users.SMS, 1), rule(users.SMS, users.Email, 2)},
			[]users.Mode{users.Call, users.SMS, users.SMS, users.Email}},
		"a circle": {[]messages.Reprioritisation{rule(users.Call, users.SMS, 1), rule(users.SMS, users.Call, 1)},
			[]users.Mode{users.Call, users.SMS, users.SMS}},
		"to itself": {[]messages.Reprioritisation{rule(users.Call, users.Call, 1)},
			[]users.Mode{users.Call, users.Call}},
		"nobody is there": {[]messages.Reprioritisation{unusable}, []users.Mode{users.Call, users.Call}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counts := map[users.Mode]*messages.Window{}
			for i, want := range tc.want {
				got := messages.Reprioritise(users.Call, tc.rules, counts, noon.Add(time.Duration(i)*time.Second))
				require.Equal(t, want, got, "message %d", i)
			}
			later := noon.Add(time.Hour)
			require.Equal(t, users.Call, messages.Reprioritise(users.Call, tc.rules, counts, later), "long after")
		})
	}
}

func TestAQuotaNeverAllowsMoreThanItsHardLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := messages.Quota{HardLimit: rapid.IntRange(1, 50).Draw(t, "hard"), HardWithin: time.Minute}
		var u messages.Usage
		now := noon
		type sent struct {
			at time.Time
			n  int
		}
		var all []sent
		for _, ask := range rapid.SliceOfN(rapid.IntRange(0, 20), 1, 60).Draw(t, "asks") {
			now = now.Add(time.Duration(rapid.IntRange(0, 20_000).Draw(t, "gap")) * time.Millisecond)
			n := u.Allowed(q, ask, now)
			require.LessOrEqual(t, n, ask)
			all = append(all, sent{now, n})
			within := 0
			for _, s := range all {
				if now.Sub(s.at) < q.HardWithin {
					within += s.n
				}
			}
			require.LessOrEqual(t, within, q.HardLimit)
			if n < ask {
				require.Equal(t, q.HardLimit, within, "nothing is dropped without need")
			}
		}
	})
}

func TestBreachNoticesAreRateLimited(t *testing.T) {
	t.Parallel()
	q := messages.Quota{SoftLimit: 2, SoftWithin: time.Minute, HardLimit: 5, HardWithin: time.Minute, TargetID: 7,
		Plan: "quota", Wait: time.Hour}
	var u messages.Usage
	require.Equal(t, 2, u.Allowed(q, 2, noon))
	require.False(t, u.TextDue(q, noon), "at the limit is not above it")
	require.Equal(t, 3, u.Allowed(q, 4, noon))
	require.True(t, u.TextDue(q, noon))
	require.False(t, u.TextDue(q, noon.Add(time.Second)), "once in half an hour")
	u.Allowed(q, 5, noon.Add(31*time.Minute))
	require.True(t, u.TextDue(q, noon.Add(31*time.Minute)))

	require.True(t, u.BreachDue(q, false, noon), "the first")
	u.Incident, u.BreachedAt = 1, noon
	require.False(t, u.BreachDue(q, true, noon.Add(2*time.Hour)), "nobody has claimed the last one")
	require.False(t, u.BreachDue(q, false, noon.Add(time.Minute)), "too soon")
	require.True(t, u.BreachDue(q, false, noon.Add(time.Hour)))
	require.False(t, u.BreachDue(messages.Quota{}, false, noon.Add(time.Hour)), "without a plan")
}
