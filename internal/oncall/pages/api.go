package pages

import (
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/web/mount"
)

// Mount adds the operations to /v1.
func Mount(a *mount.API, p *planning.Planning) {
	mount.Mount(a, p.Rotations)
	mount.Mount(a, p.CreateRotation)
	mount.Mount(a, p.Rotation)
	mount.Mount(a, p.Replace)
	mount.Mount(a, p.DeleteRotation)
	mount.Mount(a, p.Gaps)
	mount.Mount(a, p.Coverage)
	mount.Mount(a, p.SetCoverage)
	mount.Mount(a, p.Shares)
}
