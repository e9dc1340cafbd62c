package postgres

import (
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
)

// maxListRows is how many rows a list route reads at most. Whoever asks for more is told to narrow the query: an answer
// that is silently cut short would be worse.
const maxListRows = 20000

// filterColumn says how a field of a list is found in SQL. Both texts are written by us, never by a caller.
type filterColumn struct {
	expr string
	kind filters.Kind
	// within, when not empty, wraps the comparison: each "%" in it is replaced by it, as in
	// "exists (select 1 from messages m where m.incident_id = i.id and %)".
	within string
}

// listQuery builds the SQL of a list route: a select with whitelisted conditions, in the order that clients rely on
// (ascending by id; newest first with a limit). Values are always parameters.
type listQuery struct {
	sql  strings.Builder
	args []any
	// What the rows are that tags may be attached to, and where their number is; "" = nothing.
	tagKind, tagID string
}

// tagged lets the rows be filtered by their tags (fields named tag_NAME). kind is that of the table tags, id a SQL expression.
func (l *listQuery) tagged(kind, id string) *listQuery {
	l.tagKind, l.tagID = kind, id
	return l
}

// tag is the column of a filter by a tag.
func (l *listQuery) tag(field string) (filterColumn, bool) {
	name, is := strings.CutPrefix(field, "tag_")
	if !is || l.tagKind == "" {
		return filterColumn{}, false
	}
	return filterColumn{expr: "g.value", kind: filters.Text, within: "exists (select from tags g where g.kind = '" + l.tagKind +
		"' and g.object_id = " + l.tagID + " and g.name = " + l.arg(name) + "::text and %)"}, true
}

// newListQuery starts a query. name goes to the metrics; selection is everything up to and including "where true".
func newListQuery(name, selection string) *listQuery {
	l := &listQuery{}
	l.sql.WriteString("-- name: " + name + " :many\n" + selection)
	return l
}

// arg adds a parameter and returns its placeholder.
func (l *listQuery) arg(v any) string {
	l.args = append(l.args, v)
	return "$" + strconv.Itoa(len(l.args))
}

// where adds " and (condition)". The condition is SQL of ours with placeholders from arg.
func (l *listQuery) where(condition string) { l.sql.WriteString("\nand (" + condition + ")") }

// filter adds the conditions of q. A field that columns does not know, or a value of the wrong kind, is our own mistake
// and an Internal fault; operators that make no sense for a kind are Invalid.
func (l *listQuery) filter(q filters.Query, columns map[string]filterColumn) error {
	for _, c := range q.Conditions {
		col, ok := columns[c.Field]
		if !ok {
			col, ok = l.tag(c.Field)
		}
		if !ok {
			return fault.Newf(fault.Internal, "list cannot be filtered by %q", c.Field)
		}
		sql, err := l.condition(c, col)
		if err != nil {
			return err
		}
		if col.within != "" {
			sql = strings.ReplaceAll(col.within, "%", "("+sql+")")
		}
		l.where(sql)
	}
	return nil
}

// order adds the ordering and the limit, and returns the finished query. created and id are SQL expressions; newest first
// means by created, then id.
func (l *listQuery) order(limit int, created, id string) (sql string, args []any) {
	if limit <= 0 {
		l.sql.WriteString("\norder by " + id + "\nlimit " + strconv.Itoa(maxListRows+1))
	} else {
		l.sql.WriteString("\norder by " + created + " desc, " + id + " desc\nlimit " + strconv.Itoa(min(limit, maxListRows+1)))
	}
	return l.sql.String(), l.args
}

// tooBroad returns a fault when a list came back longer than we read.
func tooBroad(rows int) error {
	if rows > maxListRows {
		return fault.Invalidf("limit", "more than %d rows match, add a filter or a smaller limit", maxListRows)
	}
	return nil
}

var comparisons = map[filters.Op]string{
	filters.Eq: "=", filters.Ne: "<>", filters.Gt: ">", filters.Ge: ">=", filters.Lt: "<", filters.Le: "<=",
}

func (l *listQuery) condition(c filters.Condition, col filterColumn) (string, error) {
	if len(c.Values) == 0 {
		return "false", nil
	}
	if c.Op == filters.In {
		return l.in(c, col)
	}
	if _, partly := patterns[c.Op]; partly && col.kind != filters.Text {
		return l.digits(c, col)
	}
	switch col.kind {
	case filters.Int:
		return l.compare(c, col.expr, asInt)
	case filters.Flag, filters.Bool:
		return l.boolean(c, col.expr)
	case filters.Time:
		return l.instant(c, col.expr)
	case filters.Text:
		return l.text(c, col.expr)
	}
	return "", fault.Newf(fault.Internal, "filter of unknown kind %q", col.kind)
}

