package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
)

func TestListQuery(t *testing.T) {
	t.Parallel()
	columns := map[string]Column{
		"id": {Expr: "i.id", Kind: filters.Int}, "name": {Expr: "i.name", Kind: filters.Text},
		"created": {Expr: "i.created_at", Kind: filters.Time}, "active": {Expr: "i.active", Kind: filters.Flag},
		"claimed": {Expr: "(i.owner_id is not null)", Kind: filters.Bool},
		"target":  {Expr: "m.target", Kind: filters.Text, Within: "exists (select 1 from m where %)"},
	}
	at := time.Unix(1000, 5).UTC()
	sec := time.Unix(1000, 0).UTC()
	for _, c := range []struct {
		field  string
		op     filters.Op
		values []any
		sql    string
		args   []any
	}{
		{"id", filters.Eq, []any{int64(3)}, "i.id = $1::bigint", []any{int64(3)}},
		{"id", filters.In, []any{int64(3), int64(4)}, "i.id = any($1::bigint[])", []any{[]int64{3, 4}}},
		{"id", filters.In, nil, "false", nil},
		{"name", filters.Eq, []any{"A "}, "lower(i.name) = lower($1::text)", []any{"A"}},
		{"name", filters.Contains, []any{`50%_\`}, "lower(i.name) like lower($1::text)", []any{`%50\%\_\\%`}},
		{"name", filters.StartsWith, []any{"a"}, "lower(i.name) like lower($1::text)", []any{"a%"}},
		{"name", filters.EndsWith, []any{"a"}, "lower(i.name) like lower($1::text)", []any{"%a"}},
		{"name", filters.In, []any{"a", "B"},
			"lower(i.name) = any(array(select lower(v) from unnest($1::text[]) as v))", []any{[]string{"a", "B"}}},
		{"id", filters.Contains, []any{"1"}, "(i.id)::text like $1::text", []any{"%1%"}},
		{"active", filters.StartsWith, []any{"1"}, "(i.active)::int::text like $1::text", []any{"1%"}},
		{"active", filters.Ge, []any{true}, "(i.active)::int >= $1::bigint", []any{int64(1)}},
		{"active", filters.Eq, []any{int64(2)}, "(i.active)::int = $1::bigint", []any{int64(2)}},
		{"created", filters.EndsWith, []any{"7"},
			"floor(extract(epoch from i.created_at))::bigint::text like $1::text", []any{"%7"}},
		{"created", filters.Eq, []any{at}, "i.created_at >= $1::timestamptz and i.created_at < $2::timestamptz",
			[]any{sec, sec.Add(time.Second)}},
		{"created", filters.Gt, []any{at}, "i.created_at >= $1::timestamptz", []any{sec.Add(time.Second)}},
		{"created", filters.Le, []any{at}, "i.created_at < $1::timestamptz", []any{sec.Add(time.Second)}},
		{"active", filters.Eq, []any{true}, "i.active", nil},
		{"active", filters.Ne, []any{int64(1)}, "not i.active", nil},
		{"active", filters.In, []any{true, false}, "i.active or not i.active", nil},
		{"claimed", filters.Eq, []any{false}, "not (i.owner_id is not null)", nil},
		{"target", filters.Eq, []any{"ann"}, "exists (select 1 from m where (lower(m.target) = lower($1::text)))",
			[]any{"ann"}},
	} {
		l := NewListQuery("Test", "select 1 where true")
		err := l.Filter(filters.Query{Conditions: []filters.Condition{{Field: c.field, Op: c.op, Values: c.values}}},
			columns)
		require.NoError(t, err, c)
		sql, args := l.Order(0, "i.created_at", "i.id")
		require.Equal(t, "-- name: Test :many\nselect 1 where true\nand ("+c.sql+")\norder by i.id\nlimit 20001", sql)
		require.Equal(t, c.args, args, c)
	}

	for _, c := range []struct {
		cond filters.Condition
		kind fault.Kind
	}{
		{filters.Condition{Field: "nope", Op: filters.Eq, Values: []any{"x"}}, fault.Internal},
		{filters.Condition{Field: "id", Op: filters.Eq, Values: []any{"x"}}, fault.Internal},
		{filters.Condition{Field: "id", Op: filters.Contains, Values: []any{int64(1)}}, fault.Internal},
		{filters.Condition{Field: "active", Op: filters.Contains, Values: []any{true}}, fault.Internal},
		{filters.Condition{Field: "created", Op: filters.EndsWith, Values: []any{at}}, fault.Internal},
		{filters.Condition{Field: "claimed", Op: filters.Contains, Values: []any{"1"}}, fault.Invalid},
		{filters.Condition{Field: "id", Op: "x; drop table", Values: []any{int64(1)}}, fault.Invalid},
		{filters.Condition{Field: "name", Op: "x; drop table", Values: []any{"x"}}, fault.Invalid},
	} {
		l := NewListQuery("Test", "select 1 where true")
		err := l.Filter(filters.Query{Conditions: []filters.Condition{c.cond}}, columns)
		require.Equal(t, c.kind, fault.KindOf(err), c.cond)
	}

	l := NewListQuery("Test", "select 1 where true")
	sql, _ := l.Order(5, "i.created_at", "i.id")
	require.Contains(t, sql, "order by i.created_at desc, i.id desc\nlimit 5")
	require.NoError(t, TooBroad(MaxListRows))
	require.Equal(t, fault.Invalid, fault.KindOf(TooBroad(MaxListRows+1)))
}
