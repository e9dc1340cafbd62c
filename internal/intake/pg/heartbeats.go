// This file stores heartbeats: their settings, their plain pings and what was reported about them. The edge that takes pings,
// the monitor, /v1 and the command line use it. It decides nothing about heartbeats.

package pg

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/heartbeats"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Heartbeats stores heartbeats. It is safe for concurrent use.
type Heartbeats struct {
	db      *postgres.DB
	pings   *postgres.Batches[heartbeats.Ping, found]
	signals *postgres.Batches[signal, struct{}]
	now     *time.Time // of tests; nil = the clock of the database
}

// found is what a call found. busy = a ping may end a run or a miss.
type found struct {
	heartbeats.Pinged
	busy bool
}

// Batches of pings and of signals: their size, and how many run at the same time.
const (
	maxPings   = 500
	maxSignals = 50
	pingRuns   = 2
)

// New returns the adapter over d.
func New(d *postgres.DB) *Heartbeats { return newHeartbeats(d, nil) }

// At returns the adapter with a fixed clock, for tests.
func (s *Heartbeats) At(now time.Time) *Heartbeats { return newHeartbeats(s.db, &now) }

func newHeartbeats(d *postgres.DB, now *time.Time) *Heartbeats {
	s := &Heartbeats{db: d, now: now}
	s.pings = postgres.NewBatches(d, maxPings, pingRuns, s.ping)
	s.signals = postgres.NewBatches(d, maxSignals, pingRuns, s.signal)
	return s
}

// Ping stores a call. It returns when the call is durable. Calls that come at the same time share a transaction. Most
// are pings that change one row; only the others, and pings that may end a run or a miss, take a second step.
func (s *Heartbeats) Ping(ctx context.Context, p heartbeats.Ping) (heartbeats.Pinged, error) {
	to, err := s.pings.Do(ctx, p)
	allowed := to.Heartbeat != 0 && to.Integration.Enabled && to.Integration.Type == p.Type
	if err != nil || !allowed || p.Plain() && !to.busy {
		return to.Pinged, err
	}
	_, err = s.signals.Do(ctx, signal{to.Heartbeat, p})
	return to.Pinged, err
}

// ping stores pings by one statement. Of other calls it finds only the heartbeats.
func (s *Heartbeats) ping(ctx context.Context, pings []heartbeats.Ping) ([]found, error) {
	type key struct {
		hash, name, kind string
		plain            bool
	}
	keyOf := func(p heartbeats.Ping) key {
		return key{string(intake.Hash(p.Token)), postgres.Storable(p.Name), postgres.Storable(p.Type), p.Plain()}
	}
	params, seen := postgresdb.PingHeartbeatsParams{Now: s.now}, map[key]found{}
	for _, p := range pings {
		k := keyOf(p)
		if _, twice := seen[k]; !twice {
			seen[k] = found{}
			params.Hashes, params.Names = append(params.Hashes, []byte(k.hash)), append(params.Names, k.name)
			params.Types, params.Plain = append(params.Types, k.kind), append(params.Plain, k.plain)
		}
	}
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).PingHeartbeats, params)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		seen[key{string(r.Hash), r.Name, r.Wanted, r.Plain}] = found{busy: r.Busy, Pinged: heartbeats.Pinged{Token: r.TokenID,
			Heartbeat: heartbeats.ID(r.HeartbeatID),
			Integration: intake.Integration{ID: intake.ID(r.IntegrationID),
				Content: intake.Content{Name: r.Integration, Type: r.Type, Enabled: r.Enabled}}}}
	}
	return postgres.Convert(pings, func(p heartbeats.Ping) found { return seen[keyOf(p)] }), nil
}

// KeepReception stores that pings can be received now. After an outage it returns how long nobody could store that;
// else zero.
func (s *Heartbeats) KeepReception(ctx context.Context) (outage time.Duration, err error) {
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).KeepReception,
		postgresdb.KeepReceptionParams{Now: s.now, OutageSeconds: heartbeats.Outage.Seconds()})
	for _, seconds := range rows {
		if gap := time.Duration(seconds * float64(time.Second)); gap > heartbeats.Outage {
			outage = gap
		}
	}
	return outage, err
}

func (s *Heartbeats) reception(ctx context.Context) (heartbeats.Reception, error) {
	r, err := postgres.Read(ctx, s.db, (*postgresdb.Queries).HeartbeatReception)
	return heartbeats.Reception(r), err
}

