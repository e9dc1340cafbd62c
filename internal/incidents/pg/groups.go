package pg

import (
	"context"
	"encoding/json"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// maxGroups is how many groups an integration has at most. An event of a further one has an incident of its own.
const maxGroups = 10_000

// join makes the event an alert of the open incident of its group. If none takes it, n keeps its group, locked until the
// transaction ends, unless there is no room for one or a silence hides the event. now is the time of the database.
func join(ctx context.Context, q *db.Queries, n *incidents.New) (out incidents.Opened, now time.Time, err error) {
	row, err := q.LockEventGroup(ctx, db.LockEventGroupParams{IntegrationID: n.Integration, Key: shortKey(n.Group.Key), Most: maxGroups})
	known := err == nil
	if err = postgres.IgnoreNoRows(err); err != nil {
		return out, now, err
	}
	if !known || n.Silenced != nil {
		n.Group = nil
		return out, now, nil
	}
	if !row.TakesUntil.After(row.Now) || row.IncidentID == 0 {
		return out, row.Now, nil
	}
	if n.SilencesVersion != 0 && n.SilencesVersion != row.SilencesVersion {
		return out, now, incidents.ErrSilencesChanged
	}
	to, err := q.LockForDelivery(ctx, incidents.ID(row.IncidentID))
	if err = postgres.IgnoreNoRows(err); err != nil || to.Incident.ID == 0 {
		return out, row.Now, err
	}
	status := StatusOf(to.Incident)
	bySource := postgres.Deref(to.Incident.SourceAcknowledged) && to.Incident.OwnerID == nil
	if !n.Group.Joins(status, bySource, row.Members) {
		return out, row.Now, nil
	}
	if status.State() == incidents.StateExhausted {
		restarts, err := q.Restarts(ctx, to.Incident.ID)
		if err != nil || incidents.NextRestart(restarts, row.Now).Sub(row.Now) > incidents.RestartPause {
			return out, row.Now, err
		}
	}
	out, err = joinIncident(ctx, q, *n, to, row.Members+1)
	return out, row.Now, err
}

// lead makes n the first event of an incident that takes the further ones of its group.
func lead(n *incidents.New, now time.Time) (err error) {
	group := *n.Group
	group.First = n.DedupKey
	n.Remark, n.DedupKey, n.Group = joined(n.Remark, group.OpenText()), group.IncidentKey(now), &group
	n.Context, err = n.Alert.Context()
	return err
}

// joinIncident makes the event an alert of a locked incident.
func joinIncident(ctx context.Context, q *db.Queries, n incidents.New, to db.LockForDeliveryRow, alerts int) (out incidents.Opened, err error) {
	out = incidents.Opened{ID: to.Incident.ID, Bucket: to.Incident.Bucket, Joined: true}
	stored, err := q.ContextForDelivery(ctx, out.ID)
	if err != nil {
		return out, err
	}
	d := incidents.Delivery{Facts: n.DedupFacts, Alerts: n.Alerts, Late: n.Late, Text: n.Group.JoinText(alerts),
		Event: &incidents.GroupedEvent{Integration: n.Integration, Key: n.DedupKey, Alert: n.Alert}}
	if incidents.Worse(n.Severity, stored.Severity) {
		d.Severity, d.Rose = n.Severity, true
		if stored.Severity != "" {
			d.Text = joined(d.Text, "the severity rose from "+stored.Severity+" to "+n.Severity)
		}
	}
	if out.Restarted, err = update(ctx, q, to, d); err != nil {
		return out, err
	}
	if err := q.NoteDelivery(ctx, out.ID); err != nil {
		return out, err
	}
	return out, q.CountEventOfGroup(ctx, db.CountEventOfGroupParams{IntegrationID: n.Integration, Key: shortKey(n.Group.Key)})
}

// begin stores that an incident takes the further events of a group, and that the event which opened it is its first
// alert. The key of the incident stands for the group: that of the event is free again when the event moves on.
func begin(ctx context.Context, q *db.Queries, id incidents.ID, n incidents.New) error {
	_, err := q.PutGroupedEvent(ctx, db.PutGroupedEventParams{IntegrationID: n.Integration, DedupKey: n.Group.First,
		IncidentID: id, Facts: string(n.DedupFacts)})
	if err != nil {
		return err
	}
	return q.SetEventGroup(ctx, db.SetEventGroupParams{IncidentID: int64(id), Seconds: n.Group.For.Seconds(),
		IntegrationID: n.Integration, Key: shortKey(n.Group.Key)})
}

// OpenGroup returns the incident that takes a further event of a group; 0 = none does. It changes nothing.
func (i *Incidents) OpenGroup(ctx context.Context, integration int64, g incidents.Group) (incidents.ID, error) {
	row, err := postgres.Query(ctx, i.db, (*db.Queries).EventGroup, db.EventGroupParams{IntegrationID: integration,
		Key: shortKey(g.Key)})
	if err = postgres.IgnoreNoRows(err); err != nil || row.IncidentID == 0 {
		return 0, err
	}
	found, err := i.Get(ctx, incidents.ID(row.IncidentID))
	if err != nil {
		return 0, err
	}
	if !g.Joins(found.Status(), found.SourceAcknowledged && found.Owner == "", row.Members) {
		return 0, nil
	}
	return found.ID, nil
}

// acknowledgeAlert stores that the source acknowledged an alert of an incident of several events. It returns true if the
// source acknowledged all that fire.
func acknowledgeAlert(ctx context.Context, q *db.Queries, c incidents.Change, row db.Incident, n incidents.New) (all bool, err error) {
	if err := q.EndGroupedEvent(ctx, db.EndGroupedEventParams{Acknowledged: true, IntegrationID: n.Integration,
		DedupKey: shortKey(n.DedupKey)}); err != nil {
		return false, err
	}
	p, err := progressOf(ctx, q, row.ID)
	if err != nil || p.Unacknowledged == 0 {
		return err == nil, err
	}
	return false, noteAlert(ctx, q, row.ID, c, p.EndText("acknowledged", n.Alert.Title()))
}

// resolveAlert stores that the source resolved an alert of an incident of several events. It returns true if none fires
// any more. If the source has acknowledged the rest, the incident is acknowledged.
func resolveAlert(ctx context.Context, q *db.Queries, c incidents.Change, row db.Incident, n incidents.New) (over bool, err error) {
	key := shortKey(n.DedupKey)
	ended, err := q.EndAlert(ctx, db.EndAlertParams{IncidentID: row.ID, Fingerprint: key})
	if err != nil {
		return false, err
	}
	if err := q.EndGroupedEvent(ctx, db.EndGroupedEventParams{IntegrationID: n.Integration, DedupKey: key}); err != nil {
		return false, err
	}
	p, err := progressOf(ctx, q, row.ID)
	if err != nil || p.Firing == 0 {
		return err == nil, err
	}
	if ended == 0 {
		return false, nil
	}
	if err := q.NoteSourceResolves(ctx, row.ID); err != nil {
		return false, err
	}
	err = changeContext(ctx, q, row.ID, "", func(before json.RawMessage) (json.RawMessage, error) { return n.Alert.End(before), nil })
	if err != nil {
		return false, err
	}
	if err := noteAlert(ctx, q, row.ID, c, p.EndText("resolved", n.Alert.Title())); err != nil {
		return false, err
	}
	if p.Unacknowledged == 0 && StatusOf(row).State() == incidents.StateEscalating {
		return false, acknowledgeAtSource(ctx, q, c, row)
	}
	return false, nil
}

func progressOf(ctx context.Context, q *db.Queries, id incidents.ID) (incidents.GroupProgress, error) {
	row, err := q.CountGroupedEvents(ctx, id)
	return incidents.GroupProgress{Alerts: int(row.Alerts), Firing: int(row.Firing), Unacknowledged: int(row.Unacknowledged)}, err
}

func noteAlert(ctx context.Context, q *db.Queries, id incidents.ID, c incidents.Change, text string) error {
	if err := q.TouchIncident(ctx, id); err != nil {
		return err
	}
	return AddEntry(ctx, q, id, incidents.EntryUpdated, c.Actor, text)
}
