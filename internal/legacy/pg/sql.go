package pg

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/legacy/imports"
)

// The statements of a load. Three temporary tables hold its rows: staged has the rows as they were read, resolved has
// them with the numbers of this database (lost is the reason why a row cannot be imported), and fresh has the new rows.
// All names come from the descriptions of tables in our code.

func column(name string) string { return `"` + name + `"` }

func stageSQL(t imports.Table) string {
	defs := []string{"ord bigint", "label text"}
	for _, c := range t.Columns {
		kind := "text"
		if c.Ref != nil {
			kind = "bigint"
		}
		defs = append(defs, column(c.Name)+" "+cmp.Or(c.Type, kind))
	}
	return "create temp table staged (" + strings.Join(defs, ", ") + ") on commit drop"
}

// resolveSQL resolves references and finds duplicate rows.
func resolveSQL(t imports.Table) string {
	var take, joins []string
	lost, cut := "case", "array_remove(array[null::text"
	if numberedBy(t) {
		lost += fmt.Sprintf(" when s.%s not between 1 and %d then '%s'", column(t.Key[0]), imports.HighestNumber,
			imports.WrongNumber)
	}
	for i, c := range t.Columns {
		name := column(c.Name)
		if c.Ref == nil {
			take = append(take, "s."+name)
			continue
		}
		alias := fmt.Sprintf("r%d", i)
		take = append(take, fmt.Sprintf("%s.%s as %s", alias, column(c.Ref.Take), name))
		joins = append(joins, fmt.Sprintf("left join %s %s on %s.%s = s.%s", c.Ref.Table, alias, alias,
			column(c.Ref.Match), name))
		missing := fmt.Sprintf("s.%s is not null and %s.%s is null", name, alias, column(c.Ref.Match))
		if c.Ref.Optional {
			cut += fmt.Sprintf(", case when %s then '%s' end", missing, c.Name)
		} else {
			lost += fmt.Sprintf(" when %s then 'its %s refers to a row that does not exist'", missing, c.Name)
		}
	}
	if lost == "case" {
		lost = "case when false then ''"
	}
	inner := fmt.Sprintf("select s.ord, s.label, %s, (%s end)::text as lost, %s], null) as cut from staged s %s",
		strings.Join(take, ", "), lost, cut, strings.Join(joins, " "))
	if len(t.Key) == 1 && t.Key[0] == "id" { // a primary key in the predecessor too: no duplicates
		return "create temp table resolved on commit drop as " + inner
	}
	var names, keys []string
	for _, c := range t.Columns {
		names = append(names, column(c.Name))
	}
	for _, k := range t.Key {
		keys = append(keys, column(k))
	}
	return fmt.Sprintf(`create temp table resolved on commit drop as
select ord, label, %s, coalesce(lost, case when row_number() over (partition by lost is null, %s order by ord) > 1
    then 'the source has it twice' end) as lost, cut from (%s) x`, strings.Join(names, ", "), strings.Join(keys, ", "), inner)
}

// check is a query that returns the reasons of a kind, each with the number of its rows and examples.
type check struct {
	kind  imports.Kind
	whole bool // the rows are not imported
	sql   string
}

const examples = "(array_agg(label order by ord))[1:5]"

// checks returns the queries that compare the resolved rows with existing ones, in order. first says that this is the
// first import.
func checks(t imports.Table, first bool) []check {
	all := []check{
		{imports.NotTaken, true, "select lost, count(*), " + examples +
			" from resolved where lost is not null group by lost"},
		{imports.NotTaken, false, "select 'its ' || c || ' refers to a row that does not exist; the rest was taken', count(*), " + examples +
			" from resolved, unnest(cut) as c where lost is null group by c"},
	}
	if first {
		all = append(all, check{imports.Note, false, fillSQL(t)})
	}
	all = append(all, check{imports.NotTaken, false, keepSQL(t)}, check{imports.Conflict, true, differSQL(t)})
	return slices.DeleteFunc(append(all, twinChecks(t)...), func(c check) bool { return c.sql == "" })
}

// numberedBy reports whether rows of the table have numbers of their own.
func numberedBy(t imports.Table) bool {
	return len(t.Key) == 1 && t.Columns[0].Name == t.Key[0] && t.Columns[0].Type == "bigint" && t.Columns[0].Ref == nil
}

// sameKey is the condition that a resolved row (s) is the stored row (t).
func sameKey(t imports.Table) string {
	var on []string
	for _, k := range t.Key {
		on = append(on, fmt.Sprintf("t.%s = s.%s", column(k), column(k)))
	}
	return strings.Join(on, " and ")
}

// agrees is the condition that a resolved row (s) does not contradict the stored row (t).
func agrees(t imports.Table) string {
	conds := []string{"true"}
	for _, c := range t.Columns {
		if !c.State && !c.Aside && !c.Keep {
			conds = append(conds, "("+agree(c)+")")
		}
	}
	return strings.Join(conds, " and ")
}

func agree(c imports.Column) string {
	if c.Same != "" {
		return c.Same
	}
	cast := ""
	if c.Type == "json" {
		cast = "::text"
	}
	return fmt.Sprintf("s.%s%s is not distinct from t.%s%s", column(c.Name), cast, column(c.Name), cast)
}

