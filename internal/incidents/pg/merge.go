package pg

import (
	"context"
	"fmt"
	"slices"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Merge merges incidents into a parent, which stands for them: they page nobody, and follow its acknowledgements and
// resolves. comment becomes a part of the timeline entries. A parent that does not permit the merge is an Invalid
// fault, an incident that does not permit it a Conflict; then Merge changes nothing. An incident that is merged into
// the parent already is unchanged.
func (i *Incidents) Merge(ctx context.Context, c incidents.Change, into incidents.ID, comment string) ([]incidents.Acknowledged, error) {
	if err := incidents.CheckMergeComment(comment); err != nil {
		return nil, err
	}
	children := c.IDs
	c.IDs = append(slices.Clone(children), into)
	done, err := i.change(ctx, c, func(ctx context.Context, q *db.Queries, before []changing) error {
		parent, rest := parentOf(into, before)
		with, err := q.WithMerged(ctx, postgres.Numbers(children))
		if err != nil {
			return err
		}
		if err := incidents.CheckMerge(children, incidents.ID(with), parent); err != nil {
			return err
		}
		for _, id := range children {
			if !slices.ContainsFunc(rest, func(b changing) bool { return b.id() == id }) {
				return fault.Newf(fault.NotFound, "there is no incident %d", id)
			}
		}
		rest = slices.DeleteFunc(rest, func(b changing) bool {
			return postgres.Deref(b.row.MergedInto) == into &&
				!b.row.Resolved
		})
		return merge(ctx, q, c, into, rest, comment)
	})
	if err != nil {
		return nil, err
	}
	return done[:len(children)], nil
}

// merge writes the merge of locked incidents and the entries of both timelines.
func merge(ctx context.Context, q *db.Queries, c incidents.Change, into incidents.ID, of []changing, comment string) error {
	if len(of) == 0 {
		return nil
	}
	end := byWay(c, "")
	if comment != "" {
		end += ": " + postgres.Storable(comment)
	}
	text := fmt.Sprintf("merged into incident %d", into) + end
	err := transit(ctx, q, c, incidents.Merge, db.SetStatesParams{MergedInto: (*int64)(&into)}, of,
		slices.Repeat([]string{text}, len(of)))
	if err != nil {
		return err
	}
	for _, b := range of {
		text := fmt.Sprintf("incident %d was merged into this one", b.id()) + end
		if err := AddEntry(ctx, q, into, incidents.EntryMerged, c.Actor, text); err != nil {
			return err
		}
	}
	return q.TouchIncident(ctx, into)
}

// parentOf returns the parent and the other incidents of a merge.
func parentOf(into incidents.ID, before []changing) (parent incidents.Parent, others []changing) {
	parent.ID = into
	for _, b := range before {
		if b.id() != into {
			others = append(others, b)
			continue
		}
		parent.Found, parent.Status, parent.MergedInto = true, StatusOf(b.row), postgres.Deref(b.row.MergedInto)
	}
	return parent, others
}

// Unmerge undoes merges: the plans of the incidents begin again. An incident with an owner is acknowledged instead, and
// one whose alerts the source has resolved meanwhile is resolved. For an incident that is not merged it returns a
// Conflict and changes nothing.
func (i *Incidents) Unmerge(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
	return i.change(ctx, c, func(ctx context.Context, q *db.Queries, before []changing) error {
		for _, b := range before {
			if err := unmerge(ctx, q, c, b); err != nil {
				return err
			}
		}
		return nil
	})
}

func unmerge(ctx context.Context, q *db.Queries, c incidents.Change, b changing) error {
	parent := postgres.Deref(b.row.MergedInto)
	made, err := Transit(ctx, q, incidents.Unmerge, db.SetStatesParams{}, b.row)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("no longer merged into incident %d", parent) + byWay(c, "")
	if err := AddEntry(ctx, q, b.id(), made[0].Kind, c.Actor, text); err != nil {
		return err
	}
	text = fmt.Sprintf("incident %d is no longer merged into this one", b.id()) + byWay(c, "")
	if err := AddEntry(ctx, q, parent, incidents.EntryMerged, c.Actor, text); err != nil {
		return err
	}
	known, err := knownAlerts(ctx, q, b.id())
	if err != nil {
		return err
	}
	switch {
	case len(known) > 0 && !anyFires(known):
		again, err := q.LockForChange(ctx, []int64{int64(b.row.ID)})
		if err != nil {
			return err
		}
		b.row = again[0].Incident
		return transit(ctx, q, c, incidents.Resolve, db.SetStatesParams{}, []changing{b},
			[]string{"resolved: its source had resolved all its alerts"})
	case made[0].After.Owned:
		return q.SetAcknowledgementTimers(ctx, []int64{int64(b.row.ID)})
	}
	return q.RestartPlan(ctx, b.row.ID)
}

func anyFires(known map[string]incidents.KnownAlert) bool {
	for _, a := range known {
		if a.Firing {
			return true
		}
	}
	return false
}

// follow writes an event of incidents for those that are merged into them. texts are the entries of the incidents.
func follow(ctx context.Context, q *db.Queries, c incidents.Change, e incidents.Event, with db.SetStatesParams, of []changing, texts []string) error {
	if len(of) == 0 {
		return nil
	}
	rows, err := q.LockMerged(ctx, postgres.Numbers(idsOf(of)))
	if err != nil {
		return err
	}
	var chosen []changing
	var lines []string
	for _, r := range rows {
		b := changing{row: r.Incident}
		t, err := StatusOf(b.row).After(e)
		if err != nil {
			return err
		}
		if !t.Changes() && (with.OwnerID == nil || postgres.Deref((*int64)(b.row.OwnerID)) == *with.OwnerID) {
			continue
		}
		parent := *b.row.MergedInto
		text := texts[slices.Index(idsOf(of), int64(parent))]
		chosen, lines = append(chosen, b), append(lines, fmt.Sprintf("with incident %d, into which it is merged: %s",
			parent, text))
	}
	return transit(ctx, q, c, e, with, chosen, lines)
}

// checkUndo returns a Conflict if the resolve of an incident cannot be undone alone: it was resolved with the one that
// it is merged into.
func checkUndo(ctx context.Context, q *db.Queries, of []changing) error {
	for _, b := range of {
		parent := postgres.Deref(b.row.MergedInto)
		if parent == 0 || slices.Contains(idsOf(of), int64(parent)) {
			continue
		}
		rows, err := q.LockForChange(ctx, []int64{int64(parent)})
		if err != nil {
			return err
		}
		if len(rows) > 0 && (rows[0].Incident.Resolved || rows[0].Incident.ClosedAt != nil) {
			return fault.Newf(fault.Conflict,
				"the incident is merged into incident %d, which is %s: reopen that one first", parent,
				StatusOf(rows[0].Incident).State())
		}
	}
	return nil
}

// resolveMerged stores that the source resolved the alerts of an incident that is merged into another one. Its state is
// that of the other. An incident without alerts gets a resolved one with its key, so that it is resolved if the merge
// is undone.
func resolveMerged(ctx context.Context, q *db.Queries, c incidents.Change, b changing, n incidents.New) error {
	known, err := knownAlerts(ctx, q, b.id())
	if err != nil {
		return err
	}
	ended, err := endAlerts(ctx, q, b.id(), n.Alerts)
	if err != nil || len(known) > 0 && !anyFires(known) {
		return err
	}
	if ended == 0 && len(n.Alerts) == 0 {
		if err := q.PutAlerts(ctx, alertColumns([]incidents.Alert{{Fingerprint: n.DedupKey}}).of(b.id())); err != nil {
			return err
		}
	}
	if err := q.ForgetFacts(ctx, b.row.ID); err != nil { // so that an alert that fires again is stored
		return err
	}
	if err := q.TouchIncident(ctx, b.row.ID); err != nil {
		return err
	}
	return AddEntry(ctx, q, b.id(), incidents.EntryUpdated, c.Actor,
		fmt.Sprintf("the source resolved its alerts; the incident stays merged into incident %d and is resolved with it", *b.row.MergedInto))
}
