package escalation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

var noon = time.Date(2025, 3, 30, 0, 59, 0, 0,
	time.UTC) // a minute before clocks change in Europe, which must not matter

func note(p users.Priority, wait time.Duration, repeat int) Notification {
	return Notification{Priority: p, Wait: wait, Repeat: repeat,
		Target: &Target{Role: "user", Name: "demo", TargetID: 1}}
}

func step(ns ...Notification) Step { return Step{Notifications: ns} }

func TestNext(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	one := Plan{Steps: []Step{step(note(users.High, time.Minute, 0)), step(note(users.High, time.Minute, 0))}}
	repeating := Plan{Steps: []Step{step(note(users.High, time.Minute, 2))}}
	pair := Plan{Steps: []Step{step(note(users.Urgent, 0, 0), note(users.Low, time.Minute, 1)),
		step(note(users.High, 0, 0))}}
	tracked := one
	tracked.Tracking = &Tracking{Mode: users.Email, Key: "log@example.com"}

	for name, tc := range map[string]struct {
		plan Plan
		p    Progress
		now  time.Time
		want Decision // Progress is checked where it is not empty
	}{
		"a new incident enters step 1 at once": {
			plan: one, now: at(0),
			want: Decision{Entered: []int{1}, Rounds: []Round{{Step: 1}}, Due: at(120),
				Progress: Progress{Step: 1, StepAt: at(0), Unsettled: 1,
					Notifications: []Rounds{{Made: 1, At: at(0), Unsettled: 1}}}},
		},
		"the tracking message comes before step 1": {
			plan: tracked, now: at(0),
			want: Decision{Entered: []int{1}, Tracking: true, Rounds: []Round{{Step: 1}}, Due: at(120)},
		},
		"the tracking message is made once": {
			plan: tracked, now: at(0), p: Progress{Tracked: true},
			want: Decision{Entered: []int{1}, Rounds: []Round{{Step: 1}}, Due: at(120)},
		},
		"an unsettled round is waited for": {
			plan: one, now: at(119), p: Progress{Step: 1, Unsettled: 1,
				Notifications: []Rounds{{Made: 1, At: at(0), Unsettled: 1}}},
			want: Decision{Due: at(120)},
		},
		"after the longest delay its wait starts anyway and that is said": {
			plan: one, now: at(120), p: Progress{Step: 1, Unsettled: 1,
				Notifications: []Rounds{{Made: 1, At: at(0), Unsettled: 1}}},
			want: Decision{Late: []Late{{Step: 1, Unsettled: 1}}, Due: at(180)},
		},
		"a round in which everybody failed for good is over at once": {
			plan: one, now: at(5), p: Progress{Step: 1,
				Notifications: []Rounds{{Made: 1, At: at(0), SettledAt: at(5), Lost: true}}},
			want: Decision{Entered: []int{2}, Lost: []Lost{{Step: 1}}, Rounds: []Round{{Step: 2}}, Due: at(125)},
		},
		"such a round is not repeated": {
			plan: repeating, now: at(5), p: Progress{Step: 1,
				Notifications: []Rounds{{Made: 1, At: at(0), SettledAt: at(5), Lost: true}}},
			want: Decision{Lost: []Lost{{Step: 1}}, Over: Exhausted},
		},
		"another notification of the step is waited for": {
			plan: pair, now: at(5), p: Progress{Step: 1,
				Notifications: []Rounds{{Made: 1, At: at(0), SettledAt: at(5), Lost: true},
					{Made: 1, At: at(0), SettledAt: at(1)}}},
			want: Decision{Lost: []Lost{{Step: 1}}, Due: at(61)},
		},
		"it is said once": {
			plan: one, now: at(150), p: Progress{Step: 1, Unsettled: 1,
				Notifications: []Rounds{{Made: 1, At: at(0), Unsettled: 1, Late: true}}},
			want: Decision{Due: at(180)},
		},
		"a late round that left in the meantime waits from the longest delay": {
			plan: one, now: at(170), p: Progress{Step: 1,
				Notifications: []Rounds{{Made: 1, At: at(0), SettledAt: at(165), Late: true}}},
			want: Decision{Due: at(180)},
		},
		"the next step is entered over messages that do not leave": {
			plan: one, now: at(180), p: Progress{Step: 1, Unsettled: 1,
				Notifications: []Rounds{{Made: 1, At: at(0), Unsettled: 1, Late: true}}},
			want: Decision{Entered: []int{2}, Rounds: []Round{{Step: 2}}, Due: at(300)},
		},
		"an overslept late round is still told": {
			plan: one, now: at(500), p: Progress{Step: 1, Unsettled: 1,
				Notifications: []Rounds{{Made: 1, At: at(0), Unsettled: 1}}},
			want: Decision{Late: []Late{{Step: 1, Unsettled: 1}}, Entered: []int{2}, Rounds: []Round{{Step: 2}},
				Due: at(620)},
		},
		"a wait counts from when the message left": {
			plan: one, now: at(69), p: Progress{Step: 1,
				Notifications: []Rounds{{Made: 1, At: at(0), SettledAt: at(10)}}},
			want: Decision{Due: at(70)},
		},
		"the next step comes when the wait is over, not later": {
			plan: one, now: at(70), p: Progress{Step: 1,
				Notifications: []Rounds{{Made: 1, At: at(0), SettledAt: at(10)}}},
			want: Decision{Entered: []int{2}, Rounds: []Round{{Step: 2}}, Due: at(190)},
		},
		"messages that nothing is known of left when they were made": {
			plan: one, now: at(60), p: Progress{Step: 1, Notifications: []Rounds{{Made: 1, At: at(0)}}},
			want: Decision{Entered: []int{2}, Rounds: []Round{{Step: 2}}, Due: at(180)},
		},
		"a repeat comes before the next step": {
			plan: repeating, now: at(60), p: Progress{Step: 1,
				Notifications: []Rounds{{Made: 1, At: at(0), SettledAt: at(0)}}},
			want: Decision{Rounds: []Round{{Step: 1, Repeat: 1}}, Due: at(180)},
		},
		"the last repeat's wait counts too": {
			plan: repeating, now: at(179), p: Progress{Step: 1,
				Notifications: []Rounds{{Made: 3, At: at(120), SettledAt: at(120)}}},
			want: Decision{Due: at(180)},
		},
		"then the plan is exhausted": {
			plan: repeating, now: at(180), p: Progress{Step: 1,
				Notifications: []Rounds{{Made: 3, At: at(120), SettledAt: at(120)}}},
			want: Decision{Over: Exhausted},
		},
		"but not while a page is on its way": {
			plan: repeating, now: at(300), p: Progress{Step: 1, Unsettled: 1,
				Notifications: []Rounds{{Made: 3, At: at(120), Unsettled: 1, Late: true}}},
			want: Decision{Due: at(360)},
		},
		"every notification of a step must be over": {
			plan: pair, now: at(70), p: Progress{Step: 1, Notifications: []Rounds{
				{Made: 1, At: at(0), SettledAt: at(1)}, {Made: 1, At: at(0), SettledAt: at(10)}}},
			want: Decision{Rounds: []Round{{Step: 1, Position: 1, Repeat: 1}}, Due: at(70 + 900)},
		},
		"a wait of 0 ends when the message leaves": {
			plan: pair, now: at(1), p: Progress{Step: 1, Notifications: []Rounds{
				{Made: 1, At: at(0), SettledAt: at(1)}, {Made: 2, At: at(0), Skipped: true}}},
			want: Decision{Entered: []int{2}, Rounds: []Round{{Step: 2}}, Due: at(121)},
		},
		"a wait of 0 does not end before": {
			plan: pair, now: at(1), p: Progress{Step: 1, Unsettled: 1, Notifications: []Rounds{
				{Made: 1, At: at(0), Unsettled: 1}, {Skipped: true}}},
			want: Decision{Due: at(60)},
		},
		"what reached nobody holds nothing up and is not repeated": {
			plan: repeating, now: at(0), p: Progress{Step: 1,
				Notifications: []Rounds{{Made: 1, At: at(0), Skipped: true}}},
			want: Decision{Over: Exhausted},
		},
		"a plan without steps is over at once": {
			plan: Plan{}, now: at(0), want: Decision{Over: NoSteps},
		},
		"but tracks first": {
			plan: Plan{Tracking: tracked.Tracking}, now: at(0), want: Decision{Tracking: true, Due: at(60)},
		},
		"steps without notifications are passed through": {
			plan: Plan{Steps: []Step{{}, {}, step(note(users.Low, 0, 0))}}, now: at(0),
			want: Decision{Entered: []int{1, 2, 3}, Rounds: []Round{{Step: 3}}, Due: at(900)},
		},
		"a plan of nothing but empty steps is over": {
			plan: Plan{Steps: []Step{{}, {}}}, now: at(0), want: Decision{Entered: []int{1, 2}, Over: Exhausted},
		},
		"a step beyond the plan ends it": {
			plan: one, now: at(0), p: Progress{Step: 3}, want: Decision{Over: BeyondPlan},
		},
		"so does a negative one": {
			plan: one, now: at(0), p: Progress{Step: -1}, want: Decision{Over: BeyondPlan},
		},
		"lost progress begins the step anew": {
			plan: pair, now: at(5), p: Progress{Step: 1,
				Notifications: []Rounds{{Made: 1, At: at(0), SettledAt: at(1)}}},
			want: Decision{Rounds: []Round{{Step: 1, Position: 1}}, Due: at(905)},
		},
		"too much of it is ignored": {
			plan: one, now: at(5), p: Progress{Step: 1, Notifications: []Rounds{{Made: 1, At: at(0), SettledAt: at(1)},
				{}, {}}},
			want: Decision{Due: at(61)},
		},
		"more rounds than the plan has are enough": {
			plan: repeating, now: at(60), p: Progress{Step: 1,
				Notifications: []Rounds{{Made: 99, At: at(0), SettledAt: at(0)}}},
			want: Decision{Over: Exhausted},
		},
		"a negative wait is none": {
			plan: Plan{Steps: []Step{step(note(users.Low, -time.Hour, 0))}}, now: at(0),
			p:    Progress{Step: 1, Notifications: []Rounds{{Made: 1, At: at(0), SettledAt: at(0)}}},
			want: Decision{Over: Exhausted},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Next(tc.plan, tc.p, tc.now)
			if tc.want.Progress.Step != 0 {
				require.Equal(t, tc.want.Progress, got.Progress)
			}
			got.Progress, tc.want.Progress = Progress{}, Progress{}
			require.Equal(t, tc.want, got)
		})
	}
}

