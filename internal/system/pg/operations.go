// This file stores what operators change of the running system: drains, pauses, purges and messages that are sent
// again. Each change has an entry in the audit log, in the same transaction. The system routes of /v1 call it.

package pg

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/system"
)

// Operations changes a database. It is safe for concurrent use.
type Operations struct{ db *postgres.DB }

// New returns the adapter over d.
func New(d *postgres.DB) *Operations { return &Operations{d} }

// SetDraining makes a member release its buckets, or allows it to own buckets again. It returns the faults of
// buckets.MayDrain.
func (o *Operations) SetDraining(ctx context.Context, processID string, draining bool) error {
	processID = postgres.Storable(processID)
	err := o.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if err := q.LockMembers(ctx); err != nil {
			return err
		}
		action := audit.MemberDrainEnded
		if draining {
			action = audit.MemberDrained
			rows, err := q.ListMembers(ctx)
			if err != nil {
				return err
			}
			members := postgres.Convert(rows, func(r postgresdb.ListMembersRow) buckets.MemberState {
				return buckets.MemberState{Member: buckets.Member{ProcessID: r.ProcessID, Draining: r.Draining},
					Age: postgres.FloatSeconds(r.AgeSeconds)}
			})
			if err := buckets.MayDrain(members, processID); err != nil {
				return err
			}
		}
		n, err := q.SetMemberDraining(ctx, postgresdb.SetMemberDrainingParams{ProcessID: processID, Draining: draining})
		if err := postgres.Named(postgres.RequireRow(n, err), "there is no message processor "+processID); err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Action: action, Object: "member " + processID})
	})
	if err == nil { // a hint: the members read the change within a second anyway
		_ = o.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
			return q.NotifyMembers(ctx,
				processID)
		})
	}
	return err
}

// Pause replaces the pause of an account ("account:twilio/main") or a mode ("mode:sms").
func (o *Operations) Pause(ctx context.Context, key string, d time.Duration, reason string) error {
	p := postgresdb.SetPauseParams{Account: postgres.CleanText(key), ForUs: d.Microseconds(),
		Reason: postgres.CleanText(reason)}
	return o.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if _, err := q.EndPause(ctx, p.Account); err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if err := q.SetPause(ctx, p); err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Action: audit.SendingPaused, Object: p.Account, Detail: d.String() +
			": " + p.Reason})
	})
}

// EndPause ends a pause of an operator or a vendor. Without a pause it returns a NotFound fault.
func (o *Operations) EndPause(ctx context.Context, key string) error {
	key = postgres.CleanText(key)
	return o.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		reason, err := q.EndPause(ctx, key)
		if errors.Is(err, pgx.ErrNoRows) {
			return fault.New(fault.NotFound, key+" is not paused")
		}
		if err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Action: audit.SendingResumed, Object: key,
			Detail: "it was paused: " + reason})
	})
}

// SetPaused pauses an application, so that its incidents and messages wait, or resumes it. An unknown name is a
// NotFound fault; by is the actor of the audit log.
func (o *Operations) SetPaused(ctx context.Context, name string, paused bool, by string) error {
	e := audit.Entry{Actor: by, Action: audit.ApplicationPaused}
	if !paused {
		e.Action = audit.ApplicationResumed
	}
	return o.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		id, err := q.ApplicationNumber(ctx, postgres.Storable(name))
		if errors.Is(err, pgx.ErrNoRows) {
			return fault.New(fault.NotFound, "there is no application "+name)
		}
		if err != nil {
			return err
		}
		row, err := q.LockApplication(ctx, id)
		if err != nil {
			return err
		}
		if row.Name == system.OwnApplication {
			return fault.Newf(fault.Conflict,
				"the application %s cannot be paused: Iris sends its own messages through it", row.Name)
		}
		e.Object = "application " + row.Name
		return auditlog.Changing(ctx, q, auditlog.Application(id), e, func() error {
			return q.SetApplicationPaused(ctx, postgresdb.SetApplicationPausedParams{ID: id, Paused: paused})
		})
	})
}
