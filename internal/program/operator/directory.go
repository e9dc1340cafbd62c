package operator

import (
	"context"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/database"
	"github.com/iris-oncall/iris/internal/program/directories"
	"github.com/iris-oncall/iris/internal/users/directory"
	"github.com/iris-oncall/iris/internal/users/pg"
)

// DirectoryProblem returns a problem of the configured directory that package config does not detect; nil = none.
// It does not connect to the directory.
func DirectoryProblem(l config.LDAP, s config.Sync, workspaces []config.Slack) error {
	return directories.Problem(l, s, workspaces)
}

// actor is the actor of the entries in the audit log.
const actor = "iris command"

// syncWithin bounds one sync. It includes the time in which a slow directory answers.
const syncWithin = 10 * time.Minute

// Directory syncs people from the configured directory once. See directory.Syncer.Run.
func Directory(ctx context.Context, c config.Directory, o directory.Options) (directory.Report, error) {
	syncer, err := directories.Syncer(c.Sync, c.LDAP, c.Slack)
	if err != nil {
		return directory.Report{}, err
	}
	db, _, err := database.Connect(ctx, c.Common)
	if err != nil {
		return directory.Report{}, err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(ctx, syncWithin)
	defer cancel()
	store := pg.NewDirectorySync(db, actor)
	report, err := syncer.Run(ctx, store, o)
	if err != nil || o.DryRun || report.Stopped != "" {
		return report, err
	}
	if err := store.Note(ctx, c.Sync.From, ""); err != nil {
		return report, fmt.Errorf("the rows are written, but the end of the run could not be recorded: %w", err)
	}
	return report, nil
}
