// Command withpg starts an embedded PostgreSQL, runs a command with its address in IRIS_DATABASE_URL, and stops it. All
// test binaries share the server: to unpack one for each of them, under the race detector, takes longer than the tests.
// It exits with the exit code of the command, or with 1 if the command did not run.
//
//	go run ./test/withpg go test ./...
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/iris-oncall/iris/internal/dev/pgserver"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: withpg COMMAND [ARGUMENT ...]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1], os.Args[2:])
	stop()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) && ended.ExitCode() > 0 {
		os.Exit(ended.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpg:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, name string, args []string) error {
	s, err := pgserver.StartTemporary(ctx, pgserver.Config{Postgres: "embedded", Fast: true})
	if err != nil {
		return err
	}
	defer s.Stop()
	if err := os.Setenv("IRIS_DATABASE_URL", s.URL()); err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "PostgreSQL", s.Version())
	c := exec.CommandContext(ctx, name, args...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	return c.Run()
}
