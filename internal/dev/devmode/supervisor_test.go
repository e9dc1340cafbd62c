package devmode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/dev/devmode/demo"
	"github.com/iris-oncall/iris/internal/dev/freeport"
	"github.com/iris-oncall/iris/internal/kit/subprocess"
	"github.com/iris-oncall/iris/internal/program"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/database"
)

const patience = 60 * time.Second

// TestMain lets the test binary run as the servers, like `iris api` and `iris processor`, and as a supervisor that can
// be killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 {
		var err error
		ctx, stop := program.Signals()
		switch os.Args[1] {
		case "api":
			err = program.ServeAPI(ctx, "", os.Environ())
		case "processor":
			err = program.ServeProcessor(ctx, "", os.Environ())
		case "supervise":
			var s *Supervisor
			if s, err = New(Options{StateDir: os.Getenv("IRIS_STATE_DIR"), NoDemo: true, Environ: os.Environ(), Out: os.Stdout}); err == nil {
				err = s.Run(ctx)
			}
		default:
			os.Exit(m.Run())
		}
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// lockedBuffer is a bytes.Buffer that is safe for concurrent use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func freeAddr(t *testing.T) string {
	t.Helper()
	addr, err := freeport.Addr()
	require.NoError(t, err)
	return addr
}

// stateDir is a directory that PostgreSQL's user can enter if the test runs as root.
func stateDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	return dir
}

// plainEnviron is the environment without variables that configure Iris.
func plainEnviron(more ...string) []string {
	var out []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "IRIS_") || strings.HasPrefix(e, "IRIS_POSTGRES") {
			out = append(out, e)
		}
	}
	return append(out, more...)
}

// dev is a running supervisor.
type dev struct {
	t    *testing.T
	base string
	out  *lockedBuffer
	stop func() error
}

func start(t *testing.T, opt Options, environ ...string) *dev {
	t.Helper()
	addr := freeAddr(t)
	d := &dev{t: t, base: "http://" + addr, out: &lockedBuffer{}}
	opt.Environ = plainEnviron(append(environ, "IRIS_HTTP_ADDR="+addr)...)
	opt.Out = d.out
	s, err := New(opt)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var result error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		result = s.Run(ctx)
	}()
	d.stop = func() error {
		cancel()
		<-ended
		return result
	}
	t.Cleanup(func() { _ = d.stop() })
	require.Eventually(t, func() bool {
		select {
		case <-ended:
			return true
		default:
			return strings.Contains(d.out.String(), "Iris is running")
		}
	}, patience, 20*time.Millisecond)
	require.Contains(t, d.out.String(), "Iris is running", "%v", result)
	return d
}

func (d *dev) letters() []letter {
	d.t.Helper()
	resp, err := http.Get(d.base + "/dev/mailbox.json")
	require.NoError(d.t, err)
	defer func() { _ = resp.Body.Close() }()
	var letters []letter
	require.NoError(d.t, json.NewDecoder(resp.Body).Decode(&letters))
	return letters
}

// post signs and posts like the printed command, and returns the incident's number.
func (d *dev) post() int64 {
	d.t.Helper()
	body := []byte(`{"plan":"demo-plan","context":{"title":"checkout is slow","service":"shop","value":"2.4 s"}}`)
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, d.base+"/v0/incidents",
		bytes.NewReader(body))
	require.NoError(d.t, err)
	req.Header.Set("Authorization", auth.Sign(demo.Application, demo.Key,
		auth.SignedRequest{Method: http.MethodPost, Path: "/v0/incidents", Body: body}, time.Now()))
	resp, err := http.DefaultClient.Do(req)
	require.NoError(d.t, err)
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(d.t, err)
	require.Equal(d.t, http.StatusCreated, resp.StatusCode, string(answer))
	id, err := strconv.ParseInt(strings.TrimSpace(string(answer)), 10, 64)
	require.NoError(d.t, err)
	return id
}

