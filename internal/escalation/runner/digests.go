package runner

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Digests is how pages leave that were held because there were too many. Its methods are transactions of their own.
type Digests interface {
	// Releases returns floods of the leased buckets whose held pages are to leave now.
	Releases(ctx context.Context, leases []buckets.Lease, now time.Time) ([]Release, error)
	// Release lets the held pages of a flood leave, those of incidents that nobody has acknowledged or resolved: a single
	// one as it is, several as one digest. It returns in which buckets there is something to send now. If the lease was lost
	// it writes nothing and returns a *buckets.LostError.
	Release(ctx context.Context, processID string, d Digest, now time.Time) (buckets.Set, error)
	// CancelDigests cancels digests that have not left and all of whose incidents were acknowledged or resolved.
	CancelDigests(ctx context.Context, processID string, leases []buckets.Lease) (int, error)
}

// Release is a flood whose held pages are to leave.
type Release struct {
	Key   escalation.AggregationKey
	Lease buckets.Lease
	At    time.Time // when it was read
}

// Digest is how the held pages of a flood are sent.
type Digest struct {
	Release
	Batch       string // number of the digest, should there be one: 32 hexadecimal digits
	Application string // name
	Plan        string // name
	// Mode and Destination are how the person is reached; "" when they cannot be reached: then the digest has the mode of its
	// newest page, and delivery finds somebody else (promise P8).
	Mode        users.Mode
	Destination string
}

// NewBatch returns the number of a digest.
func NewBatch() string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails
	return hex.EncodeToString(raw)
}

// digests lets pages leave whose time of being held is over, every second at most. A flood that cannot be released is put
// off alone.
func (r *Runner) digests(ctx context.Context, leases []buckets.Lease) error {
	if r.cfg.Now == nil && time.Since(r.digestsAt) < r.cfg.Poll {
		return nil
	}
	r.digestsAt = time.Now()
	due, err := r.deps.Digests.Releases(ctx, leases, r.now())
	if err != nil {
		return fmt.Errorf("read floods: %w", err)
	}
	for _, rel := range due {
		if now := time.Now(); r.failedDigests.waits(backoffID(rel.Key), now) {
			continue
		}
		if err := r.releaseOne(ctx, rel); err != nil {
			return err
		}
	}
	if _, err := r.deps.Digests.CancelDigests(ctx, r.deps.Holder.ProcessID(), leases); err != nil {
		return fmt.Errorf("cancel digests: %w", err)
	}
	return nil
}

// releaseOne releases a flood, or puts it off. An error is about the database or the end of ctx.
func (r *Runner) releaseOne(ctx context.Context, rel Release) error {
	err := r.release(ctx, rel)
	var lost *buckets.LostError
	switch {
	case err == nil:
		r.failedDigests.succeeded(backoffID(rel.Key))
		return nil
	case errors.As(err, &lost):
		r.metrics.errors.WithLabelValues("lease").Inc()
		r.deps.Holder.Lost(lost.Buckets)
		return nil
	case ctx.Err() != nil, fault.Is(err, fault.Unavailable):
		return err
	}
	n, pause := r.failedDigests.failed(backoffID(rel.Key), time.Now())
	r.metrics.errors.WithLabelValues("flood").Inc()
	r.log.Error("a digest could not be made, trying again later", zap.Int64("plan", int64(rel.Key.PlanID)),
		zap.Int64("user_id", int64(rel.Key.UserID)), zap.Int("failures", n), zap.Duration("pause", pause), zap.Error(err))
	return nil
}

// backoffID maps a key to an id for the backoff. Two keys that share an id share a pause.
func backoffID(k escalation.AggregationKey) int64 {
	return int64(k.PlanID)<<32 ^ k.ApplicationID<<16 ^ int64(k.UserID)<<2 ^ int64(len(k.Priority))
}

func (r *Runner) release(ctx context.Context, rel Release) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.log.Error("panic while making a digest", zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))
			err = fmt.Errorf("internal error: %v", p)
		}
	}()
	k := rel.Key
	plans, err := r.plans.Get(ctx, k.PlanID)
	if err != nil {
		return fmt.Errorf("read plans: %w", err)
	}
	apps, err := r.apps.Get(ctx, k.ApplicationID)
	if err != nil {
		return fmt.Errorf("read applications: %w", err)
	}
	app := apps[k.ApplicationID]
	d := Digest{Release: rel, Batch: NewBatch(), Application: app.Name, Plan: plans[k.PlanID].Name}
	if d.Mode, d.Destination, err = r.decider.Contact(ctx, k.UserID, k.Priority, app); err != nil {
		return err
	}
	made, err := r.deps.Digests.Release(ctx, r.deps.Holder.ProcessID(), d, r.now())
	if err != nil {
		return err
	}
	if !made.Empty() {
		r.deps.Waker(made)
		r.metrics.made.WithLabelValues(string(messages.Digest)).Inc()
	}
	return nil
}
