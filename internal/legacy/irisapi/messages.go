package irisapi

import (
	"context"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// MessageStore reads messages. For a message that does not exist, Get returns a NotFound fault, and Changes an empty list.
type MessageStore interface {
	List(ctx context.Context, q filters.Query) ([]messages.Message, error)
	Get(ctx context.Context, id messages.ID) (messages.Message, error)
	Changes(ctx context.Context, id messages.ID) ([]messages.Change, error)
	// ReceiptStatus returns the last status that a vendor reported for a message; "" = none.
	ReceiptStatus(ctx context.Context, id messages.ID, vendor string) (string, error)
}

// Queues counts the messages that wait for delivery.
type Queues interface {
	Depths(ctx context.Context) ([]messages.QueueDepth, error)
}

// MessagesDeps are the parts that the routes work on. All are required.
type MessagesDeps struct {
	Messages MessageStore
	Queues   Queues
	Acceptor *notifications.Acceptor
	// Refused counts a notification that is refused because too much of the application waits.
	Refused func()
	// Wake wakes the processors of changed buckets; it never blocks.
	Wake func(context.Context, buckets.Set)
}

// The routes by resource.
type (
	messagesReads    struct{ MessagesDeps }
	queues           struct{ MessagesDeps }
	messagesIncoming struct{ MessagesDeps }
)

// MessagesRoutes returns the routes on the parts.
func MessagesRoutes(d MessagesDeps) []routing.Route {
	read, queue, in := messagesReads{d}, queues{d}, messagesIncoming{d}
	return []routing.Route{
		routing.Get("/v0/messages", routing.Read, read.list),
		routing.Get("/v0/messages/{id}", routing.Read, WithID(messagesInvalidID, read.get)),
		routing.Get("/v0/messages/{id}/auditlog", routing.Read, WithID(messagesInvalidID, read.changes)),
		routing.Get("/v0/queues", routing.Someone, queue.list),
		routing.Post("/v0/notifications", routing.Write, in.notify).ForRecent(),
	}
}

const messagesInvalidID = "Invalid message id"
