package pg

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/batch"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

const (
	openBatch   = 256     // rows in one statement
	openBytes   = 4 << 20 // of contexts in one statement
	openFlushes = 1       // statements at the same time: one makes the batches twice as large as two
	// maxDedupKey is the length up to which keys are stored as they are; longer ones are hashed, since an index entry
	// has a limit.
	maxDedupKey = 256
	// Numbers in place of that of an incident, which was not opened.
	applicationChanged = -1
	silencesChanged    = -2
	// openRounds bounds how often a key is tried again because its incident was resolved between insert and look-up.
	openRounds = 5
)

// openResult is the result of one request of a batch.
type openResult struct {
	opened incidents.Opened
	err    error
}

// Open opens an incident and returns when it is durable: row, context, dynamic targets and first line of the timeline
// are one statement. Calls that come at the same time share a statement. With a DedupKey whose incident is open, that
// incident is returned with Known set, and none is opened. With Early the new one is Held. With a Threshold the
// event may be held back: then none is opened. With a Group it may become an alert of an open incident (Joined).
func (i *Incidents) Open(ctx context.Context, n incidents.New) (incidents.Opened, error) {
	n.DedupKey = shortKey(n.DedupKey)
	if n.Early {
		if held, err := i.holdEarly(ctx, n); err != nil || held.ID != 0 {
			return held, postgres.MapError(err)
		}
	}
	if n.Threshold != nil || n.Group != nil {
		opened, err := i.openByRule(ctx, n)
		switch {
		case errors.Is(err, errKeyIsOpen): // the same event arrived at another server, or its incident was resolved since
			known, found, err := i.ByKey(ctx, n)
			if err != nil || found {
				return known, err
			}
		case postgres.SqlState(err) != postgres.LockTimeout: // while others hold the group for long, the event has an incident of its own
			return opened, postgres.MapError(err)
		}
	}
	r, err := i.opening.Do(ctx, n)
	if err != nil {
		return incidents.Opened{}, postgres.MapError(err)
	}
	return r.opened, r.err
}

// holdEarly opens the incident of a firing delivery that a resolve came before, or finds the one that holds the
// delivery. The result has no ID if the delivery is not held.
func (i *Incidents) holdEarly(ctx context.Context, n incidents.New) (incidents.Opened, error) {
	held, err := i.openEarly(ctx, n)
	if errors.Is(err, errHeldElsewhere) {
		held, _, err = i.ByKey(ctx, n)
	}
	return held, err
}

// openAll opens a batch and returns the result of each request. The error is always nil: each result has its own.
func (i *Incidents) openAll(ctx context.Context, news []incidents.New) ([]openResult, error) {
	out := make([]openResult, len(news))
	rest := make([]*opening, len(news))
	for k, n := range news {
		rest[k] = &opening{New: n, openResult: &out[k]}
	}
	for len(rest) > 0 {
		part := rest[:fitting(rest)]
		rest = rest[len(part):]
		err := batch.Split(part, func(some []*opening) error { return i.openSome(ctx, some) }, postgres.IsItemFault,
			func(o *opening, err error) { o.err = err })
		for _, o := range part {
			if o.opened.ID == 0 && o.err == nil {
				o.err = err
			}
		}
	}
	return out, nil
}

// opening is a request of a batch and its result.
type opening struct {
	incidents.New
	*openResult
}

// fitting returns how many of the first requests go into one statement; at least one.
func fitting(news []*opening) int {
	bytes := 0
	for n, o := range news {
		bytes += len(o.Context) + len(o.DedupFacts)
		for _, a := range o.Alerts {
			bytes += len(a.Fingerprint) + len(a.Labels) + len(a.Annotations)
		}
		if bytes > openBytes && n > 0 {
			return n
		}
	}
	return len(news)
}

