package escalation

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/users"
)

// world is a random plan with the results of its messages: after how many seconds each round settles, and which
// notifications reach nobody.
type world struct {
	plan   Plan
	delay  map[nth]int
	nobody map[[2]int]bool
	lost   map[nth]bool // every message of the round fails for good when it settles
}

func genWorld(t *rapid.T) world {
	w := world{delay: map[nth]int{}, nobody: map[[2]int]bool{}, lost: map[nth]bool{}}
	steps := rapid.IntRange(0, 4).Draw(t, "steps")
	for s := 1; s <= steps; s++ {
		var st Step
		for i := range rapid.IntRange(0, 3).Draw(t, "notifications") {
			n := Notification{
				Priority: rapid.SampledFrom(users.Priorities).Draw(t, "priority"),
				Wait:     time.Duration(rapid.SampledFrom([]int{0, 0, 1, 7, 60, 90}).Draw(t, "wait")) * time.Second,
				Repeat:   rapid.IntRange(0, 3).Draw(t, "repeat"),
			}
			st.Notifications = append(st.Notifications, n)
			w.nobody[[2]int{s, i}] = rapid.IntRange(0, 5).Draw(t, "nobody") == 0
			for r := range n.Repeat + 1 {
				w.delay[nth{s, i, r}] = rapid.SampledFrom([]int{0, 0, 1, 5, 59, 60, 61, 130, 1500}).Draw(t, "delay")
				w.lost[nth{s, i, r}] = rapid.IntRange(0, 3).Draw(t, "lost") == 0
			}
		}
		w.plan.Steps = append(w.plan.Steps, st)
	}
	return w
}

// deed is an event in a second.
type deed struct {
	at   int
	what string
}

// nth identifies a round.
type nth struct{ step, position, repeat int }

func made(n nth) string {
	return fmt.Sprintf("step %d notification %d round %d", n.step, n.position, n.repeat)
}

// naive simulates the world second by second. It applies the documented rules to the history of made rounds, without
// due times.
func naive(w world) []deed {
	type roundState struct{ madeAt, settledAt int }
	history := map[nth]roundState{}
	var deeds []deed
	current := 0
	for now := 0; ; now++ {
		for changed := true; changed; {
			changed = false
			stepOver := true
			if current > 0 {
				for i, n := range w.plan.Steps[current-1].Notifications {
					rounds := 0
					for _, done := history[nth{current, i, rounds}]; done; _, done = history[nth{current, i, rounds}] {
						rounds++
					}
					if rounds > 0 && w.nobody[[2]int{current, i}] {
						continue
					}
					if last := (nth{current, i, rounds - 1}); rounds > 0 && w.lost[last] && now >= history[last].settledAt {
						continue // the step does not wait for it, and it is not repeated
					}
					due := rounds == 0
					if rounds > 0 {
						last := history[nth{current, i, rounds - 1}]
						latest := last.madeAt + int(maxDelay(n.Priority).Seconds())
						due = now >= min(last.settledAt, latest)+int(n.Wait.Seconds())
					}
					switch {
					case !due:
						stepOver = false
					case rounds <= n.Repeat:
						stepOver, changed = false, true
						r := nth{current, i, rounds}
						history[r] = roundState{now, now + w.delay[r]}
						if w.nobody[[2]int{current, i}] {
							history[r] = roundState{now, now}
							continue
						}
						deeds = append(deeds, deed{now, made(r)})
					}
				}
			}
			if !stepOver {
				continue
			}
			if current < len(w.plan.Steps) {
				current++
				changed = true
				continue
			}
			onTheWay := false
			for _, r := range history {
				onTheWay = onTheWay || r.settledAt > now
			}
			if !onTheWay {
				return append(deeds, deed{now, "over"})
			}
		}
	}
}

