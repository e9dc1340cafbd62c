package pg

import (
	"context"
	"encoding/json"

	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// AlertOfKey returns the open alert of an integration with a key, else the newest one with the key among its last
// thousand alerts. If there is none, it returns a NotFound fault.
func (s *Integrations) AlertOfKey(ctx context.Context, of intake.Integration, key string) (intake.Alert, error) {
	id, err := postgres.Query(ctx, s.db, (*db.Queries).AlertOfKey, db.AlertOfKeyParams{ApplicationID: of.ApplicationID,
		IntegrationID: int64(of.ID), DedupKey: postgres.Storable(key)})
	if err != nil {
		return intake.Alert{}, err
	}
	found, err := s.Alert(ctx, of.ID, id)
	if err == nil && found.Key != postgres.Storable(key) {
		found.Key, found.Grouped = postgres.Storable(key), true
	}
	return found, err
}

// Alert returns an alert of an integration by the number of its incident. Another number is a NotFound fault.
func (s *Integrations) Alert(ctx context.Context, of intake.ID, incident int64) (intake.Alert, error) {
	found, err := s.alerts(ctx, of, []incidents.ID{incidents.ID(incident)})
	if err == nil && len(found) == 0 {
		err = fault.New(fault.NotFound, "the integration has no such alert")
	}
	if err != nil {
		return intake.Alert{}, err
	}
	return found[0], nil
}

// Alerts returns the alerts of an integration that match, newest first.
func (s *Integrations) Alerts(ctx context.Context, of intake.ID, q intake.AlertQuery) ([]intake.Alert, error) {
	ids, err := s.alertIDs(ctx, of, q)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return s.alerts(ctx, of, ids)
}

// CountAlerts counts the alerts that match, up to the limit of the query.
func (s *Integrations) CountAlerts(ctx context.Context, of intake.ID, q intake.AlertQuery) (int, error) {
	ids, err := s.alertIDs(ctx, of, q)
	return len(ids), err
}

func (s *Integrations) alertIDs(ctx context.Context, of intake.ID, q intake.AlertQuery) ([]incidents.ID, error) {
	searched := q.Limit + q.Offset
	if q.Priority != "" || len(q.Tags) > 0 {
		searched = intake.Searched
	}
	return postgres.Query(ctx, s.db, (*db.Queries).AlertIDs, db.AlertIDsParams{IntegrationID: int64(of), Open: q.Open,
		Acknowledged: q.Acknowledged, DedupKey: postgres.Storable(q.Key), Priority: q.Priority,
		Tags: append([]string{}, q.Tags...), CreatedFrom: postgres.NullTime(q.CreatedFrom),
		CreatedBefore: postgres.NullTime(q.CreatedBefore), Searched: searched, Most: q.Limit, Skip: q.Offset})
}

func (s *Integrations) alerts(ctx context.Context, of intake.ID, ids []incidents.ID) ([]intake.Alert, error) {
	rows, err := postgres.Query(ctx, s.db, (*db.Queries).Alerts,
		db.AlertsParams{IntegrationID: int64(of), Ids: postgres.Numbers(ids)})
	return postgres.Convert(rows, func(r db.AlertsRow) intake.Alert {
		return intake.Alert{Incident: int64(r.ID), Key: r.DedupKey, Context: json.RawMessage(r.Context),
			Severity: r.Severity, Open: r.Open,
			SnoozedUntil: postgres.Deref(r.SnoozedUntil), Owner: r.Owner, SourceAcknowledged: r.SourceAcknowledged, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
	}), err
}

// EditAlert changes the context of an alert and adds an entry to its timeline. A context that changed since it was read
// is a Conflict fault.
func (s *Integrations) EditAlert(ctx context.Context, e intake.AlertEdit) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if _, err := q.LockForDelivery(ctx, incidents.ID(e.Incident)); err != nil {
			return err
		}
		n, err := q.EditContext(ctx, db.EditContextParams{ID: incidents.ID(e.Incident), Before: string(e.Before),
			After: string(e.After), Severity: e.Severity})
		if err == nil && n == 0 {
			err = fault.New(fault.Conflict, "the alert was changed at the same time, try again")
		}
		if err != nil {
			return err
		}
		if err := q.TouchIncident(ctx, incidents.ID(e.Incident)); err != nil {
			return err
		}
		return pgincidents.AddEntry(ctx, q, incidents.ID(e.Incident), incidents.EntryUpdated, e.Actor, e.Text)
	})
}

// CommentOnAlert adds a comment of an integration.
func (s *Integrations) CommentOnAlert(ctx context.Context, incident int64, source, content string) error {
	source, content = postgres.Storable(source), postgres.Storable(content)
	return s.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		err := q.AddSourceComment(ctx, db.AddSourceCommentParams{IncidentID: incidents.ID(incident), Source: source,
			Content: content})
		if err != nil {
			return err
		}
		return pgincidents.AddEntry(ctx, q, incidents.ID(incident), incidents.EntryComment, source, content)
	})
}
