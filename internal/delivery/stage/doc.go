// Package stage holds the steps of a message on its way to a vendor that work in batches: render, mark, read again,
// record, and move (to another mode or back into the queue). Each is a small type with a batch of its own: a single
// message passes at once, a flood in large batches.
//
// Package delivery calls it and decides what each message does next. A stage knows the ledger, the queue and the
// renderer (Ledger, Mover, Renderer), never vendors or rates. A message that cannot be stored fails alone
// (batch.Split). While the database is not available, outcomes are retried until they are stored or Run ends. Other
// steps fail, and their messages are taken again when their claims end.
package stage
