package pgserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/iris-oncall/iris/internal/kit/subprocess"
)

// startOwned starts the shared server. It holds lock as long as this process owns the server.
func (s *setup) startOwned(ctx context.Context, lock *os.File) (*Server, error) {
	setupLock, err := s.setupLock(ctx)
	if err != nil {
		return nil, err
	}
	defer setupLock.Close()
	if s.cfg.Fresh {
		for _, major := range s.majors("data") {
			dir := filepath.Join(s.root, "data-"+strconv.Itoa(major))
			if err := clearStalePid(ctx, dir); err != nil {
				return nil, err
			}
			if err := os.RemoveAll(dir); err != nil {
				return nil, err
			}
		}
	}
	if s.bin, err = s.choose(ctx, s.majors("data")); err != nil {
		return nil, err
	}
	data, err := s.ensureData(ctx, "data")
	if err != nil {
		return nil, err
	}
	return s.serve(ctx, lock, data, filepath.Join(s.root, "postgres.log"), lastPort(data))
}

// startTemporary starts a server on a copy of the template.
func (s *setup) startTemporary(ctx context.Context) (*Server, error) {
	setupLock, err := s.setupLock(ctx)
	if err != nil {
		return nil, err
	}
	defer setupLock.Close()
	if s.bin, err = s.choose(ctx, nil); err != nil {
		return nil, err
	}
	template, err := s.ensureData(ctx, "template-utf8")
	if err != nil {
		return nil, err
	}
	s.sweep()
	dir := filepath.Join(s.temp(), rand.Text())
	if err := makeOpen(dir); err != nil {
		return nil, err
	}
	lock, err := tryLock(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	if err := s.removeAfterDeath(dir); err != nil {
		lock.Close()
		return nil, err
	}
	setupLock.Close() // no other process uses dir
	srv, err := s.startCopy(ctx, lock, template, dir)
	if err != nil {
		os.RemoveAll(dir)
		lock.Close()
		return nil, err
	}
	srv.cleanup = func() { os.RemoveAll(dir) }
	return srv, nil
}

func (s *setup) startCopy(ctx context.Context, lock *os.File, template, dir string) (*Server, error) {
	data := filepath.Join(dir, "data")
	if err := s.copyData(template, data); err != nil {
		return nil, fmt.Errorf("copy the initialised database: %w", err)
	}
	return s.serve(ctx, lock, data, filepath.Join(dir, "log"), 0)
}

// sweep deletes the temporary servers of killed processes. The caller holds the setup lock.
func (s *setup) sweep() {
	onDisk, _ := filepath.Glob(filepath.Join(s.root, "temp", "*")) // the patterns are well-formed
	inMemory, _ := filepath.Glob(filepath.Join(s.memory(), "*"))
	for _, dir := range append(onDisk, inMemory...) {
		lock, err := tryLock(filepath.Join(dir, "lock"))
		if err != nil || lock == nil {
			continue
		}
		// A server whose owner has just died may still be stopping; the next sweep deletes it.
		if pm, err := readPidFile(filepath.Join(dir, "data")); err != nil || !pm.runs() {
			os.RemoveAll(dir)
		}
		lock.Close()
	}
}

func (s *setup) serve(ctx context.Context, lock *os.File, data, logFile string, port int) (*Server, error) {
	password, err := readPassword(data)
	if err != nil {
		return nil, err
	}
	if err := clearStalePid(ctx, data); err != nil {
		return nil, err
	}
	srv := &Server{set: s, data: data, logFile: logFile, password: password, lock: lock, done: make(chan struct{})}
	for try := 0; ; try++ {
		if port == 0 {
			if port, err = freePort(); err != nil {
				return nil, err
			}
		}
		srv.proc, err = s.run(ctx, data, logFile, port)
		if err == nil {
			break
		}
		if try == 5 || !errors.Is(err, errPortInUse) {
			return nil, err
		}
		port = 0
	}
	srv.port = port
	rememberPort(data, port)
	go srv.watch(srv.proc)
	return srv, nil
}

var (
	errPortInUse   = errors.New("the port is in use")
	errOldBackends = errors.New("processes of the previous server are still running")
)

// run starts the server on the port and returns when it accepts connections.
func (s *setup) run(ctx context.Context, data, logFile string, port int) (*subprocess.Process, error) {
	deadline := time.Now().Add(15 * time.Second)
	for {
		proc, err := s.runOnce(ctx, data, logFile, port)
		if !errors.Is(err, errOldBackends) || time.Now().After(deadline) {
			return proc, err
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

func (s *setup) runOnce(ctx context.Context, data, logFile string, port int) (*subprocess.Process, error) {
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if info, err := os.Stat(logFile); err == nil && info.Size() > 16<<20 {
		flags |= os.O_TRUNC
	}
	log, err := os.OpenFile(logFile, flags, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	begin, err := log.Seek(0, 2)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(s.bin.dir, "postgres"), append([]string{"-D", data}, s.settings(port)...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = data, childEnv, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.user.credential}
	proc, err := subprocess.Start(cmd, syscall.SIGINT)
	if err != nil {
		return nil, err
	}
	for {
		if pm, err := readPidFile(data); err == nil && pm.pid == proc.Pid() && pm.ready {
			return proc, nil
		}
		select {
		case <-proc.Done():
			return nil, startError(proc.Err(), logFile, begin)
		case <-ctx.Done():
			proc.Stop(syscall.SIGINT, 5*time.Second)
			return nil, fmt.Errorf("start PostgreSQL: %w", context.Cause(ctx))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func startError(err error, logFile string, begin int64) error {
	text := "(no log)"
	if raw, readErr := os.ReadFile(logFile); readErr == nil && int64(len(raw)) > begin {
		text = strings.TrimSpace(string(raw[begin:]))
		if len(text) > 4000 {
			text = "..." + text[len(text)-4000:]
		}
	}
	failure := fmt.Errorf("PostgreSQL ended while it started (%s); its log %s says:\n%s", ending(err), logFile, text)
	switch {
	case strings.Contains(text, "could not bind") || strings.Contains(text, "could not create any TCP/IP sockets"):
		return errors.Join(errPortInUse, failure)
	case strings.Contains(text, "pre-existing shared memory block"):
		return errors.Join(errOldBackends, failure)
	}
	return failure
}

// ending describes how a process ended.
func ending(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// settings are the server's options. They are on the command line, so that an edited postgresql.conf has no effect on
// them.
func (s *setup) settings(port int) []string {
	options := []string{
		"listen_addresses=127.0.0.1", "port=" + strconv.Itoa(port), "unix_socket_directories=",
		"max_connections=300", "shared_buffers=128MB", "max_wal_size=2GB", "timezone=UTC", "log_timezone=UTC",
		"log_line_prefix=%m [%p] ", "logging_collector=off", "log_destination=stderr",
	}
	if s.cfg.Fast {
		options = append(options, "fsync=off", "full_page_writes=off", "shared_buffers=64MB", "max_wal_size=256MB",
			"max_connections=1000")
	}
	args := make([]string, 0, 2*len(options))
	for _, o := range options {
		args = append(args, "-c", o)
	}
	return args
}

// join returns the server of another process in this state directory, or an error while it is not ready.
func (s *setup) join() (*Server, error) {
	for _, major := range s.majors("data") {
		data := filepath.Join(s.root, "data-"+strconv.Itoa(major))
		pm, err := readPidFile(data)
		if err != nil || !pm.ready || !pm.runs() {
			continue
		}
		conn, err := net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(pm.port), time.Second)
		if err != nil {
			continue
		}
		conn.Close()
		password, err := readPassword(data)
		if err != nil {
			return nil, err
		}
		return &Server{set: s, data: data, port: pm.port, password: password, done: make(chan struct{})}, nil
	}
	return nil, errors.New("the other process's PostgreSQL is not ready")
}

// lastPort returns the port of the last run, so that connection URLs stay valid after a restart of `iris dev`; 0 =
// unknown. The port may be in use: serve then chooses another one.
func lastPort(data string) int {
	raw, err := os.ReadFile(data + ".port")
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || port < 1024 || port > 65535 {
		return 0
	}
	return port
}

// rememberPort stores the port for lastPort. An error is ignored: the next run then uses another port.
func rememberPort(data string, port int) {
	_ = os.WriteFile(data+".port", []byte(strconv.Itoa(port)+"\n"), 0o644)
}
