package pages

import (
	"github.com/iris-oncall/iris/internal/silences"
	"github.com/iris-oncall/iris/internal/web/mount"
)

// Mount adds the operations to /v1.
func Mount(a *mount.API, s *silences.Silences) {
	mount.Mount(a, s.List)
	mount.Mount(a, s.Create)
	mount.Mount(a, s.Preview)
	mount.Mount(a, s.Get)
	mount.Mount(a, s.Replace)
	mount.Mount(a, s.End)
	mount.Mount(a, s.Hidden)
}
