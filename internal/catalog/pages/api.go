package pages

import (
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/web/mount"
)

// Mount adds the operations to /v1.
func Mount(a *mount.API, p *catalog.Plans, t *catalog.Templates, apps *catalog.Applications) {
	mount.Mount(a, p.List)
	mount.Mount(a, p.Create)
	mount.Mount(a, p.Preview)
	mount.Mount(a, p.Get)
	mount.Mount(a, p.Replace)
	mount.Mount(a, p.Delete)
	mount.Mount(a, p.Activate)
	mount.Mount(a, p.Owner)
	mount.Mount(a, p.Give)
	mount.Mount(a, p.UsesOf)
	mount.Mount(a, p.Uses)
	mount.Mount(a, p.Settings)
	mount.Mount(a, p.ChangeSettings)
	mount.Mount(a, p.Pause)
	mount.Mount(a, p.Fallback)
	mount.Mount(a, p.ChangeFallback)
	mount.Mount(a, p.RemoveFallback)
	mount.Mount(a, p.Simulate)
	mount.Mount(a, t.List)
	mount.Mount(a, t.Create)
	mount.Mount(a, t.Get)
	mount.Mount(a, t.Replace)
	mount.Mount(a, t.Delete)
	mount.Mount(a, t.Activate)
	mount.Mount(a, t.Owner)
	mount.Mount(a, t.Give)
	mount.Mount(a, t.Preview)
	mount.Mount(a, apps.List)
	mount.Mount(a, apps.Create)
	mount.Mount(a, apps.Get)
	mount.Mount(a, apps.Replace)
	mount.Mount(a, apps.Delete)
	mount.Mount(a, apps.Quota)
	mount.Mount(a, apps.Owner)
	mount.Mount(a, apps.Give)
	mount.Mount(a, apps.Pause)
	mount.Mount(a, apps.Fallback)
	mount.Mount(a, apps.ChangeFallback)
	mount.Mount(a, apps.RemoveFallback)
}
