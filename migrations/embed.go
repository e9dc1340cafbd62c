// Package migrations holds the database schema as numbered SQL files (goose format) for internal/kit/postgres to apply.
package migrations

import "embed"

// Files are the migrations.
//
//go:embed *.sql
var Files embed.FS