// fillSQL sets columns of stored rows that are still empty, and lists the changed rows; "" = the table has no such
// columns.
func fillSQL(t imports.Table) string {
	var sets, before, after []string
	for _, c := range t.Columns {
		if c.Empty == "" {
			continue
		}
		name := column(c.Name)
		value := fmt.Sprintf("case when %s then coalesce(s.%s, t.%s) else t.%s end", c.Empty, name, name, name)
		sets, before, after = append(sets, name+" = "+value), append(before, "t."+name), append(after, value)
	}
	if sets == nil {
		return ""
	}
	return fmt.Sprintf(`with filled as (
    update %s t set %s from resolved s where %s and s.lost is null and (%s) is distinct from (%s) returning s.ord, s.label
)
select 'it existed here already, and its empty values were filled in', count(*), %s from filled having count(*) > 0`,
		t.Name, strings.Join(sets, ", "), sameKey(t), strings.Join(before, ", "), strings.Join(after, ", "), examples)
}

// keepSQL lists stored rows that differ in columns that may differ; "" = the table has no such columns.
func keepSQL(t imports.Table) string {
	var checks []string
	for _, c := range t.Columns {
		if !c.Keep {
			continue
		}
		sides := "''"
		if name := column(c.Name); !c.Hidden {
			sides = fmt.Sprintf("format('; %%s in the source, %%s here', coalesce(left(s.%s::text, 60), 'nothing'), coalesce(left(t.%s::text, 60), 'nothing'))", name, name)
		}
		checks = append(checks, fmt.Sprintf(`select 'its %s differs here, and the value here is kept' as reason, s.ord, s.label || %s as label
from resolved s join %s t on %s where s.lost is null and not (%s)`, c.Name, sides, t.Name, sameKey(t), agree(c)))
	}
	if checks == nil {
		return ""
	}
	return "select reason, count(*), " + examples + " from (" + strings.Join(checks, " union all ") +
		") k group by reason"
}

// differSQL lists stored rows that differ, with both values.
func differSQL(t imports.Table) string {
	parts := []string{"''"}
	var what []string
	for _, c := range t.Columns {
		if c.State || c.Aside || c.Keep {
			continue
		}
		name := column(c.Name)
		differs := "not (" + agree(c) + ")"
		what = append(what, fmt.Sprintf("case when %s then '%s' end", differs, c.Name))
		if !c.Hidden {
			parts = append(parts, fmt.Sprintf("case when %s then format('; %s is %%s in the source, %%s here', coalesce(left(s.%s::text, 60), 'nothing'), coalesce(left(t.%s::text, 60), 'nothing')) end",
				differs, c.Name, name, name))
		}
	}
	if what == nil {
		return ""
	}
	return fmt.Sprintf(`select 'it exists here already and differs in ' || what, count(*), (array_agg(label || sides order by ord))[1:5]
from (select s.ord, s.label, concat_ws(', ', %s) as what, concat(%s) as sides
    from resolved s join %s t on %s where s.lost is null and not (%s)) d group by what`,
		strings.Join(what, ", "), strings.Join(parts, ", "), t.Name, sameKey(t), agrees(t))
}

// twinChecks lists rows with the same name (or another unique value) as another row in either database, and deletes
// them. A statement that deletes may return the deleted rows, which are reported at once.
func twinChecks(t imports.Table) []check {
	kind := imports.Conflict
	twice, taken := "two of them have the same name or position here, where upper and lower case are equal: rename one", "another row here has its name, address or position"
	both := "label || ' in the source, ' || here || ' here'"
	if t.Yields != "" { // the value here is not shown, it may be a secret
		kind, twice, taken, both = imports.NotTaken, "the source has it twice", t.Yields, "label"
	}
	var out []check
	for _, unique := range t.Unique {
		key, there, here := "t."+column(t.Key[0]), strings.ReplaceAll(unique, "@", "s."), strings.ReplaceAll(unique,
			"@", "t.")
		out = append(out, check{kind, true, fmt.Sprintf(`with twins as (
    select s.ord, s.label, u.v, row_number() over (partition by u.v order by s.ord) as nth, first_value(s.label) over (partition by u.v order by s.ord) as first
    from resolved s cross join lateral (select %s as v) u where s.lost is null and u.v is not null
), gone as (
    delete from resolved r using twins w where w.ord = r.ord and w.nth > 1 returning r.ord, r.label, w.first
)
select '%s', count(*), (array_agg(label || ' and ' || first order by ord))[1:5]
from gone having count(*) > 0`, there, twice)}, check{kind, true, fmt.Sprintf(`with taken as (
    select s.ord, s.label, %s::text as here from resolved s join %s t on %s = %s and not (%s)
    where s.lost is null
), gone as (
    delete from resolved r using taken w where w.ord = r.ord returning r.ord, r.label, w.here
)
select '%s', count(*), (array_agg(%s order by ord))[1:5]
from gone having count(*) > 0`, key, t.Name, here, there, sameKey(t), taken, both)})
	}
	return out
}

func sameSQL(t imports.Table) string {
	return fmt.Sprintf("select count(*) from resolved s join %s t on %s where s.lost is null and %s", t.Name,
		sameKey(t), agrees(t))
}

// freshSQL lists the rows that are new, before they are inserted: later statements need them.
func freshSQL(t imports.Table) string {
	return fmt.Sprintf("create temp table fresh on commit drop as select s.ord from resolved s where s.lost is null and not exists (select from %s t where %s)",
		t.Name, sameKey(t))
}

func insertSQL(t imports.Table) string {
	var names, values []string
	for _, c := range t.Columns {
		if c.Aside {
			continue
		}
		names = append(names, column(c.Name))
		values = append(values, "s."+column(c.Name))
	}
	return fmt.Sprintf("insert into %s (%s) overriding system value select %s from resolved s join fresh f on f.ord = s.ord order by s.ord",
		t.Name, strings.Join(names, ", "), strings.Join(values, ", "))
}
