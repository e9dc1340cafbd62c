// Package db has the statements of internal/kit/postgres/query. sqlc generates it. Only internal/kit/postgres and the rooms pg of wings import it.
package db
