package irisapi

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/legacy/params"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// List describes the query of a list route.
type List struct {
	Schema filters.Schema
	// AnyOf names fields whose repeated or comma-separated values are alternatives. Of other fields all values must
	// match.
	AnyOf []string
	// Columns are the names that `fields` may select.
	Columns []string
	// Limited allows the parameter `limit`.
	Limited bool
	// More are additional parameters, which the route reads itself.
	More []string
	// Unique names columns whose values differ in most rows, so that `counts` refuses them; nil = the route does not
	// count.
	Unique []string
}

// ops are the operators of each kind of field. Numbers, times and flags are searched in the form that they have on the
// wire.
var (
	partly = []filters.Op{filters.Contains, filters.StartsWith, filters.EndsWith}
	every  = append([]filters.Op{filters.Eq, filters.Ne, filters.Gt, filters.Ge, filters.Lt, filters.Le, filters.In},
		partly...)
	equal = []filters.Op{filters.Eq, filters.Ne, filters.In}
	ops   = map[filters.Kind][]filters.Op{
		filters.Int: every, filters.Time: every, filters.Text: every, filters.Bool: equal, filters.Flag: every,
	}
)

// Read reads the query of a request. Unknown parameters are ignored, as clients expect; a header of the answer warns of
// them.
func (l List) Read(w http.ResponseWriter, r *http.Request) (filters.Query, error) {
	q, err := Query(r)
	if err != nil {
		return filters.Query{}, err
	}
	out, others, err := l.parse(q)
	var warnings []string
	for _, key := range others {
		if !l.parameter(key) {
			warnings = append(warnings, "unknown query parameter "+key+" was ignored")
		}
	}
	wire.Warn(w, warnings)
	return out, err
}

// parameter reports whether key is a known parameter that is no filter.
func (l List) parameter(key string) bool {
	return key == "fields" && l.Columns != nil || key == "limit" && l.Limited || key == "counts" && l.Unique != nil ||
		slices.Contains(l.More, key)
}

// Query decodes the query of a request. A query that cannot be decoded is refused: an ignored filter would change the
// answer.
func Query(r *http.Request) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fault.Titled("Invalid query string", "it must be pairs of name=value joined by &, percent-encoded")
	}
	return q, nil
}

// parse reads `field=value`, `field__op=value`, `fields` and `limit`. A wrong operator or value is an Invalid fault. It
// also returns the keys of the query that are no filters.
func (l List) parse(q url.Values) (out filters.Query, others []string, err error) {
	budget := searchBudget{conditions: maxConditions, values: maxValues}
	comparisons, others := params.Comparisons(q, l.Schema)
	for _, c := range comparisons {
		conds, err := l.conditions(c)
		if err == nil {
			err = budget.spend(c.Field, conds)
		}
		if err != nil {
			return filters.Query{}, others, err
		}
		out.Conditions = append(out.Conditions, conds...)
	}
	out.Fields = l.fields(q["fields"])
	if l.Limited {
		if out.Limit, err = parseLimit(q); err != nil {
			return filters.Query{}, others, err
		}
	}
	return out, others, nil
}

// conditions reads the values of a comparison. A comma separates values; each value becomes a condition, except for In.
func (l List) conditions(c params.Comparison) ([]filters.Condition, error) {
	name, kind, op := c.Field, l.Schema[c.Field], cmp.Or(c.Op, filters.Eq)
	if !slices.Contains(ops[kind], op) {
		return nil, fault.Invalidf(name, "invalid filter operator %s", op)
	}
	var values []any
	for _, r := range c.Values {
		if strings.Count(r, ",") >= maxValues || len(values) >= maxValues {
			return nil, tooManyValues(name)
		}
		for part := range strings.SplitSeq(r, ",") {
			if op == filters.In || kind != filters.Text {
				part = strings.TrimSpace(part)
			}
			v, err := parseValue(name, kind, part)
			if err != nil {
				return nil, err
			}
			if slices.Contains(partly, op) {
				v = part
			}
			values = append(values, v)
		}
	}
	if op == filters.Eq && slices.Contains(l.AnyOf, name) {
		op = filters.In
	}
	if op == filters.In {
		return []filters.Condition{{Field: name, Op: op, Values: values}}, nil
	}
	conds := make([]filters.Condition, len(values))
	for i, v := range values {
		conds[i] = filters.Condition{Field: name, Op: op, Values: []any{v}}
	}
	return conds, nil
}

// Bounds of one search. PostgreSQL evaluates each condition on each row that may match, and a list of values (`in`)
// once per value. A pattern costs its length on each row.
const (
	maxConditions = 50
	maxValues     = 2000
	maxPattern    = 500
)

// searchBudget is how many conditions and values a query may still have.
type searchBudget struct{ conditions, values int }

