package pgserver

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary own a server in a separate process that a test can kill.
func TestMain(m *testing.M) {
	if dir := os.Getenv("PGSERVER_TEST_OWNER"); dir != "" {
		start := Start
		if os.Getenv("PGSERVER_TEST_TEMPORARY") != "" {
			start = StartTemporary
		}
		s, err := start(context.Background(), Config{StateDir: dir,
			Fast: os.Getenv("PGSERVER_TEST_TEMPORARY") != "false"})
		if err != nil {
			fmt.Fprintln(os.Stdout, "error", err)
			os.Exit(1)
		}
		fmt.Fprintln(os.Stdout, "url", s.URL())
		<-s.Done()
		os.Exit(0)
	}
	if err := shareDownload(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// shareDownload lets the tests share one download of the server, although each has its own state directory.
func shareDownload() error {
	if os.Getenv("IRIS_POSTGRES") != "embedded" {
		return nil
	}
	set, err := newSetup(Config{}.withDefaults())
	if err != nil {
		return err
	}
	lock, err := set.setupLock(context.Background())
	if err != nil {
		return err
	}
	defer lock.Close()
	b, err := set.downloaded(context.Background())
	if err != nil {
		return err
	}
	return os.Setenv("IRIS_POSTGRES", b.dir)
}

// owner starts another process that owns a server in dir, and returns its URL.
func owner(t *testing.T, dir string, env ...string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), append(env, "PGSERVER_TEST_OWNER="+dir)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "url ")
	require.True(t, ok, line)
	return cmd, url
}

// stateDir is a temporary directory that the server's user can enter if the test runs as root.
func stateDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	set := setup{root: filepath.Join(dir, "postgres")}
	t.Cleanup(func() { _ = os.RemoveAll(set.memory()) })
	return dir
}

func start(t *testing.T, cfg Config) *Server {
	t.Helper()
	cfg.Fast = true
	cfg.Progress = func(s string) { t.Log(s) }
	s, err := Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	return s
}

func query(t *testing.T, url, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	var out string
	require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&out))
	return out
}

func exec1(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	_, err = conn.Exec(t.Context(), sql)
	require.NoError(t, err)
}

func postmasterOf(t *testing.T, s *Server) postmaster {
	t.Helper()
	pm, err := readPidFile(s.data)
	require.NoError(t, err)
	return pm
}

func TestDataSurvivesARestartAndFreshDeletesIt(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	s := start(t, Config{StateDir: dir})
	require.Equal(t, "UTF8", query(t, s.URL(), "show server_encoding"))
	require.Equal(t, "UTC", query(t, s.URL(), "show timezone"))
	require.Equal(t, "ünï", query(t, s.URL(), "select lower('ÜNÏ')"),
		"names compare whatever their case, beyond ASCII, too")
	exec1(t, s.URL(), "create table kept (n int)")
	first := s.URL()
	s.Stop()
	s.Stop()
	<-s.Done()

	s = start(t, Config{StateDir: dir})
	require.Equal(t, first, s.URL(), "the port is kept when it is free")
	require.Equal(t, "0", query(t, s.URL(), "select count(*)::text from kept"))
	s.Stop()

	s = start(t, Config{StateDir: dir, Fresh: true})
	require.Equal(t, "0", query(t, s.URL(), "select count(*)::text from pg_tables where tablename = 'kept'"))
	require.NotEqual(t, first, s.URL(), "new data has a new password")
}

func TestRestartKeepsThePort(t *testing.T) {
	t.Parallel()
	s := start(t, Config{StateDir: stateDir(t)})
	for _, crash := range []bool{false, true} {
		require.NoError(t, s.Restart(t.Context(), crash))
		require.Equal(t, "1", query(t, s.URL(), "select '1'"))
	}
	select {
	case <-s.Done():
		t.Fatal("done after a restart")
	default:
	}
}

func TestFourSimultaneousStartsShareOneServer(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	var wg sync.WaitGroup
	servers := make([]*Server, 4)
	errs := make([]error, 4)
	for i := range servers {
		wg.Go(func() { servers[i], errs[i] = Start(t.Context(), Config{StateDir: dir, Fast: true}) })
	}
	wg.Wait()
	owners := 0
	for i, s := range servers {
		require.NoError(t, errs[i])
		require.Equal(t, servers[0].URL(), s.URL())
		require.Equal(t, "1", query(t, s.URL(), "select '1'"))
		if s.Owner() {
			owners++
			defer s.Stop()
		} else {
			s.Stop()
		}
	}
	require.Equal(t, 1, owners)
	_, err := Start(t.Context(), Config{StateDir: dir, Fresh: true})
	require.ErrorContains(t, err, "another process uses the data")
}

func TestTheServerEndsWhenItsOwnerIsKilled(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	cmd, url := owner(t, dir)
	require.Equal(t, "1", query(t, url, "select '1'"))
	joined := start(t, Config{StateDir: dir})
	require.False(t, joined.Owner())
	pm := postmasterOf(t, joined)

	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	// Start at once: the old server may still be shutting down.
	s := start(t, Config{StateDir: dir})
	require.True(t, s.Owner())
	require.NotEqual(t, pm.pid, postmasterOf(t, s).pid)
	require.False(t, pm.runs())
	require.Equal(t, "1", query(t, s.URL(), "select '1'"))
}

func TestAKilledServerIsDetectedAndCanStartAgain(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	s := start(t, Config{StateDir: dir})
	require.NoError(t, syscall.Kill(postmasterOf(t, s).pid, syscall.SIGKILL))
	<-s.Done()
	s.Stop()
	s = start(t, Config{StateDir: dir})
	require.Equal(t, "1", query(t, s.URL(), "select '1'"))
}