// Due returns heartbeats in some buckets that may need a decision. Those of an integration that is switched off are
// switched off.
func (s *Heartbeats) Due(ctx context.Context, leases []buckets.Lease) ([]heartbeats.Heartbeat, heartbeats.Reception, error) {
	r, err := s.reception(ctx) // before the pings are read: pings until then are in what is read next
	if err != nil {
		return nil, r, err
	}
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).DueHeartbeats,
		postgresdb.DueHeartbeatsParams{LastAt: r.LastAt, Buckets: pgbuckets.BucketNumbers(leases)})
	return postgres.Convert(rows, func(r postgresdb.DueHeartbeatsRow) heartbeats.Heartbeat {
		return heartbeat(postgresdb.HeartbeatsRow(r))
	}), r, err
}

// Postpone stores when heartbeats are checked next. Those that were changed since they were read are checked in the
// next pass.
func (s *Heartbeats) Postpone(ctx context.Context, checked []heartbeats.Heartbeat, r heartbeats.Reception) error {
	var p postgresdb.PostponeHeartbeatsParams
	for _, h := range checked {
		p.Ids, p.Before, p.Until = append(p.Ids, int64(h.ID)), append(p.Before, h.CheckAt), append(p.Until,
			h.NextCheck(r))
	}
	return postgres.Exec(ctx, s.db, (*postgresdb.Queries).PostponeHeartbeats, p)
}

// Miss marks a heartbeat as missed, if no ping came since it was read, and returns when. It returns zero if one came.
// Runs that began until overdue are not expected to end any more. It is fenced by the lease of the heartbeat's bucket.
func (s *Heartbeats) Miss(ctx context.Context, processID string, lease buckets.Lease, h heartbeats.Heartbeat, overdue time.Time) (at time.Time, err error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) (at time.Time, err error) {
		if err := pgbuckets.Fence(ctx, q, processID, []buckets.Lease{lease}); err != nil {
			return at, err
		}
		rows, err := q.MissHeartbeat(ctx, postgresdb.MissHeartbeatParams{ID: int64(h.ID), LastPingAt: postgres.NullTime(h.LastPingAt),
			StartedAt: postgres.NullTime(h.StartedAt), Since: h.Since, Failure: h.Failure, Now: s.now})
		for _, missed := range rows {
			at = postgres.Deref(missed)
		}
		if err != nil || at.IsZero() || h.StartedAt.IsZero() {
			return at, err
		}
		if err := q.LoseRuns(ctx, postgresdb.LoseRunsParams{HeartbeatID: int64(h.ID), Until: &overdue}); err != nil {
			return at, err
		}
		return at, q.SignalHeartbeat(ctx, postgresdb.SignalHeartbeatParams{ID: int64(h.ID)})
	})
}

// Reported stores that the miss of a heartbeat was reported; incident is the number of the incident, 0 = none.
func (s *Heartbeats) Reported(ctx context.Context, h heartbeats.Heartbeat, incident int64) error {
	return postgres.Exec(ctx, s.db, (*postgresdb.Queries).ReportHeartbeat,
		postgresdb.ReportHeartbeatParams{ID: int64(h.ID), IncidentID: incident, MissedAt: h.MissedAt})
}

// Ended removes the mark of a missed heartbeat, if it is still the one that was read.
func (s *Heartbeats) Ended(ctx context.Context, h heartbeats.Heartbeat) error {
	_, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).EndMissedHeartbeat,
		postgresdb.EndMissedHeartbeatParams{ID: int64(h.ID), MissedAt: &h.MissedAt})
	return err
}

// Of returns the heartbeats of an integration (0 = of all) of an application (0 = of all) by name.
func (s *Heartbeats) Of(ctx context.Context, integration intake.ID, application int64) ([]heartbeats.Heartbeat, heartbeats.Reception, error) {
	r, err := s.reception(ctx)
	if err != nil {
		return nil, r, err
	}
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).Heartbeats,
		postgresdb.HeartbeatsParams{IntegrationID: int64(integration), ApplicationID: application})
	return postgres.Convert(rows, heartbeat), r, err
}

