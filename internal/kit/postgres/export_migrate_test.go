package postgres

import (
	"context"
	"io/fs"
)

// MigrateFiles is Migrate with other migrations than those of this binary.
var MigrateFiles = func(ctx context.Context, url string, files fs.FS) error { return migrate(ctx, url, nil, files) }
