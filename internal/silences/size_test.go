package silences

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/teambition/rrule-go"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// Old recurrences are read from a later beginning, which must not change their occurrences.
func TestOldRecurrencesOccurAsIfReadFromTheirBeginning(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 2, 3, 0, 0, 0, berlin)
	for _, rule := range []string{"FREQ=DAILY", "FREQ=DAILY;INTERVAL=3", "FREQ=WEEKLY", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU;WKST=SU", "FREQ=DAILY;BYMONTH=3",
		"FREQ=DAILY;BYMONTHDAY=31", "FREQ=WEEKLY;INTERVAL=5;BYDAY=TU", "FREQ=DAILY;UNTIL=20261101T000000Z", "FREQ=MONTHLY;BYMONTHDAY=-1", "FREQ=YEARLY",
		"FREQ=DAILY;COUNT=400", "FREQ=WEEKLY;BYSETPOS=1;BYDAY=MO,TU", "FREQ=MONTHLY;BYDAY=2MO", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29"} {
		for _, hour := range []int{2, 22} { // 02:30 does not exist on a day in March
			from := time.Date(2025, 1, 1, hour, 30, 0, 0, berlin)
			c := content(func(c *Content) {
				c.From, c.To, c.Recurrence = from, from.Add(90*time.Minute),
					operation.Text(rule)
			})
			whole, err := option(rule)
			require.NoError(t, err)
			whole.Dtstart = from
			r, err := rrule.NewRRule(*whole)
			require.NoError(t, err)
			for at := now.AddDate(0, 0, -300); at.Before(now); at = at.AddDate(0, 0, 1) {
				span, is := c.At(at)
				before := r.Before(at, true)
				require.Equal(t, !before.IsZero() && at.Before(c.end(before)), is, "%s %s", rule, at)
				require.True(t, !is || span.From.Equal(before), "%s %s", rule, at)
				next, comes := c.Next(at)
				after := r.After(at, false)
				require.Equal(t, !after.IsZero(), comes, "%s %s", rule, at)
				require.True(t, !comes || next.From.Equal(after), "%s %s: %s, not %s", rule, at, next.From, after)
			}
		}
	}
}

func TestTheBeginningIsBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 1, 0, 0, 0, time.UTC)
	for _, from := range []time.Time{time.Date(1760, 1, 1, 0, 0, 0, 0, time.UTC), now.AddDate(-1, 0, -2), now.AddDate(11, 0, 0)} {
		err := content(func(c *Content) { c.From = from }).near(now)
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		require.Equal(t, "from", f.Field)
	}
	require.NoError(t, content(func(c *Content) { c.From = now.AddDate(-1, 0, 0) }).near(now))
}

// What is kept from the last list must be as if it was computed anew.
func TestKeptSilencesAreAsComputedAnew(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 1, 0, 0, 0, berlin)
	kept, rules := NewCurrent(nil, nil), []string{"", "FREQ=DAILY", "FREQ=DAILY;INTERVAL=2", "FREQ=WEEKLY;BYDAY=MO,TU"}
	list, random := Listed{}, rand.New(rand.NewPCG(1, 2))
	for range 300 {
		now = now.Add(time.Duration(random.IntN(int(6*time.Hour))) - time.Minute)
		id := ID(random.IntN(10))
		change := func(c *Content) {
			c.From = now.Add(time.Duration(random.IntN(48)-24) * time.Hour)
			c.To, c.Recurrence = c.From.Add(time.Duration(1+random.IntN(40))*time.Hour), operation.Text(rules[random.IntN(len(rules))])
		}
		list.Silences = append(list.Silences[:0:0], list.Silences...)
		if int(id) < len(list.Silences) {
			change(&list.Silences[id].Content)
		} else {
			list.Silences = append(list.Silences, Silence{ID: ID(len(list.Silences)), Content: content(change)})
		}
		anew, again := NewCurrent(nil, nil).compile(list, now), kept.compile(list, now)
		require.Equal(t, anew.index, again.index)
		require.Len(t, again.silences, len(anew.silences))
		for k, one := range anew.silences {
			require.Equal(t, one.ID, again.silences[k].ID)
			require.True(t, one.Span.From.Equal(again.silences[k].Span.From) &&
				one.Span.To.Equal(again.silences[k].Span.To), one.Content)
		}
	}
}

func TestASilenceInDoubtHidesNothingAndSpoilsNoOther(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 1, 0, 0, 0, berlin)
	of := func(id ID, match string) Silence {
		return Silence{ID: id, Content: content(func(c *Content) { c.Match = operation.Text(match) })}
	}
	var all []Silence
	for k := range ID(60) {
		all = append(all, of(100+k, `title!~"(x{0,30}){0,30}.*y"`))
	}
	s := Subject{Context: json.RawMessage(fmt.Sprintf(`{"title":"%060000d","team":"db"}`, 0))}
	_, found, err := NewCurrent(nil, nil).compile(Listed{Silences: all}, now).find(t.Context(), &s, now)
	require.NoError(t, err)
	require.False(t, found)
	hide, found, err := NewCurrent(nil, nil).compile(Listed{Silences: append(all, of(1, `team=~"d.*"`))},
		now).find(t.Context(), &s, now)
	require.NoError(t, err)
	require.True(t, found, "the cheap one is asked first")
	require.EqualValues(t, 1, hide.Silence)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = NewCurrent(nil, nil).compile(Listed{Silences: all}, now).find(ctx, &s, now)
	require.ErrorIs(t, err, context.Canceled)
}

// BenchmarkFind is what the silences add to the opening of an incident.
func BenchmarkFind(b *testing.B) {
	now := time.Date(2026, 3, 2, 1, 0, 0, 0, berlin)
	for _, kind := range []struct {
		name  string
		match func(k int) string
	}{
		{"equality", func(k int) string { return fmt.Sprintf(`team="db", host="h%d"`, k) }},
		{"list", func(k int) string { return fmt.Sprintf(`host=~"h%d|g%d", severity="critical"`, k, k) }},
		{"expression", func(k int) string { return fmt.Sprintf(`host=~"h%d-.*"`, k) }},
	} {
		for _, n := range []int{0, 100, 10_000} {
			all := make([]Silence, n)
			for k := range all {
				all[k] = Silence{ID: ID(k),
					Content: content(func(c *Content) { c.Match = operation.Text(kind.match(k)) })}
			}
			force := NewCurrent(nil, nil).compile(Listed{Silences: all}, now)
			b.Run(fmt.Sprintf("%s/%d", kind.name, n), func(b *testing.B) {
				for b.Loop() {
					s := Subject{Severity: "critical",
						Context: json.RawMessage(`{"labels":{"team":"db","host":"h99999-1","service":"sql"},"title":"disk full"}`)}
					_, _, _ = force.find(b.Context(), &s, now)
				}
			})
		}
	}
}

// BenchmarkCompile is what a process does each second, without changes.
func BenchmarkCompile(b *testing.B) {
	now := time.Date(2026, 3, 2, 1, 0, 0, 0, berlin)
	all := make([]Silence, 10_000)
	for k := range all {
		all[k] = Silence{ID: ID(k), Content: content(func(c *Content) {
			c.Match, c.Recurrence = operation.Text(fmt.Sprintf(`host=~"h%d-.*"`, k)), "FREQ=DAILY"
		})}
	}
	current := NewCurrent(nil, nil)
	current.compile(Listed{Silences: all}, now)
	for b.Loop() {
		current.compile(Listed{Silences: all}, now)
	}
}
