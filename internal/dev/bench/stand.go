package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	pgdelivery "github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/freeport"
	"github.com/iris-oncall/iris/internal/dev/pgserver"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/subprocess"
)

// sinkCommand is the hidden command of `iris` that calls RunSink; its argument is the address.
const sinkCommand = "bench-sink"

func program(o Options) (string, error) {
	if o.Program != "" {
		return o.Program, nil
	}
	p, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the path of this program: %w", err)
	}
	return p, nil
}

// sinkProcess is the running sink.
type sinkProcess struct {
	addr  string
	child *subprocess.Process
	stdin io.Closer
	ended chan struct{} // closed when its output ends
	err   error         // valid after ended
}

func startSink(ctx context.Context, o Options, deliver func(delivery)) (*sinkProcess, error) {
	prog, err := program(o)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(prog, sinkCommand, o.Sink)
	cmd.Env = o.Environ
	cmd.Stderr = o.Out
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// StdoutPipe is closed by cmd.Wait, which Process calls, possibly before everything is read.
	out, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = w
	child, err := subprocess.Start(cmd, syscall.SIGKILL)
	_ = w.Close()
	if err != nil {
		_ = out.Close()
		return nil, err
	}
	s := &sinkProcess{child: child, stdin: stdin, ended: make(chan struct{})}
	started := make(chan string, 1)
	go func() {
		defer close(s.ended)
		defer out.Close()
		s.err = readSink(out, func(addr string) { started <- addr }, deliver)
		if s.err == nil {
			s.err = io.EOF
		}
	}()
	select {
	case s.addr = <-started:
		return s, nil
	case <-s.ended:
		return nil, s.err
	case <-ctx.Done():
		s.stop()
		return nil, ctx.Err()
	}
}

func (s *sinkProcess) stop() {
	_ = s.stdin.Close()
	s.child.Stop(syscall.SIGTERM, 2*time.Second)
	<-s.ended
}

// stand is the set of servers that the bench started.
type stand struct {
	url, app, key, plan string
	password            string // of the user app, an administrator

	db         *postgres.DB
	stopServer func()
	logs       string
	api        *server
	processors []*server
}

// server is a process of iris-api or message-processor.
type server struct {
	*subprocess.Process
	name   string
	admin  string // address of its admin listener
	killed atomic.Bool
	log    *os.File
}

// servers returns the started servers.
func (s *stand) servers() []*server {
	if s.api == nil {
		return s.processors
	}
	return append([]*server{s.api}, s.processors...)
}

// end returns why a server ended.
func (s *server) end() error {
	if err := s.Err(); err != nil {
		return err
	}
	return errors.New("exit code 0")
}

// startStand starts the servers and waits until they are ready.
func startStand(ctx context.Context, o Options, sink string) (_ *stand, err error) {
	s := &stand{stopServer: func() {}}
	defer func() {
		if err != nil {
			s.stop(true)
		}
	}()
	databaseURL := o.DatabaseURL
	if databaseURL == "" {
		pg, err := pgserver.StartTemporary(ctx,
			pgserver.Config{Progress: func(line string) { fmt.Fprintln(o.Out, line) }})
		if err != nil {
			return nil, err
		}
		s.stopServer, databaseURL = pg.Stop, pg.URL()
		fmt.Fprintf(o.Out, "PostgreSQL %s is running, with durable commits\n", pg.Version())
	}
	if err := postgres.Migrate(ctx, databaseURL, nil); err != nil {
		return nil, err
	}
	if s.db, err = postgres.Open(ctx, postgres.Config{URL: databaseURL, MaxConns: 2, AppName: "iris-bench"}); err != nil {
		return nil, err
	}
	if o.Fill > 0 {
		if err := fill(ctx, s.db, o.Fill, o.Out); err != nil {
			return nil, err
		}
	}
	if s.logs, err = os.MkdirTemp("", "iris-bench-"); err != nil {
		return nil, err
	}
	if err := s.startServers(o, databaseURL, sink); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, subprocess.Getenv(o.Environ, "IRIS_SECRET_KEY")); err != nil {
		return nil, err
	}
	if err := s.waitReady(ctx); err != nil {
		return nil, err
	}
	if err := s.makePlan(ctx); err != nil {
		return nil, err
	}
	fmt.Fprintf(o.Out, "one iris-api and %d processors are ready, logs in %s\n", o.Processors, s.logs)
	return s, nil
}

// overridden are prefixes of names. The servers do not inherit the environment variables that begin with one of them.
var overridden = []string{"IRIS_DATABASE_URL", "IRIS_HTTP_ADDR", "IRIS_PUBLIC_URL", "IRIS_ADMIN_ADDR",
	"IRIS_GOSSIP_ADDR",
	"IRIS_GOSSIP_ADVERTISE", "IRIS_SMTP_", "IRIS_SLACK_", "IRIS_TWILIO_", "IRIS_PUSH_", "IRIS_WEBHOOK_", "IRIS_MAILBOX_URL", "IRIS_MIGRATE"}

