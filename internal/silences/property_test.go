package silences

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// world keeps silences and incidents in memory. The states of its incidents change by the table of transitions.
type world struct {
	Store
	mu        sync.Mutex
	version   int64
	silences  []Silence
	incidents []*hidden
	searches  int // for incidents that a silence hides
}

// hidden is an incident, its silence and what its source reports.
type hidden struct {
	Subject
	status  incidents.Status
	silence ID
	until   time.Time
	source  Source
	last    time.Time // delivery
	lapsed  bool      // its silence ended, and its source did not report it
	paged   int
}

func (w *world) Leases() (all []buckets.Lease) {
	for b := range buckets.Count {
		all = append(all, buckets.Lease{Bucket: b})
	}
	return all
}

func (w *world) List(context.Context) (Listed, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := Listed{Version: w.version}
	for _, s := range w.silences {
		if s.at(time.Now()).State != Over {
			l.Silences = append(l.Silences, s)
		}
	}
	return l, nil
}

func (w *world) Open(_ context.Context, n incidents.New) (incidents.Opened, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n.SilencesVersion != w.version {
		return incidents.Opened{}, incidents.ErrSilencesChanged
	}
	i := &hidden{Subject: Subject{ID: incidents.ID(len(w.incidents)), ApplicationID: 1, PlanID: 1, Context: n.Context},
		last: time.Now(), status: incidents.Status{Active: true}}
	if n.Silenced != nil {
		i.status, i.silence, i.until = incidents.Status{Silenced: true}, ID(n.Silenced.Silence), n.Silenced.Until
	}
	w.incidents = append(w.incidents, i)
	return incidents.Opened{ID: i.ID}, nil
}

func (w *world) escalating() (ids []incidents.ID) {
	for _, i := range w.incidents {
		if i.status.Active {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

func (w *world) Applied(_ context.Context, version int64, begins map[ID]time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for k := range w.silences {
		if from, ok := begins[w.silences[k].ID]; ok && version == w.version {
			w.silences[k].Applied = from
		}
	}
	return nil
}

func (w *world) Escalating(context.Context, int64, []int64, int) ([]incidents.ID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.searches++
	return w.escalating(), nil
}

func (w *world) Subjects(_ context.Context, ids []incidents.ID) (out []Subject, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		if i := w.incidents[id]; i.status.Active {
			out = append(out, Subject{ID: id, ApplicationID: 1, PlanID: 1, Context: i.Context})
		}
	}
	return out, nil
}

// change applies an event to an incident if its state takes it.
func (i *hidden) change(e incidents.Event) {
	if t, err := i.status.After(e); err == nil {
		i.status = t.After
	}
}

func (w *world) Hide(_ context.Context, hides map[incidents.ID]Hide) (out []incidents.ID, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, hide := range hides {
		i := w.incidents[id]
		if i.status.Active {
			out = append(out, id)
		}
		i.change(incidents.SilenceBegan)
		i.silence, i.until = hide.Silence, hide.Until
	}
	return out, nil
}

func (w *world) Ended(context.Context, []int, int) (out []Released, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, i := range w.incidents {
		if i.status.Silenced && !i.until.After(time.Now()) {
			source := i.source
			source.Undelivered = time.Since(i.last)
			out = append(out, Released{Source: source, Subject: Subject{ID: i.ID, ApplicationID: 1, PlanID: 1,
				Context: i.Context}})
		}
	}
	return out, nil
}

func (w *world) Release(_ context.Context, released []Released) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range released {
		i := w.incidents[r.ID]
		e := incidents.SilenceEnded
		if i.lapsed = i.source.Over || !i.source.Resolves && time.Since(i.last) > 2*i.source.Repeat; i.lapsed {
			e = incidents.SilenceLapsed
		}
		if i.lapsed == r.Source.Reports() {
			return fmt.Errorf("incident %d: reports is %t", i.ID, r.Source.Reports())
		}
		i.change(e)
		i.silence = 0
	}
	return nil
}

// page pages the escalating incidents as the escalation's runner does, and fails if a silence in force matches one.
func (w *world) page(t *testing.T, ctx context.Context, k *Keeper) {
	w.mu.Lock()
	ids := w.escalating()
	w.mu.Unlock()
	_, err := k.Hide(ctx, ids)
	require.NoError(t, err)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range w.escalating() {
		i := w.incidents[id]
		for _, s := range w.silences {
			require.False(t, s.at(time.Now()).State == Active &&
				string(s.Match) == fmt.Sprintf(`team="%s"`,
					i.label("team")), "incident %d is paged under silence %d", id, s.ID)
		}
		i.paged++
	}
}

// end ends a silence as storage does.
func (w *world) end(s *Silence) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.at(time.Now()).State == Over {
		return
	}
	now := time.Now()
	s.EndedAt = &now
	w.version++
	for _, i := range w.incidents {
		if i.status.Silenced && i.silence == s.ID {
			i.until = time.Now().Add(2*time.Second + time.Duration(i.ID)*7919%121*time.Second)
		}
	}
}