func heartbeat(r postgresdb.HeartbeatsRow) heartbeats.Heartbeat {
	return heartbeats.Heartbeat{ID: heartbeats.ID(r.ID), IntegrationID: intake.ID(r.IntegrationID),
		Integration: r.Integration,
		Content:     content(r.Name, r.Description, r.EverySeconds, r.GraceSeconds, r.Plan, r.Severity, r.Enabled),
		CreatedBy:   r.CreatedBy, CreatedAt: r.CreatedAt, Since: r.Since, LastPingAt: postgres.Deref(r.LastPingAt),
		MissedAt: postgres.Deref(r.MissedAt), Reported: r.Reported, Incident: int64(postgres.Deref(r.IncidentID)), CheckAt: r.CheckAt,
		StartedAt: postgres.Deref(r.StartedAt), LastRun: time.Duration(postgres.Deref(r.LastRunUs)) * time.Microsecond, Failure: r.Failure}
}

func content(name, description string, every, grace int, plan, severity string, enabled bool) heartbeats.Content {
	return heartbeats.Content{Name: name, Description: description, Every: time.Duration(every) * time.Second,
		Grace: time.Duration(grace) * time.Second, Plan: plan, Severity: intake.Severity(severity), Enabled: enabled}
}

// Save adds a heartbeat to an integration, or replaces its content. before is the heartbeat as the editor read it; ID 0
// = it is new. A name in use is a Conflict fault. A heartbeat that was changed since it was read is a Stale fault.
func (s *Heartbeats) Save(ctx context.Context, i intake.Integration, before heartbeats.Heartbeat, c heartbeats.Content, actor string) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		plan, severity, description := postgres.Storable(c.Plan), string(c.Severity), postgres.Storable(c.Description)
		every, grace := int(c.Every/time.Second), int(c.Grace/time.Second)
		if before.ID != 0 {
			if err := unchanged(ctx, q, before); err != nil {
				return err
			}
			if err := q.ReplaceHeartbeat(ctx, postgresdb.ReplaceHeartbeatParams{ID: int64(before.ID), Description: description, EverySeconds: every,
				GraceSeconds: grace, Plan: plan, Severity: severity, Enabled: c.Enabled}); err != nil {
				return err
			}
			return note(ctx, q, actor, audit.HeartbeatChanged, i.Name, c.Name, audit.Diff(before.Content, c))
		}
		if n, err := q.CountHeartbeats(ctx, int64(i.ID)); err != nil || n >= heartbeats.MaxPerIntegration {
			if err == nil {
				err = fault.Newf(fault.Conflict, "an integration has at most %d heartbeats",
					heartbeats.MaxPerIntegration)
			}
			return err
		}
		err := q.AddHeartbeat(ctx, postgresdb.AddHeartbeatParams{IntegrationID: int64(i.ID),
			Name: postgres.Storable(c.Name), Description: description,
			EverySeconds: every, GraceSeconds: grace, Plan: plan, Severity: severity, Enabled: c.Enabled, CreatedBy: postgres.Storable(actor)})
		if postgres.SqlState(err) == uniqueViolation {
			return fault.Wrap(fault.Conflict, err, "the integration "+i.Name+" has a heartbeat named "+c.Name)
		}
		if err != nil {
			return err
		}
		return note(ctx, q, actor, audit.HeartbeatAdded, i.Name, c.Name, audit.Diff(nil, c))
	})
}

const uniqueViolation = "23505"

// unchanged locks a heartbeat. A heartbeat that was changed since it was read is a Stale fault.
func unchanged(ctx context.Context, q *postgresdb.Queries, h heartbeats.Heartbeat) error {
	r, err := q.LockHeartbeat(ctx, int64(h.ID))
	if err != nil {
		return postgres.Named(err, "there is no heartbeat "+h.Name)
	}
	if content(r.Name, r.Description, r.EverySeconds, r.GraceSeconds, r.Plan, r.Severity, r.Enabled).Tag() != h.Tag() {
		return etag.ErrStale
	}
	return nil
}

// Delete deletes a heartbeat. Its incidents stay.
func (s *Heartbeats) Delete(ctx context.Context, h heartbeats.Heartbeat, actor string) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if err := unchanged(ctx, q, h); err != nil {
			return err
		}
		if _, err := q.DeleteHeartbeat(ctx, int64(h.ID)); err != nil {
			return err
		}
		return note(ctx, q, actor, audit.HeartbeatRemoved, h.Integration, h.Name, audit.Diff(h.Content, nil))
	})
}

// note writes an entry of the audit log.
func note(ctx context.Context, q *postgresdb.Queries, actor string, action audit.Action, integration, name string, changes []audit.Change) error {
	return auditlog.Write(ctx, q, audit.Entry{Actor: actor, Action: action, Object: "integration " + integration,
		Detail: "heartbeat " + name, Changes: changes})
}
