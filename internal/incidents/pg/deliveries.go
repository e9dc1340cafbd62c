package pg

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// findRuns is how many look-ups of keys run at the same time. They do not wait for statements that open incidents.
const findRuns = 2

// foundKey is the incident of a key: the open one, or else the last that a delivery resolved.
type foundKey struct {
	open     incidents.Opened        // ID 0 = none
	resolved incidents.ID            // 0 = none
	ago      time.Duration           // since that resolve
	early    *incidents.EarlyResolve // nil = none is remembered
	holder   incidents.ID            // of the delivery that followed the early resolve; 0 = none
}

// findAll looks up the keys of many deliveries in one statement, and notes at most once a minute that an open incident
// had a delivery. It uses no incident numbers.
func (i *Incidents) findAll(ctx context.Context, batch []incidents.New) ([]foundKey, error) {
	var p db.FindByKeysParams
	for k, n := range batch {
		p.Ords = append(p.Ords, k)
		p.PlanIds = append(p.PlanIds, n.PlanID)
		p.ApplicationIds = append(p.ApplicationIds, n.ApplicationID)
		p.DedupKeys = append(p.DedupKeys, shortKey(n.DedupKey))
		p.IntegrationIds = append(p.IntegrationIds, n.Integration)
		p.Openers = append(p.Openers, n.Opener)
	}
	out := make([]foundKey, len(batch))
	rows, err := postgres.Query(ctx, i.db, (*db.Queries).FindByKeys, p)
	var delivered db.NoteDeliveriesParams
	for _, r := range rows {
		f := foundKey{resolved: incidents.ID(r.ResolvedID),
			ago: time.Duration(r.ResolvedSeconds * float64(time.Second))}
		if r.Early {
			f.holder = incidents.ID(r.EarlyIncident)
			f.early = &incidents.EarlyResolve{Starts: make(map[string]time.Time, len(r.EarlyFingerprints)), At: r.EarlyAt,
				Ago: postgres.FloatSeconds(r.EarlySeconds), Repeated: r.EarlyRepeated}
			for k, fingerprint := range r.EarlyFingerprints {
				f.early.Starts[fingerprint] = fromEpoch(r.EarlyStarts[k])
			}
		}
		if r.OpenID != 0 {
			f.open = incidents.Opened{ID: incidents.ID(r.OpenID), Bucket: BucketOf(r.OpenID), Known: true,
				Severity: r.Severity, Repage: r.Repage, Grouped: r.Grouped}
			if string(r.DedupFacts) != "null" {
				f.open.Facts = r.DedupFacts
			}
		}
		if r.Untouched {
			delivered.Ids, delivered.Facts = append(delivered.Ids, r.OpenID), append(delivered.Facts,
				string(batch[r.Ord].DedupFacts))
		}
		out[r.Ord] = f
	}
	if err != nil || len(delivered.Ids) == 0 {
		return out, err
	}
	return out, postgres.Exec(ctx, i.db, (*db.Queries).NoteDeliveries, delivered)
}

// ByKey finds the incident for a firing delivery, so that none is opened: the open incident with its key (Known), or
// for a late delivery the resolved incident that holds it (Held). It returns false when there is none; Early says how to
// open one. Calls that come at the same time share a look-up.
func (i *Incidents) ByKey(ctx context.Context, n incidents.New) (incidents.Opened, bool, error) {
	f, err := i.finding.Do(ctx, n)
	if err != nil {
		return incidents.Opened{}, false, postgres.MapError(err)
	}
	if f.open.ID != 0 {
		return f.open, true, nil
	}
	if f.resolved != 0 && n.Late.Within > 0 && n.Late.Hold > 0 && f.ago <= n.Late.Within {
		held, err := i.hold(ctx, n, f.resolved, f.ago, n.Late.Holds)
		if held || err != nil {
			return heldOn(f.resolved), held, err
		}
	}
	if f.early == nil || !n.Late.HoldsEarly(n.Alerts, *f.early) {
		return incidents.Opened{}, false, nil
	}
	if f.holder == 0 {
		return incidents.Opened{Early: true}, false, nil
	}
	held, err := i.hold(ctx, n, f.holder, f.early.Ago, func([]incidents.Alert, map[string]incidents.KnownAlert,
		time.Duration) bool {
		return true
	})
	return heldOn(f.holder), held, err
}