// openSome runs one statement for the requests that have no incident yet. Then it looks up the incidents of the
// requests whose key has an open incident.
func (i *Incidents) openSome(ctx context.Context, news []*opening) error {
	i.db.ObserveOpened(len(news))
	for round := 0; ; round++ {
		rows, err := postgres.Query(ctx, i.db, (*db.Queries).OpenIncidents, openParams(news))
		for _, r := range rows {
			if news[r.Ord].err = changedMeanwhile(r.ID); news[r.Ord].err == nil {
				news[r.Ord].opened = incidents.Opened{ID: incidents.ID(r.ID), Bucket: r.Bucket}
			}
		}
		if err != nil {
			return err
		}
		left, err := i.findOpen(ctx, news)
		if err != nil || left == 0 {
			return err
		}
		if round == openRounds {
			return fault.New(fault.Unavailable,
				"the incident with this key is opened and resolved at the same time, try again")
		}
	}
}

// changedMeanwhile returns the error of a number in place of that of an incident.
func changedMeanwhile(id int64) error {
	switch id {
	case applicationChanged:
		return postgres.ErrApplicationChanged
	case silencesChanged:
		return incidents.ErrSilencesChanged
	}
	return nil
}

// findOpen looks up the open incidents of requests that have none yet, and returns how many still have none.
func (i *Incidents) findOpen(ctx context.Context, news []*opening) (left int, err error) {
	var missing []*opening
	var keys []incidents.New
	for _, o := range news {
		if o.opened.ID == 0 && o.err == nil {
			missing, keys = append(missing, o), append(keys, o.New)
		}
	}
	if len(missing) == 0 {
		return 0, nil
	}
	found, err := i.findAll(ctx, keys)
	if err != nil {
		return 0, err
	}
	for k, o := range missing {
		if o.opened = found[k].open; o.opened.ID == 0 {
			left++
		}
	}
	return left, nil
}

// openParams turns the requests that have no incident yet into columns.
func openParams(news []*opening) db.OpenIncidentsParams {
	var p db.OpenIncidentsParams
	for k, n := range news {
		if n.opened.ID != 0 || n.err != nil {
			continue
		}
		ord := k
		p.Ords = append(p.Ords, ord)
		p.PlanIds = append(p.PlanIds, n.PlanID)
		p.ApplicationIds = append(p.ApplicationIds, n.ApplicationID)
		p.Versions = append(p.Versions, n.Version)
		p.DedupKeys = append(p.DedupKeys, n.DedupKey)
		p.Actors = append(p.Actors, postgres.Storable(n.Actor))
		p.Remarks = append(p.Remarks, postgres.CleanText(n.Remark))
		p.Contexts = append(p.Contexts, string(n.Context))
		p.Facts = append(p.Facts, string(n.DedupFacts))
		p.IntegrationIds = append(p.IntegrationIds, n.Integration)
		p.Openers = append(p.Openers, n.Opener)
		p.Severities = append(p.Severities, n.Severity)
		p.SilencesVersions = append(p.SilencesVersions, n.SilencesVersion)
		hide := incidents.Silenced{Until: time.Unix(0, 0)}
		if n.Silenced != nil {
			hide = *n.Silenced
		}
		p.SilenceIds, p.SilencedUntils = append(p.SilenceIds, hide.Silence), append(p.SilencedUntils, hide.Until)
		p.SilenceReasons = append(p.SilenceReasons, postgres.CleanText(hide.Reason))
		a := alertColumns(n.Alerts)
		p.AlertOrds = append(p.AlertOrds, slices.Repeat([]int{ord}, len(n.Alerts))...)
		p.Fingerprints, p.Statuses = append(p.Fingerprints, a.Fingerprints...), append(p.Statuses, a.Statuses...)
		p.StartsAts, p.EndsAts = append(p.StartsAts, a.StartsAts...), append(p.EndsAts, a.EndsAts...)
		p.Labels, p.Annotations = append(p.Labels, a.Labels...), append(p.Annotations, a.Annotations...)
		for _, t := range n.DynamicTargets {
			p.TargetOrds = append(p.TargetOrds, ord)
			p.TargetIndexes = append(p.TargetIndexes, t.Index)
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
