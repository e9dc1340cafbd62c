package postgres

import (
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
)

// MaxListRows is how many rows a list route reads at most. A query with more rows is refused: a silently truncated
// answer would be worse.
const MaxListRows = 20000

// Column is the SQL of a field of a list. Its texts are constants, never input.
type Column struct {
	Expr string
	Kind filters.Kind
	// Within, if not empty, wraps the comparison: each "%" in it is replaced by the comparison, as in "exists (select 1
	// from messages m where m.incident_id = i.id and %)".
	Within string
}

// ListQuery builds the SQL of a list route: a select with whitelisted conditions, in the order that clients rely on
// (ascending by id; newest first with a limit). Values are always parameters.
type ListQuery struct {
	SQL  strings.Builder
	Args []any
	// The kind of the rows in the table tags, and the SQL of their number; "" = the rows have no tags.
	tagKind, tagID string
}

// Tagged lets the rows be filtered by their tags (fields named tag_NAME). kind is that of the table tags, id a SQL
// expression.
func (l *ListQuery) Tagged(kind, id string) *ListQuery {
	l.tagKind, l.tagID = kind, id
	return l
}

// tag is the column of a filter by a tag.
func (l *ListQuery) tag(field string) (Column, bool) {
	name, is := strings.CutPrefix(field, "tag_")
	if !is || l.tagKind == "" {
		return Column{}, false
	}
	return Column{Expr: "g.value", Kind: filters.Text, Within: "exists (select from tags g where g.kind = '" +
		l.tagKind +
		"' and g.object_id = " + l.tagID + " and g.name = " + l.Arg(name) + "::text and %)"}, true
}

// NewListQuery starts a query. name goes to the metrics; selection is everything up to and including "where true".
func NewListQuery(name, selection string) *ListQuery {
	l := &ListQuery{}
	l.SQL.WriteString("-- name: " + name + " :many\n" + selection)
	return l
}

// Arg adds a parameter and returns its placeholder.
func (l *ListQuery) Arg(v any) string {
	l.Args = append(l.Args, v)
	return "$" + strconv.Itoa(len(l.Args))
}

// Where adds " and (condition)". The condition is constant SQL with placeholders from Arg.
func (l *ListQuery) Where(condition string) { l.SQL.WriteString("\nand (" + condition + ")") }

// Filter adds the conditions of q, and the position after which its page begins. A field without a column and a value
// of the wrong kind are defects of the caller: Internal faults. An operator that does not exist for a kind is an
// Invalid fault.
func (l *ListQuery) Filter(q filters.Query, columns map[string]Column) error {
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
		if col.Within != "" {
			sql = strings.ReplaceAll(col.Within, "%", "("+sql+")")
		}
		l.Where(sql)
	}
	if q.After != nil {
		l.Where("(" + columns["created"].Expr + ", " + columns["id"].Expr + ") < (" + l.Arg(q.After.At) +
			"::timestamptz, " +
			l.Arg(q.After.ID) + "::bigint)")
	}
	return nil
}

// Order adds the ordering and the limit, and returns the finished query. created and id are SQL expressions; newest
// first means by created, then id.
func (l *ListQuery) Order(limit int, created, id string) (sql string, args []any) {
	if limit <= 0 {
		l.SQL.WriteString("\norder by " + id + "\nlimit " + strconv.Itoa(MaxListRows+1))
	} else {
		l.SQL.WriteString("\norder by " + created + " desc, " + id + " desc\nlimit " +
			strconv.Itoa(min(limit, MaxListRows+1)))
	}
	return l.SQL.String(), l.Args
}

// TooBroad returns an Invalid fault when a list has more rows than may be read.
func TooBroad(rows int) error {
	if rows > MaxListRows {
		return fault.Invalidf("limit", "more than %d rows match, add a filter or a smaller limit", MaxListRows)
	}
	return nil
}

var comparisons = map[filters.Op]string{
	filters.Eq: "=", filters.Ne: "<>", filters.Gt: ">", filters.Ge: ">=", filters.Lt: "<", filters.Le: "<=",
}

