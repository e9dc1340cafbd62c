package server

import (
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
)

// version is set by release builds (-ldflags -X).
var version = ""

// Version returns the version of this build: the release, or "dev" with the Git commit if the Go toolchain recorded
// one.
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

// Deps are the dependencies of a server.
type Deps struct {
	Log      *zap.Logger
	Registry *prometheus.Registry // nil = a new one
}
