package reach

import (
	"context"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/users"
)

// IncidentStore reads and changes incidents. The edges describe its methods.
type IncidentStore interface {
	List(ctx context.Context, q filters.Query) ([]incidents.Incident, error)
	Get(ctx context.Context, id incidents.ID) (incidents.Incident, error)
	Count(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error)
	Alerts(ctx context.Context, id incidents.ID, after string, most int) ([]incidents.Alert, error)
	Timeline(ctx context.Context, id incidents.ID) ([]incidents.Entry, error)
	Comments(ctx context.Context, id incidents.ID) ([]incidents.Comment, error)
	AddComment(ctx context.Context, id incidents.ID, author users.User, content string) (int64, error)

	Acknowledge(ctx context.Context, c incidents.Change, owner users.User) ([]incidents.Acknowledged, error)
	Reopen(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
	Resolve(ctx context.Context, c incidents.Change, resolved bool) ([]incidents.Acknowledged, error)
	Escalate(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
	Restart(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
	Snooze(ctx context.Context, c incidents.Change, end incidents.SnoozeEnd) ([]incidents.Acknowledged, error)
	EndSnooze(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
	Merge(ctx context.Context, c incidents.Change, into incidents.ID, comment string) ([]incidents.Acknowledged, error)
	Unmerge(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
	SetState(ctx context.Context, c incidents.Change, step int, active bool) ([]incidents.Acknowledged, error)
}

// Incidents is an IncidentStore as the caller of a request reaches it. It is safe for concurrent use if Store is.
type Incidents struct {
	Rule
	Store IncidentStore
}

// Check returns auth.ErrNotReached unless the caller reaches all the incidents. For a confined caller that includes
// incidents that do not exist. The application of an incident never changes, so a change after the check needs no lock.
func (i Incidents) Check(ctx context.Context, ids ...incidents.ID) error {
	if _, confined := i.confined(ctx); !confined {
		return nil
	}
	different := map[incidents.ID]bool{}
	values := make([]any, 0, len(ids))
	for _, id := range ids {
		if !different[id] {
			different[id] = true
			values = append(values, int64(id))
		}
	}
	found, err := i.List(ctx, filters.Query{Fields: []string{"id"},
		Conditions: []filters.Condition{{Field: "id", Op: filters.In, Values: values}}})
	if err == nil && len(found) < len(different) {
		err = auth.ErrNotReached
	}
	return err
}

// List leaves out the incidents that the caller does not reach.
func (i Incidents) List(ctx context.Context, q filters.Query) ([]incidents.Incident, error) {
	return i.Store.List(ctx, i.within(ctx, q))
}

// Count leaves out the incidents that the caller does not reach.
func (i Incidents) Count(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error) {
	return i.Store.Count(ctx, i.within(ctx, q), fields)
}

// Get returns an incident that the caller reaches.
func (i Incidents) Get(ctx context.Context, id incidents.ID) (incidents.Incident, error) {
	found, err := i.Store.Get(ctx, id)
	if actor, confined := i.confined(ctx); confined && err == nil && actor.ApplicationID != found.ApplicationID {
		err = auth.ErrNotReached
	}
	if err != nil {
		return incidents.Incident{}, i.hide(ctx, err)
	}
	return found, nil
}

// Alerts is like that of the store, for an incident that the caller reaches.
func (i Incidents) Alerts(ctx context.Context, id incidents.ID, after string, most int) ([]incidents.Alert, error) {
	if err := i.Check(ctx, id); err != nil {
		return nil, err
	}
	return i.Store.Alerts(ctx, id, after, most)
}

// Timeline is like that of the store, for an incident that the caller reaches.
func (i Incidents) Timeline(ctx context.Context, id incidents.ID) ([]incidents.Entry, error) {
	if err := i.Check(ctx, id); err != nil {
		return nil, err
	}
	return i.Store.Timeline(ctx, id)
}

// Comments is like that of the store, for an incident that the caller reaches.
func (i Incidents) Comments(ctx context.Context, id incidents.ID) ([]incidents.Comment, error) {
	if err := i.Check(ctx, id); err != nil {
		return nil, err
	}
	return i.Store.Comments(ctx, id)
}

// AddComment is like that of the store, for an incident that the caller reaches.
func (i Incidents) AddComment(ctx context.Context, id incidents.ID, author users.User, content string) (int64, error) {
	if err := i.Check(ctx, id); err != nil {
		return 0, err
	}
	return i.Store.AddComment(ctx, id, author, content)
}

// change makes a change unless one of its incidents is not reached.
func (i Incidents) change(ctx context.Context, c incidents.Change, make func() ([]incidents.Acknowledged, error)) ([]incidents.Acknowledged, error) {
	if err := i.Check(ctx, c.IDs...); err != nil {
		return nil, err
	}
	return make()
}

// Acknowledge is like that of the store, for incidents that the caller reaches.
func (i Incidents) Acknowledge(ctx context.Context, c incidents.Change, owner users.User) ([]incidents.Acknowledged, error) {
	return i.change(ctx, c, func() ([]incidents.Acknowledged, error) { return i.Store.Acknowledge(ctx, c, owner) })
}

// Reopen is like that of the store, for incidents that the caller reaches.
func (i Incidents) Reopen(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
	return i.change(ctx, c, func() ([]incidents.Acknowledged, error) { return i.Store.Reopen(ctx, c) })
}

// Resolve is like that of the store, for incidents that the caller reaches.
func (i Incidents) Resolve(ctx context.Context, c incidents.Change, resolved bool) ([]incidents.Acknowledged, error) {
	return i.change(ctx, c, func() ([]incidents.Acknowledged, error) { return i.Store.Resolve(ctx, c, resolved) })
}

// Escalate is like that of the store, for incidents that the caller reaches.
func (i Incidents) Escalate(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
	return i.change(ctx, c, func() ([]incidents.Acknowledged, error) { return i.Store.Escalate(ctx, c) })
}

// Restart is like that of the store, for incidents that the caller reaches.
func (i Incidents) Restart(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
	return i.change(ctx, c, func() ([]incidents.Acknowledged, error) { return i.Store.Restart(ctx, c) })
}

// Snooze is like that of the store, for incidents that the caller reaches.
func (i Incidents) Snooze(ctx context.Context, c incidents.Change, end incidents.SnoozeEnd) ([]incidents.Acknowledged, error) {
	return i.change(ctx, c, func() ([]incidents.Acknowledged, error) { return i.Store.Snooze(ctx, c, end) })
}

// EndSnooze is like that of the store, for incidents that the caller reaches.
func (i Incidents) EndSnooze(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
	return i.change(ctx, c, func() ([]incidents.Acknowledged, error) { return i.Store.EndSnooze(ctx, c) })
}

// Merge is like that of the store, for incidents that the caller reaches, into one that the caller reaches.
func (i Incidents) Merge(ctx context.Context, c incidents.Change, into incidents.ID, comment string) ([]incidents.Acknowledged, error) {
	if err := i.Check(ctx, into); err != nil {
		return nil, err
	}
	return i.change(ctx, c, func() ([]incidents.Acknowledged, error) { return i.Store.Merge(ctx, c, into, comment) })
}

// Unmerge is like that of the store, for incidents that the caller reaches.
func (i Incidents) Unmerge(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
	return i.change(ctx, c, func() ([]incidents.Acknowledged, error) { return i.Store.Unmerge(ctx, c) })
}

// SetState is that of the store: its callers are the internal applications of the configuration, which control every
// incident.
func (i Incidents) SetState(ctx context.Context, c incidents.Change, step int, active bool) ([]incidents.Acknowledged, error) {
	return i.Store.SetState(ctx, c, step, active)
}

// ResponderStore changes who works on an incident.
type ResponderStore interface {
	PageAlso(ctx context.Context, c incidents.Change, p incidents.AddedPage) error
	Reassign(ctx context.Context, c incidents.Change, owner string) error
}

// Responders is a ResponderStore as the caller of a request reaches it.
type Responders struct {
	Incidents Incidents
	Store     ResponderStore
}

// PageAlso is like that of the store, for incidents that the caller reaches.
func (r Responders) PageAlso(ctx context.Context, c incidents.Change, p incidents.AddedPage) error {
	if err := r.Incidents.Check(ctx, c.IDs...); err != nil {
		return err
	}
	return r.Store.PageAlso(ctx, c, p)
}

// Reassign is like that of the store, for incidents that the caller reaches.
func (r Responders) Reassign(ctx context.Context, c incidents.Change, owner string) error {
	if err := r.Incidents.Check(ctx, c.IDs...); err != nil {
		return err
	}
	return r.Store.Reassign(ctx, c, owner)
}

// SimulationStore computes what would happen to plans and incidents.
type SimulationStore interface {
	Ask(ctx context.Context, q simulation.TypedQuestion) (simulation.Simulation, error)
	Next(ctx context.Context, id incidents.ID) (simulation.Next, error)
}

// Simulations is a SimulationStore as the caller of a request reaches it.
type Simulations struct {
	Incidents Incidents
	Store     SimulationStore
}

// Ask is that of the store: plans are not hidden.
func (s Simulations) Ask(ctx context.Context, q simulation.TypedQuestion) (simulation.Simulation, error) {
	return s.Store.Ask(ctx, q)
}

// Next is like that of the store, for an incident that the caller reaches.
func (s Simulations) Next(ctx context.Context, id incidents.ID) (simulation.Next, error) {
	if err := s.Incidents.Check(ctx, id); err != nil {
		return simulation.Next{}, err
	}
	return s.Store.Next(ctx, id)
}
