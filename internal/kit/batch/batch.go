package batch

import "time"

// flood is the minimum size of a batch after which the next batch waits for more items.
const flood = 8

// line holds the waiting items and decides when the next batch begins. Its owner guards it with a mutex.
type line[T any] struct {
	gap     time.Duration // between the begins of two batches in a flood
	waiting []T
	last    time.Time // begin of the latest batch; zero if it was smaller than flood
}

// wait returns how long to wait for more items before the next batch begins. most is the maximum size of that batch.
// done is the end of the previous batch: the pause after it is as long as it took, at most the gap. A zero done means
// no pause.
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

// Split calls work with all items. If that fails because of an item, Split works on each half in the same way, so that
// only the bad item fails. bad reports whether an item caused an error; Split returns any other error at once. alone
// gets each bad item with its error.
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
