package pg

import (
	"context"
	"fmt"
	"slices"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Fence locks the lease rows of the given leases (ascending, FOR SHARE, until the transaction ends) and checks that
// processID still owns each of them in the same epoch. It must come before any other lock of the transaction. If a
// lease was lost it returns an error in which errors.As finds a *buckets.LostError that names the buckets; the caller
// rolls back.
func Fence(ctx context.Context, q *db.Queries, processID string, leases []buckets.Lease) error {
	if len(leases) == 0 {
		return nil
	}
	want := make(map[int]int64, len(leases))
	ids := make([]int, 0, len(leases))
	for _, l := range leases {
		b := l.Bucket
		if epoch, twice := want[b]; twice {
			// Work of one bucket was collected under two epochs: the work of the older epoch is stale.
			want[b] = min(epoch, l.Epoch)
			continue
		}
		want[b] = l.Epoch
		ids = append(ids, b)
	}
	slices.Sort(ids)
	rows, err := q.LockLeases(ctx, ids)
	if err != nil {
		return fmt.Errorf("lock leases: %w", err)
	}
	var held, lost buckets.Set
	for _, r := range rows {
		if r.Owner != nil && *r.Owner == processID && r.Epoch == want[r.Bucket] {
			held.Add(r.Bucket)
		}
	}
	for _, b := range ids {
		if !held.Has(b) {
			lost.Add(b)
		}
	}
	if !lost.Empty() {
		return fault.Wrap(fault.Conflict, &buckets.LostError{Buckets: lost}, "bucket lease lost")
	}
	return nil
}

// BucketNumbers returns the buckets of leases.
func BucketNumbers(leases []buckets.Lease) []int {
	return postgres.Convert(leases, func(l buckets.Lease) int { return l.Bucket })
}

// ByBucket returns leases by their bucket.
func ByBucket(leases []buckets.Lease) map[int]buckets.Lease {
	out := make(map[int]buckets.Lease, len(leases))
	for _, l := range leases {
		out[l.Bucket] = l
	}
	return out
}

// SetOfBuckets returns the set of the buckets.
func SetOfBuckets(bs []int) *buckets.Set {
	var s buckets.Set
	for _, b := range bs {
		s.Add(b)
	}
	return &s
}

// LeaseArrays returns the buckets of the leases, and the epochs of all buckets, -1 for those without a lease. A set
// that is not nil restricts the buckets.
func LeaseArrays(leases []buckets.Lease, only *buckets.Set) (bs []int, epochs []int64) {
	bs, epochs = []int{}, slices.Repeat([]int64{-1}, buckets.Count)
	for _, l := range leases {
		if only == nil || only.Has(l.Bucket) {
			bs = append(bs, l.Bucket)
			epochs[l.Bucket] = l.Epoch
		}
	}
	return bs, epochs
}
