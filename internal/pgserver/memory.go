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
	// sharedMemory is where Linux has a file system in memory. There a database is made in a tenth of the time.
	sharedMemory = "/dev/shm"
	// memoryNeeded is how many bytes must be free: room for the servers of several test binaries.
	memoryNeeded = 2 << 30
	tmpfs        = 0x01021994
)

// temp is where a new temporary server of this state directory keeps its files.
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

// hasMemory reports whether there is room in memory, and the command that frees it.
func hasMemory() bool {
	var fs unix.Statfs_t
	if unix.Statfs(sharedMemory, &fs) != nil || fs.Type != tmpfs {
		return false
	}
	_, err := exec.LookPath("flock")
	return err == nil && fs.Bavail*uint64(fs.Bsize) >= memoryNeeded
}

// removeAfterDeath frees memory that a killed process would leave occupied. A process of its own waits for the lock of dir, which the
// kernel frees with our end, and removes dir. Directories on disks wait for the next sweep.
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
