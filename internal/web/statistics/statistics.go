// Package statistics serves the charts of volume, times and interruptions. The web site mounts it.
package statistics

import (
	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/web/page"
)

// Handlers serves the pages. It is safe for concurrent use.
type Handlers struct{ Pages *page.Pages }

// Routes mounts the pages. The caller must admit only people who have logged in.
func (h Handlers) Routes(r chi.Router) {}
