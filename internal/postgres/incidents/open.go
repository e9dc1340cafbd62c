package incidents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

const (
	openBatch   = 256     // rows in one statement
	openBytes   = 4 << 20 // of contexts in one statement
	openFlushes = 1       // statements at the same time: one makes the batches twice as large as two
	// maxDedupKey is the length up to which keys are stored as they are; longer ones are hashed, since an index entry has
	// a limit.
	maxDedupKey = 256
	// openRounds bounds how often a key is tried whose incident is resolved in the moment between insert and look-up.
	openRounds = 5
)

// openResult is what became of one request of a batch.
type openResult struct {
	opened incidents.Opened
	err    error
}

// Open opens an incident and returns when it is durable: row, context, dynamic targets and first line of the timeline
// are one statement. Calls that come at the same time share a statement. With a DedupKey whose incident is open, nothing
// is opened and that incident comes back with Known set.
func (i *Incidents) Open(ctx context.Context, n incidents.New) (incidents.Opened, error) {
	n.DedupKey = shortKey(n.DedupKey)
	r, err := i.opening.Do(ctx, n)
	if err != nil {
		return incidents.Opened{}, postgres.MapError(err)
	}
	return r.opened, r.err
}

// openBatch opens a batch, splitting it until a bad request stands alone. The error is always nil: each request has its
// own.
func (i *Incidents) openAll(ctx context.Context, batch []incidents.New) ([]openResult, error) {
	out := make([]openResult, len(batch))
	i.openRange(ctx, batch, out)
	return out, nil
}

func (i *Incidents) openRange(ctx context.Context, batch []incidents.New, out []openResult) {
	if n := fitting(batch); n < len(batch) {
		i.openRange(ctx, batch[:n], out[:n])
		i.openRange(ctx, batch[n:], out[n:])
		return
	}
	i.db.ObserveOpened(len(batch))
	err := i.openSome(ctx, batch, out)
	switch {
	case err == nil:
	case len(batch) == 1 || fault.Is(err, fault.Unavailable):
		// The database is away or busy: trying the others one by one would only take longer.
		for k := range out {
			if out[k].opened.ID == 0 {
				out[k].err = err
			}
		}
	default:
		half := len(batch) / 2
		i.openRange(ctx, batch[:half], out[:half])
		i.openRange(ctx, batch[half:], out[half:])
	}
}

// fitting returns how many of the first requests go into one statement; at least one.
func fitting(batch []incidents.New) int {
	bytes := 0
	for n, b := range batch {
		bytes += len(b.Context) + len(b.DedupFacts)
		for _, a := range b.Alerts {
			bytes += len(a.Fingerprint) + len(a.Labels) + len(a.Annotations)
		}
		if bytes > openBytes && n > 0 {
			return n
		}
	}
	return len(batch)
}

// openSome runs one statement for the batch, and looks up what was not opened because its key is open.
func (i *Incidents) openSome(ctx context.Context, batch []incidents.New, out []openResult) error {
	for round := 0; ; round++ {
		err := i.db.Do(ctx, func(q *db.Queries) error {
			rows, err := q.OpenIncidents(ctx, openParams(batch, out))
			for _, r := range rows {
				out[r.Ord].opened = incidents.Opened{ID: incidents.ID(r.ID), Bucket: int(r.Bucket)}
			}
			return err
		})
		if err != nil {
			return err
		}
		var missing []int
		var keys []incidents.New
		for k, n := range batch {
			if out[k].opened.ID == 0 {
				missing, keys = append(missing, k), append(keys, n)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		found, err := i.findAll(ctx, keys)
		if err != nil {
			return err
		}
		left := 0
		for at, k := range missing {
			if out[k].opened = found[at].open; out[k].opened.ID == 0 {
				left++
			}
		}
		if left == 0 {
			return nil
		}
		if round == openRounds {
			return fault.New(fault.Unavailable, "the incident with this key is opened and resolved at the same time, try again")
		}
	}
}

// openParams turns those requests of the batch that have no result yet into columns.
func openParams(batch []incidents.New, out []openResult) db.OpenIncidentsParams {
	var p db.OpenIncidentsParams
	for k, n := range batch {
		if out[k].opened.ID != 0 {
			continue
		}
		ord := int32(k)
		p.Ords = append(p.Ords, ord)
		p.PlanIds = append(p.PlanIds, n.PlanID)
		p.ApplicationIds = append(p.ApplicationIds, n.ApplicationID)
		p.DedupKeys = append(p.DedupKeys, n.DedupKey)
		p.Actors = append(p.Actors, postgres.Storable(n.Actor))
		p.Contexts = append(p.Contexts, string(n.Context))
		p.Facts = append(p.Facts, string(n.DedupFacts))
		a := alertColumns(n.Alerts)
		p.AlertOrds = append(p.AlertOrds, slices.Repeat([]int32{ord}, len(n.Alerts))...)
		p.Fingerprints, p.Statuses = append(p.Fingerprints, a.Fingerprints...), append(p.Statuses, a.Statuses...)
		p.StartsAts, p.EndsAts = append(p.StartsAts, a.StartsAts...), append(p.EndsAts, a.EndsAts...)
		p.Labels, p.Annotations = append(p.Labels, a.Labels...), append(p.Annotations, a.Annotations...)
		for _, t := range n.DynamicTargets {
			p.TargetOrds = append(p.TargetOrds, ord)
			p.TargetIndexes = append(p.TargetIndexes, int32(t.Index))
			p.TargetRoles = append(p.TargetRoles, t.Role)
			p.TargetIds = append(p.TargetIds, t.TargetID)
		}
	}
	return p
}

func shortKey(key string) string {
	if len(key) <= maxDedupKey {
		return postgres.Storable(key)
	}
	sum := sha256.Sum256([]byte(key))
	return "sha256:" + hex.EncodeToString(sum[:])
}