func (s *stand) startServers(o Options, databaseURL, sink string) error {
	prog, err := program(o)
	if err != nil {
		return err
	}
	// Reserved ports, because the bench cannot ask a server for its port.
	ports := make([]string, 2+o.Processors)
	for i := range ports {
		if ports[i], err = freeport.Addr(); err != nil {
			return err
		}
	}
	s.url = "http://" + ports[0]
	env := slices.DeleteFunc(slices.Clone(o.Environ), func(e string) bool {
		return slices.ContainsFunc(overridden, func(name string) bool { return strings.HasPrefix(e, name) })
	})
	env = append(env, "IRIS_DATABASE_URL="+databaseURL, "IRIS_PUBLIC_URL="+s.url, "IRIS_HTTP_ADDR="+ports[0],
		"IRIS_SMTP_ADDR="+sink, "IRIS_SMTP_FROM=iris@bench.invalid", "IRIS_SMTP_TLS=none", "IRIS_GOSSIP_ADDR=127.0.0.1:0")
	if subprocess.Getenv(o.Environ, "IRIS_LOG_LEVEL") == "" {
		env = append(env, "IRIS_LOG_LEVEL=info")
	}
	start := func(name, command, admin string) (*server, error) {
		args := []string{command}
		if o.ConfigFile != "" {
			args = append([]string{"--config", o.ConfigFile}, args...)
		}
		log, err := os.Create(filepath.Join(s.logs, name+".log"))
		if err != nil {
			return nil, err
		}
		cmd := exec.Command(prog, args...)
		cmd.Env = append(env[:len(env):len(env)], "IRIS_ADMIN_ADDR="+admin)
		cmd.Stdout, cmd.Stderr = log, log
		p, err := subprocess.Start(cmd, syscall.SIGKILL)
		if err != nil {
			return nil, errors.Join(err, log.Close())
		}
		return &server{Process: p, name: name, admin: admin, log: log}, nil
	}
	if s.api, err = start("api", "api", ports[1]); err != nil {
		return err
	}
	for i := range o.Processors {
		p, err := start(fmt.Sprintf("processor-%d", i+1), "processor", ports[2+i])
		if err != nil {
			return err
		}
		s.processors = append(s.processors, p)
	}
	return nil
}

// readyPatience is the maximum time until incidents are paged.
const readyPatience = time.Minute

func (s *stand) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	reason := "it does not answer"
	for {
		resp, err := get(ctx, s.url+"/readyz/paging")
		if err == nil {
			body, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			reason = strings.Join(strings.Fields(string(body)), " ")
		}
		if err := s.ended(); err != nil {
			return err
		}
		if !sleep(ctx, 50*time.Millisecond) {
			return fmt.Errorf("the servers are not ready (%s); logs in %s", reason, s.logs)
		}
	}
}

func get(ctx context.Context, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(req)
}

// ended returns an error if a server ended without being killed by the bench.
func (s *stand) ended() error {
	for _, p := range s.servers() {
		if !p.killed.Load() && closed(p.Done()) {
			text, _ := os.ReadFile(p.log.Name())
			return fmt.Errorf("%s ended: %w; last lines of its log (%s):\n%s", p.name, p.end(), p.log.Name(),
				tail(text, 2000))
		}
	}
	return nil
}

func tail(text []byte, n int) []byte {
	if len(text) > n {
		text = text[len(text)-n:]
		if _, rest, ok := bytes.Cut(text, []byte("\n")); ok {
			text = rest
		}
	}
	return text
}

// killHalf kills half of the processors. It returns their number and the time of the kill on the database's clock.
func (s *stand) killHalf(ctx context.Context) (int, time.Time, error) {
	at, err := s.db.Clock(ctx)
	if err != nil {
		return 0, at, err
	}
	n := len(s.processors) / 2
	for _, p := range s.processors[:n] {
		p.killed.Store(true)
		if err := p.Signal(syscall.SIGKILL); err != nil {
			return n, at, err
		}
	}
	return n, at, nil
}

// reowned waits until every bucket is owned by a member that lived after the kill. It returns the seconds since the kill, or
// -1 after a minute.
func (s *stand) reowned(ctx context.Context, killedAt time.Time) float64 {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	rows := pgdelivery.NewBench(s.db)
	for {
		if ok, after, err := rows.OwnedSince(ctx, killedAt); err == nil && ok {
			return after.Seconds()
		}
		if !sleep(ctx, 10*time.Millisecond) {
			return -1
		}
	}
}

// inDoubt counts the attempts whose outcome is unknown.
func (s *stand) inDoubt(ctx context.Context) (int, error) {
	return pgdelivery.NewBench(s.db).AttemptsInDoubt(ctx, s.app)
}

// unsettled counts the messages that wait or are in flight.
func (s *stand) unsettled(ctx context.Context) (int, error) {
	return pgdelivery.NewBench(s.db).MessagesUnsettled(ctx, s.app)
}

// profile stores CPU profiles of each server during the load and a heap profile at its end.
func (s *stand) profile(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var wg errgroup.Group
	for _, p := range s.servers() {
		wg.Go(func() error {
			// The length of a profile is fixed at its start, and the length of the load is not known: record short
			// profiles in a row.
			for i := 1; ctx.Err() == nil; i++ {
				name := fmt.Sprintf("%s-cpu-%02d.pprof", p.name, i)
				if err := fetch("http://"+p.admin+"/debug/pprof/profile?seconds=5", filepath.Join(dir, name)); err != nil {
					if p.killed.Load() || closed(p.Done()) {
						return nil
					}
					return err
				}
			}
			if p.killed.Load() {
				return nil
			}
			return fetch("http://"+p.admin+"/debug/pprof/heap", filepath.Join(dir, p.name+"-heap.pprof"))
		})
	}
	return wg.Wait()
}

func fetch(url, file string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	resp, err := get(ctx, url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(file, body, 0o644)
}

// stop stops all servers together, then the database. It deletes the logs unless they are needed.
func (s *stand) stop(keepLogs bool) {
	var wg sync.WaitGroup
	for _, p := range s.servers() {
		wg.Go(func() {
			p.Stop(syscall.SIGTERM, 10*time.Second)
			_ = p.log.Close()
		})
	}
	wg.Wait()
	if s.db != nil {
		s.db.Close()
	}
	s.stopServer()
	if !keepLogs && s.logs != "" {
		_ = os.RemoveAll(s.logs)
	}
}