// spend subtracts conditions from the budget. It returns an Invalid fault if the budget is too small.
func (b *searchBudget) spend(name string, conds []filters.Condition) error {
	b.conditions -= len(conds)
	if b.conditions < 0 {
		return fault.Titled("Too many conditions", "a query may have at most "+strconv.Itoa(maxConditions)+
			"; use "+name+"__in for a list of values")
	}
	for _, c := range conds {
		if b.values -= len(c.Values); b.values < 0 {
			return tooManyValues(name)
		}
		if text, ok := c.Values[0].(string); ok && len(text) > maxPattern && slices.Contains(partly, c.Op) {
			return params.Invalid(name, "The value may have at most "+strconv.Itoa(maxPattern)+" bytes.")
		}
	}
	return nil
}

func tooManyValues(name string) error {
	return params.Invalid(name, "A query may list at most "+strconv.Itoa(maxValues)+" values.")
}

// parseValue reads one value of a kind. Clients of Iris compare the texts of its faults, so the Python type stays in
// them (docs/compatibility.md).
func parseValue(name string, kind filters.Kind, s string) (any, error) {
	switch kind {
	case filters.Int, filters.Time:
		n, ok := parseInt(s)
		if !ok {
			return nil, fault.Titled("invalid argument type", name+" should be <class 'int'>")
		}
		if kind == filters.Time {
			return unixTime(n), nil
		}
		return n, nil
	case filters.Bool, filters.Flag:
		b, ok := parseBool(s)
		if n, isInt := parseInt(s); !ok && isInt && kind == filters.Flag {
			return n, nil // no flag has this number, so nothing matches
		}
		if !ok {
			return nil, params.Invalid(name, `The value of the parameter must be "true" or "false".`)
		}
		return b, nil
	case filters.Text:
		if !wire.Storable(s) {
			return nil, params.Invalid(name, "The value must be UTF-8 text.")
		}
		return s, nil
	}
	return nil, fault.New(fault.Internal, "filter of an unknown kind: "+string(kind))
}

// parseInt reads a whole number of any size. A number outside of int64 becomes the largest or smallest, which no row
// has.
func parseInt(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil || errors.Is(err, strconv.ErrRange)
}

// unixTime is the instant of Unix seconds. Seconds after the year 9999 mean its last one, which is after every stored
// instant.
func unixTime(n int64) time.Time { return time.Unix(min(max(n, 0), jsonbody.LastSecond), 0).UTC() }

// parseBool takes the spellings that Iris takes, which are fewer than those of params.ParseFlag.
func parseBool(s string) (value, ok bool) {
	switch s {
	case "true", "True", "yes", "1", "on":
		return true, true
	case "false", "False", "no", "0", "off":
		return false, true
	}
	return false, false
}

// Parameter reads a parameter that may be absent. Of a repeated parameter the last value counts.
func Parameter(r *http.Request, name string) (value string, given bool, err error) {
	q, err := Query(r)
	if err != nil {
		return "", false, err
	}
	value, given = params.Last(q, name)
	if !wire.Storable(value) {
		return "", true, params.Invalid(name, "The value must be UTF-8 text.")
	}
	return value, given, nil
}

func (l List) fields(raw []string) []string {
	var out []string
	for _, r := range raw {
		for name := range strings.SplitSeq(r, ",") {
			name = strings.TrimSpace(name)
			if slices.Contains(l.Columns, name) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

func parseLimit(q url.Values) (int, error) {
	raw, given := params.Last(q, "limit")
	if !given {
		return 0, nil
	}
	n, ok := parseInt(strings.TrimSpace(raw))
	switch {
	case !ok:
		return 0, params.Invalid("limit", "The value must be an integer.")
	case n < 0:
		return 0, params.Invalid("limit", "The value must not be negative.")
	}
	return int(min(n, math.MaxInt32)), nil
}

// Counter counts the rows of a list, and the rows for each value of some fields.
type Counter func(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error)

// Counted answers a list request that asks for totals instead of rows (counts=true). For any other request it returns
// false and writes nothing.
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
		fields = slices.DeleteFunc(slices.Clone(l.Columns),
			func(name string) bool { return slices.Contains(l.Unique, name) })
	}
	var refused []string
	for _, name := range fields {
		if slices.Contains(l.Unique, name) {
			refused = append(refused, name)
		}
	}
	if len(refused) > 0 {
		return false, &fault.Error{Kind: fault.Invalid, Field: "fields", Message: "These fields cannot be counted",
			Detail: strings.Join(refused, ", ")}
	}
	tally, err := count(r.Context(), q, fields)
	if err != nil {
		return false, err
	}
	wire.JSON(w, http.StatusOK, Record{{"field_counts", tally.Fields}, {"total_count", tally.Total}})
	return true, nil
}
