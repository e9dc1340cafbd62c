package runner

import (
	"context"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
)

// Store reads due work without locks, and writes the runner's decisions. Each method that writes is one transaction, which
// first checks the leases. If a lease was lost, it writes nothing and returns a *buckets.LostError. An error of kind
// Unavailable is about the database; any other error is about the data. A zero now means the database's clock. All methods
// are called from several goroutines.
type Store interface {
	// Due returns due incidents of the leased buckets, in the order of the leases.
	Due(ctx context.Context, leases []buckets.Lease, ask Ask) ([]escalation.Due, error)
	// NextDue returns the time until an incident of the leased buckets is due; 0 or less if one is due now.
	NextDue(ctx context.Context, leases []buckets.Lease, now time.Time) (time.Duration, error)
	// Resume makes paused incidents of all buckets due whose plan and application are no longer paused. It returns
	// their number.
	Resume(ctx context.Context, now time.Time) (int, error)
	// Failed returns messages of the leased buckets that failed for good in every mode.
	Failed(ctx context.Context, leases []buckets.Lease, ask Ask) ([]escalation.Failed, error)

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

	// Added returns the added pages (those that people ask for in addition to the plan) of the leased buckets whose
	// messages do not exist yet.
	Added(ctx context.Context, leases []buckets.Lease, ask Ask) ([]escalation.Added, error)
	// CommitAdded makes the messages of an added page, unless its incident has changed since it was read.
	CommitAdded(ctx context.Context, processID string, c escalation.AddedChange) error

	// Releases returns floods of the leased buckets whose held pages are to be sent now.
	Releases(ctx context.Context, leases []buckets.Lease, now time.Time) ([]Release, error)
	// Release sends the held pages of a flood whose incidents nobody has acknowledged or resolved: a single page as it
	// is, several as one digest. It returns the buckets in which there is something to send now.
	Release(ctx context.Context, processID string, d Digest, now time.Time) (buckets.Set, error)
	// CancelDigests cancels unsent digests all of whose incidents were acknowledged or resolved. It returns their
	// number.
	CancelDigests(ctx context.Context, processID string, leases []buckets.Lease) (int, error)

	// Fire starts the escalation of incidents with a late firing delivery that no resolve followed, of exhausted
	// incidents with a delayed new alert, of incidents whose snooze is over, and of acknowledged incidents that were
	// not resolved in time. It returns their buckets.
	Fire(ctx context.Context, processID string, leases []buckets.Lease, now time.Time) (buckets.Set, error)
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