func heldOn(id incidents.ID) incidents.Opened {
	return incidents.Opened{ID: id, Bucket: BucketOf(int64(id)), Held: true}
}

// hold makes a late firing delivery wait for the resolve of an incident that was resolved before, if holds says so.
func (i *Incidents) hold(ctx context.Context, n incidents.New, id incidents.ID, ago time.Duration, holds func([]incidents.Alert, map[string]incidents.KnownAlert, time.Duration) bool) (held bool, err error) {
	return postgres.GetInTx(ctx, i.db, func(ctx context.Context, q *db.Queries) (held bool, err error) {
		held = false
		row, err := q.LockForDelivery(ctx, id)
		if err != nil || !row.Incident.Resolved {
			return held, err
		}
		known, err := knownAlerts(ctx, q, id)
		if err != nil || !holds(n.Alerts, known, ago) {
			return held, err
		}
		held = true
		set, err := q.SetTimer(ctx, db.SetTimerParams{IncidentID: id, Seconds: n.Late.Hold.Seconds(), Reason: TimerLate,
			Fingerprints: firing(n.Alerts)})
		if err != nil || set == 0 {
			return held, err
		}
		if err := q.TouchIncident(ctx, id); err != nil {
			return held, err
		}
		return held, AddEntry(ctx, q, id, incidents.EntryHeld, n.Actor, "a late firing delivery arrived "+incidents.Brief(ago)+
			" after the resolve"+holdText(n.Late))
	})
}

func holdText(l incidents.Late) string {
	return ": it is held, and escalation starts in " + incidents.Brief(l.Hold) + " unless a resolve follows"
}

// errHeldElsewhere says that another server holds the delivery, or that the resolve is forgotten.
var errHeldElsewhere = errors.New("another incident holds the delivery")

// openEarly opens the incident of a firing delivery that a resolve came before: resolved, with a timer. The result has
// no ID if an incident with the key is open. With errHeldElsewhere nothing is stored.
func (i *Incidents) openEarly(ctx context.Context, n incidents.New) (incidents.Opened, error) {
	return postgres.GetInTx(ctx, i.db, func(ctx context.Context, q *db.Queries) (none incidents.Opened, err error) {
		rows, err := q.OpenIncidents(ctx, openParams([]*opening{{New: n, openResult: &openResult{}}}))
		if err != nil || len(rows) == 0 {
			return none, err
		}
		if err := changedMeanwhile(rows[0].ID); err != nil {
			return none, err
		}
		id := incidents.ID(rows[0].ID)
		row, err := q.LockForDelivery(ctx, id)
		if err != nil {
			return none, err
		}
		if _, err := Transit(ctx, q, incidents.Resolve, db.SetStatesParams{}, row.Incident); err != nil {
			return none, err
		}
		if _, err := q.ResolveAlerts(ctx, db.ResolveAlertsParams{IncidentID: id, StillFiring: []string{}}); err != nil {
			return none, err
		}
		if _, err := q.SetTimer(ctx, db.SetTimerParams{IncidentID: id, Seconds: n.Late.Hold.Seconds(), Reason: TimerLate,
			Fingerprints: firing(n.Alerts)}); err != nil {
			return none, err
		}
		if err := q.NoteResolvedGroup(ctx, id); err != nil {
			return none, err
		}
		if noted, err := q.HoldOnIncident(ctx, id); err != nil || noted == 0 {
			return none, cmp.Or(err, errHeldElsewhere)
		}
		return heldOn(id), AddEntry(ctx, q, id, incidents.EntryHeld, n.Actor,
			"the firing delivery arrived after its resolve"+holdText(n.Late))
	})
}

// The limits of remembered resolves.
const (
	earlyKeys   = 1000 // of an integration
	earlyAlerts = 1000 // of a key
)

