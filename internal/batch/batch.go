// Package batch turns many small pieces of work that come at the same time into few large ones. It is a library: it
// imports nothing of Iris but faults. Storage and delivery use it.
//
// Most of what a small batch costs is the same for a large one. So a single item is worked on at once, and in a flood
// batches begin some time apart.
package batch

import "time"

// flood is the least size of a batch after which the next batch waits for more items.
const flood = 8

// line holds the items that wait and decides when the next batch begins. Its owner guards it with a mutex.
type line[T any] struct {
	gap     time.Duration // between the begins of two batches in a flood
	waiting []T
	last    time.Time // begin of the latest batch; zero if it was smaller than flood
}

// wait returns how long to wait for more items before a batch of at most that many begins. The batch before it was done at
// done; after it comes a rest as long as it took, at most the gap. A zero done means no rest.
func (l *line[T]) wait(most int, done time.Time) time.Duration {
	if l.gap == 0 || l.last.IsZero() || len(l.waiting) >= most {
		return 0
	}
	rest := time.Until(l.last.Add(l.gap))
	if !done.IsZero() {
		rest = max(rest, time.Until(done.Add(min(done.Sub(l.last), l.gap))))
	}
	return max(rest, 0)
}

// take removes the next batch.
func (l *line[T]) take(most int) []T {
	n := min(most, len(l.waiting))
	l.last = time.Time{}
	if n >= flood {
		l.last = time.Now()
	}
	out := l.waiting[:n:n]
	if l.waiting = l.waiting[n:]; len(l.waiting) == 0 {
		l.waiting = nil
	}
	return out
}

// Split works on items, and on their halves when that fails because of an item, so that one bad item fails alone. bad
// reports whether an error is of an item; any other error ends Split and is returned. alone is called with each bad item.
func Split[T any](items []T, work func([]T) error, bad func(error) bool, alone func(T, error)) error {
	err := work(items)
	switch {
	case err == nil || !bad(err):
		return err
	case len(items) == 1:
		alone(items[0], err)
		return nil
	}
	half := len(items) / 2
	if err := Split(items[:half], work, bad, alone); err != nil {
		return err
	}
	return Split(items[half:], work, bad, alone)
}
