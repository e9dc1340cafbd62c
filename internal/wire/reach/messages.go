package reach

import (
	"context"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
)

// MessageStore reads messages. The edges describe its methods.
type MessageStore interface {
	List(ctx context.Context, q filters.Query) ([]messages.Message, error)
	ByIncident(ctx context.Context, id incidents.ID) ([]messages.Message, error)
	Get(ctx context.Context, id messages.ID) (messages.Message, error)
	Changes(ctx context.Context, id messages.ID) ([]messages.Change, error)
	ReceiptStatus(ctx context.Context, id messages.ID, vendor string) (string, error)
}

// Messages is a MessageStore as the caller of a request reaches it. It is safe for concurrent use if Store is.
type Messages struct {
	Rule
	Store MessageStore
}

// List leaves out the messages that the caller does not reach.
func (m Messages) List(ctx context.Context, q filters.Query) ([]messages.Message, error) {
	return m.Store.List(ctx, m.within(ctx, q))
}

// ByIncident returns the messages of an incident that the caller reaches.
func (m Messages) ByIncident(ctx context.Context, id incidents.ID) ([]messages.Message, error) {
	found, err := m.Store.ByIncident(ctx, id)
	for _, one := range found {
		if err := m.named(ctx, one.Application); err != nil {
			return nil, err
		}
	}
	return found, err
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
	return found, nil
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
