package devmode

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"
)

// endWithGoRun returns a context that ends when the parent process ends, if the parent is `go run`. A signal that kills
// `go run` does not reach its child. Other parents, such as nohup or a shell, may leave this process running on
// purpose.
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
