// Package receiving carries out the events of alert sources: it opens, updates, acknowledges and resolves incidents. An
// event first searches for the open incident with its key; only a new incident needs a plan. The edges that take
// deliveries call it. It knows no source and no transport.
package receiving