// pages waits for the pages of the demo plan's first step.
func (d *dev) pages(incident int64) map[string]letter {
	d.t.Helper()
	byMode := map[string]letter{}
	require.Eventually(d.t, func() bool {
		for _, l := range d.letters() {
			if l.IncidentID == incident {
				byMode[l.Mode] = l
			}
		}
		return len(byMode) >= 3
	}, patience, 20*time.Millisecond)
	return byMode
}

// children returns the running processes that parent started.
func children(t *testing.T, parent int) []int {
	t.Helper()
	var out []int
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, stat := range stats {
		raw, err := os.ReadFile(stat)
		if err != nil {
			continue // the process has just ended
		}
		text := string(raw)
		fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		if fields[0] != "Z" && fields[1] == strconv.Itoa(parent) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
			require.NoError(t, err)
			out = append(out, pid)
		}
	}
	return out
}

func TestDevSendsPagesAndKeepsItsDataUntilFresh(t *testing.T) {
	dir := stateDir(t)
	d := start(t, Options{StateDir: dir, Processors: 2})
	first := d.post()
	pages := d.pages(first)
	require.Contains(t, pages["email"].Subject, "checkout is slow")
	require.Contains(t, pages["email"].Body, "service: shop")
	require.Contains(t, pages["sms"].Body, "checkout is slow (shop: 2.4 s)")
	require.Contains(t, pages["slack"].Body, "checkout is slow")
	for _, text := range []string{"user demo, password demo", "application demo, key demo-key", d.base + "/dev/mailbox", "2 message-processors"} {
		require.Contains(t, d.out.String(), text)
	}
	require.Len(t, children(t, os.Getpid()), 4, "PostgreSQL, iris-api and two processors")
	require.NoError(t, d.stop())
	require.Empty(t, children(t, os.Getpid()))

	d = start(t, Options{StateDir: dir})
	require.Greater(t, d.post(), first, "the data was kept")
	require.NoError(t, d.stop())

	d = start(t, Options{StateDir: dir, Fresh: true})
	require.Equal(t, int64(1), d.post())
	require.NoError(t, d.stop())
}

func TestKilledServersAreRestarted(t *testing.T) {
	d := start(t, Options{StateDir: stateDir(t)})
	for _, pid := range children(t, os.Getpid()) { // PostgreSQL among them
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	}
	require.Eventually(t, func() bool {
		resp, err := http.Get(d.base + "/readyz/paging")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK && strings.Count(d.out.String(), "restarting it") == 3
	}, patience, 20*time.Millisecond)
	d.pages(d.post())
	require.NoError(t, d.stop())
}

func TestChildrenEndWithAKilledSupervisor(t *testing.T) {
	addr := freeAddr(t)
	cmd := exec.Command("/proc/self/exe", "supervise")
	cmd.Env = plainEnviron("IRIS_STATE_DIR="+stateDir(t), "IRIS_HTTP_ADDR="+addr)
	out := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "Iris is running") }, patience,
		20*time.Millisecond, out)
	require.Contains(t, out.String(), "There is no demo data")
	left := children(t, cmd.Process.Pid)
	require.Len(t, left, 3)
	require.NoError(t, cmd.Process.Kill())
	<-ended
	require.Eventually(t, func() bool {
		for _, pid := range left {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err == nil && !strings.Contains(string(stat), ") Z ") {
				return false
			}
		}
		return true
	}, patience, 10*time.Millisecond, "processes %v", left)
}

