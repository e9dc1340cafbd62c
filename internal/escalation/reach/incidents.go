package reach

import (
	"context"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// IncidentStore reads and acknowledges incidents. The edges describe its methods.
type IncidentStore interface {
	List(ctx context.Context, q filters.Query) ([]incidents.Incident, error)
	Get(ctx context.Context, id incidents.ID) (incidents.Incident, error)
	Count(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error)
	Comments(ctx context.Context, id incidents.ID) ([]incidents.Comment, error)
	Acknowledge(ctx context.Context, c incidents.Change, owner users.User) ([]incidents.Acknowledged, error)
}

// Incidents is an IncidentStore as the caller of a request reaches it. It is safe for concurrent use if Store is.
type Incidents struct {
	Rule
	Store IncidentStore
}

// Check returns operation.ErrNotReached unless the caller reaches all the incidents. For a confined caller that includes
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

// Acknowledge is like that of the store, for incidents that the caller reaches.
func (i Incidents) Acknowledge(ctx context.Context, c incidents.Change, owner users.User) ([]incidents.Acknowledged, error) {
	if err := i.Check(ctx, c.IDs...); err != nil {
		return nil, err
	}
	return i.Store.Acknowledge(ctx, c, owner)
}