// rememberEarly remembers a resolve that found no open incident. Beyond the limits it is forgotten, and a firing
// delivery that follows pages at once.
func (i *Incidents) rememberEarly(ctx context.Context, n incidents.New, scope, key string) error {
	alerts := n.Alerts
	if len(alerts) == 0 {
		alerts = []incidents.Alert{{Fingerprint: n.DedupKey, StartsAt: n.StartsAt}}
	}
	if n.Late.Within <= 0 || n.Late.Hold <= 0 || len(alerts) > earlyAlerts {
		return nil
	}
	c := alertColumns(alerts)
	keep := incidents.KeepEarlyResolves.Seconds()
	return i.db.Do(ctx, func(ctx context.Context, q *db.Queries) error {
		if _, err := q.ForgetEarlyResolves(ctx, keep); err != nil {
			return err
		}
		return q.RememberResolve(ctx, db.RememberResolveParams{ApplicationID: n.ApplicationID, Plan: scope, DedupKey: key,
			KeepSeconds: keep, Fingerprints: c.Fingerprints, StartsAts: c.StartsAts, Most: earlyKeys})
	})
}

// fromEpoch is the reverse of postgres.OrEpoch.
func fromEpoch(t time.Time) time.Time {
	if t.Unix() == 0 {
		return time.Time{}
	}
	return t
}

// Update stores the alerts of a delivery for an open incident and adds them to the timeline. If the plan of the
// incident is exhausted, a new alert restarts the escalation, and so does a repeat after the plan's repage_after; the
// result is true when that happened now. A new alert or a higher severity notifies the owner of an acknowledged
// incident, if the plan says so. A delivery without news changes nothing else. For a resolved or closed incident Update
// returns a Conflict: the caller opens another one.
func (i *Incidents) Update(ctx context.Context, id incidents.ID, d incidents.Delivery) (restarted bool, err error) {
	return postgres.GetInTx(ctx, i.db, func(ctx context.Context, q *db.Queries) (restarted bool, err error) {
		row, err := q.LockForDelivery(ctx, id)
		if err != nil {
			return restarted, err
		}
		return update(ctx, q, row, d)
	})
}

// update is Update for a locked incident.
func update(ctx context.Context, q *db.Queries, row db.LockForDeliveryRow, d incidents.Delivery) (restarted bool, err error) {
	id, status := row.Incident.ID, StatusOf(row.Incident)
	if _, err := status.After(incidents.News); err != nil {
		return restarted, err
	}
	known, err := knownAlerts(ctx, q, id)
	if err != nil {
		return restarted, err
	}
	if err := q.PutAlerts(ctx, alertColumns(d.Alerts).of(id)); err != nil {
		return restarted, err
	}
	changed, err := setFacts(ctx, q, id, d)
	if err != nil {
		return restarted, err
	}
	rerouted, starts, err := reroute(ctx, q, row, d)
	if err != nil || rerouted {
		return starts, err
	}
	line, added := "", d.Late.New(d.Alerts, known)
	switch {
	case status.State() == incidents.StateExhausted:
		restarted, line, err = restart(ctx, q, id, row, added)
	case d.Event != nil && added > 0 && status.State() == incidents.StateAcknowledged && row.Incident.OwnerID == nil:
		restarted, line = true, "escalation starts again: the source acknowledged other alerts only"
		_, err = StartAgain(ctx, q, incidents.Reopen, db.SetStatesParams{}, row.Incident)
	}
	if err != nil {
		return restarted, err
	}
	if changed > 0 && d.Text != "" {
		text := d.Text
		if line == "" {
			text += "; nobody is paged again"
		}
		if err := AddEntry(ctx, q, id, incidents.EntryUpdated, "", text); err != nil {
			return restarted, err
		}
	}
	told := changed > 0 && (d.Text != "" || d.Event != nil) && (added > 0 || d.Rose)
	if told && status.State() == incidents.StateAcknowledged && escalation.DecodeSettings(row.Settings).NotifyOwner != "" {
		if err := News(ctx, q, int64(id)); err != nil {
			return restarted, err
		}
	}
	if line != "" {
		err = AddEntry(ctx, q, id, incidents.EntryReopened, "", line)
	}
	if err == nil && (changed > 0 || line != "") {
		err = q.TouchIncident(ctx, id)
	}
	return restarted, err
}