func TestDevReportsWhyItCannotStart(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = taken.Close() }) // not a defer: the parallel subtests run after this function
	for name, c := range map[string]struct {
		opt  Options
		env  []string
		want string
	}{
		"taken port": {Options{}, []string{"IRIS_HTTP_ADDR=" + taken.Addr().String()},
			"another program (perhaps another iris dev) uses"},
		"address":    {Options{}, []string{"IRIS_HTTP_ADDR=here"}, "must be host:port"},
		"processors": {Options{Processors: -1}, nil, "--processors must be between"},
		"fresh, not ours": {Options{Fresh: true}, []string{"IRIS_HTTP_ADDR=" + freeAddr(t),
			"IRIS_DATABASE_URL=postgres://h/d"}, "delete its data yourself"},
		"configuration file": {Options{ConfigFile: "/nowhere.yaml"}, nil, "/nowhere.yaml"},
		"vendor": {Options{}, []string{"IRIS_SMTP_ADDR=mail.example.com:25"},
			"smtp[0].from (IRIS_SMTP_FROM): is missing"},
		"log level": {Options{}, []string{"IRIS_LOG_LEVEL=loud"}, "IRIS_LOG_LEVEL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.opt.StateDir, c.opt.Environ, c.opt.Out = stateDir(t), c.env, io.Discard
			s, err := New(c.opt)
			if err == nil {
				err = s.Run(t.Context())
			}
			require.ErrorContains(t, err, c.want)
			require.NoDirExists(t, filepath.Join(c.opt.StateDir, "postgres"), "nothing was started")
		})
	}
}

func TestDevRefusesADatabaseThatProcessorsUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		err := refuseInUse(t.Context(), func() (database.Use, error) { return database.Use{Host: "pager7"}, nil })
		require.ErrorContains(t, err, "message-processors on pager7 use the configured database")
	})
}

func TestNoBannerWhenTheServersExit(t *testing.T) {
	t.Parallel()
	var out lockedBuffer
	s, err := New(Options{
		StateDir: stateDir(t), NoDemo: true, Environ: plainEnviron("IRIS_HTTP_ADDR=" +
			freeAddr(t)), Program: "/bin/false", Out: &out,
	})
	require.NoError(t, err)
	require.ErrorContains(t, s.Run(t.Context()), "does not stay up")
	require.NotContains(t, out.String(), "Iris is running")
}

func TestBannerWithoutDemoDataShowsTheFirstCommands(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s, err := New(Options{NoDemo: true, Program: "/tmp/go-build1/b001/exe/iris", Out: &out})
	require.NoError(t, err)
	cfg, err := config.Load("", nil)
	require.NoError(t, err)
	s.banner(cfg, "postgres://iris:geheim@127.0.0.1:5/iris")
	require.Contains(t, out.String(), "\nexport IRIS_DATABASE_URL='postgres://iris:geheim@127.0.0.1:5/iris'\ngo run ./cmd/iris user add ")
	require.Contains(t, out.String(), "log in as user demo, password demo")
	out.Reset()
	s.opt.Program = "/usr/bin/iris"
	cfg, err = config.Load("", []string{"IRIS_DATABASE_URL=postgres://iris:geheim@h/iris"})
	require.NoError(t, err)
	s.banner(cfg, "postgres://iris:geheim@h/iris")
	require.Contains(t, out.String(), "\n/usr/bin/iris user add ")
	require.NotContains(t, out.String(), "geheim")
	require.NotContains(t, out.String(), "password demo", "dev mode adds no user to a database that it does not run")
}

func TestDevRefusesAnAddressThatOthersCanReach(t *testing.T) {
	t.Parallel()
	for addr, refused := range map[string]bool{
		"127.0.0.1:16649": false, "localhost:16649": false, "[::1]:16649": false,
		":16649": true, "0.0.0.0:16649": true, "[::]:16649": true, "10.1.2.3:16649": true, "db.example.com:16649": true,
	} {
		for _, allow := range []bool{false, true} {
			_, err := New(Options{StateDir: t.TempDir(), Environ: []string{"IRIS_HTTP_ADDR=" + addr},
				AllowRemote: allow})
			if refused && !allow {
				require.ErrorContains(t, err, "--allow-remote", addr)
			} else {
				require.NoError(t, err, addr)
			}
		}
	}
}

