// Package system serves the pages for operators: members and buckets, queues, limits, vendors, configuration. The web site mounts it.
package system

import (
	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/web/page"
)

// Handlers serves the pages. It is safe for concurrent use.
type Handlers struct{ Pages *page.Pages }

// Routes mounts the pages. The caller must admit only people who have logged in.
func (h Handlers) Routes(r chi.Router) {}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (h Handlers) ChangeRoutes(r chi.Router) {}
