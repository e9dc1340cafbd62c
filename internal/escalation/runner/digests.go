package runner

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Release is a flood whose held pages are to be sent.
type Release struct {
	Key   escalation.AggregationKey
	Lease buckets.Lease
	At    time.Time // when it was read
}

// Digest says how the held pages of a flood are sent.
type Digest struct {
	Release
	Batch       string // id of the digest, if there is one: 32 hexadecimal digits
	Application string // name
	Plan        string // name
	// Mode and Destination are how the person is reached. They are "" if the person cannot be reached: then the digest
	// has the mode of its newest page, and delivery pages a fallback (promise P8).
	Mode        users.Mode
	Destination string
}

// Subject returns the subject of the digest, if it stands for n pages.
func (d Digest) Subject(n int) string {
	if d.Key.IsQuiet() {
		return messages.QuietSubject(n)
	}
	return messages.DigestSubject(d.Application, n, d.Plan)
}

// newBatch returns the id of a new digest.
func newBatch() string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails
	return hex.EncodeToString(raw)
}

// digests sends held pages whose wait is over, at most once per Poll. A flood that cannot be released is postponed
// alone.
func (r *Runner) digests(ctx context.Context, leases []buckets.Lease) error {
	if r.cfg.Now == nil && time.Since(r.digestsAt) < r.cfg.Poll {
		return nil
	}
	r.digestsAt = time.Now()
	due, err := r.deps.Store.Releases(ctx, leases, r.now())
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
	if _, err := r.deps.Store.CancelDigests(ctx, r.deps.Holder.ProcessID(), leases); err != nil {
		return fmt.Errorf("cancel digests: %w", err)
	}
	return nil
}

// releaseOne releases a flood, or postpones it. The error is about the database or the end of ctx.
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
	r.log.Error("digest could not be made, retrying later", zap.Int64("plan", int64(rel.Key.PlanID)),
		zap.Int64("user_id", int64(rel.Key.UserID)), zap.Int("failures", n), zap.Duration("pause",
			pause), zap.Error(err))
	return nil
}

// backoffID maps a key to an id for the backoff. Two keys that share an id share a pause.
func backoffID(k escalation.AggregationKey) int64 {
	return int64(k.PlanID)<<32 ^ k.ApplicationID<<16 ^ int64(k.UserID)<<2 ^ int64(len(k.Priority))
}

func (r *Runner) release(ctx context.Context, rel Release) (err error) {
	defer fault.Recover(&err)
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
	d := Digest{Release: rel, Batch: newBatch(), Application: app.Name, Plan: plans[k.PlanID].Name}
	if d.Mode, d.Destination, err = r.decider.Contact(ctx, k.UserID, k.Priority, app); err != nil {
		return err
	}
	made, err := r.deps.Store.Release(ctx, r.deps.Holder.ProcessID(), d, r.now())
	if err != nil {
		return err
	}
	if !made.Empty() {
		r.deps.Waker(made)
		r.metrics.made.WithLabelValues(string(messages.Digest)).Inc()
	}
	return nil
}
