//go:build faults

package e2e

import (
	"context"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/kit/subprocess"
)

// cluster is the PostgreSQL server of a story about faults of the database. test/faults.sh sets the paths of its
// programs and disks.
type cluster struct {
	t        *testing.T
	dir      string // data directory
	addr     string
	settings []string
	proc     *subprocess.Process
}

// newCluster initialises a server below dir, starts it and makes the database iris. The user iris needs no password.
func newCluster(t *testing.T, dir string, settings ...string) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: ownedDir(t, dir), addr: freeAddr(t), settings: settings}
	c.tool("initdb", "-D", c.dir, "-U", "iris", "-A", "trust", "--locale=C", "--lc-ctype=C.UTF-8", "-E", "UTF8",
		"--no-sync")
	c.start()
	c.exec("postgres", "create database iris")
	return c
}

// ownedDir makes a directory below dir that the user of the server owns.
func ownedDir(t *testing.T, dir string) string {
	t.Helper()
	dir, err := os.MkdirTemp(dir, "data-")
	require.NoError(t, err)
	if c := serverUser(t); c != nil {
		require.NoError(t, os.Chown(dir, int(c.Uid), int(c.Gid)))
	}
	return dir
}

// serverUser returns the user that runs the server, because PostgreSQL refuses to run as root.
func serverUser(t *testing.T) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	require.NoError(t, err)
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	require.NoError(t, err)
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	require.NoError(t, err)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func (c *cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(os.Getenv("IRIS_FAULTS_POSTGRES"), name), args...)
	cmd.Dir, cmd.Env = c.dir, []string{"LC_ALL=C", "TZ=UTC", "PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: serverUser(c.t)}
	return cmd
}

func (c *cluster) tool(name string, args ...string) {
	c.t.Helper()
	out, err := c.command(name, args...).CombinedOutput()
	require.NoError(c.t, err, "%s: %s", name, out)
}

// start starts the server and waits until it answers.
func (c *cluster) start() {
	c.t.Helper()
	host, port, _ := strings.Cut(c.addr, ":")
	args := []string{"-D", c.dir}
	for _, s := range append([]string{"listen_addresses=" + host, "port=" + port, "unix_socket_directories=", "timezone=UTC", "max_connections=100"}, c.settings...) {
		args = append(args, "-c", s)
	}
	cmd := c.command("postgres", args...)
	log := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = log, log
	var err error
	c.proc, err = subprocess.Start(cmd, syscall.SIGQUIT)
	require.NoError(c.t, err)
	proc := c.proc
	c.t.Cleanup(func() {
		proc.Stop(syscall.SIGINT, 10*time.Second)
		if c.t.Failed() {
			c.t.Logf("log of PostgreSQL at %s:\n%s", c.addr, tail(log.String(), 3000))
		}
	})
	require.Eventually(c.t, func() bool { return c.try("postgres", "select 1") == nil }, 20*time.Second,
		50*time.Millisecond, "PostgreSQL at %s", c.addr)
}

// crash stops the server without a checkpoint.
func (c *cluster) crash() { c.proc.Stop(syscall.SIGQUIT, 10*time.Second) }

// running reports whether the server's process runs.
func (c *cluster) running() bool {
	select {
	case <-c.proc.Done():
		return false
	default:
		return true
	}
}

func (c *cluster) url(database string) string {
	return "postgres://iris@" + c.addr + "/" + database + "?sslmode=disable"
}

func (c *cluster) try(database, sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url(database))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, sql)
	return err
}

func (c *cluster) exec(database, sql string) {
	c.t.Helper()
	require.NoError(c.t, c.try(database, sql))
}

// endure posts incidents during a fault of the database, and compares the vendors' log with the promises. fault starts
// the fault and returns the function that ends it. The fault lasts for five seconds. The programs must log the symptom.
func endure(t *testing.T, url, symptom string, fault func() (end func())) {
	t.Helper()
	s := newStage(t, options{processors: 2, databaseURL: url, env: []string{"IRIS_DATABASE_MAX_CONNECTIONS=10"}})
	s.alarm()
	const wait = 4 // seconds between the steps
	s.plan("burst", []notification{notify("user", "ann", "low", wait)},
		[]notification{notify("user", "bob", "low", 3600)})
	s.allOwned(30*time.Second, 2)
	s.vendors.SMTP.Behave(pretend.Behaviour{Do: pretend.Fine, DelayMS: 20})
	var ended sync.WaitGroup
	ids := s.burst("burst", 200, func() {
		end := fault()
		ended.Go(func() {
			<-time.After(5 * time.Second)
			end()
		})
	})
	ended.Wait()
	logs := s.api.log.String()
	for _, p := range s.processors {
		logs += p.log.String()
	}
	require.Contains(t, logs, symptom)
	s.allDelivered(60*time.Second, ids)
	s.eventually(60*time.Second, "the second step of every incident", func() bool { return len(s.bobs()) >= len(ids) })
	s.settled(60 * time.Second)
	s.check(ids)
	for id, at := range s.bobs() {
		var opened time.Time
		require.NoError(t, s.db.QueryRow(t.Context(), "select created_at from incidents where id = $1",
			id).Scan(&opened))
		require.GreaterOrEqual(t, at.Sub(opened), wait*time.Second, "the second step of incident %d was early", id)
	}
	t.Logf("%d incidents were paged; %d attempts in doubt", len(ids),
		s.count("select count(*) from attempts where in_doubt"))
}

