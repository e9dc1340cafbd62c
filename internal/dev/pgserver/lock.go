package pgserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// tryLock takes an exclusive lock on a file until the returned file is closed. It returns nil if another process has
// the lock. The kernel releases the lock when this process ends.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// waitLock is like tryLock, but waits. It calls waiting once if it must wait.
func waitLock(ctx context.Context, path string, waiting func()) (*os.File, error) {
	for first := true; ; first = false {
		f, err := tryLock(path)
		if err != nil || f != nil {
			return f, err
		}
		if first {
			waiting()
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return nil, fmt.Errorf("wait for lock %s: %w", path, err)
		}
	}
}
