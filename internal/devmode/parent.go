package devmode

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"
)

// endWithGoRun returns a context that ends when `go run`, if that is what started us, is gone: it dies of signals that
// do not reach us, and nothing must be left behind. Other parents may leave us running on purpose (nohup, a shell).
func endWithGoRun(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	name, err := os.ReadFile("/proc/" + strconv.Itoa(parent) + "/comm")
	if err != nil || strings.TrimSpace(string(name)) != "go" {
		return ctx, cancel
	}
	go func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if os.Getppid() != parent {
					cancel()
					return
				}
			}
		}
	}()
	return ctx, cancel
}