// engine simulates the world with Next. It calls Next when the incident is due and when a message settles, as the
// runner does.
func engine(t *rapid.T, w world) []deed {
	type sent struct {
		round     nth
		settledAt int
	}
	var deeds []deed
	var all []sent
	p := Progress{}
	at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	looks := 0
	for now := 0; ; {
		for again := true; again; {
			again = false
			observe := func() {
				p.Unsettled = 0
				for _, s := range all {
					if s.settledAt > now {
						p.Unsettled++
					}
					if s.round.step == p.Step && s.round.repeat == p.Notifications[s.round.position].Made-1 {
						r := &p.Notifications[s.round.position]
						r.Unsettled, r.SettledAt, r.Lost = 0, at(s.settledAt), w.lost[s.round]
						if s.settledAt > now {
							r.Unsettled, r.SettledAt, r.Lost = 1, time.Time{}, false
						}
					}
				}
			}
			observe()
			before := p.clone()
			d := Next(w.plan, p, at(now))
			require.Equal(t, d, Next(w.plan, before, at(now)), "same inputs, same decision")
			require.Equal(t, before, p, "the input is not changed")
			require.Equal(t, d.Over != "", d.Due.IsZero())
			if d.Over == "" {
				require.True(t, d.Due.After(at(now)), "the next look is later")
			}
			for i, e := range d.Entered {
				require.Equal(t, p.Step+1+i, e, "steps in order")
			}
			p = d.Progress
			for _, r := range d.Rounds {
				n := w.plan.Steps[r.Step-1].Notifications[r.Position]
				k := nth{r.Step, r.Position, r.Repeat}
				require.LessOrEqual(t, r.Repeat, n.Repeat, "never more than repeat+1 rounds")
				if w.nobody[[2]int{r.Step, r.Position}] {
					p.Notifications[r.Position].Skipped = true
					p.Notifications[r.Position].Unsettled = 0
					again = true
					continue
				}
				deeds = append(deeds, deed{now, made(k)})
				all = append(all, sent{k, now + w.delay[k]})
				again = true
			}
			if d.Over != "" {
				return append(deeds, deed{now, "over"})
			}
			if !again {
				next := int(d.Due.Sub(noon).Seconds())
				for _, s := range all {
					if s.settledAt > now {
						next = min(next, s.settledAt)
					}
				}
				now = next
			}
			looks++
			require.Less(t, looks, 2000, "it ends")
		}
	}
}

func TestNextAgreesWithASimpleModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := genWorld(t)
		require.Equal(t, naive(w), engine(t, w))
	})
}

// For any stored and observed progress, Next returns a due time or the end of the plan, and reaches a stable state.
func TestNextReachesAStableStateFromAnyProgress(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := genWorld(t)
		p := Progress{
			Step: rapid.IntRange(-2, 6).Draw(t, "step"), Reopen: rapid.IntRange(0, 2).Draw(t, "reopen"),
			Reopened: rapid.IntRange(0, 2).Draw(t, "reopened"), Unsettled: rapid.IntRange(0, 2).Draw(t, "unsettled"),
		}
		for range rapid.IntRange(0, 4).Draw(t, "rounds") {
			p.Notifications = append(p.Notifications, Rounds{
				Made: rapid.IntRange(-1, 6).Draw(t,
					"made"), At: noon.Add(time.Duration(rapid.IntRange(-5000, 5000).Draw(t, "at")) * time.Second),
				Skipped: rapid.Bool().Draw(t, "skipped"), Late: rapid.Bool().Draw(t,
					"late"), Unsettled: rapid.IntRange(0, 2).Draw(t, "open"), Lost: rapid.Bool().Draw(t, "lost"),
			})
		}
		for range rapid.IntRange(0, 4).Draw(t, "past") {
			p.Past = append(p.Past, Past{
				Step: rapid.IntRange(-1, 6).Draw(t, "s"), Position: rapid.IntRange(-1, 4).Draw(t,
					"p"), Repeat: rapid.IntRange(0, 4).Draw(t, "r"),
				Recipient: "user:1", Fate: rapid.SampledFrom([]Fate{PastLeft, PastCancelled, PastFailed,
					PastOnItsWay}).Draw(t, "fate"),
			})
		}
		var due time.Time
		for range 3 {
			d := Next(w.plan, p, noon)
			require.Equal(t, d.Over == "", d.Due.After(noon))
			if !due.IsZero() {
				require.Empty(t, d.Rounds, "applied and asked again: nothing more")
				require.Empty(t, d.Late)
				require.Empty(t, d.Lost)
				require.False(t, d.Due.Before(due), "due never moves back")
			}
			if d.Over != "" {
				return
			}
			p, due = d.Progress, d.Due
		}
	})
}
