// Package messages defines what is sent: the message for one recipient, its states and attempts, its rendering, and
// what comes back (receipts, replies). Escalation, delivery, vendors, storage and the edges share these types. It does
// not know storage or transport. A reply that cannot be parsed is a *BadReply; templates that fail become a Problem,
// not an error.
package messages
