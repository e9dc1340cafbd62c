package pgserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// postmaster is the content of postmaster.pid, which a running server writes.
type postmaster struct {
	pid   int
	data  string
	port  int
	ready bool
}

func readPidFile(data string) (postmaster, error) {
	raw, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return postmaster{}, err
	}
	lines := strings.Split(string(raw), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil {
		return postmaster{}, fmt.Errorf("postmaster.pid: %w", err)
	}
	pm := postmaster{pid: pid, data: data}
	if len(lines) > 3 {
		pm.port, _ = strconv.Atoi(strings.TrimSpace(lines[3])) // 0 while the server starts
	}
	if len(lines) > 7 {
		pm.ready = strings.TrimSpace(lines[7]) == "ready"
	}
	return pm, nil
}

// runs reports whether the process is a running PostgreSQL. After a restart of a container another process may have its
// id, and an ended server may be a zombie.
func (pm postmaster) runs() bool {
	if pm.pid <= 0 || errors.Is(syscall.Kill(pm.pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pm.pid) + "/stat")
	if err != nil { // no /proc on this system, or the process has just ended
		_, statErr := os.Stat("/proc/self/stat")
		return statErr != nil
	}
	// "PID (comm) STATE ..."; comm may contain spaces and parentheses.
	text := string(stat)
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open || end+2 >= len(text) || text[open+1:end] != "postgres" || text[end+2] == 'Z' {
		return false
	}
	cmdline, err := os.ReadFile("/proc/" + strconv.Itoa(pm.pid) + "/cmdline")
	// The id may be that of another PostgreSQL server. A process title without arguments does not say which.
	if err == nil && strings.Contains(string(cmdline), "\x00-D\x00") {
		return strings.Contains(string(cmdline), "\x00"+pm.data+"\x00")
	}
	return true
}

// clearStalePid prepares a data directory for a start; the caller holds its lock. It stops a server that lost its
// owner, and deletes the pid file of a dead one.
func clearStalePid(ctx context.Context, data string) error {
	const patience = 20 * time.Second
	start := time.Now()
	var asked, forced bool
	for {
		pm, err := readPidFile(data)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil || !pm.runs() {
			if err := os.Remove(filepath.Join(data, "postmaster.pid")); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("delete the pid file of a dead PostgreSQL: %w", err)
			}
			return nil
		}
		switch waited := time.Since(start); {
		case waited > patience:
			return fmt.Errorf("PostgreSQL with process id %d in %s has no owner and does not stop: "+
				"stop it (kill %d)", pm.pid, data, pm.pid)
		case waited > patience/2 && !forced:
			forced = true
			_ = syscall.Kill(pm.pid, syscall.SIGQUIT) // the next iterations see the result
		case waited > time.Second && !asked:
			asked = true
			_ = syscall.Kill(pm.pid, syscall.SIGINT) // the next iterations see the result
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("wait for the previous PostgreSQL in %s to end: %w", data, err)
		}
	}
}
