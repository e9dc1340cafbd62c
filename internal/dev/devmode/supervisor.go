package devmode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/iris-oncall/iris/internal/dev/devmode/demo"
	"github.com/iris-oncall/iris/internal/dev/freeport"
	"github.com/iris-oncall/iris/internal/dev/pgserver"
	"github.com/iris-oncall/iris/internal/kit/subprocess"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/database"
	"github.com/iris-oncall/iris/internal/program/operator"
)

// defaultAddr is the address of iris-api in dev mode: the port that clients of v0 expect.
const defaultAddr = "127.0.0.1:16649"

// inUsePatience is longer than the time for which a dead processor still counts as alive.
const inUsePatience = 5 * time.Second

// Options are the flags of `iris dev`. The zero value runs one processor with demo data.
type Options struct {
	StateDir   string // "" = pgserver.DefaultStateDir()
	Processors int    // 0 = 1
	Fresh      bool   // delete existing data first
	NoDemo     bool   // start with an empty database
	Verbose    bool   // print the whole log of the servers, not only errors
	// AllowRemote permits an address that other machines can reach. Otherwise New refuses one, because the demo user's
	// password is public.
	AllowRemote bool
	ConfigFile  string // configuration file for the servers; "" = none
	// Environ is the environment, as from os.Environ. Its variables configure the servers, too.
	Environ []string
	// Program is the iris binary, which runs the servers as `iris api` and `iris processor`. "" = this executable.
	Program string
	Out     io.Writer // where progress and addresses are printed
}

// Supervisor runs PostgreSQL, the servers and the mailbox.
type Supervisor struct {
	opt    Options
	addr   string
	mail   string // address of the SMTP server for alert mails; "" = a configured one
	local  string // URL of iris-api for this machine
	public string
	logDir string
	// migrate is database.Migrate; tests replace it.
	migrate func(context.Context, config.Common, *zap.Logger) error

	outMu sync.Mutex
}

// New checks the options.
func New(opt Options) (*Supervisor, error) {
	if opt.StateDir == "" {
		opt.StateDir = pgserver.DefaultStateDir()
	}
	var err error
	if opt.StateDir, err = filepath.Abs(opt.StateDir); err != nil {
		return nil, err
	}
	if opt.Processors == 0 {
		opt.Processors = 1
	}
	if opt.Processors < 1 || opt.Processors > 64 {
		return nil, fmt.Errorf("--processors must be between 1 and 64, not %d", opt.Processors)
	}
	if opt.Program == "" {
		if opt.Program, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("find the path of this program: %w", err)
		}
	}
	s := &Supervisor{opt: opt, migrate: database.Migrate, logDir: filepath.Join(opt.StateDir, "log")}
	s.addr = cmp.Or(subprocess.Getenv(opt.Environ, "IRIS_HTTP_ADDR"), defaultAddr)
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return nil, fmt.Errorf("IRIS_HTTP_ADDR: %q must be host:port", s.addr)
	}
	if !opt.AllowRemote && !loopback(host) {
		return nil, fmt.Errorf("IRIS_HTTP_ADDR: other machines can reach %s, and the demo user's password is public: use 127.0.0.1, or permit it with --allow-remote", s.addr)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	s.local = "http://" + net.JoinHostPort(host, port)
	s.public = strings.TrimRight(cmp.Or(subprocess.Getenv(opt.Environ, "IRIS_PUBLIC_URL"), s.local), "/")
	return s, nil
}

// loopback reports whether only this machine can reach a listener on host.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Run starts everything, prints the addresses, and runs until ctx ends (nil) or something fails permanently. When it
// returns, everything that it started has ended.
func (s *Supervisor) Run(ctx context.Context) error {
	ctx, stop := endWithGoRun(ctx)
	defer stop()
	err := s.run(ctx)
	if ctx.Err() != nil { // err is a consequence of the stop
		s.say("stopped")
		return nil
	}
	return err
}

func (s *Supervisor) run(ctx context.Context) error {
	cfg, err := config.Load(s.opt.ConfigFile, s.opt.Environ)
	if err != nil {
		return err
	}
	if !cfg.MailIntake() {
		if s.mail, err = freeport.Addr(); err != nil {
			return err
		}
	}
	if err := s.checkServers(cfg); err != nil {
		return err
	}
	if err := s.portFree(); err != nil {
		return err
	}
	s.say("looking for PostgreSQL")
	db, err := s.openDatabase(ctx, cfg)
	if err != nil {
		return err
	}
	defer db.stop()
	databaseURL := db.url
	common, err := cfg.Database(config.Secret(databaseURL))
	if err != nil {
		return err
	}
	if err := s.prepare(ctx, common, db.server != nil); err != nil {
		return err
	}
	// The mailbox stops after the servers, so that it receives their last messages.
	box, closeMailbox, err := s.startMailbox()
	if err != nil {
		return err
	}
	defer closeMailbox()

	g, gctx := errgroup.WithContext(ctx)
	s.say("starting the servers")
	env := s.childEnvironment(cfg, databaseURL, box)
	g.Go(func() error { return s.keep(gctx, "api", []string{"api"}, env.api) })
	for i := range s.opt.Processors {
		name := "processor-" + strconv.Itoa(i+1)
		g.Go(func() error { return s.keep(gctx, name, []string{"processor"}, env.processor) })
	}
	g.Go(func() error { return db.keep(gctx) })
	g.Go(func() error {
		if s.waitReady(gctx) {
			s.banner(cfg, databaseURL)
		}
		return nil
	})
	return g.Wait()
}

