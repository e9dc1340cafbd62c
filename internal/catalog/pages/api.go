package pages

import (
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/kit/kithttp"
)

// Mount adds the operations to /v1.
func Mount(a *kithttp.API, p *catalog.Plans, t *catalog.Templates) {
	kithttp.Mount(a, p.List)
	kithttp.Mount(a, p.Create)
	kithttp.Mount(a, p.Preview)
	kithttp.Mount(a, p.Get)
	kithttp.Mount(a, p.Replace)
	kithttp.Mount(a, p.Delete)
	kithttp.Mount(a, p.Activate)
	kithttp.Mount(a, p.Owner)
	kithttp.Mount(a, p.Give)
	kithttp.Mount(a, p.UsesOf)
	kithttp.Mount(a, p.Uses)
	kithttp.Mount(a, p.Settings)
	kithttp.Mount(a, p.ChangeSettings)
	kithttp.Mount(a, p.Pause)
	kithttp.Mount(a, p.Fallback)
	kithttp.Mount(a, p.ChangeFallback)
	kithttp.Mount(a, p.RemoveFallback)
	kithttp.Mount(a, p.Simulate)
	kithttp.Mount(a, t.List)
	kithttp.Mount(a, t.Create)
	kithttp.Mount(a, t.Get)
	kithttp.Mount(a, t.Replace)
	kithttp.Mount(a, t.Delete)
	kithttp.Mount(a, t.Activate)
	kithttp.Mount(a, t.Owner)
	kithttp.Mount(a, t.Give)
}
