package postgres

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
)

// Fields that can be counted, with the SQL of their values.
var (
	incidentCounts = map[string]string{"plan": "p.name", "plan_id": "i.plan_id::text", "active": "i.active::int::text",
		"application": "a.name", "owner": "u.name", "current_step": "i.current_step::text", "title_variable_name": "a.title_variable",
		"resolved": "i.resolved::int::text"}
	planCounts = map[string]string{"name": "p.name", "threshold_window": "p.threshold_window::text",
		"threshold_count": "p.threshold_count::text", "aggregation_window": "p.aggregation_window::text",
		"aggregation_reset": "p.aggregation_reset::text", "tracking_type": "p.tracking_type", "tracking_key": "p.tracking_key",
		"creator": "u.name", "active": "(pa.plan_id is not null)::int::text"}
	templateCounts = map[string]string{"name": "t.name", "creator": "u.name", "active": "(ta.template_id is not null)::int::text"}
)

// Count counts the incidents that match, and per value of the fields. A limit counts the newest only.
func (i *Incidents) Count(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error) {
	c := counting{"CountIncidents", incidentSelection, "incident", "i.id", "i.created_at"}
	return c.run(ctx, i.db, q, incidentColumns, fields, incidentCounts)
}

// Count counts the plan versions that match, and per value of the fields.
func (p *Plans) Count(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error) {
	c := counting{"CountPlans", planList, "plan", "p.id", "p.created_at"}
	return c.run(ctx, p.db, q, planColumns, fields, planCounts)
}

// Count counts the template versions that match, and per value of the fields.
func (t *Templates) Count(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error) {
	c := counting{"CountTemplates", templateList, "template", "t.id", "t.created_at"}
	return c.run(ctx, t.db, q, templateColumns, fields, templateCounts)
}

// counting says what is counted: the selection of the list, whose rows are taken apart by field.
type counting struct{ name, selection, tagKind, id, created string }

type counted struct {
	field string
	value *string
	n     int64
}

func (c counting) run(ctx context.Context, d *DB, q filters.Query, columns map[string]filterColumn, fields []string,
	exprs map[string]string,
) (filters.Tally, error) {
	_, from, _ := strings.Cut(c.selection, "\nfrom ")
	inner := "select 1 as c"
	values := "('', null::text)"
	for i, field := range fields {
		expr, ok := exprs[field]
		if !ok {
			return filters.Tally{}, fault.Newf(fault.Internal, "%q cannot be counted", field)
		}
		n := strconv.Itoa(i)
		inner += ", " + expr + " as c" + n
		values += ", ('" + field + "', x.c" + n + ")" // field is a key of ours
	}
	l := newListQuery(c.name, "select g.field, g.value, count(*) from (\n"+inner+"\nfrom "+from).tagged(c.tagKind, c.id)
	if err := l.filter(q, columns); err != nil {
		return filters.Tally{}, err
	}
	if q.Limit > 0 {
		l.order(q.Limit, c.created, c.id)
	}
	l.sql.WriteString("\n) x cross join lateral (values " + values + ") g (field, value)\ngroup by 1, 2\nlimit " +
		strconv.Itoa(maxListRows+1))
	rows, err := list(ctx, d, l.sql.String(), l.args, func(row pgx.CollectableRow) (r counted, err error) {
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
