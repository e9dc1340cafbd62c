package pages

import (
	"github.com/iris-oncall/iris/internal/kit/kithttp"
	"github.com/iris-oncall/iris/internal/silences"
)

// Mount adds the operations to /v1.
func Mount(a *kithttp.API, s *silences.Silences) {
	kithttp.Mount(a, s.List)
	kithttp.Mount(a, s.Create)
	kithttp.Mount(a, s.Preview)
	kithttp.Mount(a, s.Get)
	kithttp.Mount(a, s.Replace)
	kithttp.Mount(a, s.End)
	kithttp.Mount(a, s.Hidden)
}