// setFacts stores the facts, context and severity of a delivery. The result is 0 if the facts are known.
func setFacts(ctx context.Context, q *db.Queries, id incidents.ID, d incidents.Delivery) (changed int64, err error) {
	if d.Event == nil {
		return q.SetFacts(ctx, db.SetFactsParams{ID: id, Context: string(d.Context), Facts: string(d.Facts), Severity: d.Severity})
	}
	changed, err = q.PutGroupedEvent(ctx, db.PutGroupedEventParams{IntegrationID: d.Event.Integration,
		DedupKey: shortKey(d.Event.Key), IncidentID: id, Facts: string(d.Facts)})
	if err != nil || changed == 0 && d.Severity == "" {
		return changed, err
	}
	return max(changed, 1), changeContext(ctx, q, id, d.Severity, d.Event.Alert.Join)
}

// changeContext replaces the context of a locked incident by a function of it.
func changeContext(ctx context.Context, q *db.Queries, id incidents.ID, severity string, change func(json.RawMessage) (json.RawMessage, error)) error {
	before, err := q.ContextForDelivery(ctx, id)
	if err != nil {
		return postgres.IgnoreNoRows(err)
	}
	after, err := change(before.Context)
	if err != nil {
		return err
	}
	return q.SetGroupContext(ctx, db.SetGroupContextParams{IncidentID: id, Context: string(after), Severity: severity})
}

// restart restarts the escalation of an exhausted incident, now or with a timer, if a delivery with so many new alerts
// does that. It returns the line for the timeline; "" = no restart.
func restart(ctx context.Context, q *db.Queries, id incidents.ID, row db.LockForDeliveryRow, newAlerts int) (now bool, line string, err error) {
	before, err := q.Restarts(ctx, id)
	if err != nil {
		return false, "", err
	}
	clock, err := q.ServerClock(ctx)
	if err != nil {
		return false, "", err
	}
	e := incidents.Exhaustion{Restarts: before, RepageAfter: postgres.FromSeconds(row.RepageAfter),
		At: postgres.Deref(row.Incident.ExhaustedAt)}
	why := "the alert is still firing"
	if newAlerts > 0 {
		why = "there is a new alert"
	}
	at := e.Restart(newAlerts > 0, clock)
	switch {
	case at.IsZero():
		return false, "", nil
	case at.After(clock):
		set, err := q.SetTimer(ctx, db.SetTimerParams{IncidentID: id, Seconds: at.Sub(clock).Seconds(),
			Reason: TimerNews, Fingerprints: []string{}})
		if err != nil || set == 0 {
			return false, "", err
		}
		return false, fmt.Sprintf("%s: escalation starts again in %s (at most every %s and %d times a day)", why,
			incidents.Brief(at.Sub(clock)),
			incidents.Brief(incidents.RestartPause), incidents.RestartsPerDay), nil
	}
	_, err = StartAgain(ctx, q, incidents.News, db.SetStatesParams{}, row.Incident)
	return true, "escalation starts again: " + why, err
}

// planKey returns what incidents have in common besides the application and the dedup key: the integration, else the
// plan.
func planKey(n incidents.New, plan string) string {
	if n.Integration != 0 {
		return "\x1f" + strconv.FormatInt(n.Integration, 10)
	}
	return postgres.Storable(plan)
}

