package pg

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/iris-oncall/iris/internal/escalation/floods"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// states returns the stored form of counts, by the key of their row.
func states(c floods.Counts) map[string]any {
	out := map[string]any{}
	for k, w := range c.Windows {
		out[fmt.Sprintf("mode:%d/%s", k.User, k.Mode)] = w
	}
	for s, u := range c.Usage {
		key := fmt.Sprintf("quota:%d", s.Application)
		if s.Opener != "" {
			key += "/" + s.Opener
		}
		out[key] = u
	}
	for user, d := range c.Days {
		out[fmt.Sprintf("day:%d", user)] = d
	}
	return out
}

// lockCounts locks the rows of counts until the transaction ends and reads them into c.
func lockCounts(ctx context.Context, q *db.Queries, known KnownKeys[string], c floods.Counts) error {
	into := states(c)
	if len(into) == 0 {
		return nil
	}
	keys := slices.Sorted(maps.Keys(into))
	stored, err := lockRows(known, keys, func() error {
		if err := q.MakeCounts(ctx, keys); err != nil {
			return fmt.Errorf("make counts: %w", err)
		}
		return nil
	}, func() (map[string][]byte, error) {
		rows, err := q.LockCounts(ctx, keys)
		if err != nil {
			return nil, fmt.Errorf("lock counts: %w", err)
		}
		raw := make(map[string][]byte, len(rows))
		for _, r := range rows {
			raw[r.Key] = r.State
		}
		return raw, nil
	})
	for key, raw := range stored {
		if len(raw) > 0 {
			_ = json.Unmarshal(raw, into[key]) // unreadable counts begin again: they must not prevent a page
		}
	}
	return err
}

func storeCounts(ctx context.Context, q *db.Queries, c floods.Counts) error {
	all := states(c)
	if len(all) == 0 {
		return nil
	}
	var p db.StoreCountsParams
	for key, state := range all {
		raw, err := json.Marshal(state)
		if err != nil {
			return fmt.Errorf("encode counts: %w", err)
		}
		p.Keys, p.States = append(p.Keys, key), append(p.States, string(raw))
	}
	if err := q.StoreCounts(ctx, p); err != nil {
		return fmt.Errorf("store counts: %w", err)
	}
	return nil
}
