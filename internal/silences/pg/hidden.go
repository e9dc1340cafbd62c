package pg

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/silences"
)

// Subjects implements silences.Store.
func (s *Store) Subjects(ctx context.Context, ids []incidents.ID) ([]silences.Subject, error) {
	rows, err := postgres.Query(ctx, s.db, (*db.Queries).SubjectsOf, postgres.Numbers(ids))
	return postgres.Convert(rows, func(r db.SubjectsOfRow) silences.Subject {
		return silences.Subject{ID: r.ID, ApplicationID: r.ApplicationID, PlanID: r.PlanID, Severity: r.Severity,
			Context: r.Context}
	}), err
}

// Escalating implements silences.Store.
func (s *Store) Escalating(ctx context.Context, application int64, plans []int64, most int) ([]incidents.ID, error) {
	about, err := postgres.Query(ctx, s.db, (*db.Queries).AboutToPage, db.AboutToPageParams{ApplicationID: application,
		AnyPlan: len(plans) == 0, PlanIds: postgres.NonNil(plans)})
	if err != nil {
		return nil, err
	}
	newest, err := postgres.Query(ctx, s.db, (*db.Queries).NewestEscalating,
		db.NewestEscalatingParams{ApplicationID: application,
			AnyPlan: len(plans) == 0, PlanIds: postgres.NonNil(plans), Most: most})
	if err != nil {
		return nil, err
	}
	seen := map[int64]bool{}
	var out []incidents.ID
	for _, id := range append(about, newest...) {
		if !seen[int64(id)] {
			seen[int64(id)] = true
			out = append(out, id)
		}
	}
	return out, nil
}

// Applied implements silences.Store.
func (s *Store) Applied(ctx context.Context, version int64, begins map[silences.ID]time.Time) error {
	p := db.NoteAppliedParams{Version: version}
	for id, from := range begins {
		p.Ids, p.AppliedFroms = append(p.Ids, int64(id)), append(p.AppliedFroms, from)
	}
	return postgres.Exec(ctx, s.db, (*db.Queries).NoteApplied, p)
}

// Hide implements silences.Store. It locks the incidents in ascending order.
func (s *Store) Hide(ctx context.Context, hides map[incidents.ID]silences.Hide) (hidden []incidents.ID, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		hidden = nil
		rows, err := lock(ctx, q, slices.Collect(maps.Keys(hides)))
		if err != nil {
			return err
		}
		groups := map[silences.Hide][]db.Incident{}
		for _, row := range rows {
			status := pgincidents.StatusOf(row)
			if status.State() == incidents.StateEscalating || status.Silenced && !status.Resolved && !status.Closed {
				hide := hides[row.ID]
				groups[hide] = append(groups[hide], row)
			}
		}
		for hide, some := range groups {
			ids, err := begin(ctx, q, hide, some)
			if err != nil {
				return err
			}
			hidden = append(hidden, ids...)
		}
		return nil
	})
	return hidden, err
}

// begin stores that a silence hides incidents, and returns those that escalated before.
func begin(ctx context.Context, q *db.Queries, hide silences.Hide, rows []db.Incident) (stopped []incidents.ID, err error) {
	var ids, news []int64
	for _, row := range rows {
		ids = append(ids, int64(row.ID))
		if row.Active {
			stopped = append(stopped, row.ID)
		}
		if row.Active || postgres.Deref(row.SilenceID) != int64(hide.Silence) {
			news = append(news, int64(row.ID))
		}
	}
	until := hide.Until
	if _, err := pgincidents.Transit(ctx, q, incidents.SilenceBegan, db.SetStatesParams{SilencedUntil: &until}, rows...); err != nil {
		return nil, err
	}
	silence := int64(hide.Silence)
	if err := q.SetSilenceOf(ctx, db.SetSilenceOfParams{SilenceID: &silence, Ids: ids}); err != nil {
		return nil, err
	}
	return stopped, q.AddEntries(ctx, db.AddEntriesParams{IncidentIds: postgres.NonNil(news),
		Kind:  incidents.EntrySilenced,
		Texts: slices.Repeat([]string{postgres.CleanText(hide.Reason)}, len(news))})
}

// Ended implements silences.Store.
func (s *Store) Ended(ctx context.Context, bs []int, most int) ([]silences.Released, error) {
	rows, err := postgres.Query(ctx, s.db, (*db.Queries).EndedSilences,
		db.EndedSilencesParams{Buckets: postgres.NonNil(bs), Most: most})
	return postgres.Convert(rows, func(r db.EndedSilencesRow) silences.Released {
		source := silences.Source{Over: r.Over, Resolves: r.Resolves, Repeat: postgres.FromSeconds(r.RepeatSeconds),
			Undelivered: postgres.FloatSeconds(r.UndeliveredSeconds), Observed: postgres.FloatSeconds(r.ObservedSeconds)}
		return silences.Released{Source: source, Subject: silences.Subject{ID: r.ID, ApplicationID: r.ApplicationID,
			PlanID: r.PlanID, Severity: r.Severity, Context: r.Context}}
	}), err
}

// Release implements silences.Store. Incidents whose silence was changed meanwhile stay as they are.
func (s *Store) Release(ctx context.Context, released []silences.Released) error {
	sources := map[incidents.ID]silences.Source{}
	for _, r := range released {
		sources[r.ID] = r.Source
	}
	return s.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		rows, err := lock(ctx, q, slices.Collect(maps.Keys(sources)))
		if err != nil {
			return err
		}
		now, err := q.ServerClock(ctx)
		if err != nil {
			return err
		}
		still, over := []db.Incident{}, []db.Incident{}
		for _, row := range rows {
			switch until := postgres.Deref(row.SilencedUntil); {
			case until.IsZero() || until.After(now):
			case sources[row.ID].Reports():
				still = append(still, row)
			default:
				over = append(over, row)
			}
		}
		if _, err := end(ctx, q, incidents.SilenceEnded, sources, still, now); err != nil {
			return err
		}
		lapsed, err := end(ctx, q, incidents.SilenceLapsed, sources, over, now)
		if err != nil || len(lapsed) == 0 {
			return err
		}
		return q.EndAlerts(ctx, lapsed)
	})
}

// end writes the event to the incidents, and a line to the timelines of those whose state changed, which it returns.
func end(ctx context.Context, q *db.Queries, e incidents.Event, sources map[incidents.ID]silences.Source, rows []db.Incident, now time.Time) (changed []int64, err error) {
	if len(rows) == 0 {
		return nil, nil
	}
	made, err := pgincidents.Transit(ctx, q, e, db.SetStatesParams{Now: &now}, rows...)
	if err != nil {
		return nil, err
	}
	var ids []int64
	var lines []string
	for k, row := range rows {
		ids = append(ids, int64(row.ID))
		if made[k].Before.State() != made[k].After.State() {
			changed, lines = append(changed, int64(row.ID)), append(lines, sources[row.ID].Line())
		}
	}
	if err := q.SetSilenceOf(ctx, db.SetSilenceOfParams{Ids: ids}); err != nil {
		return nil, err
	}
	return changed, q.AddEntries(ctx, db.AddEntriesParams{IncidentIds: postgres.NonNil(changed),
		Kind: incidents.EntrySilenced, Texts: lines})
}

func lock(ctx context.Context, q *db.Queries, ids []incidents.ID) ([]db.Incident, error) {
	rows, err := q.LockForChange(ctx, postgres.Numbers(ids))
	return postgres.Convert(rows, func(r db.LockForChangeRow) db.Incident { return r.Incident }), err
}