// step does one thing that people, sources or the clock may do.
func (w *world) step(t *testing.T, ctx context.Context, k *Keeper, r *rand.Rand) {
	team := []string{"db", "web"}[r.IntN(2)]
	steps := []string{"open", "silence", "end", "report", "resolve", "acknowledge", "wait", "wait", "page"}
	switch what := steps[r.IntN(len(steps))]; what {
	case "open":
		opened, err := Opener{Incidents: w, Current: k.current}.Open(ctx,
			incidents.New{ApplicationID: 1, PlanID: 1, Context: json.RawMessage(fmt.Sprintf(`{"team":%q}`, team))})
		require.NoError(t, err)
		w.mu.Lock()
		w.incidents[opened.ID].source = Source{Resolves: r.IntN(2) == 0, Repeat: time.Minute, Observed: observe}
		w.mu.Unlock()
	case "silence":
		now := time.Now()
		w.mu.Lock()
		id := ID(len(w.silences) + 1)
		w.silences = append(w.silences, Silence{ID: id, CreatedAt: now,
			Content: Content{Scope: Scope{Match: operation.Text(fmt.Sprintf("team=%q", team))}, From: now,
				To: now.Add(time.Duration(5+r.IntN(600)) * time.Second), Comment: "c"}})
		w.version++
		w.mu.Unlock()
		require.NoError(t, k.Begin(ctx, id))
	case "end":
		if len(w.silences) > 0 {
			w.end(&w.silences[r.IntN(len(w.silences))])
		}
	case "wait":
		<-time.After(time.Duration(100+r.IntN(200_000)) * time.Millisecond)
	case "page":
		w.page(t, ctx, k)
	default:
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.incidents) == 0 {
			return
		}
		i := w.incidents[r.IntN(len(w.incidents))]
		switch what {
		case "resolve":
			i.source.Over = true
			i.change(incidents.Resolve)
		case "acknowledge":
			i.change(incidents.Acknowledge)
		default:
			if i.last = time.Now(); i.lapsed {
				i.change(incidents.News)
				i.lapsed = false
			}
		}
	}
}

// Whatever people and sources do: nothing pages while a silence matches it, and when all silences have ended, what
// still fires has paged.
func TestSilencesHideAndReleaseWhatFires(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			w := &world{}
			k := NewKeeper(w, NewCurrent(w, &clock.Database{}), w, func(context.Context, buckets.Set) {}, zap.NewNop())
			done := make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			go func() { defer close(done); _ = k.Run(ctx) }()
			defer func() { cancel(); <-done }()
			for range 1 + r.IntN(40) {
				w.step(t, ctx, k, r)
			}
			for n := range w.silences {
				w.end(&w.silences[n])
			}
			<-time.After(5 * time.Minute)
			w.page(t, ctx, k)
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, i := range w.incidents {
				require.False(t, i.status.Silenced, "seed %d: incident %d stays silenced", seed, i.ID)
				if !i.status.Resolved && !i.status.Owned && !i.lapsed {
					require.Positive(t, i.paged, "seed %d: incident %d fires and pages nobody", seed, i.ID)
				}
			}
		})
	}
}

// A processor that starts does not search incidents for silences that others applied.
func TestASilenceIsAppliedOnceAndNotByEachProcessor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		for n := range 100 {
			w.silences = append(w.silences, Silence{ID: ID(n + 1), CreatedAt: time.Now(),
				Content: Content{Scope: Scope{Match: `team="db"`}, From: time.Now(), To: time.Now().Add(time.Hour)}})
		}
		run := func(d time.Duration) int {
			k := NewKeeper(w, NewCurrent(w, &clock.Database{}), w, func(context.Context, buckets.Set) {}, zap.NewNop())
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			w.searches = 0
			require.NoError(t, k.Run(ctx))
			return w.searches
		}
		require.NotZero(t, run(time.Minute))
		require.Zero(t, run(10*time.Minute))
		w.silences[0].Applied = time.Time{} // as after a change
		require.Equal(t, 1, run(time.Minute))
	})
}
