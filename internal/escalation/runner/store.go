package runner

import (
	"context"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
)

// Work reads due work, without locks. Of its errors, and those of Ledger, Digests and Timers, one of kind Unavailable is about
// the database, any other about the data. A zero `now` means the database's clock. All are used from several goroutines.
type Work interface {
	// Due returns incidents of the leased buckets that are due, in the order of the leases.
	Due(ctx context.Context, leases []buckets.Lease, ask Ask) ([]escalation.Due, error)
	// NextDue returns how long it is until an incident of the leased buckets is due; 0 or less when one is.
	NextDue(ctx context.Context, leases []buckets.Lease, now time.Time) (time.Duration, error)
	// Resume makes paused incidents of any bucket due whose plan and application are no longer paused, and returns how many.
	Resume(ctx context.Context, now time.Time) (int, error)
	// Failed returns messages of the leased buckets that failed for good in every mode.
	Failed(ctx context.Context, leases []buckets.Lease, ask Ask) ([]escalation.Failed, error)
}

// Ledger writes what the runner decided. Every method is one transaction that first checks the leases. If one was lost, it
// writes nothing and returns a *buckets.LostError.
type Ledger interface {
	// Commit writes the changes of incidents that are still as they were read, and returns which those were.
	Commit(ctx context.Context, processID string, leases []buckets.Lease, changes []escalation.Change) ([]incidents.ID, error)
	// Cancel cancels what has not left of those of the incidents that are no longer active.
	Cancel(ctx context.Context, processID string, leases []buckets.Lease, ids []incidents.ID, now time.Time) error
	// Delay puts an incident off that cannot be decided, with a line for its timeline (no line if it has no text), unless it
	// was changed since it was read.
	Delay(ctx context.Context, processID string, d escalation.Due, by time.Duration, entry incidents.Entry, now time.Time) error
	// CommitFallbacks writes what becomes of failed messages that are still as they were read.
	CommitFallbacks(ctx context.Context, processID string, leases []buckets.Lease, changes []escalation.FallbackChange, now time.Time) error
}

// Ask limits a read of due work.
type Ask struct {
	Limit     int       // in all
	PerBucket int       // so that one bucket's backlog does not hide the others'
	Excluded  []int64   // messages, or incidents that still escalate, not to return
	Now       time.Time // tests only; zero = the database's clock
}

// LeasesOf returns the leases of works, ascending by bucket, each once; of a bucket met under two epochs the older, so
// that the fence refuses it.
func LeasesOf[T any](works []T, of func(T) buckets.Lease) []buckets.Lease {
	epochs := map[int]int64{}
	for _, w := range works {
		l := of(w)
		if e, ok := epochs[l.Bucket]; !ok || l.Epoch < e {
			epochs[l.Bucket] = l.Epoch
		}
	}
	out := make([]buckets.Lease, 0, len(epochs))
	for b, e := range epochs {
		out = append(out, buckets.Lease{Bucket: b, Epoch: e})
	}
	slices.SortFunc(out, func(a, b buckets.Lease) int { return a.Bucket - b.Bucket })
	return out
}
