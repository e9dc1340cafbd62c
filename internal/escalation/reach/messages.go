package reach

import (
	"context"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/messages"
)

// Messages are messages.Seen by the caller of a request. It is safe for concurrent use.
type Messages struct {
	Rule
	Seen messages.Seen
}

// List returns the messages that match.
func (m Messages) List(ctx context.Context, q filters.Query) ([]messages.Message, error) {
	return m.Seen.List(ctx, m.caller(ctx), q)
}

// ByIncident returns the messages of an incident.
func (m Messages) ByIncident(ctx context.Context, id incidents.ID) ([]messages.Message, error) {
	return m.Seen.ByIncident(ctx, m.caller(ctx), id)
}

// Get returns a message with its attempts.
func (m Messages) Get(ctx context.Context, id messages.ID) (messages.Message, error) {
	return m.Seen.Get(ctx, m.caller(ctx), id)
}

// Changes returns what changed about a message, newest first.
func (m Messages) Changes(ctx context.Context, id messages.ID) ([]messages.Change, error) {
	return m.Seen.Changes(ctx, m.caller(ctx), id)
}

// ReceiptStatus returns the last status in the words of the vendor; "" = there is no receipt.
func (m Messages) ReceiptStatus(ctx context.Context, id messages.ID, vendor string) (string, error) {
	return m.Seen.ReceiptStatus(ctx, m.caller(ctx), id, vendor)
}
