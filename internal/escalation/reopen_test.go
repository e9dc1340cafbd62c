package escalation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

func TestRoundsRepeatedByAReopening(t *testing.T) {
	t.Parallel()
	ann, bob := messages.Recipient("user:1"), messages.Recipient("user:2")
	past := func(repeat int, to messages.Recipient, fate Fate) Past {
		return Past{Step: 1, Repeat: repeat, Recipient: to, Purpose: messages.Primary, Fate: fate}
	}
	instead := func(p Past) Past { p.Purpose = messages.Fallback; return p }
	at := func(step, position int, p Past) Past { p.Step, p.Position = step, position; return p }
	again := func(repeat int, served ...messages.Recipient) []Round {
		return []Round{{Step: 1, Repeat: repeat, Again: true, Served: served}}
	}
	for name, c := range map[string]struct {
		past []Past
		want []Round
	}{
		"nothing was made":  {},
		"all left":          {past: []Past{past(0, ann, PastLeft)}},
		"one was cancelled": {past: []Past{past(0, ann, PastCancelled)}, want: again(0)},
		"one was cancelled, one left": {past: []Past{past(0, ann, PastCancelled), past(0, bob, PastLeft)},
			want: again(0, bob)},
		"who is served is named once, in order": {past: []Past{past(0, bob, PastLeft),
			past(0, "user:3", PastCancelled), past(0, ann, PastOnItsWay), instead(past(0, ann, PastLeft))},
			want: again(0, ann, bob)},
		"one was cancelled, one failed": {past: []Past{past(0, ann, PastCancelled), past(0, bob, PastFailed)},
			want: again(0, bob)},
		"the page to a fallback was cancelled": {past: []Past{past(0, ann, PastFailed),
			instead(past(0, bob, PastCancelled))}, want: again(0)},
		"all failed": {past: []Past{past(0, ann, PastFailed), past(0, bob, PastFailed)},
			want: again(0)},
		"one failed, one left":             {past: []Past{past(0, ann, PastFailed), past(0, bob, PastLeft)}},
		"one failed, one is on its way":    {past: []Past{past(0, ann, PastFailed), past(0, bob, PastOnItsWay)}},
		"of several rounds the last alone": {past: []Past{past(0, ann, PastCancelled), past(1, ann, PastLeft)}},
		"an earlier round serves nobody": {past: []Past{past(0, bob, PastLeft), past(1, ann, PastCancelled)},
			want: again(1)},
		"an earlier round that arrived is past": {past: []Past{past(1, ann, PastFailed), past(0, ann, PastLeft)},
			want: again(1)},
		"an earlier round that failed is past":   {past: []Past{past(0, ann, PastFailed), past(1, ann, PastLeft)}},
		"a tracking message that failed is lost": {past: []Past{at(0, 0, past(0, ann, PastFailed))}},
		"steps and positions in order": {past: []Past{at(2, 0, past(0, ann, PastCancelled)),
			at(1, 1, past(0, ann, PastCancelled)), at(1, 0, past(0, ann, PastCancelled))},
			want: []Round{{Step: 1, Again: true}, {Step: 1, Position: 1, Again: true}, {Step: 2, Again: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Len(t, cancelled(c.past), len(c.want))
			for i, r := range cancelled(c.past) {
				require.Equal(t, c.want[i].Served, append([]messages.Recipient(nil), r.Served...))
				r.Served, c.want[i].Served = nil, nil
				require.Equal(t, c.want[i], r)
			}
		})
	}
}

func TestReopeningRepeatsOnlyNotificationsOfThePlan(t *testing.T) {
	t.Parallel()
	plan := Plan{Steps: []Step{step(note(users.High, time.Minute, 0)), step(note(users.High, time.Minute, 0))}}
	for name, c := range map[string]struct {
		past Past
		made bool
	}{
		"of this step":                 {Past{Step: 2, Recipient: "user:1", Fate: PastCancelled}, true},
		"of an earlier step":           {Past{Step: 1, Recipient: "user:1", Fate: PastCancelled}, true},
		"of no step":                   {Past{Step: -1, Recipient: "user:1", Fate: PastCancelled}, false},
		"of a step to come":            {Past{Step: 3, Recipient: "user:1", Fate: PastCancelled}, false},
		"of no notification":           {Past{Step: 1, Position: 1, Recipient: "user:1", Fate: PastCancelled}, false},
		"of a negative one":            {Past{Step: 1, Position: -1, Recipient: "user:1", Fate: PastCancelled}, false},
		"of a round that was not last": {Past{Step: 2, Repeat: 1, Recipient: "user:1", Fate: PastCancelled}, false},
		"tracking, without an address": {Past{Recipient: "user:1", Fate: PastCancelled}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Next(plan, Progress{Step: 2, StepAt: noon, Reopened: 1, Past: []Past{c.past},
				Notifications: []Rounds{{Made: 1, At: noon, SettledAt: noon}}}, noon.Add(time.Second))
			require.True(t, d.Reopened)
			require.False(t, d.Tracking)
			require.Equal(t, 1, d.Progress.Reopen)
			if !c.made {
				require.Empty(t, d.Rounds)
				require.Zero(t, d.Progress.Unsettled)
				return
			}
			require.Len(t, d.Rounds, 1)
			require.Equal(t, c.past.Step, d.Rounds[0].Step)
			require.Equal(t, 1, d.Progress.Unsettled)
		})
	}
}
