package vocabulary

import (
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/fault"
	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// allowed lists the names of the tags that may be attached.
func (v tags) allowed(w http.ResponseWriter, _ *http.Request) error {
	return routing.Answer(w, http.StatusOK, routing.OrEmpty(v.Tags.Names))
}

// maxTagValue is the longest value of a tag in bytes, and maxTagValues the most values of a tag of one object.
const (
	maxTagValue  = 255
	maxTagValues = 100
)

// set replaces the values of one tag of an object.
func (v tags) set(kind string) routing.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		b := v0.ReadBody(w, r, "")
		id, name := b.Whole("id", 1, 1<<62), b.Required("name")
		b.Check(slices.Contains(v.Tags.Names, name), fault.Invalidf("name", "The tag %s is not one of those that are allowed", name))
		values, ok := v0.Texts(b.Members["values"])
		wrong := slices.ContainsFunc(values, func(v string) bool { return v == "" || len(v) > maxTagValue })
		b.Check(ok && len(values) <= maxTagValues && !wrong,
			fault.Invalidf("values", "values must be a list of at most %d texts of 1 to %d bytes", maxTagValues, maxTagValue))
		if err := b.Err(); err != nil {
			return err
		}
		if err := v.Tags.Store.Set(r.Context(), kind, id, name, values); err != nil {
			return fault.When(err, fault.NotFound, fault.New(fault.Invalid, fault.Public(err)))
		}
		return routing.Answer(w, http.StatusCreated, []int{})
	}
}
