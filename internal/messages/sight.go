package messages

import (
	"context"
	"slices"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// Store reads messages of the queue and of history. A message that does not exist is a NotFound fault.
type Store interface {
	List(ctx context.Context, q filters.Query) ([]Message, error)
	ByIncident(ctx context.Context, id incidents.ID) ([]Message, error)
	Get(ctx context.Context, id ID) (Message, error)
	// Changes returns what changed about a message, newest first.
	Changes(ctx context.Context, id ID) ([]Change, error)
	// ReceiptStatus returns the last status in the words of the vendor; "" = there is no receipt.
	ReceiptStatus(ctx context.Context, id ID, vendor string) (string, error)
}

// Seen reads messages as callers see them, for every door. A confined caller sees those of its own application. Every
// caller sees of their destinations what auth.Sight says, and of what vendors answered the same, because answers often
// repeat the destination. The text of a message is what was sent: it stays as it is. It is safe for concurrent use.
type Seen struct {
	Store Store
	// OnCallNow returns the names of those people who have a shift now.
	OnCallNow func(ctx context.Context, names []string) (map[string]bool, error)
}

// errDestinations refuses a search by destination. It would tell somebody who sees no contacts who has which one.
var errDestinations = &fault.Error{Kind: fault.Forbidden, Field: "destination",
	Message: "Who may only read does not search by destination: leave destination out, and search by target"}

// List returns the messages that match. A search by destination finds only what the caller sees.
func (s Seen) List(ctx context.Context, by operation.Actor, q filters.Query) ([]Message, error) {
	q, err := s.searchable(ctx, by, q)
	if err != nil {
		return nil, err
	}
	found, err := s.Store.List(ctx, by.Within(q))
	if err != nil {
		return nil, err
	}
	return found, s.show(ctx, by, found)
}

// searchable leaves out of a search by destination the modes of which the caller does not see everybody's contacts.
func (s Seen) searchable(ctx context.Context, by operation.Actor, q filters.Query) (filters.Query, error) {
	if !slices.ContainsFunc(q.Conditions, func(c filters.Condition) bool { return c.Field == "destination" }) {
		return q, nil
	}
	sight, err := auth.SightOf(ctx, by, s.OnCallNow, nil)
	if err != nil || !sight.SearchesDestinations() {
		return q, errDestinations
	}
	q.Conditions = slices.Clone(q.Conditions)
	for _, mode := range users.Modes {
		if !sight.SeesAllContacts(mode) {
			q.Conditions = append(q.Conditions, filters.Condition{Field: "mode", Op: filters.Ne,
				Values: []any{string(mode)}})
		}
	}
	return q, nil
}

// show replaces the destinations by what the caller sees of them.
func (s Seen) show(ctx context.Context, by operation.Actor, found []Message) error {
	names := make([]string, len(found))
	for i := range found {
		names[i] = found[i].Target
	}
	sight, err := auth.SightOf(ctx, by, s.OnCallNow, names)
	for i := range found {
		f := &found[i]
		owner, to := f.Target, f.Destination
		f.Destination = sight.Contact(owner, f.Mode, to)
		f.Target = sight.Within(owner, owner, f.Mode, to) // a message to an address has it as its target
		for j := range f.Attempts {
			a := &f.Attempts[j]
			a.Detail = sight.Within(sight.Within(a.Detail, owner, a.Mode, a.Destination), owner, f.Mode, to)
			a.Destination = sight.Contact(owner, a.Mode, a.Destination)
		}
	}
	return err
}

// ByIncident returns the messages of an incident. All belong to its application.
func (s Seen) ByIncident(ctx context.Context, by operation.Actor, id incidents.ID) ([]Message, error) {
	found, err := s.Store.ByIncident(ctx, id)
	for _, one := range found {
		if err := by.Reached(one.Application, nil); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	return found, s.show(ctx, by, found)
}

// Get returns a message with its attempts.
func (s Seen) Get(ctx context.Context, by operation.Actor, id ID) (Message, error) {
	found, err := s.Store.Get(ctx, id)
	if err := by.Reached(found.Application, err); err != nil {
		return Message{}, err
	}
	one := []Message{found}
	err = s.show(ctx, by, one)
	return one[0], err
}

// Changes returns what changed about a message, newest first.
func (s Seen) Changes(ctx context.Context, by operation.Actor, id ID) ([]Change, error) {
	if err := s.check(ctx, by, id); err != nil {
		return nil, err
	}
	return s.Store.Changes(ctx, id)
}

// ReceiptStatus returns the last status in the words of the vendor; "" = there is no receipt.
func (s Seen) ReceiptStatus(ctx context.Context, by operation.Actor, id ID, vendor string) (string, error) {
	if err := s.check(ctx, by, id); err != nil {
		return "", err
	}
	return s.Store.ReceiptStatus(ctx, id, vendor)
}

// check reads the message only for a confined caller.
func (s Seen) check(ctx context.Context, by operation.Actor, id ID) error {
	if by.Application == 0 {
		return nil
	}
	_, err := s.Get(ctx, by, id)
	return err
}
