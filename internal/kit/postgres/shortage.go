package postgres

import (
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// shortageLasts is how long Shortage reports a failure to store. Work that waits is retried all the time, so a server
// that is still full reports it again.
const shortageLasts = 10 * time.Second

// shortage remembers when the server last refused a write because its disk was full or failed. Reads still work
// meanwhile, so this error is the only sign.
type shortage struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

// note remembers err if it is a full or failing disk.
func (s *shortage) note(err error) {
	switch code := SqlState(err); {
	case code == "53100", len(code) == 5 && code[:2] == "58":
		s.mu.Lock()
		defer s.mu.Unlock()
		s.at, s.err = time.Now(), err
	}
}

// Shortage returns an Unavailable fault if the server could not store something in the last seconds.
func (d *DB) Shortage() error {
	d.short.mu.Lock()
	defer d.short.mu.Unlock()
	if d.short.err == nil || time.Since(d.short.at) > shortageLasts {
		return nil
	}
	return fault.Wrap(fault.Unavailable, d.short.err,
		"the database could not store something lately: its disk is full, or fails")
}
