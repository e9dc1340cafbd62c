package reach

import (
	"context"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// IncidentStore reads and changes incidents. The edges describe its methods.
type IncidentStore interface {
	List(ctx context.Context, q filters.Query) ([]incidents.Incident, error)
	Get(ctx context.Context, id incidents.ID) (incidents.Incident, error)
	Count(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error)
	Comments(ctx context.Context, id incidents.ID) ([]incidents.Comment, error)
	AddComment(ctx context.Context, id incidents.ID, author users.User, content string) (int64, error)

	Acknowledge(ctx context.Context, c incidents.Change, owner users.User) ([]incidents.Acknowledged, error)
	Reopen(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
	Resolve(ctx context.Context, c incidents.Change, resolved bool) ([]incidents.Acknowledged, error)
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
	if i.caller(ctx).Application == 0 {
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
		err = operation.ErrNotReached
	}
	return err
}

// List leaves out the incidents that the caller does not reach.
func (i Incidents) List(ctx context.Context, q filters.Query) ([]incidents.Incident, error) {
	return i.Store.List(ctx, i.caller(ctx).Within(q))
}

// Count leaves out the incidents that the caller does not reach.
func (i Incidents) Count(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error) {
	return i.Store.Count(ctx, i.caller(ctx).Within(q), fields)
}

// Get returns an incident that the caller reaches.
func (i Incidents) Get(ctx context.Context, id incidents.ID) (incidents.Incident, error) {
	found, err := i.Store.Get(ctx, id)
	if err := i.caller(ctx).Reached(found.Application, err); err != nil {
		return incidents.Incident{}, err
	}
	return found, nil
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

// SetState is that of the store: its callers are the internal applications of the configuration, which control every
// incident.
func (i Incidents) SetState(ctx context.Context, c incidents.Change, step int, active bool) ([]incidents.Acknowledged, error) {
	return i.Store.SetState(ctx, c, step, active)
}
