package transfer

import (
	"context"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/database"
	"github.com/iris-oncall/iris/internal/directory"
	"github.com/iris-oncall/iris/internal/directory/connect"
	"github.com/iris-oncall/iris/internal/postgres/people"
)

type (
	// DirectoryOptions say how to follow the directory.
	DirectoryOptions = directory.Options
	// DirectoryReport says what changed.
	DirectoryReport = directory.Report
	// ListChange is a change of a mailing list.
	ListChange = directory.ListChange
)

// SwitchOff is the change of a person or list that the directory has no more.
const SwitchOff = directory.SwitchOff

// DirectoryProblem says what is wrong with the configured directory that the configuration itself cannot see; nil = nothing.
// It asks no directory.
func DirectoryProblem(l config.LDAP, s config.Sync, workspaces []config.Slack) error {
	return connect.Problem(l, s, workspaces)
}

// actor is the actor of the entries in the audit log.
const actor = "iris command"

// syncWithin bounds a run, waiting for a slow directory included.
const syncWithin = 10 * time.Minute

// Directory brings people in step with the configured directory at once. See directory.Syncer.Run.
func Directory(ctx context.Context, c config.Directory, o DirectoryOptions) (DirectoryReport, error) {
	syncer, err := connect.Syncer(c.Sync, c.LDAP, c.Slack)
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
	store := people.NewDirectorySync(db, actor)
	report, err := syncer.Run(ctx, store, o)
	if err != nil || o.DryRun || report.Stopped != "" {
		return report, err
	}
	if err := store.Note(ctx, c.Sync.From, ""); err != nil {
		return report, fmt.Errorf("it is done, but that could not be noted: %w", err)
	}
	return report, nil
}
