package irisapi

import (
	"context"
	"net/http"
	"strconv"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// versions finds versions of plans or templates.
type versions[V, D any, ID ~int64] struct {
	Versions[V, D, ID]
	id      func(V) int64
	missing error // the fault for a version that cannot exist
}

// find takes the number of any version, or the name of an active version.
func (v versions[V, D, ID]) find(ctx context.Context, idOrName string) (none D, err error) {
	if !wire.Storable(idOrName) {
		return none, v.missing
	}
	if !Digits(idOrName) {
		return v.ByName(ctx, idOrName)
	}
	id, err := strconv.ParseInt(idOrName, 10, 64)
	if err != nil {
		return none, v.missing
	}
	return v.ByID(ctx, ID(id))
}

// activeOrNewest is find, but a name without an active version means the newest version.
func (v versions[V, D, ID]) activeOrNewest(ctx context.Context, idOrName string) (D, error) {
	found, err := v.find(ctx, idOrName)
	if fault.Is(err, fault.NotFound) && !Digits(idOrName) {
		return v.newest(ctx, idOrName)
	}
	return found, err
}

// toSet finds the version that the path names, to activate or deactivate it. A name means the newest version when it is
// activated, and the active version when it is deactivated.
func (v versions[V, D, ID]) toSet(r *http.Request, parameter string, activate bool) (D, error) {
	if id, ok := PathID(r, parameter); ok {
		return v.ByID(r.Context(), ID(id))
	}
	if activate {
		return v.newest(r.Context(), wire.Param(r, parameter))
	}
	return v.activeOrNewest(r.Context(), wire.Param(r, parameter))
}

func (v versions[V, D, ID]) newest(ctx context.Context, name string) (none D, err error) {
	if !wire.Storable(name) {
		return none, v.missing
	}
	found, err := v.List(ctx, filters.Query{Limit: 1,
		Conditions: []filters.Condition{{Field: "name", Op: filters.Eq, Values: []any{name}}}})
	if err != nil {
		return none, err
	}
	if len(found) == 0 {
		return none, v.missing
	}
	return v.ByID(ctx, ID(v.id(found[0])))
}

// activeField reads the integer flag of the routes that activate a version. missing is the title for a body without the
// flag.
func activeField(b Body, missing string, invalid error) (bool, error) {
	b.Check(b.Has("active"), fault.Invalidf("active", "%s", missing))
	n, ok := Integer(b.Members["active"])
	b.Check(ok, invalid)
	return n != 0, b.Err()
}
