package pgserver

import (
	"crypto/sha256"
	"encoding/hex"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// sharedMemory is an in-memory file system on Linux. A database is created there in a tenth of the time.
	sharedMemory = "/dev/shm"
	// memoryNeeded is how many bytes must be free: enough for the servers of several test binaries.
	memoryNeeded = 2 << 30
	tmpfs        = 0x01021994
)

// temp returns the directory for temporary servers.
func (s *setup) temp() string {
	if s.cfg.Fast && hasMemory() {
		return s.memory()
	}
	return filepath.Join(s.root, "temp")
}

func (s *setup) memory() string {
	hash := sha256.Sum256([]byte(s.root))
	return filepath.Join(sharedMemory, "iris-"+hex.EncodeToString(hash[:8]))
}

// hasMemory reports whether sharedMemory has enough space, and the command flock exists, which removeAfterDeath needs.
func hasMemory() bool {
	var fs unix.Statfs_t
	if unix.Statfs(sharedMemory, &fs) != nil || fs.Type != tmpfs {
		return false
	}
	_, err := exec.LookPath("flock")
	return err == nil && fs.Bavail*uint64(fs.Bsize) >= memoryNeeded
}

// removeAfterDeath starts a process that deletes dir from memory after this process ends, in any way: it waits for the
// lock of dir, which the kernel releases then. The next sweep deletes directories on disk.
func (s *setup) removeAfterDeath(dir string) error {
	if filepath.Dir(dir) != s.memory() {
		return nil
	}
	cmd := exec.Command("sh", "-c", `flock "$1/lock" true; until rm -rf "$1"; do sleep 0.2; done`, "sh", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