// AcknowledgeByKey ends the escalation of the open incident with the integration and key, because its source
// acknowledged it. Nobody becomes its owner. An acknowledged incident is unchanged. An incident of several events
// escalates until its source has acknowledged all that fire. It returns false if none is open. c.IDs is ignored.
func (i *Incidents) AcknowledgeByKey(ctx context.Context, n incidents.New, c incidents.Change) (incidents.ID, bool, error) {
	var open openOfKey
	err := i.db.Do(ctx, func(ctx context.Context, q *db.Queries) (err error) {
		open, err = openByKey(ctx, q, n, "")
		return err
	})
	if err != nil || open.id == 0 {
		return 0, false, err
	}
	return open.id, true, i.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		also, err := openByEvent(ctx, q, n)
		if err != nil {
			return err
		}
		for _, one := range open.and(also) {
			row, err := q.LockForDelivery(ctx, one.id)
			if err != nil {
				return err
			}
			if one.grouped {
				done, err := acknowledgeAlert(ctx, q, c, row.Incident, n)
				if err != nil {
					return err
				}
				if !done {
					continue
				}
			}
			if err := acknowledgeAtSource(ctx, q, c, row.Incident); err != nil {
				return err
			}
		}
		return nil
	})
}

// acknowledgeAtSource ends the escalation of a locked incident that its source acknowledged.
func acknowledgeAtSource(ctx context.Context, q *db.Queries, c incidents.Change, row db.Incident) error {
	t, err := StatusOf(row).After(incidents.AcknowledgeAtSource)
	if err != nil || !t.Changes() {
		return err
	}
	bySource := true
	if _, err := Transit(ctx, q, incidents.AcknowledgeAtSource, db.SetStatesParams{BySource: &bySource}, row); err != nil {
		return err
	}
	return AddEntry(ctx, q, row.ID, incidents.EntryAcknowledged, c.Actor, "acknowledged at the source"+byWay(c, ""))
}

// ResolveByKey resolves the open incident of the application, the plan with that name (any version of it, active or
// not) and the dedup key; with an integration, that of the integration and key. It returns false when none is open. It
// also ends the wait of a late firing delivery for the key. If none is open, the resolve is remembered for a short time. An incident that is merged into another one stays open:
// only its alerts are resolved. c.IDs is ignored.
func (i *Incidents) ResolveByKey(ctx context.Context, n incidents.New, plan string, c incidents.Change) (incidents.ID, bool, error) {
	key, scope := shortKey(n.DedupKey), planKey(n, plan)
	var open openOfKey
	var last incidents.ID
	err := i.db.Do(ctx, func(ctx context.Context, q *db.Queries) (err error) {
		if open, err = openByKey(ctx, q, n, plan); err != nil || open.id != 0 {
			return err
		}
		last, err = q.LastResolvedOfPlan(ctx, db.LastResolvedOfPlanParams{ApplicationID: n.ApplicationID, Plan: scope,
			DedupKey: key})
		return postgres.IgnoreNoRows(err)
	})
	switch {
	case err != nil:
		return 0, false, err
	case open.id == 0:
		ended := false
		if last != 0 {
			if ended, err = i.endHold(ctx, last, key, c); err != nil {
				return last, ended, err
			}
		}
		if err := i.rememberEarly(ctx, n, scope, key); err != nil {
			return last, ended, err
		}
		// The firing delivery may have opened the incident between the look and the memory.
		err = i.db.Do(ctx, func(ctx context.Context, q *db.Queries) (err error) {
			open, err = openByKey(ctx, q, n, plan)
			return err
		})
		if err != nil || open.id == 0 {
			return last, ended, err
		}
	}
	if err := i.resolveOpen(ctx, n, c, open); err != nil {
		return open.id, false, err
	}
	var also openOfKey
	err = i.db.Do(ctx, func(ctx context.Context, q *db.Queries) (err error) {
		also, err = openByEvent(ctx, q, n)
		return err
	})
	for _, one := range open.and(also)[1:] {
		err = cmp.Or(err, i.resolveOpen(ctx, n, c, one))
	}
	return open.id, err == nil, err
}

