// Package pgbouncer tests the real programs behind a real PgBouncer. test/pgbouncer.sh installs it and runs the tests.
package pgbouncer
