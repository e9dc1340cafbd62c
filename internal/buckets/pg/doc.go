// Package pg keeps the leases of buckets safe in the transactions of other wings, and carries the wake-ups of buckets
// from process to process.
package pg
