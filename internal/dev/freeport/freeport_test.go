package freeport

import (
	"net"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestNoPortIsGivenTwice(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	given := map[string]bool{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				addr, err := Addr()
				mu.Lock()
				if err != nil || given[addr] {
					t.Errorf("%s, given before: %t, %v", addr, given[addr], err)
				}
				given[addr] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Len(t, given, 400)
	for addr := range given {
		l, err := net.Listen("tcp", addr)
		require.NoError(t, err)
		require.NoError(t, l.Close())
	}
}

func TestAPortIsReservedWhileItsDescriptorIsOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "20000")
	first, err := reserve(path)
	require.NoError(t, err)
	_, err = reserve(path) // a second descriptor does not share the lock, in this process or in another
	require.ErrorIs(t, err, unix.EWOULDBLOCK)
	require.NoError(t, unix.Close(first))
	again, err := reserve(path)
	require.NoError(t, err)
	require.NoError(t, unix.Close(again))
}
