// This file reads what operators see of vendors, limits and unreached people.

package pg

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/system"
)

// System reads from a database. It is safe for concurrent use.
type System struct{ db *postgres.DB }

// NewSystem returns the adapter over d.
func NewSystem(d *postgres.DB) *System { return &System{d} }

// Vendors returns the calls of each account since an instant, without their health.
func (s *System) Vendors(ctx context.Context, since time.Time) ([]system.Vendor, error) {
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).VendorCalls, since)
	at := func(t time.Time) *time.Time { return postgres.NullTime(postgres.OrZero(t).UTC()) }
	return postgres.Convert(rows, func(r postgresdb.VendorCallsRow) system.Vendor {
		return system.Vendor{Vendor: r.Vendor, Account: r.Account, Mode: r.Mode, Calls: r.Calls, Failed: r.Failed,
			InDoubt: r.InDoubt, LastSentAt: at(r.LastSentAt), LastFailedAt: at(r.LastFailedAt),
			LastFailure: operation.Text(r.LastFailure)}
	}), err
}

// Pauses returns the accounts and modes that are paused.
func (s *System) Pauses(ctx context.Context) ([]system.Pause, error) {
	return postgres.Get(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) ([]system.Pause, error) {
		rows, err := q.ListPauses(ctx)
		return postgres.Convert(rows, func(r postgresdb.ListPausesRow) system.Pause {
			return system.Pause{Key: r.Account, Left: postgres.Micros(r.LeftUs).Seconds(), Reason: r.Reason}
		}), err
	})
}

// Limits returns the limits that were used in the last hour, those with the longest wait first.
func (s *System) Limits(ctx context.Context) ([]system.Limit, error) {
	return postgres.Get(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) ([]system.Limit, error) {
		rows, err := q.LimitUses(ctx)
		return postgres.Convert(rows, func(r postgresdb.LimitUsesRow) system.Limit {
			return system.Limit{Key: r.Key, Ahead: r.AheadSeconds, Used: r.Used, PerMinute: r.PerMinute}
		}), err
	})
}

// PausedApplications returns the names of the applications that send nothing, by name.
func (s *System) PausedApplications(ctx context.Context) ([]string, error) {
	return postgres.Get(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) ([]string, error) { return q.PausedApplications(ctx) })
}

// Handovers returns the latest hand-overs of buckets, newest first.
func (s *System) Handovers(ctx context.Context, most int) ([]system.Handover, error) {
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).Handovers, most)
	return postgres.Convert(rows, func(r postgresdb.HandoversRow) system.Handover {
		return system.Handover{At: r.At.UTC(), Owner: r.Owner, Host: r.Host, Previous: operation.Text(r.Previous),
			PreviousHost: operation.Text(r.PreviousHost), TakenOver: r.TakenOver, Buckets: r.Buckets}
	}), err
}

// Unreached returns notifications that reached nobody since an instant, newest first: those before a number, 0 = from
// the newest.
func (s *System) Unreached(ctx context.Context, application int64, since time.Time, before int64, most int) ([]system.Unreached, error) {
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).Unreached,
		postgresdb.UnreachedParams{ApplicationID: application, Since: since, Before: before, Most: most})
	return postgres.Convert(rows, func(r postgresdb.UnreachedRow) system.Unreached {
		return system.Unreached{ID: r.ID, IncidentID: r.IncidentID, At: r.At.UTC(), Text: r.Text,
			Application: r.Application, Plan: r.Plan}
	}), err
}

// Schema returns the number of the newest migration in the database, and of this release.
func (s *System) Schema(ctx context.Context) (have, want int64, err error) {
	state, err := s.db.SchemaState(ctx)
	return state.Have, state.Want, err
}

// LostByUpgrade returns who did something in the last days that needs a right since this release, and the accounts and
// tokens in use that see fewer contacts. It works on the schema of the release before.
func (s *System) LostByUpgrade(ctx context.Context, days, most int) ([]system.Loss, error) {
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).LostByUpgrade,
		postgresdb.LostByUpgradeParams{Days: days, Most: most})
	return postgres.Convert(rows, func(r postgresdb.LostByUpgradeRow) system.Loss {
		return system.Loss{Rule: r.Rule, Who: r.Who, Object: r.Object, Times: r.Times,
			LastAt: postgres.OrZero(r.LastAt)}
	}), err
}
