package pgserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// tryLock takes an exclusive lock on a file for as long as the returned file is open, and returns nil when somebody
// else holds it. The kernel frees it when we die.
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

// waitLock is tryLock that waits; waiting is called once when it has to.
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