func TestNextAfterReopening(t *testing.T) {
	t.Parallel()
	plan := Plan{Steps: []Step{
		step(note(users.Urgent, time.Minute, 1)),
		step(note(users.High, time.Minute, 1), note(users.High, time.Minute, 0)),
	}, Tracking: &Tracking{Mode: users.Email, Key: "log@example.com"}}
	sent := Rounds{Made: 1, At: noon, SettledAt: noon}
	past := func(step, position, repeat int, who users.ID, purpose messages.Purpose, fate Fate) Past {
		return Past{Step: step, Position: position, Repeat: repeat, Recipient: messages.ToUser(who), Purpose: purpose,
			Fate: fate}
	}
	now := noon.Add(30 * time.Second)
	for name, tc := range map[string]struct {
		past     []Past
		states   []Rounds
		rounds   []Round
		tracking bool
	}{
		"nothing was cancelled": {
			past: []Past{past(2, 0, 0, 1, messages.Primary, PastLeft),
				past(2, 1, 0, 1, messages.Primary, PastOnItsWay)},
		},
		"what was cancelled is made again, for those who did not get it": {
			past: []Past{past(2, 1, 0, 1, messages.Primary, PastLeft),
				past(2, 1, 0, 2, messages.Primary, PastCancelled)},
			rounds: []Round{{Step: 2, Position: 1, Again: true, Served: []messages.Recipient{"user:1"}}},
		},
		"also of an earlier step": {
			past: []Past{past(1, 0, 1, 1, messages.Primary, PastCancelled),
				past(2, 0, 0, 1, messages.Primary, PastLeft)},
			rounds: []Round{{Step: 1, Repeat: 1, Again: true}},
		},
		"one page for several cancelled rounds": {
			past: []Past{past(1, 0, 0, 1, messages.Primary, PastCancelled),
				past(1, 0, 1, 1, messages.Primary, PastCancelled)},
			rounds: []Round{{Step: 1, Repeat: 1, Again: true}},
		},
		"a cancelled round that was followed by one that left is not made again": {
			past: []Past{past(1, 0, 0, 1, messages.Primary, PastCancelled),
				past(1, 0, 1, 1, messages.Primary, PastLeft)},
		},
		"a cancelled fallback is reached through the one it stood in for": {
			past: []Past{past(2, 0, 0, 1, messages.Primary, PastFailed),
				past(2, 0, 0, 9, messages.Fallback, PastCancelled)},
			rounds: []Round{{Step: 2, Again: true}},
		},
		"who failed for good is not tried again for the sake of others": {
			past: []Past{past(2, 0, 0, 1, messages.Primary, PastFailed),
				past(2, 0, 0, 2, messages.Primary, PastCancelled)},
			rounds: []Round{{Step: 2, Again: true, Served: []messages.Recipient{"user:1"}}},
		},
		"where nobody heard because the fallback was stopped, all are tried again": {
			past: []Past{past(2, 0, 0, 1, messages.Primary, PastFailed),
				past(2, 0, 0, 9, messages.Fallback, PastFailed)},
			rounds: []Round{{Step: 2, Again: true}},
		},
		"who failed while somebody else heard is not tried again": {
			past: []Past{past(2, 0, 0, 1, messages.Primary, PastFailed), past(2, 0, 0, 2, messages.Primary, PastLeft)},
		},
		"the tracking message too": {
			past: []Past{{Recipient: messages.ToLiteral("log@example.com"), Purpose: messages.TrackingMsg,
				Fate: PastCancelled}},
			tracking: true,
		},
		"what the plan does not have is left out": {
			past: []Past{past(9, 0, 0, 1, messages.Primary, PastCancelled),
				past(2, 7, 0, 1, messages.Primary, PastCancelled),
				past(-1, 0, 0, 1, messages.Primary, PastCancelled), past(2, -1, 0, 1, messages.Primary, PastCancelled)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Progress{Step: 2, Notifications: []Rounds{sent, sent}, Tracked: true, Reopened: 1, Past: tc.past}
			d := Next(plan, p, now)
			require.Equal(t, tc.rounds, d.Rounds)
			require.Equal(t, tc.tracking, d.Tracking)
			require.True(t, d.Reopened)
			require.Equal(t, 1, d.Progress.Reopen)
			again := Next(plan, d.Progress, now)
			require.Empty(t, again.Rounds, "once")
			require.False(t, again.Tracking)
		})
	}
}

