package silences

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/cache"
	"github.com/iris-oncall/iris/internal/matchers"
)

// keep is how long the list of silences is cached. A change of a silence is seen earlier where it matters (Opener).
const keep = time.Second

// List is the silences that are not over, and the number of their last change.
type List struct {
	Version  int64
	Silences []Silence
}

// Lister reads the silences that nobody ended and whose last occurrence is not over.
type Lister interface {
	List(ctx context.Context) (List, error)
}

// Current is the silences that are in force. It is safe for concurrent use.
type Current struct {
	store Lister
	cache *cache.Cache[struct{}, *inForce]
}

// inForce is a list with what is computed once.
type inForce struct {
	version  int64
	silences []current
}

// current is the occurrence of a silence that is in force, or that begins before the list is read again.
type current struct {
	Silence
	Span
	matchers matchers.Matchers
}

// Hide is the decision that a silence hides an incident.
type Hide struct {
	Silence ID
	Until   time.Time // when the occurrence ends
	Reason  string    // for the timeline
}

// NewCurrent returns a Current over a store.
func NewCurrent(store Lister) *Current {
	return &Current{store: store, cache: cache.New(cache.Config[struct{}, *inForce]{TTL: keep})}
}

// Clear makes the next call read the silences again.
func (c *Current) Clear() { c.cache.Clear() }

func (c *Current) read(ctx context.Context, now time.Time) (*inForce, error) {
	return c.cache.Get(ctx, struct{}{}, func(ctx context.Context) (*inForce, error) {
		list, err := c.store.List(ctx)
		if err != nil {
			return nil, fmt.Errorf("read silences: %w", err)
		}
		out := &inForce{version: list.Version}
		for _, s := range list.Silences {
			span, ok := s.At(now)
			if !ok {
				span, ok = s.Next(now)
			}
			m, err := matchers.Parse(s.Match)
			if ok && err == nil && span.From.Sub(now) <= 2*keep {
				out.silences = append(out.silences, current{s, span, m})
			}
		}
		return out, nil
	})
}

// find returns the silence that hides an incident longest; false if none matches.
func (f *inForce) find(s *Subject, now time.Time) (Hide, bool) {
	var longest *current
	for k := range f.silences {
		c := &f.silences[k]
		if c.matches(s, now) && (longest == nil || c.Span.To.After(longest.Span.To)) {
			longest = c
		}
	}
	if longest == nil {
		return Hide{}, false
	}
	return Hide{Silence: longest.ID, Until: longest.Span.To, Reason: longest.reason()}, true
}

// any reports whether a silence is in force.
func (f *inForce) any(now time.Time) bool {
	return slices.ContainsFunc(f.silences, func(c current) bool { return c.holds(now) })
}

func (c *current) holds(now time.Time) bool {
	return !now.Before(c.Span.From) && now.Before(c.Span.To)
}

func (c *current) matches(s *Subject, now time.Time) bool {
	return c.holds(now) && (c.ApplicationID == 0 || c.ApplicationID == s.ApplicationID) &&
		(c.Plan == "" && c.Team == "" || slices.Contains(c.PlanIDs, s.PlanID)) && c.matchers.Match(s.label)
}

// reason is the line of the timeline.
func (c *current) reason() string {
	return fmt.Sprintf("silence %d of %s hides the incident until %s: %s", c.ID, c.Author, c.Span.To.UTC().Format("2006-01-02 15:04 MST"), c.Comment)
}