func TestAnInterruptedStartReturnsNoError(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	var out lockedBuffer
	s, err := New(Options{StateDir: stateDir(t), Environ: plainEnviron("IRIS_HTTP_ADDR=" + freeAddr(t)), Out: &out})
	require.NoError(t, err)
	s.migrate = func(ctx context.Context, _ config.Common, _ *zap.Logger) error {
		interrupt()
		return fmt.Errorf("migration 1: %w", ctx.Err())
	}
	require.NoError(t, s.Run(ctx))
	require.True(t, strings.HasSuffix(out.String(), "iris dev: stopped\n"), out.String())
}

func TestDevRefusesDataOfANewerSchema(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	s, err := New(Options{StateDir: dir, Environ: plainEnviron("IRIS_HTTP_ADDR=" + freeAddr(t)), Out: io.Discard})
	require.NoError(t, err)
	s.migrate = func(context.Context, config.Common, *zap.Logger) error {
		return errors.New("the database has schema 99, newer than the 5 that this program knows: use the newer release")
	}
	err = s.Run(t.Context())
	require.ErrorContains(t, err, "use the newer release")
	require.ErrorContains(t, err, dir)
	require.ErrorContains(t, err, "--fresh")
}

func TestConfiguredVendorsReplaceTheMailbox(t *testing.T) {
	t.Parallel()
	s, err := New(Options{StateDir: "/state", Processors: 1})
	require.NoError(t, err)
	box := vendorSettings{
		smtp: map[string]string{"IRIS_SMTP_ADDR": "box"}, slack: map[string]string{"IRIS_SLACK_TOKEN": "box"},
		twilio: map[string]string{"IRIS_TWILIO_FROM": "box"}, pages: "http://box",
	}
	s.opt.Environ = []string{"IRIS_SMTP_ADDR=mail.example.com:25", "IRIS_SMTP_FROM=a@example.com",
		"IRIS_DATABASE_URL_FILE=/x", "PATH=/bin"}
	cfg, err := config.Load("", []string{"IRIS_SMTP_ADDR=mail.example.com:25"})
	require.NoError(t, err)
	env := s.childEnvironment(cfg, "postgres://ours", box)
	require.Equal(t, "mail.example.com:25", subprocess.Getenv(env.processor, "IRIS_SMTP_ADDR"))
	require.Equal(t, "box", subprocess.Getenv(env.processor, "IRIS_SLACK_TOKEN"))
	require.Equal(t, "box", subprocess.Getenv(env.api, "IRIS_SLACK_TOKEN"))
	require.Equal(t, "postgres://ours", subprocess.Getenv(env.api, "IRIS_DATABASE_URL"))
	require.Empty(t, subprocess.Getenv(env.api, "IRIS_DATABASE_URL_FILE"))
	require.Equal(t, "http://box", subprocess.Getenv(env.api, "IRIS_MAILBOX_URL"))
	require.Equal(t, "http://127.0.0.1:16649", subprocess.Getenv(env.api, "IRIS_PUBLIC_URL"))
	require.Equal(t, "/bin", subprocess.Getenv(env.processor, "PATH"))
}

func TestBannerHidesThePasswordOfAConfiguredDatabase(t *testing.T) {
	t.Parallel()
	require.Equal(t, "postgres://u@h/d", hidePassword("postgres://u:p@h/d", true))
	require.Equal(t, "postgres://h/d", hidePassword("postgres://h/d", true))
	require.Equal(t, "as configured", hidePassword("host=h password=p", true))
	require.Equal(t, "postgres://u:p@h/d", hidePassword("postgres://u:p@h/d", false))
}

func TestPrintedCommandsAreOneLineEach(t *testing.T) {
	t.Parallel()
	for _, line := range []string{alertLine("http://h:1"), incidentLine("http://h:1/iris"), strings.TrimPrefix(mailLine("h:25"), mailLine("")[:strings.Index(mailLine(""), "curl ")])} {
		require.True(t, strings.HasPrefix(line, "curl "))
		require.NotContains(t, line, "\n")
		require.False(t, strings.HasSuffix(line, `\`))
	}
	require.Contains(t, incidentLine("http://h:1/iris"), "POST /iris/v0/incidents ")
}
