package app

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

	"github.com/iris-oncall/iris/internal/app/apiserver"
	"github.com/iris-oncall/iris/internal/app/processor"
	"github.com/iris-oncall/iris/internal/app/server"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/postgres"
)

// Version names this build.
func Version() string { return server.Version() }

// NewLogger returns the root logger of a program. It writes to standard error.
func NewLogger(c config.Log) (*zap.Logger, error) { return server.NewLogger(c) }

// Signals returns a context that ends with the first SIGINT or SIGTERM; a second one ends the process at once.
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

// Serve is ServeAPI or ServeProcessor.
type Serve func(ctx context.Context, configFile string, environ []string) error

// ServeAPI reads the configuration and runs iris-api until ctx ends.
func ServeAPI(ctx context.Context, configFile string, environ []string) error {
	RelaxCollector(environ, debug.SetGCPercent)
	c, err := config.Load(configFile, environ)
	if err != nil {
		return err
	}
	cfg, err := c.API()
	if err != nil {
		return err
	}
	log, err := startLog(c, cfg.Common, "iris-api")
	if err != nil {
		return err
	}
	defer func() { _ = log.Sync() }() // standard error cannot always be synced
	a, err := apiserver.New(cfg, server.Deps{Log: log})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

// ServeProcessor reads the configuration and runs message-processor until ctx ends.
func ServeProcessor(ctx context.Context, configFile string, environ []string) error {
	RelaxCollector(environ, debug.SetGCPercent)
	c, err := config.Load(configFile, environ)
	if err != nil {
		return err
	}
	cfg, err := c.Processor()
	if err != nil {
		return err
	}
	log, err := startLog(c, cfg.Common, "message-processor")
	if err != nil {
		return err
	}
	defer func() { _ = log.Sync() }() // standard error cannot always be synced
	p, err := processor.New(cfg, server.Deps{Log: log})
	if err != nil {
		return err
	}
	return p.Run(ctx)
}

// collectorPercent is how much a server's memory may grow before it is looked through for what is unused. Servers hold little
// that lasts, and make much that does not: with Go's own 100 they spend a tenth of their time on looking.
const collectorPercent = 400

// RelaxCollector sets the garbage collector's target, unless the operator did. A limit of the memory (GOMEMLIMIT) holds all the same.
func RelaxCollector(environ []string, set func(int) int) {
	if !slices.ContainsFunc(environ, func(e string) bool { return strings.HasPrefix(e, "GOGC=") }) {
		set(collectorPercent)
	}
}

func startLog(c *config.Config, common config.Common, program string) (*zap.Logger, error) {
	log, err := server.NewLogger(common.Log)
	if err != nil {
		return nil, err
	}
	log.Info("starting", zap.String("program", program), zap.String("version", server.Version()), zap.Int("pid", os.Getpid()))
	for _, w := range c.Warnings() {
		log.Warn("configuration", zap.String("key", w.Where), zap.String("reason", w.Message))
	}
	return log, nil
}

// Complain tells the operator why a program ends, in words that say what to do and with the program's name on each line.
func Complain(w io.Writer, program string, err error) {
	for line := range strings.Lines(postgres.Explain(err)) {
		fmt.Fprintf(w, "%s: %s\n", program, strings.TrimRight(line, "\n"))
	}
}
