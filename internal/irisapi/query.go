package irisapi

import (
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/wire"
)

// list says how the query of a list route is read.
type list struct {
	schema filters.Schema
	// anyOf names fields whose repeated or comma-separated values are alternatives; elsewhere all must hold.
	anyOf []string
	// columns are the names that `fields` may select.
	columns []string
	// limited: the route knows `limit`.
	limited bool
	// more are parameters that the route reads by itself.
	more []string
	// unique names columns whose values are not worth counting (`counts`); nil = the route does not count.
	unique []string
}

// ops are the operators that a kind of field understands. Numbers, times and flags are searched as they are on the wire.
var (
	partly = []filters.Op{filters.Contains, filters.StartsWith, filters.EndsWith}
	every  = append([]filters.Op{filters.Eq, filters.Ne, filters.Gt, filters.Ge, filters.Lt, filters.Le, filters.In}, partly...)
	equal  = []filters.Op{filters.Eq, filters.Ne, filters.In}
	ops    = map[filters.Kind][]filters.Op{
		filters.Int: every, filters.Time: every, filters.Text: every, filters.Bool: equal, filters.Flag: every,
	}
)

// read reads the query of a request. A header of the answer warns of parameters that the list does not know, which clients expect
// to be ignored.
func (l list) read(w http.ResponseWriter, r *http.Request) (filters.Query, error) {
	q, err := query(r)
	if err != nil {
		return filters.Query{}, err
	}
	wire.Warn(w, l.unknown(q))
	return l.parse(q)
}

// unknown words what parse ignores.
func (l list) unknown(q url.Values) []string {
	var out []string
	for key := range q {
		name, _, _ := strings.Cut(key, "__")
		_, field := l.schema[name]
		other := key == "fields" && l.columns != nil || key == "limit" && l.limited || key == "counts" && l.unique != nil || slices.Contains(l.more, key)
		if !field && !other {
			out = append(out, "unknown query parameter "+key+" was ignored")
		}
	}
	slices.Sort(out)
	return out
}

// query decodes the query of a request. One that cannot be decoded is refused as a whole: a filter that is silently left
// out answers another question.
func query(r *http.Request) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fault.Titled("Invalid query string", "it must be pairs of name=value joined by &, percent-encoded")
	}
	return q, nil
}

// parse reads `field=value`, `field__op=value`, `fields` and `limit`. Unknown fields are ignored, as clients expect;
// everything else that makes no sense is an Invalid fault. It never panics, whatever the query.
func (l list) parse(q url.Values) (filters.Query, error) {
	var out filters.Query
	budget := searchBudget{conditions: maxConditions, values: maxValues}
	keys := make([]string, 0, len(q))
	for k := range q {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, key := range keys {
		name, op, _ := strings.Cut(key, "__")
		kind, known := l.schema[name]
		if !known {
			continue
		}
		conds, err := l.conditions(name, kind, filters.Op(op), q[key])
		if err == nil {
			err = budget.spend(name, conds)
		}
		if err != nil {
			return filters.Query{}, err
		}
		out.Conditions = append(out.Conditions, conds...)
	}
	out.Fields = l.fields(q["fields"])
	if l.limited {
		limit, err := parseLimit(q)
		if err != nil {
			return filters.Query{}, err
		}
		out.Limit = limit
	}
	return out, nil
}

func (l list) conditions(name string, kind filters.Kind, op filters.Op, raw []string) ([]filters.Condition, error) {
	if op == "" {
		op = filters.Eq
	}
	if !slices.Contains(ops[kind], op) {
		return nil, fault.Invalidf(name, "invalid filter operator %s", op)
	}
	var values []any
	for _, r := range raw {
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
	if op == filters.Eq && slices.Contains(l.anyOf, name) {
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

// Bounds of one search. Each condition is evaluated on each row that may match, a list of values (`in`) once per value; what
// is searched for in texts costs its length on each row.
const (
	maxConditions = 50
	maxValues     = 2000
	maxPattern    = 500
)

// searchBudget is how much a query may still ask for.
type searchBudget struct{ conditions, values int }

// spend takes conditions from the budget; an Invalid fault where it does not suffice.
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
			return invalidParameter(name, "The value may have at most "+strconv.Itoa(maxPattern)+" bytes.")
		}
	}
	return nil
}

func tooManyValues(name string) error {
	return invalidParameter(name, "A query may list at most "+strconv.Itoa(maxValues)+" values.")
}

// parseValue reads one value of a kind. Clients of Iris compare the texts of its faults, so the Python type stays in them
// (docs/compatibility.md).
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
			return n, nil // a number that no flag has
		}
		if !ok {
			return nil, invalidParameter(name, `The value of the parameter must be "true" or "false".`)
		}
		return b, nil
	case filters.Text:
		if !storable(s) {
			return nil, invalidParameter(name, "The value must be UTF-8 text.")
		}
		return s, nil
	}
	return nil, fault.New(fault.Internal, "filter of an unknown kind: "+string(kind))
}

// parseInt reads a whole number of any size. Those beyond what we store are the largest or smallest, which nothing has.
func parseInt(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil || errors.Is(err, strconv.ErrRange)
}

// latest is the last second of the year 9999; later instants mean "after everything".
const latest = 253402300799

func unixTime(n int64) time.Time { return time.Unix(min(max(n, 0), latest), 0).UTC() }

func parseBool(s string) (value, ok bool) {
	switch s {
	case "true", "True", "yes", "1", "on":
		return true, true
	case "false", "False", "no", "0", "off":
		return false, true
	}
	return false, false
}

// storable reports whether PostgreSQL takes s as text.
func storable(s string) bool { return wire.Storable(s) }

func invalidParameter(name, text string) error {
	return &fault.Error{Kind: fault.Invalid, Field: name, Message: "Invalid parameter",
		Detail: `The "` + name + `" parameter is invalid. ` + text}
}

func (l list) fields(raw []string) []string {
	var out []string
	for _, r := range raw {
		for name := range strings.SplitSeq(r, ",") {
			name = strings.TrimSpace(name)
			if slices.Contains(l.columns, name) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

func parseLimit(q url.Values) (int, error) {
	raw, given := q["limit"]
	if !given {
		return 0, nil
	}
	n, ok := parseInt(strings.TrimSpace(raw[len(raw)-1]))
	switch {
	case !ok:
		return 0, invalidParameter("limit", "The value must be an integer.")
	case n < 0:
		return 0, invalidParameter("limit", "The value must not be negative.")
	}
	return int(min(n, math.MaxInt32)), nil
}