// resolveOpen resolves the open incident of a key, or ends the alert with the key.
func (i *Incidents) resolveOpen(ctx context.Context, n incidents.New, c incidents.Change, open openOfKey) error {
	c.IDs = []incidents.ID{open.id}
	_, err := i.change(ctx, c, func(ctx context.Context, q *db.Queries, before []changing) error {
		if open.grouped && len(before) == 1 {
			over, err := resolveAlert(ctx, q, c, before[0].row, n)
			if err != nil || !over {
				return err
			}
		}
		if len(before) == 1 && StatusOf(before[0].row).State() == incidents.StateMerged {
			return resolveMerged(ctx, q, c, before[0], n)
		}
		if err := resolve(ctx, q, c, before, true); err != nil {
			return err
		}
		if _, err := endAlerts(ctx, q, c.IDs[0], n.Alerts); err != nil {
			return err
		}
		return q.NoteResolvedGroup(ctx, open.id)
	})
	return err
}

// openOfKey is the open incident of a key; id 0 = none. grouped: the key is that of one of its events.
type openOfKey struct {
	id      incidents.ID
	grouped bool
}

// openByKey finds the open incident of a delivery. With an integration the plan is ignored.
func openByKey(ctx context.Context, q *db.Queries, n incidents.New, plan string) (openOfKey, error) {
	key := shortKey(n.DedupKey)
	id, err := q.OpenIncidentOfPlan(ctx, db.OpenIncidentOfPlanParams{ApplicationID: n.ApplicationID, Plan: planKey(n, plan),
		DedupKey: key})
	if err = postgres.IgnoreNoRows(err); err != nil || id != 0 || n.Integration == 0 {
		return openOfKey{id: id}, err
	}
	return openByEvent(ctx, q, n)
}

// openByEvent finds the open incident that has an event with the key as one of its alerts.
func openByEvent(ctx context.Context, q *db.Queries, n incidents.New) (openOfKey, error) {
	if n.Integration == 0 {
		return openOfKey{}, nil
	}
	id, err := q.OpenIncidentOfEvent(ctx, db.OpenIncidentOfEventParams{IntegrationID: n.Integration,
		DedupKey: shortKey(n.DedupKey), ApplicationID: n.ApplicationID})
	return openOfKey{id: id, grouped: id != 0}, postgres.IgnoreNoRows(err)
}

// and returns the incident and, if it is another one, that of which an event with the key is an alert. A key has two if
// servers with different rules received the event at the same time.
func (o openOfKey) and(event openOfKey) []openOfKey {
	if event.id == 0 || event.id == o.id {
		return []openOfKey{o}
	}
	return []openOfKey{o, event}
}

// endAlerts stores the alerts of a delivery that resolves an incident, and ends the alerts that it does not name: many
// sources resolve an incident as a whole. It returns how many of those it ended.
func endAlerts(ctx context.Context, q *db.Queries, id incidents.ID, alerts []incidents.Alert) (ended int64, err error) {
	if err := q.PutAlerts(ctx, alertColumns(alerts).of(id)); err != nil {
		return 0, err
	}
	return q.ResolveAlerts(ctx, db.ResolveAlertsParams{IncidentID: id, StillFiring: firing(alerts)})
}

// endHold ends the wait of a late firing delivery because its resolve followed; false if none waited.
func (i *Incidents) endHold(ctx context.Context, id incidents.ID, key string, c incidents.Change) (ended bool, err error) {
	return postgres.GetInTx(ctx, i.db, func(ctx context.Context, q *db.Queries) (ended bool, err error) {
		ended = false
		if _, err := q.LockForDelivery(ctx, id); err != nil {
			return ended, err
		}
		waits, others, err := leaveHold(ctx, q, id, key)
		switch {
		case err != nil || others && !waits:
			return ended, err
		case others:
			return true, AddEntry(ctx, q, id, incidents.EntryResolved, c.Actor,
				"a resolve followed one of the late firing deliveries: the others wait")
		}
		dropped, err := q.DropTimers(ctx, []int64{int64(id)})
		if err != nil || len(dropped) == 0 || dropped[0].Reason != TimerLate {
			return ended, err
		}
		ended = true
		if err := q.NoteResolvedGroup(ctx, id); err != nil {
			return ended, err
		}
		return ended, AddEntry(ctx, q, id, incidents.EntryResolved, c.Actor,
			"a resolve followed the late firing delivery: nobody is paged")
	})
}

