package pg

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/floods"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Hold decides which messages of plans that aggregate are held for a digest. It returns the messages to be made and
// lines for the timelines. The floods stay locked until the transaction ends.
func Hold(ctx context.Context, q *db.Queries, known KnownKeys[escalation.AggregationKey], news []floods.Message, tally floods.Tally) ([]floods.Message, []floods.Entry, error) {
	keys := floods.Keys(news)
	if len(keys) == 0 {
		return news, nil, nil
	}
	locked, err := lockFloods(ctx, q, known, keys)
	if err != nil {
		return nil, nil, err
	}
	news, entries := floods.Hold(news, locked, tally)
	return news, entries, storeFloods(ctx, q, locked)
}

func lockFloods(ctx context.Context, q *db.Queries, known KnownKeys[escalation.AggregationKey], keys []escalation.AggregationKey) (map[escalation.AggregationKey]*floods.Flood, error) {
	found, err := lockRows(known, keys, func() error { return makeFloods(ctx, q, keys) },
		func() (map[escalation.AggregationKey]*floods.Flood, error) { return lockKnownFloods(ctx, q, keys) })
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
		p.Buckets = append(p.Buckets, int((int64(k.PlanID)+k.ApplicationID+int64(k.UserID))%buckets.Count))
	}
	if err := q.MakeAggregations(ctx, p); err != nil {
		return fmt.Errorf("make aggregations: %w", err)
	}
	return nil
}

func lockKnownFloods(ctx context.Context, q *db.Queries, keys []escalation.AggregationKey) (map[escalation.AggregationKey]*floods.Flood, error) {
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
	out := map[escalation.AggregationKey]*floods.Flood{}
	for _, r := range rows {
		f := &floods.Flood{Release: postgres.Deref(r.ReleaseAt)}
		if err := json.Unmarshal(r.Flood, &f.State); err != nil {
			f.State = floods.State{} // counted again: one page too many is better than one too few
		}
		out[escalation.AggregationKey{
			PlanID: escalation.PlanID(r.PlanID), ApplicationID: r.ApplicationID, Priority: r.Priority, UserID: r.UserID,
		}] = f
	}
	return out, nil
}

func storeFloods(ctx context.Context, q *db.Queries, locked map[escalation.AggregationKey]*floods.Flood) error {
	var p db.StoreAggregationsParams
	for k, f := range locked {
		raw, err := json.Marshal(f.State)
		if err != nil {
			return fmt.Errorf("encode aggregation: %w", err)
		}
		p.PlanIds = append(p.PlanIds, int64(k.PlanID))
		p.ApplicationIds = append(p.ApplicationIds, k.ApplicationID)
		p.Priorities = append(p.Priorities, string(k.Priority))
		p.UserIds = append(p.UserIds, int64(k.UserID))
		p.Floods = append(p.Floods, string(raw))
		p.ReleaseAts = append(p.ReleaseAts, postgres.OrEpoch(f.Release))
	}
	if err := q.StoreAggregations(ctx, p); err != nil {
		return fmt.Errorf("store aggregations: %w", err)
	}
	return nil
}
