// This file imports data of other systems at an operator's request: the whole database of a predecessor, or the people
// of a directory. cmd/iris calls it. Packages imports and directory decide what the data means.

package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/legacy/imports"
	"github.com/iris-oncall/iris/internal/legacy/irisimport"
	"github.com/iris-oncall/iris/internal/legacy/oncallimport"
	pgimports "github.com/iris-oncall/iris/internal/legacy/pg"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/database"
	"github.com/iris-oncall/iris/internal/users"
)

// Import is the source of an import and its settings.
type Import struct {
	From     string // address of the MySQL database
	Password string // replaces the password of the address; "" = that of the address
	DryRun   bool
	Progress func(class string, rows int64) // nil = no progress
}

// Iris imports all data of Iris. In a dry run, or if the data conflicts with existing data, it stores nothing. It
// returns the report in all these cases; with an error there is no report.
func Iris(ctx context.Context, c config.Common, in Import, options irisimport.Options) (*imports.Report, error) {
	options.Region = users.Region(c.PhoneRegion)
	return runImport(ctx, c, in, "iris", func(source *imports.Source, store *pgimports.Store, report *imports.Report) error {
		return irisimport.Run(ctx, source, store, report, options, time.Now())
	})
}

// Oncall imports the data of Oncall like Iris, and compares who is on call in the source and here.
func Oncall(ctx context.Context, c config.Common, in Import, options oncallimport.Options) (*imports.Report, error) {
	options.Region = users.Region(c.PhoneRegion)
	return runImport(ctx, c, in, "oncall", func(source *imports.Source, store *pgimports.Store, report *imports.Report) error {
		return oncallimport.Run(ctx, source, store, report, options, time.Now())
	})
}

// runImport connects both databases and runs one import in one transaction.
func runImport(ctx context.Context, c config.Common, in Import, name string, run func(*imports.Source, *pgimports.Store, *imports.Report) error) (*imports.Report, error) {
	began := time.Now()
	db, installation, err := database.Connect(ctx, c)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	source, err := imports.OpenSource(ctx, in.From, in.Password)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	report := imports.NewReport(source.From(), in.Progress)
	report.DryRun = in.DryRun
	keep := false
	err = pgimports.New(db, installation.Keys).Run(ctx, name, func(store *pgimports.Store) (bool, error) {
		err := run(source, store, report)
		keep = err == nil && !in.DryRun && report.Conflicts() == 0
		return keep, err
	})
	switch {
	case err == nil:
	case keep: // the answer to the commit was lost
		return nil, fmt.Errorf("whether anything was written is not known: run it again, and it says what is here already: %w", err)
	case ctx.Err() != nil:
		return nil, errors.New("the import was stopped: nothing was written")
	default:
		return nil, fmt.Errorf("nothing was written: %w", err)
	}
	report.Written = keep && report.Taken() > 0
	report.Seconds = time.Since(began).Seconds()
	return report, nil
}
