package irisapi

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/wire"
)

// counter counts what a list consists of.
type counter func(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error)

// counted answers a list request that asks for totals instead of rows (counts=true), and reports whether it was one.
func (l list) counted(w http.ResponseWriter, r *http.Request, q filters.Query, count counter) (bool, error) {
	raw, given, err := text(r, "counts")
	if err != nil || !given {
		return false, err
	}
	wanted, ok := parseBool(raw)
	if !ok {
		return false, invalidParameter("counts", `The value of the parameter must be "true" or "false".`)
	}
	if !wanted {
		return false, nil
	}
	fields := q.Fields
	if len(fields) == 0 {
		fields = slices.DeleteFunc(slices.Clone(l.columns), func(name string) bool { return slices.Contains(l.unique, name) })
	}
	var refused []string
	for _, name := range fields {
		if slices.Contains(l.unique, name) {
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
	wire.JSON(w, http.StatusOK, record{{"field_counts", tally.Fields}, {"total_count", tally.Total}})
	return true, nil
}
