package quotas

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
	"github.com/iris-oncall/iris/internal/users"
)

// Tally counts what became of messages in a transaction; it is added to the metrics when that is committed.
type Tally struct {
	held, Digests, Released, reprioritised, soft, hard, incidents, waiting int
}

// CountTally adds f to the metrics. Call it after the commit.
func CountTally(d *postgres.DB, f Tally) {
	for decision, n := range map[string]int{
		"held": f.held, "digest": f.Digests, "released": f.Released, "reprioritised": f.reprioritised,
		"quota_soft": f.soft, "quota_hard": f.hard, "quota_incident": f.incidents, "quota_waiting": f.waiting,
	} {
		d.CountFlood(decision, n)
	}
}

// Hold decides which of the new messages of plans that aggregate are held for a digest, and returns the lines for the
// timelines. The rows of their floods stay locked until the transaction ends.
func Hold(ctx context.Context, q *db.Queries, known KnownKeys[escalation.AggregationKey], news []Message, tally *Tally) ([]Entry, error) {
	var keys []escalation.AggregationKey
	for _, m := range news {
		if k, ok := floodOf(m); ok {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	floods, err := lockFloods(ctx, q, known, keys)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for i := range news {
		m := &news[i]
		k, ok := floodOf(*m)
		if !ok {
			continue
		}
		f := floods[k]
		if !f.flood.Hold(*m.Aggregation, m.At) {
			continue
		}
		if f.release.IsZero() {
			f.release = m.At.Add(m.Aggregation.Every)
		}
		m.Held = m.At
		m.Changes = append(slices.Clip(m.Changes), messages.Change{
			Type: "sent-change", New: string(messages.Aggregated), Description: escalation.AggregatedText(k, m.Application, m.Target),
		})
		entries = append(entries, Entry{m.IncidentID, escalation.HeldEntry(m.Target, *m.Aggregation, m.At)})
		tally.held++
	}
	return entries, storeFloods(ctx, q, floods)
}

// floodOf returns whose flood a message is counted in; false when its plan does not aggregate.
func floodOf(m Message) (escalation.AggregationKey, bool) {
	if m.Aggregation == nil {
		return escalation.AggregationKey{}, false
	}
	return escalation.FloodOf(m.New)
}

type lockedFlood struct {
	flood   escalation.Flood
	release time.Time // zero = nothing is held
}

func byKey(a, b escalation.AggregationKey) int {
	return cmp.Or(cmp.Compare(a.PlanID, b.PlanID), cmp.Compare(a.ApplicationID, b.ApplicationID),
		cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.UserID, b.UserID))
}

func lockFloods(ctx context.Context, q *db.Queries, known KnownKeys[escalation.AggregationKey], keys []escalation.AggregationKey) (map[escalation.AggregationKey]*lockedFlood, error) {
	slices.SortFunc(keys, byKey)
	keys = slices.Compact(keys)
	found, err := lockRows(known, keys, func() error { return makeFloods(ctx, q, keys) },
		func() (map[escalation.AggregationKey]*lockedFlood, error) { return lockKnownFloods(ctx, q, keys) })
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if found[k] == nil {
			return nil, fmt.Errorf("aggregation of plan %d, user %d is missing", k.PlanID, k.UserID)
		}
	}
	return found, nil
}

func makeFloods(ctx context.Context, q *db.Queries, keys []escalation.AggregationKey) error {
	var p db.MakeAggregationsParams
	for _, k := range keys {
		p.PlanIds = append(p.PlanIds, int64(k.PlanID))
		p.ApplicationIds = append(p.ApplicationIds, k.ApplicationID)
		p.Priorities = append(p.Priorities, string(k.Priority))
		p.UserIds = append(p.UserIds, int64(k.UserID))
		p.Buckets = append(p.Buckets, int16((int64(k.PlanID)+k.ApplicationID+int64(k.UserID))%buckets.Count))
	}
	if err := q.MakeAggregations(ctx, p); err != nil {
		return fmt.Errorf("make aggregations: %w", err)
	}
	return nil
}

func lockKnownFloods(ctx context.Context, q *db.Queries, keys []escalation.AggregationKey) (map[escalation.AggregationKey]*lockedFlood, error) {
	var p db.LockAggregationsParams
	for _, k := range keys {
		p.PlanIds = append(p.PlanIds, int64(k.PlanID))
		p.ApplicationIds = append(p.ApplicationIds, k.ApplicationID)
		p.Priorities = append(p.Priorities, string(k.Priority))
		p.UserIds = append(p.UserIds, int64(k.UserID))
	}
	rows, err := q.LockAggregations(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("lock aggregations: %w", err)
	}
	out := map[escalation.AggregationKey]*lockedFlood{}
	for _, r := range rows {
		f := &lockedFlood{release: postgres.Deref(r.ReleaseAt)}
		if err := json.Unmarshal(r.Flood, &f.flood); err != nil {
			f.flood = escalation.Flood{} // counted anew: better a page too many
		}
		out[escalation.AggregationKey{
			PlanID: escalation.PlanID(r.PlanID), ApplicationID: r.ApplicationID, Priority: users.Priority(r.Priority), UserID: users.ID(r.UserID),
		}] = f
	}
	return out, nil
}

func storeFloods(ctx context.Context, q *db.Queries, floods map[escalation.AggregationKey]*lockedFlood) error {
	var p db.StoreAggregationsParams
	for k, f := range floods {
		raw, err := json.Marshal(f.flood)
		if err != nil {
			return fmt.Errorf("encode aggregation: %w", err)
		}
		p.PlanIds = append(p.PlanIds, int64(k.PlanID))
		p.ApplicationIds = append(p.ApplicationIds, k.ApplicationID)
		p.Priorities = append(p.Priorities, string(k.Priority))
		p.UserIds = append(p.UserIds, int64(k.UserID))
		p.Floods = append(p.Floods, string(raw))
		p.ReleaseAts = append(p.ReleaseAts, postgres.OrEpoch(f.release))
	}
	if err := q.StoreAggregations(ctx, p); err != nil {
		return fmt.Errorf("store aggregations: %w", err)
	}
	return nil
}

// LimitedEntry is a line about messages that a quota or rule changed.
func LimitedEntry(incident incidents.ID, at time.Time, format string, args ...any) Entry {
	return Entry{incident, incidents.Entry{At: at, Kind: incidents.EntryLimited, Text: postgres.CleanText(fmt.Sprintf(format, args...))}}
}
