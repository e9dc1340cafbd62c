// Package system reads what operators see of vendors, limits and unreached people. The system routes of /v1 call it.
package system

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// System reads from a database. It is safe for concurrent use.
type System struct{ db *postgres.DB }

// New returns the adapter over d.
func New(d *postgres.DB) *System { return &System{d} }

// Vendors returns the calls of each account since an instant.
func (s *System) Vendors(ctx context.Context, since time.Time) ([]messages.VendorCalls, error) {
	rows, err := postgres.Query(ctx, s.db, (*db.Queries).VendorCalls, since)
	return postgres.Convert(rows, func(r db.VendorCallsRow) messages.VendorCalls {
		return messages.VendorCalls{Vendor: r.Vendor, Account: r.Account, Mode: r.Mode, Calls: r.Calls, Failed: r.Failed, InDoubt: r.InDoubt,
			LastSentAt: postgres.OrZero(r.LastSentAt), LastFailedAt: postgres.OrZero(r.LastFailedAt), LastFailure: r.LastFailure}
	}), err
}

// Pauses returns the accounts and modes that are paused.
func (s *System) Pauses(ctx context.Context) ([]messages.Pause, error) {
	return postgres.Get(ctx, s.db, func(ctx context.Context, q *db.Queries) ([]messages.Pause, error) {
		rows, err := q.ListPauses(ctx)
		return postgres.Convert(rows, func(r db.ListPausesRow) messages.Pause {
			return messages.Pause{Key: r.Account, Left: postgres.Micros(r.LeftUs), Reason: r.Reason}
		}), err
	})
}

// Limits returns the limits that were used in the last hour, those with the longest wait first.
func (s *System) Limits(ctx context.Context) ([]messages.LimitUse, error) {
	return postgres.Get(ctx, s.db, func(ctx context.Context, q *db.Queries) ([]messages.LimitUse, error) {
		rows, err := q.LimitUses(ctx)
		return postgres.Convert(rows, func(r db.LimitUsesRow) messages.LimitUse {
			return messages.LimitUse{Key: r.Key, Ahead: postgres.FloatSeconds(r.AheadSeconds)}
		}), err
	})
}

// Unreached returns notifications that reached nobody since an instant, newest first: those before a number, 0 = from the newest.
func (s *System) Unreached(ctx context.Context, since time.Time, before int64, most int) ([]messages.Unreached, error) {
	rows, err := postgres.Query(ctx, s.db, (*db.Queries).Unreached, db.UnreachedParams{Since: since, Before: before, Most: int32(most)})
	return postgres.Convert(rows, func(r db.UnreachedRow) messages.Unreached {
		return messages.Unreached{ID: r.ID, IncidentID: r.IncidentID, At: r.At, Text: r.Text, Application: r.Application, Plan: r.Plan}
	}), err
}

// Schema returns the number of the newest migration in the database, and of this release.
func (s *System) Schema(ctx context.Context) (have, want int64, err error) {
	state, err := s.db.SchemaState(ctx)
	return state.Have, state.Want, err
}
