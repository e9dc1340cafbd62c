// Package db has the statements of internal/kit/postgres/query. sqlc generates it. Only internal/kit/postgres and the packages named pg import it.
package db
