// Package testlog is the logger of tests whose servers may log after the test has ended. The testing package panics
// then, so the lines are dropped.
package testlog

import (
	"bytes"
	"sync"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// New returns a logger that writes to t until t ends. It is safe for concurrent use.
func New(t testing.TB, level zapcore.LevelEnabler) *zap.Logger {
	out := &output{t: t}
	t.Cleanup(out.close)
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(zap.NewDevelopmentEncoderConfig()), out, level))
}

// output writes to t until it is closed.
type output struct {
	mu sync.Mutex
	t  testing.TB // nil = closed
}

func (o *output) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.t != nil {
		o.t.Log(string(bytes.TrimSpace(line)))
	}
	return len(line), nil
}

// Sync does nothing: nothing is buffered.
func (o *output) Sync() error { return nil }

func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.t = nil
}