func TestNextRestartsTheWaitOfRepeatedRounds(t *testing.T) {
	t.Parallel()
	plan := Plan{Steps: []Step{step(note(users.High, time.Minute, 0)), step(note(users.High, time.Minute, 0))}}
	now := noon.Add(time.Hour)
	d := Next(plan, Progress{Step: 1, Notifications: []Rounds{{Made: 1, At: noon}}, Reopened: 1, Past: []Past{
		{Step: 1, Recipient: "user:1", Purpose: messages.Primary, Fate: PastCancelled},
	}}, now)
	require.Empty(t, d.Entered)
	require.Equal(t, now.Add(2*time.Minute), d.Due)
	require.Equal(t, now, d.Progress.Notifications[0].At)
}

func TestProgressIsEncodedAndDecoded(t *testing.T) {
	t.Parallel()
	d := Next(Plan{Steps: []Step{step(note(users.High, time.Minute, 0))}}, Progress{}, noon)
	raw, err := EncodeProgress(d.Progress)
	require.NoError(t, err)
	require.JSONEq(t, `{"n":[{"m":1,"a":"2025-03-30T00:59:00Z"}]}`, string(raw))
	p, err := DecodeProgress(raw)
	require.NoError(t, err)
	require.Equal(t, []Rounds{{Made: 1, At: noon}}, p.Notifications)
	p, err = DecodeProgress(nil)
	require.NoError(t, err)
	require.Equal(t, Progress{}, p)
	_, err = DecodeProgress([]byte(`{"n": 3}`))
	require.Error(t, err)
}

