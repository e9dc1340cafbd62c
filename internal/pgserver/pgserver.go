// Package pgserver runs a PostgreSQL server of our own, for `iris dev` and for tests: it finds a system PostgreSQL or
// downloads one, initialises a data directory, runs the server under an unprivileged user when we are root, and ends it
// with this process, however this process ends. Production uses a configured database URL and never comes here.
//
// Start shares one long-lived server per state directory: the first process to come owns it, others use it while it
// lasts. StartTemporary gives the caller a server of its own with an empty database, which is gone afterwards; every
// test binary uses one. Below the state directory:
//
//	postgres/setup.lock        held while binaries or data directories are made
//	postgres/owner.lock        held by the process that owns the long-lived server
//	postgres/bin-17.5.0/       downloaded binaries
//	postgres/data-17/          data directory of a major version (with iris-password inside)
//	postgres/template-17/      initialised once, copied for temporary servers
//	postgres/temp/RANDOM/      a temporary server: lock, data, log (a fast one: /dev/shm/iris-HASH/RANDOM/)
package pgserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/iris-oncall/iris/internal/subprocess"
)

// Config says where the server lives and how it is started. The zero value is usable.
type Config struct {
	// StateDir holds everything; "" = DefaultStateDir. As root every parent of it must be open to the unprivileged
	// user that runs the server.
	StateDir string
	// Postgres selects the binaries: "system", "embedded" (downloaded), or the path of a bin directory. "" = the
	// environment variable IRIS_POSTGRES, and without that: those that fit existing data, else a system
	// PostgreSQL of version 15 or newer, else the download.
	Postgres string
	// Repository is the base URL binaries are downloaded from; "" = IRIS_POSTGRES_REPOSITORY, else Maven Central.
	Repository string
	// Progress gets short sentences about slow steps; nil = none. It may be called from any goroutine.
	Progress func(string)
	// Fast trades durability for speed: no fsync, and a temporary server keeps its files in memory where there is room. For tests.
	Fast bool
	// Fresh throws existing data away before the start. The server must not be in use by another process.
	Fresh bool
}

func (c Config) withDefaults() Config {
	if c.StateDir == "" {
		c.StateDir = DefaultStateDir()
	}
	if abs, err := filepath.Abs(c.StateDir); err == nil {
		c.StateDir = abs
	}
	if c.Postgres == "" {
		c.Postgres = os.Getenv("IRIS_POSTGRES")
	}
	if c.Repository == "" {
		c.Repository = os.Getenv("IRIS_POSTGRES_REPOSITORY")
	}
	if c.Repository == "" {
		c.Repository = "https://repo1.maven.org/maven2"
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	return c
}

// DefaultStateDir is IRIS_STATE_DIR, else /var/lib/iris for root (root's home is closed to the user that runs the
// server), else a directory in the user's cache.
func DefaultStateDir() string {
	if dir := os.Getenv("IRIS_STATE_DIR"); dir != "" {
		return dir
	}
	if os.Geteuid() == 0 {
		return "/var/lib/iris"
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return filepath.Join(os.TempDir(), "iris-"+strconv.Itoa(os.Geteuid()))
	}
	return filepath.Join(cache, "iris")
}

// Server is a running PostgreSQL server. Its methods may be called from any goroutine.
type Server struct {
	set      *setup
	data     string // data directory
	logFile  string
	port     int
	password string
	lock     *os.File // held while we own the server; nil = shared from another process
	cleanup  func()   // removes a temporary server's files; may be nil

	mu   sync.Mutex
	proc *subprocess.Process // nil = shared
	done chan struct{}       // closed when the server ended for good
	once sync.Once
}

// Start starts the long-lived server of the state directory, or joins the one another process runs there.
// It returns when the server accepts connections. Errors name the cause and a remedy where there is one.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	set, err := newSetup(cfg)
	if err != nil {
		return nil, err
	}
	for {
		lock, err := tryLock(filepath.Join(set.root, "owner.lock"))
		if err != nil {
			return nil, err
		}
		if lock != nil {
			s, err := set.startOwned(ctx, lock)
			if err != nil {
				lock.Close()
			}
			return s, err
		}
		if cfg.Fresh {
			return nil, fmt.Errorf("the data in %s is in use by another process: stop it first", set.root)
		}
		s, err := set.join()
		if err == nil {
			return s, nil
		}
		set.cfg.Progress("waiting for the PostgreSQL that another process is starting")
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return nil, fmt.Errorf("wait for another process to start PostgreSQL in %s: %w", set.root, err)
		}
	}
}

// StartTemporary starts a server with an empty database for this process alone. Stop removes every trace of it; what a
// killed process leaves is removed by the next caller.
func StartTemporary(ctx context.Context, cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	set, err := newSetup(cfg)
	if err != nil {
		return nil, err
	}
	return set.startTemporary(ctx)
}

// URL returns the connection URL of the database "iris", for its superuser.
func (s *Server) URL() string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, s.password),
		Host: "127.0.0.1:" + strconv.Itoa(s.port), Path: "/" + database, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Owner reports whether this process runs the server, as opposed to sharing one that another process runs.
func (s *Server) Owner() bool { return s.lock != nil }

// Version is the server's version as its binaries report it, for example "17.5"; "" for a shared server.
func (s *Server) Version() string { return s.set.bin.version }

// Done is closed when the server has ended for good, by Stop or by itself. For a shared server it is closed by Stop.
func (s *Server) Done() <-chan struct{} { return s.done }

// Stop ends the server (at most about 10 s) and gives its directory free. For a shared server it does nothing to it.
// Further calls do nothing.
func (s *Server) Stop() {
	s.once.Do(func() {
		s.mu.Lock()
		proc := s.proc
		s.mu.Unlock()
		if proc == nil {
			close(s.done)
			return
		}
		proc.Stop(syscall.SIGINT, 10*time.Second) // SIGINT: fast shutdown
		<-s.done
		if s.cleanup != nil {
			s.cleanup()
		}
		s.lock.Close()
	})
}

// Restart stops an owned server at once (as a crash would, when crash is set) and starts it again on the same port.
// Tests and rehearsals use it; Done stays open meanwhile.
func (s *Server) Restart(ctx context.Context, crash bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		return errors.New("restart PostgreSQL: another process owns it")
	}
	old := s.proc
	s.proc = nil // so that watch does not take this for a crash
	signal := syscall.SIGINT
	if crash {
		signal = syscall.SIGQUIT // immediate shutdown: recovery at the next start
	}
	old.Stop(signal, 10*time.Second)
	proc, err := s.set.run(ctx, s.data, s.logFile, s.port)
	if err != nil {
		s.proc = old
		close(s.done)
		return err
	}
	s.proc = proc
	go s.watch(proc)
	return nil
}

// watch closes done when the server's process ends and no restart is under way. It ends with the process.
func (s *Server) watch(proc *subprocess.Process) {
	<-proc.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == proc {
		close(s.done)
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