func TestStalePidFiles(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	s := start(t, Config{StateDir: dir})
	data := s.data
	s.Stop()
	dead := exec.Command("true")
	require.NoError(t, dead.Run())
	sleeper := exec.Command("sleep", "600") // a running process of the user that the server runs as
	sleeper.SysProcAttr = &syscall.SysProcAttr{Credential: s.set.user.credential}
	require.NoError(t, sleeper.Start())
	t.Cleanup(func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() })
	zombie := exec.Command("true")
	require.NoError(t, zombie.Start()) // a zombie: nobody waits for it
	t.Cleanup(func() { _ = zombie.Wait() })
	for name, content := range map[string]string{
		"dead":    strconv.Itoa(dead.Process.Pid) + "\n" + data + "\n",
		"living":  strconv.Itoa(sleeper.Process.Pid) + "\n" + data + "\n",
		"zombie":  strconv.Itoa(zombie.Process.Pid) + "\n" + data + "\n",
		"garbage": "what?\n",
		"empty":   "",
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(filepath.Join(data, "postmaster.pid"), []byte(content), 0o600))
			s := start(t, Config{StateDir: dir})
			require.Equal(t, "1", query(t, s.URL(), "select '1'"))
			s.Stop()
		})
	}
}

func TestTheServerIgnoresUnusualEnvironmentVariables(t *testing.T) {
	t.Parallel()
	_, url := owner(t, stateDir(t), "PGDATA=/nowhere", "PGPORT=1", "LC_ALL=tr_TR.UTF-8", "LANG=xx", "TZ=Asia/Tokyo",
		"HOME=/nowhere", "PGHOST=/nowhere", "PGUSER=nobody", "TMPDIR=/nowhere")
	require.Equal(t, "UTF8", query(t, url, "show server_encoding"))
	require.Equal(t, "C", query(t, url, "select datcollate::text from pg_database where datname = 'iris'"))
}

func TestADirectoryThatTheServersUserCannotEnterIsRefused(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		// Only root runs the server as another user. For other users the same directory must work.
		closed := filepath.Join(stateDir(t), "closed")
		require.NoError(t, os.Mkdir(closed, 0o700))
		require.Equal(t, "1", query(t, start(t, Config{StateDir: closed}).URL(), "select '1'"))
		return
	}
	closed := filepath.Join(stateDir(t), "closed")
	require.NoError(t, os.Mkdir(closed, 0o700))
	_, err := Start(t.Context(), Config{StateDir: filepath.Join(closed, "state")})
	require.ErrorContains(t, err, "may not enter "+closed)
	require.ErrorContains(t, err, "--state-dir")
}

func TestAnUnusableDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := Start(t.Context(), Config{StateDir: filepath.Join(file, "state")})
	require.ErrorContains(t, err, "state directory")
}

func TestTemporaryServersAreSeparateAndAreRemoved(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	for _, fast := range []bool{false, true} {
		t.Run(fmt.Sprint("fast ", fast), func(t *testing.T) {
			cfg := Config{StateDir: dir, Fast: fast}
			set, err := newSetup(cfg.withDefaults())
			require.NoError(t, err)
			temp := set.temp()
			a, err := StartTemporary(t.Context(), cfg)
			require.NoError(t, err)
			defer a.Stop()
			b, err := StartTemporary(t.Context(), cfg)
			require.NoError(t, err)
			defer b.Stop()
			exec1(t, a.URL(), "create table mine (n int)")
			require.Equal(t, "0", query(t, b.URL(), "select count(*)::text from pg_tables where tablename = 'mine'"))

			cmd, _ := owner(t, dir, fmt.Sprint("PGSERVER_TEST_TEMPORARY=", fast))
			require.Len(t, entries(t, temp), 3)
			require.NoError(t, cmd.Process.Kill())
			_ = cmd.Wait()
			require.Eventually(t, func() bool { // the orphan needs a moment to shut down
				if temp != set.memory() { // there it is removed by itself
					c, err := StartTemporary(t.Context(), cfg)
					require.NoError(t, err)
					c.Stop()
				}
				return len(entries(t, temp)) == 2
			}, 20*time.Second, 10*time.Millisecond)
			a.Stop()
			b.Stop()
			require.Empty(t, entries(t, temp))
		})
	}
}

func entries(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	out, err := os.ReadDir(dir)
	require.NoError(t, err)
	return out
}

func TestChoiceOfBinaries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ postgres, want string }{
		"unknown word": {"sytsem", "use system, embedded, or the path"},
		"no such path": {"/nowhere/bin", "no PostgreSQL server in /nowhere/bin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Start(t.Context(), Config{StateDir: stateDir(t), Postgres: c.postgres})
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestDownloadFailuresReportTheReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"not there": {http.NotFound, "404 Not Found"},
		"wrong sum": {func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "no archive") },
			"checksums do not match"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repository := httptest.NewServer(c.handler)
			defer repository.Close()
			dir := stateDir(t)
			_, err := Start(t.Context(), Config{StateDir: dir, Postgres: "embedded", Repository: repository.URL})
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "IRIS_DATABASE_URL")
			left, err := filepath.Glob(filepath.Join(dir, "postgres", "bin-*"))
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

func TestADownloadCanBeCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	repository := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer repository.Close()
	_, err := Start(ctx, Config{StateDir: stateDir(t), Postgres: "embedded", Repository: repository.URL})
	require.ErrorIs(t, err, context.Canceled)
}
