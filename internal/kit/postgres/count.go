package postgres

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
)

// Counting describes a list whose rows are counted by the values of fields. Selection is the SELECT of the list;
// TagKind and ID are the arguments of Tagged; Created is the SQL of the time by which the newest rows are found. Name
// goes to the metrics.
type Counting struct{ Name, Selection, TagKind, ID, Created string }

type counted struct {
	field string
	value *string
	n     int64
}

// Run counts the rows that match q, and for each of the fields how many rows have which value. exprs is the SQL of the
// values.
func (c Counting) Run(ctx context.Context, d *DB, q filters.Query, columns map[string]Column, fields []string,
	exprs map[string]string,
) (filters.Tally, error) {
	_, from, _ := strings.Cut(c.Selection, "\nfrom ")
	inner := "select 1 as c"
	values := "('', null::text)"
	for i, field := range fields {
		expr, ok := exprs[field]
		if !ok {
			return filters.Tally{}, fault.Newf(fault.Internal, "%q cannot be counted", field)
		}
		n := strconv.Itoa(i)
		inner += ", " + expr + " as c" + n
		values += ", ('" + field + "', x.c" + n + ")" // field is a constant of this package, not input
	}
	l := NewListQuery(c.Name, "select g.field, g.value, count(*) from (\n"+inner+"\nfrom "+from).Tagged(c.TagKind, c.ID)
	if err := l.Filter(q, columns); err != nil {
		return filters.Tally{}, err
	}
	if q.Limit > 0 {
		l.Order(q.Limit, c.Created, c.ID)
	}
	l.SQL.WriteString("\n) x cross join lateral (values " + values + ") g (field, value)\ngroup by 1, 2\nlimit " +
		strconv.Itoa(MaxListRows+1))
	rows, err := List(ctx, d, l.SQL.String(), l.Args, func(row pgx.CollectableRow) (r counted, err error) {
		return r, row.Scan(&r.field, &r.value, &r.n)
	})
	if err != nil {
		return filters.Tally{}, err
	}
	out := filters.Tally{Fields: map[string]map[string]int64{}}
	for _, field := range fields {
		out.Fields[field] = map[string]int64{}
	}
	for _, r := range rows {
		switch {
		case r.field == "":
			out.Total = r.n
		case r.value == nil:
			out.Fields[r.field]["null"] += r.n
		default:
			out.Fields[r.field][*r.value] += r.n
		}
	}
	return out, nil
}
