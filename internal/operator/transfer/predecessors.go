// Package transfer brings data of other systems in when an operator asks for it: all of a predecessor's database, or the
// people of a directory. cmd/iris calls it. What the data means is decided in internal/imports and internal/directory.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/database"
	"github.com/iris-oncall/iris/internal/imports"
	"github.com/iris-oncall/iris/internal/imports/iris"
	"github.com/iris-oncall/iris/internal/imports/oncall"
	pgimports "github.com/iris-oncall/iris/internal/postgres/imports"
)

type (
	// Report says what became of the data.
	Report = imports.Report
	// IrisOptions say how to take the data of Iris.
	IrisOptions = iris.Options
	// OncallOptions say how to take the data of Oncall.
	OncallOptions = oncall.Options
)

// Import says where to take data over from, and how.
type Import struct {
	From     string // address of the MySQL database
	Password string // instead of the address's; "" = the address's
	DryRun   bool
	Progress func(class string, rows int64) // nil = silent
}

// Iris takes over the data of Iris, all of it or, in a dry run or when it contradicts what is here, nothing. The
// report is returned in both cases; an error means that there is none.
func Iris(ctx context.Context, c config.Common, in Import, options IrisOptions) (*Report, error) {
	return runImport(ctx, c, in, "iris", func(source *imports.Source, store imports.Store, report *imports.Report) error {
		return iris.Run(ctx, source, store, report, options, time.Now())
	})
}

// Oncall takes over the data of Oncall, like Iris, and compares who is on call there and here.
func Oncall(ctx context.Context, c config.Common, in Import, options OncallOptions) (*Report, error) {
	return runImport(ctx, c, in, "oncall", func(source *imports.Source, store imports.Store, report *imports.Report) error {
		return oncall.Run(ctx, source, store.OnCallStore, report, options, time.Now())
	})
}

// runImport connects both databases and runs one import in one transaction.
func runImport(ctx context.Context, c config.Common, in Import, name string, run func(*imports.Source, imports.Store, *imports.Report) error) (*imports.Report, error) {
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
	err = pgimports.New(db, installation.Keys).Run(ctx, name, func(store imports.Store) (bool, error) {
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