func (l *ListQuery) condition(c filters.Condition, col Column) (string, error) {
	if len(c.Values) == 0 {
		return "false", nil
	}
	if c.Op == filters.In {
		return l.in(c, col)
	}
	if _, partly := patterns[c.Op]; partly && col.Kind != filters.Text {
		return l.digits(c, col)
	}
	switch col.Kind {
	case filters.Int:
		return l.compare(c, col.Expr, asInt)
	case filters.Flag, filters.Bool:
		return l.boolean(c, col.Expr)
	case filters.Time:
		return l.instant(c, col.Expr)
	case filters.Text:
		return l.text(c, col.Expr)
	}
	return "", fault.Newf(fault.Internal, "filter of unknown kind %q", col.Kind)
}

func (l *ListQuery) in(c filters.Condition, col Column) (string, error) {
	if col.Kind == filters.Text {
		values := make([]string, len(c.Values))
		for i, v := range c.Values {
			s, err := asText(c, v)
			if err != nil {
				return "", err
			}
			values[i] = s
		}
		return "lower(" + col.Expr + ") = any(array(select lower(v) from unnest(" + l.Arg(values) +
			"::text[]) as v))", nil
	}
	if col.Kind == filters.Int {
		values := make([]int64, len(c.Values))
		for i, v := range c.Values {
			n, err := asInt(c, v)
			if err != nil {
				return "", err
			}
			values[i] = n
		}
		return col.Expr + " = any(" + l.Arg(values) + "::bigint[])", nil
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

func (l *ListQuery) compare(c filters.Condition, expr string, convert func(filters.Condition, any) (int64, error)) (string, error) {
	op, ok := comparisons[c.Op]
	if !ok {
		return "", wrongOperator(c)
	}
	n, err := convert(c, c.Values[0])
	if err != nil {
		return "", err
	}
	return expr + " " + op + " " + l.Arg(n) + "::bigint", nil
}

// boolean compares flags as the numbers 0 and 1. It writes "x" for x = 1, so that partial indexes are used.
func (l *ListQuery) boolean(c filters.Condition, expr string) (string, error) {
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

// instant compares with whole seconds, as on the wire: "= t" matches any instant within that second.
func (l *ListQuery) instant(c filters.Condition, expr string) (string, error) {
	t, ok := c.Values[0].(time.Time)
	if !ok {
		return "", wrongValue(c)
	}
	t = t.Truncate(time.Second)
	from := func() string { return l.Arg(t) + "::timestamptz" }
	next := func() string { return l.Arg(t.Add(time.Second)) + "::timestamptz" }
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

// LikeEscape returns the pattern of like that matches exactly the text.
var LikeEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// patterns are the wildcards before and after the value of a search operator.
var patterns = map[filters.Op][2]string{filters.Contains: {"%", "%"}, filters.StartsWith: {"", "%"},
	filters.EndsWith: {"%", ""}}

// text compares without case. Comparisons of whole texts ignore trailing spaces of the value.
func (l *ListQuery) text(c filters.Condition, expr string) (string, error) {
	s, ok := c.Values[0].(string)
	if !ok {
		return "", wrongValue(c)
	}
	if around, ok := patterns[c.Op]; ok {
		return "lower(" + expr + ") like lower(" + l.Arg(around[0]+LikeEscape.Replace(s)+around[1]) + "::text)", nil
	}
	op, ok := comparisons[c.Op]
	if !ok {
		return "", wrongOperator(c)
	}
	return "lower(" + expr + ") " + op + " lower(" + l.Arg(strings.TrimRight(s, " ")) + "::text)", nil
}

// digits searches a number, a time or a flag as it is written on the wire.
func (l *ListQuery) digits(c filters.Condition, col Column) (string, error) {
	s, ok := c.Values[0].(string)
	if !ok {
		return "", wrongValue(c)
	}
	written := map[filters.Kind]string{
		filters.Int: "(" + col.Expr + ")::text", filters.Flag: "(" + col.Expr + ")::int::text",
		filters.Time: "floor(extract(epoch from " + col.Expr + "))::bigint::text",
	}[col.Kind]
	if written == "" {
		return "", wrongOperator(c)
	}
	around := patterns[c.Op]
	return written + " like " + l.Arg(around[0]+LikeEscape.Replace(s)+around[1]) + "::text", nil
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
