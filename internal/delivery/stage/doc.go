// Package stage holds the steps of a message on its way to a vendor that are statements of the database: mark, read again,
// record, turn, release. Each is a small type with a batch of its own: a single message passes at once, a flood in large batches.
//
// Package delivery calls it and decides what each message does next. A stage knows the ledger and the queue (Ledger, Mover), never
// vendors, rates or templates. A message that a stage cannot store fails alone (batch.Split); while the database is away, outcomes
// are tried until they are stored, everything else ends with its claim.
package stage