func (l *listQuery) in(c filters.Condition, col filterColumn) (string, error) {
	if col.kind == filters.Text {
		values := make([]string, len(c.Values))
		for i, v := range c.Values {
			s, err := asText(c, v)
			if err != nil {
				return "", err
			}
			values[i] = s
		}
		return "lower(" + col.expr + ") = any(array(select lower(v) from unnest(" + l.arg(values) + "::text[]) as v))", nil
	}
	if col.kind == filters.Int {
		values := make([]int64, len(c.Values))
		for i, v := range c.Values {
			n, err := asInt(c, v)
			if err != nil {
				return "", err
			}
			values[i] = n
		}
		return col.expr + " = any(" + l.arg(values) + "::bigint[])", nil
	}
	parts := make([]string, len(c.Values))
	for i, v := range c.Values {
		part, err := l.condition(filters.Condition{Field: c.Field, Op: filters.Eq, Values: []any{v}}, col)
		if err != nil {
			return "", err
		}
		parts[i] = part
	}
	return strings.Join(parts, " or "), nil
}

func (l *listQuery) compare(c filters.Condition, expr string, convert func(filters.Condition, any) (int64, error)) (string, error) {
	op, ok := comparisons[c.Op]
	if !ok {
		return "", wrongOperator(c)
	}
	n, err := convert(c, c.Values[0])
	if err != nil {
		return "", err
	}
	return expr + " " + op + " " + l.arg(n) + "::bigint", nil
}

// boolean compares flags as the numbers 0 and 1, but says "x" for x = 1, so that partial indexes serve it.
func (l *listQuery) boolean(c filters.Condition, expr string) (string, error) {
	n, err := asFlag(c, c.Values[0])
	if err != nil {
		return "", err
	}
	op := c.Op
	if op == filters.Ne && (n == 0 || n == 1) {
		op, n = filters.Eq, 1-n
	}
	switch {
	case op == filters.Eq && n == 1:
		return expr, nil
	case op == filters.Eq && n == 0:
		return "not " + expr, nil
	}
	return l.compare(c, "("+expr+")::int", asFlag)
}

// instant compares with whole seconds, as the wire has them: "= t" is any instant of that second.
func (l *listQuery) instant(c filters.Condition, expr string) (string, error) {
	t, ok := c.Values[0].(time.Time)
	if !ok {
		return "", wrongValue(c)
	}
	t = t.Truncate(time.Second)
	from := func() string { return l.arg(t) + "::timestamptz" }
	next := func() string { return l.arg(t.Add(time.Second)) + "::timestamptz" }
	switch c.Op {
	case filters.Eq:
		return expr + " >= " + from() + " and " + expr + " < " + next(), nil
	case filters.Ne:
		return expr + " < " + from() + " or " + expr + " >= " + next(), nil
	case filters.Ge:
		return expr + " >= " + from(), nil
	case filters.Lt:
		return expr + " < " + from(), nil
	case filters.Gt:
		return expr + " >= " + next(), nil
	case filters.Le:
		return expr + " < " + next(), nil
	}
	return "", wrongOperator(c)
}

var likeEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// patterns are what stands before and after the value of an operator that searches.
var patterns = map[filters.Op][2]string{filters.Contains: {"%", "%"}, filters.StartsWith: {"", "%"}, filters.EndsWith: {"%", ""}}

// text compares without regard to case. Trailing spaces of the value are not significant in whole comparisons.
func (l *listQuery) text(c filters.Condition, expr string) (string, error) {
	s, ok := c.Values[0].(string)
	if !ok {
		return "", wrongValue(c)
	}
	if around, ok := patterns[c.Op]; ok {
		return "lower(" + expr + ") like lower(" + l.arg(around[0]+likeEscape.Replace(s)+around[1]) + "::text)", nil
	}
	op, ok := comparisons[c.Op]
	if !ok {
		return "", wrongOperator(c)
	}
	return "lower(" + expr + ") " + op + " lower(" + l.arg(strings.TrimRight(s, " ")) + "::text)", nil
}

// digits searches a number, a time or a flag as it is written on the wire.
func (l *listQuery) digits(c filters.Condition, col filterColumn) (string, error) {
	s, ok := c.Values[0].(string)
	if !ok {
		return "", wrongValue(c)
	}
	written := map[filters.Kind]string{
		filters.Int: "(" + col.expr + ")::text", filters.Flag: "(" + col.expr + ")::int::text",
		filters.Time: "floor(extract(epoch from " + col.expr + "))::bigint::text",
	}[col.kind]
	if written == "" {
		return "", wrongOperator(c)
	}
	around := patterns[c.Op]
	return written + " like " + l.arg(around[0]+likeEscape.Replace(s)+around[1]) + "::text", nil
}

func asInt(c filters.Condition, v any) (int64, error) {
	n, ok := v.(int64)
	if !ok {
		return 0, wrongValue(c)
	}
	return n, nil
}

func asFlag(c filters.Condition, v any) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	}
	return 0, wrongValue(c)
}

func asText(c filters.Condition, v any) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", wrongValue(c)
	}
	return strings.TrimRight(s, " "), nil
}

func wrongOperator(c filters.Condition) error {
	return fault.Invalidf(c.Field, "invalid filter operator %s", c.Op)
}

func wrongValue(c filters.Condition) error {
	return fault.Newf(fault.Internal, "filter %s has a value of type %T", c.Field, c.Values[0])
}
