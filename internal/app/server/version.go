// Package server is what both servers of Iris are made of besides their parts: version, log, admin listener, waiting for the
// database, and an HTTP server that stops in order. Packages apiserver and processor use it.
package server

import (
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
)

// version is set by release builds (-ldflags -X).
var version = ""

// Version names this build: the release, else what the toolchain knows of the source.
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "+changes"
			}
		}
	}
	if len(revision) > 12 {
		return "dev-" + revision[:12] + dirty
	}
	return "dev"
}

// Deps are what the outside gives a server.
type Deps struct {
	Log      *zap.Logger
	Registry *prometheus.Registry // nil = one of its own
}
