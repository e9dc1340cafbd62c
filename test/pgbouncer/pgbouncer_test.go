//go:build pgbouncer

package pgbouncer

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/freeport"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/dev/pretend"
)

// bin is where TestMain built the programs.
var bin string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "iris-pgbouncer-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		bin = dir
		build := exec.Command("go", "build", "-o", dir+"/", "../../cmd/iris", "../../cmd/iris-api",
			"../../cmd/message-processor")
		build.Stdout, build.Stderr = os.Stderr, os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "the programs do not build:", err)
			return 1
		}
		return m.Run()
	}())
}

// pooled starts a PgBouncer with its default settings, except more, and returns the address of the database behind it.
func pooled(t *testing.T, database string, more ...string) string {
	t.Helper()
	cc, err := pgx.ParseConfig(database)
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "pgbouncer-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755)) //nolint:gosec // PgBouncer runs as another user
	addr, err := freeport.Addr()
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	file := filepath.Join(dir, "pgbouncer.ini")
	settings := fmt.Sprintf("[databases]\n* = host=%s port=%d user=%s password='%s'\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %s\nunix_socket_dir =\nauth_type = any\n%s\n",
		cc.Host, cc.Port, cc.User, cc.Password, port, strings.Join(more, "\n"))
	require.NoError(t, os.WriteFile(file, []byte(settings), 0o644)) //nolint:gosec // as above
	cmd := exec.Command("/usr/sbin/pgbouncer", file)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 { // PgBouncer refuses to run as root
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	background(t, cmd)
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, 10*time.Second, 20*time.Millisecond, "PgBouncer listens")
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", cc.User, addr, cc.Database)
}

// background runs a command until the test ends, and logs its output if the test failed.
func background(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s wrote:\n%s", cmd.Path, &out)
		}
	})
}

// program returns a program of Iris with the environment.
func program(t *testing.T, env []string, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, name), args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
	cmd.Stdin = strings.NewReader("a password of ours\n")
	return cmd
}

// In session mode a page is delivered: migrations with their lock, both servers with their listeners, and the command
// line.
func TestSessionMode(t *testing.T) {
	t.Parallel()
	for name, more := range map[string][]string{"the default": nil, "sessions in turns": {"server_round_robin = 1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mails := pretend.NewSMTP(pretend.SMTPConfig{}, pretend.NewLog(100))
			require.NoError(t, mails.Start())
			t.Cleanup(mails.Close)
			api, err := freeport.Addr()
			require.NoError(t, err)
			direct := pgtest.EmptyURL(t)
			env := []string{"IRIS_DATABASE_URL=" + pooled(t, direct, append(more, "default_pool_size = 50")...),
				"IRIS_HTTP_ADDR=" + api, "IRIS_ADMIN_ADDR=off", "IRIS_PUBLIC_URL=http://" + api,
				"IRIS_GOSSIP_ADDR=off", "IRIS_SMTP_ADDR=" +
					mails.Addr(), "IRIS_SMTP_FROM=iris@example.com", "IRIS_SMTP_TLS=none"}
			iris := func(args ...string) {
				t.Helper()
				out, err := program(t, env, "iris", args...).CombinedOutput()
				require.NoError(t, err, "iris %s: %s", strings.Join(args, " "), out)
			}
			iris("migrate")
			iris("user", "add", "ann", "--email", "ann@example.com")
			iris("app", "add", "shop")
			conn, err := pgx.Connect(t.Context(), direct)
			require.NoError(t, err)
			_, err = conn.Exec(t.Context(), `
				with p as (insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset)
						select 'night', id, 900, 10, 300, 300 from users where name = 'ann' returning id, name),
					act as (insert into plan_active select name, id from p)
				insert into plan_notifications (plan_id, step, position, priority, role, target_id, template, wait_seconds, repeat)
				select p.id, 1, 0, 'low', 'user', u.target_id, '', 60, 0 from p, users u where u.name = 'ann'`)
			require.NoError(t, err)
			require.NoError(t, conn.Close(t.Context()))
			background(t, program(t, env, "iris-api"))
			background(t, program(t, env, "message-processor"))
			iris("incident", "open", "--plan", "night", "--application", "shop", "--title", "disk full")
			require.Eventually(t, func() bool { return len(mails.Log().Accepted()) > 0 }, time.Minute,
				50*time.Millisecond, "the page arrives")
		})
	}
}

// Other modes are refused at start, with the reason and what to do.
func TestOtherModesAreRefused(t *testing.T) {
	t.Parallel()
	for _, more := range [][]string{
		{"pool_mode = transaction"}, {"pool_mode = statement"}, {"pool_mode = transaction", "server_round_robin = 1",
			"min_pool_size = 5"},
		{"pool_mode = transaction", "default_pool_size = 1"}, {"pool_mode = transaction",
			"ignore_startup_parameters = extra_float_digits,jit,statement_timeout"},
	} {
		t.Run(strings.Join(more, ","), func(t *testing.T) {
			t.Parallel()
			env := []string{"IRIS_DATABASE_URL=" + pooled(t, pgtest.URL(t), more...), "IRIS_HTTP_ADDR=127.0.0.1:0",
				"IRIS_ADMIN_ADDR=off"}
			for _, args := range [][]string{{"iris", "user", "list"}, {"iris", "migrate"}, {"iris-api"}, {"message-processor"}} {
				out, err := program(t, env, args[0], args[1:]...).CombinedOutput()
				require.Error(t, err, "%v: %s", args, out)
				require.Contains(t, string(out),
					"use session mode (pool_mode = session in PgBouncer) for the database of Iris, or connect Iris to PostgreSQL itself", "%v", args)
				require.NotContains(t, string(out), "failed to connect", "%v", args)
			}
		})
	}
}
