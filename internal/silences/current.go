package silences

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	kitcache "github.com/iris-oncall/iris/internal/kit/cache"
	kitclock "github.com/iris-oncall/iris/internal/kit/clock"
	kitmatchers "github.com/iris-oncall/iris/internal/kit/matchers"
)

// keep is how long the list of silences is cached. A change of a silence is seen earlier where it matters (Opener).
const keep = time.Second

// Current is the silences that are in force. It is safe for concurrent use.
type Current struct {
	store Store
	clock *kitclock.Database
	cache *kitcache.Cache[struct{}, *inForce]

	mu       sync.Mutex
	compiled map[ID]*compiled // of the last list
}

// compiled is what is computed once for each content of a silence.
type compiled struct {
	content  Content
	matchers kitmatchers.Matchers
	cost     int
	listed   map[string][]string // see matchers.Values
	invalid  bool                // the match has a wrong syntax
	span     Span                // the occurrence at since, or the next one
	occurs   bool                // there is such an occurrence
	since    time.Time
	until    time.Time // the occurrence is the same from since to until
}

// inForce is a list with what is computed once.
type inForce struct {
	version  int64
	silences []current // the cheapest first
	index    index
}

// current is the occurrence of a silence that is in force, or that begins before the list is read again.
type current struct {
	Silence
	Span
	*compiled
}

// Hide is the decision that a silence hides an incident.
type Hide struct {
	Silence ID
	Until   time.Time // when the occurrence ends
	Reason  string    // for the timeline
}

// NewCurrent returns a Current over a store. Silences begin and end by the clock of the database.
func NewCurrent(store Store, c *kitclock.Database) *Current {
	return &Current{store: store, clock: c, cache: kitcache.New(kitcache.Config[struct{}, *inForce]{TTL: keep})}
}

// Clear makes the next call read the silences again.
func (c *Current) Clear() { c.cache.Clear() }

func (c *Current) read(ctx context.Context, now time.Time) (*inForce, error) {
	return c.cache.Get(ctx, struct{}{}, func(ctx context.Context) (*inForce, error) { return c.fresh(ctx, now) })
}

// fresh reads the silences without the cache, also those that the transaction of ctx has changed.
func (c *Current) fresh(ctx context.Context, now time.Time) (*inForce, error) {
	list, err := c.store.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("read silences: %w", err)
	}
	return c.compile(list, now), nil
}

// compile computes what is new in a list.
func (c *Current) compile(list Listed, now time.Time) *inForce {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := &inForce{version: list.Version}
	known := make(map[ID]*compiled, len(list.Silences))
	for _, s := range list.Silences {
		one := c.compiled[s.ID]
		if one == nil || !one.content.same(s.Content) {
			one = &compiled{content: s.Content}
			var err error
			one.matchers, err = kitmatchers.Stored(string(s.Match))
			one.cost, one.listed, one.invalid = one.matchers.Cost(), one.matchers.Values(), err != nil
		}
		known[s.ID] = one
		if one.at(now); one.occurs && !one.invalid && one.span.From.Sub(now) <= 2*keep {
			out.silences = append(out.silences, current{s, one.span, one})
		}
	}
	c.compiled = known
	slices.SortStableFunc(out.silences, func(a, b current) int { return cmp.Compare(a.cost, b.cost) })
	out.index = indexOf(out.silences)
	return out
}

// at computes the occurrence at an instant, if it is not known.
func (c *compiled) at(now time.Time) {
	if !c.since.IsZero() && !now.Before(c.since) && now.Before(c.until) {
		return
	}
	next, comes := c.content.Next(now)
	c.since, c.until = now, now.Add(ahead)
	if comes {
		c.until = next.From
	}
	if c.span, c.occurs = c.content.At(now); c.occurs {
		c.until = sooner(c.until, c.span.To)
	} else {
		c.span, c.occurs = next, comes
	}
}

// same reports whether two contents hide the same incidents at the same times.
func (c Content) same(as Content) bool {
	return c.Match == as.Match && c.From.Equal(as.From) && c.To.Equal(as.To) && c.Recurrence == as.Recurrence &&
		c.Zone == as.Zone
}

// askEvery is after how many silences find asks whether its request has ended.
const askEvery = 64

// find returns the silence that hides an incident longest; false if none certainly matches. The error is that of ctx.
func (f *inForce) find(ctx context.Context, s *Subject, now time.Time) (Hide, bool, error) {
	var longest *current
	budget := kitmatchers.NewBudget()
	for n, k := range f.index.candidates(s) {
		if n%askEvery == 0 && ctx.Err() != nil {
			return Hide{}, false, ctx.Err()
		}
		c := &f.silences[k]
		if longest != nil && (longest.Span.To.After(c.Span.To) || longest.Span.To.Equal(c.Span.To) && longest.ID > c.ID) {
			continue
		}
		if c.matches(s, now, budget) {
			longest = c
		}
	}
	if longest == nil {
		return Hide{}, false, nil
	}
	return Hide{Silence: longest.ID, Until: longest.Span.To, Reason: longest.reason()}, true, nil
}

// any reports whether a silence is in force.
func (f *inForce) any(now time.Time) bool {
	return slices.ContainsFunc(f.silences, func(c current) bool { return c.holds(now) })
}

func (c *current) holds(now time.Time) bool {
	return !now.Before(c.Span.From) && now.Before(c.Span.To)
}

func (c *current) matches(s *Subject, now time.Time, b *kitmatchers.Budget) bool {
	return c.holds(now) && (c.ApplicationID == 0 || c.ApplicationID == s.ApplicationID) &&
		(c.Plan == "" && c.Team == "" || slices.Contains(c.PlanIDs, s.PlanID)) &&
		s.decide(c.matchers, b) == kitmatchers.Yes
}

// reason is the line of the timeline.
func (c *current) reason() string {
	return fmt.Sprintf("silence %d of %s hides the incident until %s: %s", c.ID, c.Author,
		c.Span.To.UTC().Format("2006-01-02 15:04 MST"), c.Comment)
}
