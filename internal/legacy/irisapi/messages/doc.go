// Package messages serves the messages of /v0, the depth of the queues, and the route that accepts out-of-band notifications.
// irisapi mounts its routes.
package messages

import (
	"context"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/legacy/irisapi/v0"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// Messages reads messages. For a message that does not exist, Get returns a NotFound fault, and Changes an empty list.
type Messages interface {
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

// Deps are the parts that the routes work on. All are required.
type Deps struct {
	Messages Messages
	Queues   Queues
	Acceptor *notifications.Acceptor
	// Refused counts a notification that is refused because too much of the application waits.
	Refused func()
	// Wake wakes the processors of changed buckets; it never blocks.
	Wake func(context.Context, buckets.Set)
}

// The routes by resource.
type (
	reads    struct{ Deps }
	queues   struct{ Deps }
	incoming struct{ Deps }
)

// Routes returns the routes on the parts.
func Routes(d Deps) []routing.Route {
	read, queue, in := reads{d}, queues{d}, incoming{d}
	return []routing.Route{
		routing.Get("/v0/messages", routing.Read, read.list),
		routing.Get("/v0/messages/{id}", routing.Read, v0.WithID(invalidID, read.get)),
		routing.Get("/v0/messages/{id}/auditlog", routing.Read, v0.WithID(invalidID, read.changes)),
		routing.Get("/v0/queues", routing.Someone, queue.list),
		routing.Post("/v0/notifications", routing.Write, in.notify).ForRecent(),
	}
}

const invalidID = "Invalid message id"