func FuzzProgress(f *testing.F) {
	f.Add([]byte(`{"n":[{"m":1,"a":"2025-03-30T00:59:00Z","s":true,"l":true}],"r":2,"t":true}`), 1)
	f.Add([]byte(`{"n":[{"m":-9223372036854775808,"a":"0001-01-01T00:00:00Z"}]}`), 2)
	f.Add([]byte(`{"n":[null,{}],"r":-1}`), -7)
	f.Add([]byte(`nonsense`), 1<<40)
	plan := Plan{Steps: []Step{step(note(users.High, time.Minute, 3), note(users.Low, 0, 1<<40)), step()},
		Tracking: &Tracking{}}
	f.Fuzz(func(t *testing.T, raw []byte, at int) {
		p, err := DecodeProgress(raw)
		if err != nil {
			require.Equal(t, Progress{}, p)
		}
		p.Step = at
		d := Next(plan, p, noon)
		require.Equal(t, d.Over == "", d.Due.After(noon), "either the plan is over or it is decided again later")
		require.LessOrEqual(t, len(d.Rounds), 2)
		if raw, err = EncodeProgress(d.Progress); err == nil {
			_, err = DecodeProgress(raw)
			require.NoError(t, err)
		}
	})
}

func BenchmarkNext(b *testing.B) {
	plan := Plan{Steps: []Step{
		step(note(users.Urgent, time.Minute, 1), note(users.High, time.Minute, 1), note(users.Low, time.Minute, 1)),
		step(note(users.Urgent, time.Minute, 0)),
	}}
	fresh := Progress{}
	waiting := Next(plan, fresh, noon).Progress
	b.Run("first step", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Next(plan, fresh, noon)
		}
	})
	b.Run("nothing to do", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Next(plan, waiting, noon)
		}
	})
}
