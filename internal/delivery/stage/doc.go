// Package stage holds the steps of a message on its way to a vendor that work in batches: render, mark, read again, record, and move
// (to another mode or back into the queue). Each is a small type with a batch of its own: a single message passes at once, a flood
// in large batches.
//
// Package delivery calls it and decides what each message does next. A stage knows the ledger, the queue and the renderer (Ledger,
// Mover, Renderer), never vendors or rates. A message that a stage cannot store fails alone (batch.Split); while the database is
// away, outcomes are tried until they are stored, everything else ends with its claim.
package stage