// say prints one line of progress.
func (s *Supervisor) say(format string, args ...any) {
	s.outMu.Lock()
	defer s.outMu.Unlock()
	fmt.Fprintf(s.opt.Out, "iris dev: "+format+"\n", args...)
}

func (s *Supervisor) portFree() error {
	l, err := net.Listen("tcp", s.addr)
	if err == nil {
		return l.Close()
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("IRIS_HTTP_ADDR: %w", err)
	}
	_, port, _ := net.SplitHostPort(s.addr)
	return fmt.Errorf("another program (perhaps another iris dev) uses %s: stop it (find it with ss -ltnp 'sport = :%s'), "+
		"or use another address with IRIS_HTTP_ADDR=127.0.0.1:26649", s.addr, port)
}

// checkServers checks the configuration of the servers before anything is started.
func (s *Supervisor) checkServers(cfg *config.Config) error {
	env := s.childEnvironment(cfg, "postgres://127.0.0.1/iris", vendorSettings{})
	check := func(environ []string, judge func(*config.Config) error) error {
		c, err := config.Load(s.opt.ConfigFile, environ)
		if err != nil {
			return err
		}
		return judge(c)
	}
	err := check(env.processor, func(c *config.Config) error { _, err := c.Processor(); return err })
	if err != nil {
		return err
	}
	return check(env.api, func(c *config.Config) error { _, err := c.API(); return err })
}

// prepare migrates the database and writes the demo data, or only the first user if demo data is off. own: dev mode
// runs the database.
func (s *Supervisor) prepare(ctx context.Context, c config.Common, own bool) error {
	if !own {
		if err := refuseInUse(ctx, func() (database.Use, error) { return database.FindUse(ctx, c) }); err != nil {
			return err
		}
	}
	s.say("migrating the database")
	if err := s.migrate(ctx, c, zap.NewNop()); err != nil {
		if !own {
			return err
		}
		return fmt.Errorf("%w (data in %s; --fresh deletes it, --state-dir uses another directory)", err,
			s.opt.StateDir)
	}
	if s.opt.NoDemo && !own {
		return nil // never add a user with a known password to a database that others may use
	}
	db, in, err := database.Connect(ctx, c)
	if err != nil {
		return fmt.Errorf("write the demo data: %w", err)
	}
	defer db.Close()
	if s.opt.NoDemo {
		return demo.SeedUser(ctx, operator.New(db, in.Keys))
	}
	if err := demo.Seed(ctx, operator.New(db, in.Keys), operator.NewSenders(db, in.Keys)); err != nil {
		return fmt.Errorf("write the demo data: %w", err)
	}
	return nil
}

// refuseInUse refuses a configured database that other processors use: the processors of dev mode would take some of
// its incidents, and the mailbox would get their pages. Processors of an iris dev that was killed a moment ago count as
// alive for some seconds.
func refuseInUse(ctx context.Context, find func() (database.Use, error)) error {
	for started := time.Now(); ; {
		use, err := find()
		if err != nil || use.Host == "" {
			return err
		}
		if time.Since(started) > inUsePatience {
			return fmt.Errorf("message-processors on %s use the configured database (IRIS_DATABASE_URL): the mailbox would get "+
				"pages of its incidents; stop them, or use another database", use.Host)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// waitReady returns true when an incident posted now would be paged, and false when ctx has ended. If that takes long,
// it prints the reason.
func (s *Supervisor) waitReady(ctx context.Context) bool {
	started, printed := time.Now(), time.Time{}
	client := &http.Client{Timeout: 3 * time.Second}
	for {
		reason, err := ask(ctx, client, s.local+"/readyz/paging")
		if ctx.Err() != nil {
			return false
		}
		if err == nil && reason == "" {
			return true
		}
		if err != nil {
			reason = err.Error()
		}
		if time.Since(started) > 5*time.Second && time.Since(printed) > 5*time.Second {
			printed = time.Now()
			s.say("not ready yet: %s", reason)
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// ask returns "" if the server is ready, else the reason on one line.
func ask(ctx context.Context, client *http.Client, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return "", nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	if err != nil {
		return "", err
	}
	return resp.Status + " " + strings.Join(strings.Fields(string(body)), " "), nil
}
