// Package db has the statements of internal/postgres/query. sqlc generates it. Only internal/postgres and the rooms pg of wings import it.
package db
