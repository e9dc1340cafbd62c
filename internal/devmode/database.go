package devmode

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/pgserver"
)

// devDatabase is the configured database, or a server of our own.
type devDatabase struct {
	s      *Supervisor
	url    string
	server *pgserver.Server // nil = configured
}

// openDatabase uses the configured database or starts our own.
func (s *Supervisor) openDatabase(ctx context.Context, cfg *config.Config) (*devDatabase, error) {
	d := &devDatabase{s: s, url: cfg.DatabaseURL().Reveal()}
	if d.url != "" {
		if s.opt.Fresh {
			return nil, errors.New("--fresh would delete everything in the configured database (IRIS_DATABASE_URL): empty it by hand")
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
		return fmt.Errorf("another iris dev is running on the data in %s: stop it, or use another directory with --state-dir", d.s.opt.StateDir)
	}
	d.server = server
	d.s.say("PostgreSQL %s is running, data in %s", server.Version(), d.s.opt.StateDir)
	return nil
}

// keep starts our server again when it ends (or was killed: trying that is what dev mode is for), until ctx ends.
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
			return fmt.Errorf("PostgreSQL does not stay up; its log is %s", filepath.Join(d.s.opt.StateDir, "postgres", "postgres.log"))
		}
		d.s.say("PostgreSQL ended, starting it again")
		d.server.Stop() // gives its directory free
		if err := d.start(ctx, false); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if url := d.server.URL(); url != d.url {
			return errors.New("the port of PostgreSQL was taken by another program meanwhile: start iris dev again")
		}
	}
}

func (d *devDatabase) stop() {
	if d.server != nil {
		d.server.Stop()
	}
}
