package runner

import (
	"context"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
)

// Work reads due work, without locks. An error of kind Unavailable is about the database; any other error is about the
// data. The same holds for Ledger, Digests and Timers. A zero now means the database's clock. All are called from
// several goroutines.
type Work interface {
	// Due returns due incidents of the leased buckets, in the order of the leases.
	Due(ctx context.Context, leases []buckets.Lease, ask Ask) ([]escalation.Due, error)
	// NextDue returns the time until an incident of the leased buckets is due; 0 or less if one is due now.
	NextDue(ctx context.Context, leases []buckets.Lease, now time.Time) (time.Duration, error)
	// Resume makes paused incidents of all buckets due whose plan and application are no longer paused. It returns
	// their number.
	Resume(ctx context.Context, now time.Time) (int, error)
	// Failed returns messages of the leased buckets that failed for good in every mode.
	Failed(ctx context.Context, leases []buckets.Lease, ask Ask) ([]escalation.Failed, error)
}

// Ledger writes the runner's decisions. Each method is one transaction that first checks the leases. If a lease was
// lost, the method writes nothing and returns a *buckets.LostError.
type Ledger interface {
	// Commit writes the changes of incidents that have not changed since they were read. It returns their ids.
	Commit(ctx context.Context, processID string, leases []buckets.Lease, changes []escalation.Change) ([]incidents.ID,
		error)
	// Cancel cancels the unsent messages of those of the incidents that are no longer active.
	Cancel(ctx context.Context, processID string, leases []buckets.Lease, ids []incidents.ID, now time.Time) error
	// Delay postpones an incident that cannot be decided, unless it has changed since it was read. It adds entry to the
	// timeline if entry has a text.
	Delay(ctx context.Context, processID string, d escalation.Due, by time.Duration, entry incidents.Entry,
		now time.Time) error
	// CommitFallbacks writes the changes of failed messages that have not changed since they were read.
	CommitFallbacks(ctx context.Context, processID string, leases []buckets.Lease, changes []escalation.FallbackChange,
		now time.Time) error
}

// Ask limits a read of due work.
type Ask struct {
	Limit     int       // in all
	PerBucket int       // so that one bucket's backlog does not hide the others'
	Excluded  []int64   // ids of messages or incidents not to return
	Now       time.Time // tests only; zero = the database's clock
}

// leasesOf returns the leases of works, ascending by bucket, each once. If a bucket occurs with two epochs, it returns
// the older lease, so that the fence refuses the transaction.
func leasesOf[T any](works []T, of func(T) buckets.Lease) []buckets.Lease {
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
