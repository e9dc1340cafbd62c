// Package freeport reserves TCP ports of the loopback interface for programs that need their address before they start.
// The bench, dev mode and tests call it.
//
// To listen on port 0 and close the listener is not enough: until the program listens, the kernel may give the same
// port to another program.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// The range is above the ports of common services and below the ports that kernels choose (Linux: from 32768, others:
// from 49152).
const (
	lowest  = 20_000
	highest = 32_000
)

// Addr returns "127.0.0.1:port". Nobody listens on the port, and Addr returns it to no other caller on this machine
// while this process lives. Addr is safe for concurrent use. A program that does not call Addr can still use the port.
func Addr() (string, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("iris-ports-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("reserve a port: %w", err)
	}
	for range 1000 {
		port := strconv.Itoa(lowest + rand.IntN(highest-lowest))
		lock, err := reserve(filepath.Join(dir, port))
		if errors.Is(err, unix.EWOULDBLOCK) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("reserve port %s: %w", port, err)
		}
		addr := net.JoinHostPort("127.0.0.1", port)
		l, err := net.Listen("tcp", addr)
		if err != nil {
			_ = unix.Close(lock)
			continue
		}
		_ = l.Close()
		return addr, nil
	}
	return "", fmt.Errorf("reserve a port: found no free port between %d and %d", lowest, highest)
}

// reserve locks the file at path and returns its descriptor; unix.EWOULDBLOCK if the file is locked already. The lock
// ends when the descriptor is closed, at the latest with this process. It is a plain descriptor because the garbage
// collector closes an unused os.File.
func reserve(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return 0, err
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = unix.Close(fd)
		return 0, err
	}
	return fd, nil
}