// bobs returns the time of the first message of the second step, by incident.
func (s *stage) bobs() map[int64]time.Time {
	first := map[int64]time.Time{}
	for _, e := range s.accepted(func(e pretend.Entry) bool { return strings.HasPrefix(e.To, "bob@") }) {
		if at, ok := first[e.IncidentID]; !ok || e.At.Before(at) {
			first[e.IncidentID] = e.At
		}
	}
	return first
}

// The primary crashes under load, and its synchronous standby is promoted five seconds later. The database URL names
// both servers.
func TestStandbyIsPromotedUnderLoad(t *testing.T) {
	t.Parallel()
	disk := os.Getenv("IRIS_FAULTS_DIR")
	primary := newCluster(t, disk)
	spare := &cluster{t: t, dir: ownedDir(t, disk), addr: freeAddr(t)}
	spare.tool("pg_basebackup", "-D", spare.dir, "-d", primary.url("")+"&application_name=spare", "-R",
		"--checkpoint=fast", "--no-sync")
	spare.start()
	primary.exec("postgres", "alter system set synchronous_standby_names = 'spare'")
	primary.exec("postgres", "select pg_reload_conf()")
	require.Eventually(t, func() bool {
		return primary.try("postgres", "do $$ begin assert (select count(*) from pg_stat_replication where sync_state = 'sync') = 1; end $$") == nil
	}, 20*time.Second, 50*time.Millisecond, "a synchronous standby")
	both := strings.Replace(primary.url("iris"), primary.addr, primary.addr+","+spare.addr, 1)
	endure(t, both, "connection refused", func() func() {
		primary.crash()
		return func() { spare.exec("postgres", "select pg_promote()") }
	})
}

// The disk of the database is full for five seconds. If PostgreSQL crashes, it is started again.
func TestFullDiskUnderLoad(t *testing.T) {
	t.Parallel()
	disk := os.Getenv("IRIS_FAULTS_DISK")
	c := newCluster(t, disk, "max_wal_size=64MB", "min_wal_size=32MB")
	endure(t, c.url("iris"), "No space left on device", func() func() {
		ballast := filepath.Join(disk, "ballast")
		require.ErrorIs(t, fillDisk(ballast), syscall.ENOSPC)
		for range 5 { // each switch needs space for a new segment of the write-ahead log
			_ = c.try("postgres", "create table if not exists filler (a text); insert into filler select repeat('x', 1000) from generate_series(1, 10000); select pg_switch_wal()")
		}
		return func() {
			require.NoError(t, os.Remove(ballast))
			if !c.running() {
				c.start()
			}
		}
	})
}

// fillDisk writes until an error and returns the error.
func fillDisk(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for block := make([]byte, 64<<10); ; {
		if _, err := f.Write(block); err != nil {
			return err
		}
	}
}

// For five seconds another client uses all connections of the server, including those of Iris.
func TestConnectionsAreExhaustedUnderLoad(t *testing.T) {
	t.Parallel()
	c := newCluster(t, os.Getenv("IRIS_FAULTS_DIR"))
	endure(t, c.url("iris"), "too many clients", func() func() {
		ctx, cancel := context.WithCancel(context.Background())
		none := make(chan struct{})
		var hog sync.WaitGroup
		hog.Go(func() { takeConnections(ctx, c.url("postgres"), sync.OnceFunc(func() { close(none) })) })
		<-none
		return func() { cancel(); hog.Wait() }
	})
}

// takeConnections opens all free connections and ends those of other clients, until ctx ends. It calls none when no
// connection is free.
func takeConnections(ctx context.Context, url string, none func()) {
	var mine []*pgx.Conn
	defer func() {
		for _, c := range mine {
			_ = c.Close(context.Background())
		}
	}()
	for ctx.Err() == nil {
		c, err := pgx.Connect(ctx, url)
		if err == nil {
			mine = append(mine, c)
			continue
		}
		_, _ = mine[0].Exec(ctx, "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'iris'")
		none()
	}
}