// leaveHold takes an event out of the wait of an incident of several events. It returns whether the event waited, and
// whether others wait still. Of another incident it returns false.
func leaveHold(ctx context.Context, q *db.Queries, id incidents.ID, key string) (waits, others bool, err error) {
	held, err := q.HeldEventsOfGroup(ctx, id)
	if err = postgres.IgnoreNoRows(err); err != nil {
		return false, false, err
	}
	left := slices.DeleteFunc(slices.Clone(held), func(fingerprint string) bool { return fingerprint == key })
	waits, others = len(left) < len(held), len(left) > 0
	if waits && others {
		err = q.SetHeldEventsOfGroup(ctx, db.SetHeldEventsOfGroupParams{IncidentID: id, Fingerprints: left})
	}
	return waits, others, err
}

// dropTimers deletes the timers of incidents that a person or program answers. It returns true for incidents that had
// one.
func dropTimers(ctx context.Context, q *db.Queries, of []changing) (map[incidents.ID]bool, error) {
	rows, err := q.DropTimers(ctx, idsOf(of))
	waited := map[incidents.ID]bool{}
	for _, r := range rows {
		waited[r.IncidentID] = true
	}
	return waited, err
}

// forgottenFor is how long ago an alert counts as changed if only the facts of an older release have it.
const forgottenFor = 24 * time.Hour

// knownAlerts returns the alerts of an incident by fingerprint. An incident of an older release has facts only.
func knownAlerts(ctx context.Context, q *db.Queries, id incidents.ID) (map[string]incidents.KnownAlert, error) {
	rows, err := q.KnownAlerts(ctx, id)
	if err != nil {
		return nil, err
	}
	known := make(map[string]incidents.KnownAlert, len(rows))
	for _, r := range rows {
		known[r.Fingerprint] = incidents.KnownAlert{Firing: r.Status == alertFiring,
			StartsAt:  postgres.Deref(r.StartsAt),
			Unchanged: postgres.FloatSeconds(r.UnchangedSeconds)}
	}
	if len(known) > 0 {
		return known, nil
	}
	raw, err := q.Facts(ctx, id)
	if err := postgres.IgnoreNoRows(err); err != nil {
		return nil, err
	}
	var facts []struct{ F, S, T string }
	_ = json.Unmarshal(raw, &facts) // unreadable facts count as none
	for _, f := range facts {
		at, _ := time.Parse(time.RFC3339Nano, f.T) // zero if it names none
		known[f.F] = incidents.KnownAlert{Firing: f.S != alertResolved, StartsAt: at.Truncate(time.Microsecond),
			Unchanged: forgottenFor}
	}
	return known, nil
}

// The states of alerts, as they are stored.
const (
	alertFiring   = "firing"
	alertResolved = "resolved"
)

// columns are alerts as arrays.
type columns db.PutAlertsParams

func (c columns) of(id incidents.ID) db.PutAlertsParams {
	c.IncidentID = id
	return db.PutAlertsParams(c)
}

func alertColumns(alerts []incidents.Alert) columns {
	c := columns{Fingerprints: []string{}, Statuses: []string{}, StartsAts: []time.Time{}, EndsAts: []time.Time{},
		Labels: []string{}, Annotations: []string{}}
	for _, a := range alerts {
		status := alertResolved
		if a.Firing {
			status = alertFiring
		}
		c.Fingerprints, c.Statuses = append(c.Fingerprints, postgres.Storable(a.Fingerprint)), append(c.Statuses,
			status)
		c.StartsAts, c.EndsAts = append(c.StartsAts, postgres.OrEpoch(a.StartsAt)), append(c.EndsAts,
			postgres.OrEpoch(a.EndsAt))
		c.Labels, c.Annotations = append(c.Labels, string(a.Labels)), append(c.Annotations, string(a.Annotations))
	}
	return c
}

// firing returns the fingerprints of the alerts that fire.
func firing(alerts []incidents.Alert) []string {
	out := []string{}
	for _, a := range alerts {
		if a.Firing {
			out = append(out, postgres.Storable(a.Fingerprint))
		}
	}
	return out
}
