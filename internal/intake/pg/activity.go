package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Record adds counts and payloads, notes the use of tokens, and deletes all but the latest payloads of each
// integration.
func (s *Integrations) Record(ctx context.Context, used map[intake.ID]receiving.Usage) error {
	var c db.CountDeliveriesParams
	var p db.AddPayloadsParams
	var tokens []int64
	for id, u := range used {
		c.Ids, c.Accepted, c.Refused = append(c.Ids, int64(id)), append(c.Accepted, u.Accepted), append(c.Refused,
			u.Refused)
		c.Refusals = append(c.Refusals, postgres.Storable(u.Refusal))
		c.Failed, c.Failures = append(c.Failed, u.Failed), append(c.Failures, postgres.CleanText(u.Failure))
		tokens = append(tokens, u.Tokens...)
		for _, b := range u.Payloads {
			p.Ids, p.Ats = append(p.Ids, int64(id)), append(p.Ats, b.At)
			p.Outcomes, p.Bodies = append(p.Outcomes, postgres.Storable(b.Outcome)), append(p.Bodies,
				postgres.Storable(b.Body))
			p.ContentTypes = append(p.ContentTypes, b.ContentType)
		}
	}
	return s.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if err := q.CountDeliveries(ctx, c); err != nil {
			return err
		}
		if err := q.UseIntegrationTokens(ctx, tokens); err != nil {
			return err
		}
		if err := q.AddPayloads(ctx, p); err != nil {
			return err
		}
		return q.DropPayloads(ctx, db.DropPayloadsParams{Ids: c.Ids, Keep: receiving.KeptPayloads})
	})
}

// Payloads returns the latest deliveries of an integration, newest first.
func (s *Integrations) Payloads(ctx context.Context, id intake.ID) ([]intake.Payload, error) {
	rows, err := postgres.Query(ctx, s.db, (*db.Queries).Payloads,
		db.PayloadsParams{IntegrationID: int64(id), Most: receiving.KeptPayloads})
	return postgres.Convert(rows, func(r db.PayloadsRow) intake.Payload {
		return intake.Payload{At: r.At, Outcome: r.Outcome, Body: r.Body, ContentType: r.ContentType}
	}), err
}

// ExpirePayloads deletes payloads older than seven days and returns their number.
func (s *Integrations) ExpirePayloads(ctx context.Context) (int64, error) {
	return postgres.Read(ctx, s.db, (*db.Queries).ExpirePayloads)
}

// TakeAllowance implements receiving.ActivityStore.
func (s *Integrations) TakeAllowance(ctx context.Context, id intake.ID, r receiving.Rate, wanted int) (granted int, left float64, err error) {
	row, err := postgres.Query(ctx, s.db, (*db.Queries).TakeAllowance,
		db.TakeAllowanceParams{ID: int64(id), Burst: float64(r.Burst),
			Wanted: wanted, PerSecond: r.PerSecond})
	return row.Granted, row.Tokens, err
}
