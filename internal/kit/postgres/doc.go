// Package postgres is the only place with SQL. The package itself has the parts that all of storage shares:
// connections, transactions and their retries, the check of leases, list queries, batches, migrations, and wake-ups
// between processes. Each area below it (incidents, queue, engine, calendar, catalog, people, notifications, reminders,
// access, imports, quotas) stores one part of the domain in small types over one DB; pgtest gives tests a database.
// Static SQL is in query/*.sql and is compiled by sqlc into internal/db; only lists build SQL text in Go, from fixed
// columns and with parameters. Callers see domain types and faults, never pgx types, SQL or names of constraints.
//
// Rules that every area keeps: one port method is one transaction. Rows are locked in the order leases, incidents
// ascending (for no key update), messages ascending. DB.InTx and DB.Do retry deadlocks and serialisation failures. The
// clock of the database decides about time. Rules about pages, quotas and calendars are in the domain packages.
package postgres
