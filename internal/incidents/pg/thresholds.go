package pg

import (
	"context"
	"errors"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

const (
	// maxThresholds is how many rows of held events an integration has at most in two days. An event that needs a further
	// one opens an incident.
	maxThresholds = 10_000
	// countRuns is how many events are counted or grouped at the same time, each of another integration. They must not
	// use up the connections.
	countRuns = 4
)

// errKeyIsOpen says that an incident with the key of the event is open. Nothing was stored.
var errKeyIsOpen = errors.New("an incident with this key is open")

// openByRule opens the incident of an event that its rule counts or groups, in one transaction with the count and the
// group.
func (i *Incidents) openByRule(ctx context.Context, n incidents.New) (incidents.Opened, error) {
	done, waited, err := i.counting.take(ctx, n.Integration)
	if err != nil {
		return incidents.Opened{}, err
	}
	defer done()
	if waited && n.DedupKey != "" { // its resolve may have come meanwhile
		known, found, err := i.ByKey(ctx, n)
		if err != nil || found {
			return known, err
		}
		if known.Early && n.Threshold == nil {
			if held, err := i.holdEarly(ctx, n); err != nil || held.ID != 0 {
				return held, err
			}
		}
	}
	return postgres.GetInTx(ctx, i.db, func(ctx context.Context, q *db.Queries) (out incidents.Opened, err error) {
		n := n // the transaction may run again
		if n.DedupKey != "" {
			if err := q.LockEvent(ctx, db.LockEventParams{IntegrationID: n.Integration, DedupKey: shortKey(n.DedupKey)}); err != nil {
				return out, err
			}
			if err := checkKeyFree(ctx, q, n); err != nil {
				return out, err
			}
		}
		var now time.Time
		if n.Group != nil {
			if out, now, err = join(ctx, q, &n); err != nil || out.Joined {
				return out, err
			}
		}
		if n.Threshold != nil {
			if out, err = holdBack(ctx, q, &n); err != nil || out.HeldBack > 0 {
				return out, err
			}
		}
		if n.Group != nil {
			if err := lead(&n, now); err != nil {
				return out, err
			}
		}
		rows, err := q.OpenIncidents(ctx, openParams([]*opening{{New: n, openResult: &openResult{}}}))
		if err != nil {
			return out, err
		}
		if len(rows) == 0 {
			return out, errKeyIsOpen
		}
		if err := changedMeanwhile(rows[0].ID); err != nil {
			return out, err
		}
		i.db.ObserveOpened(1)
		out = incidents.Opened{ID: incidents.ID(rows[0].ID), Bucket: rows[0].Bucket}
		if n.Group == nil {
			return out, nil
		}
		return out, begin(ctx, q, out.ID, n)
	})
}

// holdBack counts an event. Either it holds the event back, or n says how many came before.
func holdBack(ctx context.Context, q *db.Queries, n *incidents.New) (out incidents.Opened, err error) {
	key := shortKey(n.Threshold.Key)
	row, err := q.LockHeldEvents(ctx, db.LockHeldEventsParams{IntegrationID: n.Integration, Key: key, Most: maxThresholds})
	counted := err == nil
	if err = postgres.IgnoreNoRows(err); err != nil {
		return out, err
	}
	if !counted {
		return out, nil
	}
	held, holds := n.Threshold.Hold(heldEvents(row.At, row.Titles), row.Now)
	if holds {
		out.HeldBack = len(held)
		return out, q.SetHeldEvents(ctx, setHeld(n.Integration, key, held))
	}
	n.Remark = joined(n.Remark, n.Threshold.OpenText(held))
	return out, q.SetHeldEvents(ctx, setHeld(n.Integration, key, nil))
}

// checkKeyFree returns errKeyIsOpen if an event before has opened an incident with the key.
func checkKeyFree(ctx context.Context, q *db.Queries, n incidents.New) error {
	open, err := openByKey(ctx, q, n, "")
	if err == nil && open.id != 0 {
		err = errKeyIsOpen
	}
	return err
}

// CountHeld says how many events there would be with one more, and whether that one would be held back. It changes
// nothing.
func (i *Incidents) CountHeld(ctx context.Context, integration int64, t incidents.Threshold) (events int, holds bool, err error) {
	row, err := postgres.Query(ctx, i.db, (*db.Queries).HeldEvents, db.HeldEventsParams{IntegrationID: integration,
		Key: shortKey(t.Key)})
	if err = postgres.IgnoreNoRows(err); err != nil {
		return 0, false, err
	}
	held, holds := t.Hold(heldEvents(row.At, row.Titles), row.Now)
	return len(held), holds, nil
}

func heldEvents(at []time.Time, titles []string) []incidents.HeldEvent {
	out := make([]incidents.HeldEvent, len(at))
	for k := range at {
		out[k] = incidents.HeldEvent{At: at[k], Title: titles[k]}
	}
	return out
}

func setHeld(integration int64, key string, held []incidents.HeldEvent) db.SetHeldEventsParams {
	p := db.SetHeldEventsParams{IntegrationID: integration, Key: key, At: []time.Time{}, Titles: []string{}}
	for _, e := range held {
		p.At, p.Titles = append(p.At, e.At), append(p.Titles, postgres.CleanText(e.Title))
	}
	return p
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
