package program

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/program/apiserver"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/processor"
	"github.com/iris-oncall/iris/internal/program/server"
)

// Version returns the version of this build.
func Version() string { return server.Version() }

// NewLogger returns the root logger of a program, which writes to standard error.
func NewLogger(c config.Log) (*zap.Logger, error) { return server.NewLogger(c) }

// Signals returns a context that ends at the first SIGINT or SIGTERM. The second signal ends the process immediately.
func Signals() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	got := make(chan os.Signal, 2)
	signal.Notify(got, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-got
		cancel()
		<-got
		os.Exit(130)
	}()
	return ctx, cancel
}

// Serve runs a server until ctx ends. ServeAPI and ServeProcessor are the two.
type Serve func(ctx context.Context, configFile string, environ []string) error

// ServeAPI reads the configuration and runs iris-api until ctx ends.
func ServeAPI(ctx context.Context, configFile string, environ []string) error {
	return serve(ctx, "iris-api", configFile, environ, func(c *config.Config) (config.API, config.Log, error) {
		cfg, err := c.API()
		return cfg, cfg.Log, err
	}, apiserver.New)
}

// ServeProcessor reads the configuration and runs message-processor until ctx ends.
func ServeProcessor(ctx context.Context, configFile string, environ []string) error {
	return serve(ctx, "message-processor", configFile, environ, func(c *config.Config) (config.Processor, config.Log, error) {
		cfg, err := c.Processor()
		return cfg, cfg.Log, err
	}, processor.New)
}

// serve reads the configuration C of a server S, starts the server and its log, and runs the server until ctx ends.
func serve[C any, S interface{ Run(context.Context) error }](ctx context.Context, program, configFile string, environ []string,
	read func(*config.Config) (C, config.Log, error), start func(C, server.Deps) (S, error),
) error {
	RelaxCollector(environ, debug.SetGCPercent)
	c, err := config.Load(configFile, environ)
	if err != nil {
		return err
	}
	cfg, logConfig, err := read(c)
	if err != nil {
		return err
	}
	log, err := server.NewLogger(logConfig)
	if err != nil {
		return err
	}
	defer func() { _ = log.Sync() }() // standard error cannot always be synced
	log.Info("starting", zap.String("program", program), zap.String("version", server.Version()),
		zap.Int("pid", os.Getpid()))
	for _, w := range c.Warnings() {
		log.Warn("configuration", zap.String("key", w.Where), zap.String("reason", w.Message))
	}
	s, err := start(cfg, server.Deps{Log: log})
	if err != nil {
		return err
	}
	return s.Run(ctx)
}

// collectorPercent is the target of the garbage collector (GOGC). Servers keep little memory and allocate much: with
// Go's default of 100 they spend a tenth of their time in the collector.
const collectorPercent = 400

// RelaxCollector sets the target of the garbage collector, unless GOGC is set. GOMEMLIMIT still applies.
func RelaxCollector(environ []string, set func(int) int) {
	if !slices.ContainsFunc(environ, func(e string) bool { return strings.HasPrefix(e, "GOGC=") }) {
		set(collectorPercent)
	}
}

// PrintError writes the error that ended a program, with advice if there is any, and the name of the program on each
// line.
func PrintError(w io.Writer, program string, err error) {
	for line := range strings.Lines(postgres.Explain(err)) {
		fmt.Fprintf(w, "%s: %s\n", program, strings.TrimRight(line, "\n"))
	}
}
