package bench

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/system/pg"
)

//go:embed fill.sql
var fillScript string

// Fill migrates the database and adds the rows that docs/performance.md measures with. A share of 1 is the full size:
// 3,000,000 past incidents with 6,000,000 messages, 500,000 incidents that wait, 1,000 applications, plans and teams,
// and 5,000 people. It adds all rows or none.
func Fill(ctx context.Context, databaseURL string, share float64, out io.Writer) error {
	if databaseURL == "" {
		return errors.New("--fill without a load needs a database: set IRIS_DATABASE_URL to one that only benches use")
	}
	if err := postgres.Migrate(ctx, databaseURL, nil); err != nil {
		return err
	}
	d, err := postgres.Open(ctx, postgres.Config{URL: databaseURL, MaxConns: 2, AppName: "iris-bench"})
	if err != nil {
		return err
	}
	defer d.Close()
	return fill(ctx, d, share, out)
}

func fill(ctx context.Context, d *postgres.DB, share float64, out io.Writer) error {
	started := time.Now()
	if _, err := d.Pool().Exec(ctx, strings.ReplaceAll(fillScript, "SCALE", strconv.FormatFloat(share, 'f', -1, 64))); err != nil {
		return fmt.Errorf("fill the database: %w", err)
	}
	if err := ripen(ctx, d); err != nil {
		return err
	}
	fmt.Fprintf(out, "the database was filled with a share of %g of the full size in %s\n", share,
		time.Since(started).Round(time.Second))
	return nil
}

// longestRipening bounds how long ripen takes.
const longestRipening = 15 * time.Minute

// ripen brings the filled database into the state of an installation that is months old: it vacuums the tables, and
// waits for PostgreSQL's own vacuum first; then it counts the statistics.
func ripen(ctx context.Context, d *postgres.DB) error {
	ctx, cancel := context.WithTimeout(ctx, longestRipening)
	defer cancel()
	conn, err := d.Pool().Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "set statement_timeout = 0; set lock_timeout = 0"); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "vacuum (analyze)"); err != nil {
		return fmt.Errorf("vacuum the tables: %w", err)
	}
	if _, err := conn.Exec(ctx, "reset statement_timeout; reset lock_timeout"); err != nil {
		return err
	}
	counts := pg.NewStatistics(d)
	if err := counts.Count(ctx, 0); err != nil {
		return err
	}
	if _, err := counts.Current(ctx); err != nil {
		return err
	}
	return counts.Pack(ctx, 0)
}
