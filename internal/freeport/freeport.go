// Package freeport finds TCP ports of the loopback interface for programs that must be told their address before they start.
//
// Asking the kernel for port 0 and closing it again does not do: until the program listens, any other that asks for port 0, or
// connects somewhere, may be given the same port, and a test then talks to a stranger.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Ports below those that kernels hand out by themselves (Linux from 32768, others from 49152), above those that services have.
const (
	lowest  = 20_000
	highest = 32_000
)

// taken keeps the locks of this process until it ends: a lock is gone with the file that holds it.
var taken struct {
	sync.Mutex
	locks []*os.File
}

// Addr returns "127.0.0.1:port" of a port that nobody listens on and that Addr gives to no other caller on this machine as long
// as this process lives. It is safe for concurrent use. What does not ask here may still take the port.
func Addr() (string, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("iris-ports-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("remembering which ports are taken: %w", err)
	}
	for range 1000 {
		port := strconv.Itoa(lowest + rand.IntN(highest-lowest))
		lock, err := reserve(filepath.Join(dir, port))
		if errors.Is(err, unix.EWOULDBLOCK) {
			continue
		}
		if err != nil {
			return "", err
		}
		addr := net.JoinHostPort("127.0.0.1", port)
		l, err := net.Listen("tcp", addr)
		if err != nil {
			_ = lock.Close()
			continue
		}
		_ = l.Close()
		taken.Lock()
		taken.locks = append(taken.locks, lock)
		taken.Unlock()
		return addr, nil
	}
	return "", fmt.Errorf("no free port between %d and %d", lowest, highest)
}

// reserve locks path; unix.EWOULDBLOCK if somebody else has.
func reserve(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("remembering which ports are taken: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
