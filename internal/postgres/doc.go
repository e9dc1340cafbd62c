// Package postgres is the only place that speaks SQL: one small adapter type per domain (Incidents, Users, Queue ...)
// over one DB, the migrator, the wake-ups between processes, and the tests' databases (pgtest). Static SQL lives in
// query/*.sql and is compiled by sqlc into internal/db; only list filters build SQL text in Go, from whitelisted columns
// and with parameters. Callers see domain types and faults, never pgx types, SQL or constraint names.
//
// Rules that every adapter keeps: one port method is one transaction; rows are locked in the order bucket leases,
// incidents ascending (FOR NO KEY UPDATE), messages ascending; deadlocks and serialisation failures are retried by
// DB.InTx and DB.Do; decisions about time use the database's clock.
package postgres
