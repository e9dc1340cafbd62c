// This file stores what programs say about their runs, and their texts.

package pg

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/intake/heartbeats"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// signal is a call of a heartbeat that is more than a ping, or that may end a run or a miss.
type signal struct {
	to   heartbeats.ID
	said heartbeats.Ping
}

// signal stores calls in one transaction. It locks heartbeats by number, so that two batches do not wait for each other.
func (s *Heartbeats) signal(ctx context.Context, all []signal) ([]struct{}, error) {
	ordered := slices.Clone(all)
	slices.SortStableFunc(ordered, func(a, b signal) int { return cmp.Compare(a.to, b.to) })
	return make([]struct{}, len(all)), s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		for _, one := range ordered {
			if err := s.signalOne(ctx, q, int64(one.to), one.said); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Heartbeats) signalOne(ctx context.Context, q *postgresdb.Queries, id int64, said heartbeats.Ping) error {
	rows, err := q.LockSignalled(ctx, postgresdb.LockSignalledParams{ID: id, Now: s.now})
	if err != nil || len(rows) == 0 { // it was deleted meanwhile
		return err
	}
	h, run := rows[0], postgres.CleanText(said.Run)
	change := postgresdb.SignalHeartbeatParams{ID: id, At: h.At}
	switch said.Signal {
	case heartbeats.Start:
		change.Began = true
		err = startRun(ctx, q, id, run, h.At)
	case heartbeats.Success, heartbeats.Fail:
		change.Pinged, change.Failed = said.Signal == heartbeats.Success, said.Signal == heartbeats.Fail && h.Enabled
		change.Failure = said.Failure()
		change.TookUs, err = endRun(ctx, q, id, run, h.At, said)
		soon := h.LastPingAt != nil && h.At.Sub(*h.LastPingAt) < 500*time.Millisecond
		if change.Pinged && change.TookUs == nil && h.MissedAt == nil && soon {
			return err // of pings within half a second, the first is stored
		}
	}
	if err == nil && said.Signal != heartbeats.Log {
		err = q.SignalHeartbeat(ctx, change)
	}
	if err == nil && said.Text != "" {
		err = q.KeepHeartbeatText(ctx, postgresdb.KeepHeartbeatTextParams{HeartbeatID: id, Signal: string(said.Signal),
			Body: postgres.CleanText(said.Text), At: h.At})
	}
	return err
}

// startRun stores that a run began. A run of that name that has not ended is not expected to end any more.
func startRun(ctx context.Context, q *postgresdb.Queries, id int64, run string, at time.Time) error {
	err := q.LoseRuns(ctx, postgresdb.LoseRunsParams{HeartbeatID: id, Run: &run})
	if err == nil {
		err = q.StartRun(ctx, postgresdb.StartRunParams{HeartbeatID: id, Run: run, StartedAt: at})
	}
	if err == nil {
		err = q.TrimRuns(ctx, postgresdb.TrimRunsParams{HeartbeatID: id, Kept: heartbeats.MaxRuns})
	}
	return err
}

// endRun stores that a run ended, and returns how many microseconds it took; nil = no run of that name has begun.
func endRun(ctx context.Context, q *postgresdb.Queries, id int64, run string, at time.Time, said heartbeats.Ping) (*int64, error) {
	started, err := q.EndRun(ctx, postgresdb.EndRunParams{HeartbeatID: id, Run: run, At: at,
		Failed: said.Signal == heartbeats.Fail, ExitCode: said.ExitCode})
	if err != nil || len(started) == 0 {
		return nil, err
	}
	took := at.Sub(started[0]).Microseconds()
	return &took, nil
}

// Text returns the last text of a heartbeat.
func (s *Heartbeats) Text(ctx context.Context, of heartbeats.ID) (out heartbeats.Text, err error) {
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).HeartbeatText, int64(of))
	for _, r := range rows {
		out = heartbeats.Text{At: r.At, Signal: heartbeats.Signal(r.Signal), Body: r.Body}
	}
	return out, err
}

// Runs returns the kept runs of a heartbeat, latest first.
func (s *Heartbeats) Runs(ctx context.Context, of heartbeats.ID) ([]heartbeats.Run, error) {
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).HeartbeatRuns, int64(of))
	return postgres.Convert(rows, func(r postgresdb.HeartbeatRunsRow) heartbeats.Run {
		run := heartbeats.Run{Name: r.Run, StartedAt: r.StartedAt, EndedAt: postgres.Deref(r.EndedAt),
			Outcome: heartbeats.Running, ExitCode: r.ExitCode}
		switch {
		case r.Failed:
			run.Outcome = heartbeats.Failed
		case r.EndedAt != nil:
			run.Outcome = heartbeats.Succeeded
		case r.Lost:
			run.Outcome = heartbeats.Lost
		}
		return run
	}), err
}
