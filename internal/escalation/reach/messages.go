package reach

import (
	"context"
	"slices"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// MessageStore reads messages. The edges describe its methods.
type MessageStore interface {
	List(ctx context.Context, q filters.Query) ([]messages.Message, error)
	ByIncident(ctx context.Context, id incidents.ID) ([]messages.Message, error)
	Get(ctx context.Context, id messages.ID) (messages.Message, error)
	Changes(ctx context.Context, id messages.ID) ([]messages.Change, error)
	ReceiptStatus(ctx context.Context, id messages.ID, vendor string) (string, error)
}

// Messages is a MessageStore as the caller of a request reaches it, with the destinations that the caller sees
// (auth.Sight). It is safe for concurrent use if Store is.
type Messages struct {
	Rule
	Store MessageStore
	// OnCallNow returns the names of those people who have a shift now.
	OnCallNow func(ctx context.Context, names []string) (map[string]bool, error)
}

// errDestinations refuses a search that would tell what the caller does not see.
var errDestinations = &fault.Error{Kind: fault.Forbidden, Field: "destination",
	Message: "Who may only read does not search by destination: leave destination out, and search by target"}

// List leaves out the messages that the caller does not reach.
func (m Messages) List(ctx context.Context, q filters.Query) ([]messages.Message, error) {
	q, err := searchable(wire.Actor(ctx).Sight(nil), q)
	if err != nil {
		return nil, err
	}
	found, err := m.Store.List(ctx, m.within(ctx, q))
	if err != nil {
		return nil, err
	}
	return found, m.show(ctx, found)
}

// searchable leaves the messages whose destinations the caller does not see out of a search by destination.
func searchable(s auth.Sight, q filters.Query) (filters.Query, error) {
	if !slices.ContainsFunc(q.Conditions, func(c filters.Condition) bool { return c.Field == "destination" }) {
		return q, nil
	}
	if !s.SearchesDestinations() {
		return q, errDestinations
	}
	q.Conditions = slices.Clone(q.Conditions)
	for _, mode := range users.Modes {
		if !s.SeesEverybody(mode) {
			q.Conditions = append(q.Conditions, filters.Condition{Field: "mode", Op: filters.Ne,
				Values: []any{string(mode)}})
		}
	}
	return q, nil
}

// show replaces destinations by what the caller sees of them, in the messages themselves.
func (m Messages) show(ctx context.Context, found []messages.Message) error {
	names := make([]string, len(found))
	for i := range found {
		names[i] = found[i].Target
	}
	sight, err := wire.Sight(ctx, m.OnCallNow, names)
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

// ByIncident returns the messages of an incident that the caller reaches.
func (m Messages) ByIncident(ctx context.Context, id incidents.ID) ([]messages.Message, error) {
	found, err := m.Store.ByIncident(ctx, id)
	for _, one := range found {
		if err := m.named(ctx, one.Application); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	return found, m.show(ctx, found)
}

// Get returns a message that the caller reaches.
func (m Messages) Get(ctx context.Context, id messages.ID) (messages.Message, error) {
	found, err := m.Store.Get(ctx, id)
	if err == nil {
		err = m.named(ctx, found.Application)
	}
	if err != nil {
		return messages.Message{}, m.hide(ctx, err)
	}
	one := []messages.Message{found}
	err = m.show(ctx, one)
	return one[0], err
}

// Changes returns the changes of a message that the caller reaches.
func (m Messages) Changes(ctx context.Context, id messages.ID) ([]messages.Change, error) {
	if err := m.check(ctx, id); err != nil {
		return nil, err
	}
	return m.Store.Changes(ctx, id)
}

// ReceiptStatus returns the status of a message that the caller reaches.
func (m Messages) ReceiptStatus(ctx context.Context, id messages.ID, vendor string) (string, error) {
	if err := m.check(ctx, id); err != nil {
		return "", err
	}
	return m.Store.ReceiptStatus(ctx, id, vendor)
}

func (m Messages) check(ctx context.Context, id messages.ID) error {
	if _, confined := m.confined(ctx); !confined {
		return nil
	}
	_, err := m.Get(ctx, id)
	return err
}

// hide gives a confined caller the same answer for what does not exist as for what it does not reach.
func (r Rule) hide(ctx context.Context, err error) error {
	if _, confined := r.confined(ctx); confined {
		return fault.When(err, fault.NotFound, auth.ErrNotReached)
	}
	return err
}

// NotificationStore reads notifications.
type NotificationStore interface {
	List(ctx context.Context, q filters.Query) ([]messages.Accepted, error)
	Get(ctx context.Context, id int64) (messages.Accepted, error)
}

// Notifications is a NotificationStore as the caller of a request reaches it.
type Notifications struct {
	Rule
	Store NotificationStore
}

// List leaves out the notifications that the caller does not reach.
func (n Notifications) List(ctx context.Context, q filters.Query) ([]messages.Accepted, error) {
	return n.Store.List(ctx, n.within(ctx, q))
}

// Get returns a notification that the caller reaches.
func (n Notifications) Get(ctx context.Context, id int64) (messages.Accepted, error) {
	found, err := n.Store.Get(ctx, id)
	if err == nil {
		err = n.named(ctx, found.Application)
	}
	if err != nil {
		return messages.Accepted{}, n.hide(ctx, err)
	}
	return found, nil
}
