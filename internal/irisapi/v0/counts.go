package v0

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/params"
)

// Counter counts the rows of a list, and the rows for each value of some fields.
type Counter func(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error)

// Counted answers a list request that asks for totals instead of rows (counts=true). It reports whether the request does.
func (l List) Counted(w http.ResponseWriter, r *http.Request, q filters.Query, count Counter) (bool, error) {
	raw, given, err := Parameter(r, "counts")
	if err != nil || !given {
		return false, err
	}
	wanted, ok := parseBool(raw)
	if !ok {
		return false, params.Invalid("counts", `The value of the parameter must be "true" or "false".`)
	}
	if !wanted {
		return false, nil
	}
	fields := q.Fields
	if len(fields) == 0 {
		fields = slices.DeleteFunc(slices.Clone(l.Columns), func(name string) bool { return slices.Contains(l.Unique, name) })
	}
	var refused []string
	for _, name := range fields {
		if slices.Contains(l.Unique, name) {
			refused = append(refused, name)
		}
	}
	if len(refused) > 0 {
		return false, &fault.Error{Kind: fault.Invalid, Field: "fields", Message: "These fields cannot be counted", Detail: strings.Join(refused, ", ")}
	}
	tally, err := count(r.Context(), q, fields)
	if err != nil {
		return false, err
	}
	wire.JSON(w, http.StatusOK, Record{{"field_counts", tally.Fields}, {"total_count", tally.Total}})
	return true, nil
}
