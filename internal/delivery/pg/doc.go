// Package pg is the database side of delivery: it takes messages for a worker, records the outcome of calls to vendors,
// keeps the rate limits that processes share, loads the contents of messages for rendering, and moves settled messages
// to the history. Only processors that hold the lease of a bucket may work on its messages.
package pg
