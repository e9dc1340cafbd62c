package devmode

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/iris-oncall/iris/internal/dev/pgserver"
	"github.com/iris-oncall/iris/internal/program/config"
)

// devDatabase is the configured database, or a PostgreSQL server that dev mode runs.
type devDatabase struct {
	s      *Supervisor
	url    string
	server *pgserver.Server // nil = configured database
}

// openDatabase uses the configured database, or starts a server.
func (s *Supervisor) openDatabase(ctx context.Context, cfg *config.Config) (*devDatabase, error) {
	d := &devDatabase{s: s, url: cfg.DatabaseURL().Reveal()}
	if d.url != "" {
		if s.opt.Fresh {
			return nil, errors.New("--fresh does not delete a configured database (IRIS_DATABASE_URL): delete its data yourself")
		}
		s.say("using the configured database")
		return d, nil
	}
	if err := d.start(ctx, s.opt.Fresh); err != nil {
		return nil, err
	}
	d.url = d.server.URL()
	return d, nil
}

func (d *devDatabase) start(ctx context.Context, fresh bool) error {
	server, err := pgserver.Start(ctx, pgserver.Config{StateDir: d.s.opt.StateDir, Fresh: fresh, Progress: func(line string) {
		d.s.say("%s", line)
	}})
	if err != nil {
		return err
	}
	if !server.Owner() {
		server.Stop()
		return fmt.Errorf("another iris dev uses the data in %s: stop it, or use another directory with --state-dir",
			d.s.opt.StateDir)
	}
	d.server = server
	d.s.say("PostgreSQL %s is running, data in %s", server.Version(), d.s.opt.StateDir)
	return nil
}

// keep restarts the server when it ends or is killed, until ctx ends. The error says why it cannot.
func (d *devDatabase) keep(ctx context.Context) error {
	if d.server == nil {
		<-ctx.Done()
		return nil
	}
	for early := 0; ; {
		started := time.Now()
		select {
		case <-ctx.Done():
			return nil
		case <-d.server.Done():
		}
		early++
		if time.Since(started) > earlyEnd {
			early = 0
		}
		if early == maxEarly {
			return fmt.Errorf("PostgreSQL does not stay up: read its log %s",
				filepath.Join(d.s.opt.StateDir, "postgres", "postgres.log"))
		}
		d.s.say("PostgreSQL ended, restarting it")
		d.server.Stop() // unlocks its directory
		if err := d.start(ctx, false); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if url := d.server.URL(); url != d.url {
			return errors.New("another program uses the port of PostgreSQL now: start iris dev again")
		}
	}
}

func (d *devDatabase) stop() {
	if d.server != nil {
		d.server.Stop()
	}
}
