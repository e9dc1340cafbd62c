package pages

import (
	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/web/mount"
)

// Mount adds the operations to /v1.
func Mount(a *mount.API, s *auth.Sessions) {
	mount.Mount(a, s.List)
	mount.Mount(a, s.EndOthers)
	mount.Mount(a, s.End)
}
