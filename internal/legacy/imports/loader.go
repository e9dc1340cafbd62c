package imports

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// From selects the source of a class of rows.
type From struct {
	Class   string
	Table   string
	Order   string // columns in SQL
	Columns string // separated by spaces
}

// Loader converts rows of a source and stores them. It is used by one goroutine.
type Loader struct {
	Source *Source
	Store  Loading
	Report *Report
	Modes  Modes
	Region users.Region // the country of phone numbers without a country code
	// Names are the names of the objects that columns of the source refer to: by column, then by number.
	Names map[string]map[int64]string
}

// RunAll calls the parts of an import one after another, until one fails.
func RunAll(ctx context.Context, parts ...func(context.Context) error) error {
	for _, part := range parts {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Check returns an Invalid fault if the source lacks a table of the predecessor.
func (l Loader) Check(predecessor string, tables ...string) error {
	for _, table := range tables {
		if !l.Source.Has(table) {
			return fault.Invalidf("from", "this is not a database of %s: it has no table %s", predecessor, table)
		}
	}
	return nil
}

// Load converts and stores the rows of tables, one table after another.
func (l Loader) Load(ctx context.Context, tables ...Table) error {
	for _, t := range tables {
		if t.Key == nil {
			t.Key = []string{t.Columns[0].Name}
		}
		out, err := l.Store.Load(ctx, t, l.records(ctx, t))
		l.Report.Class(t.Class).AddOutcome(out)
		if err != nil {
			return fmt.Errorf("%s: %w", t.Class, err)
		}
	}
	return nil
}

// Finish tidies the report and, if anything is new and nothing conflicts, ends the import.
func (l Loader) Finish(ctx context.Context) error {
	l.Report.Tidy()
	if l.Report.Conflicts() > 0 || l.Report.Taken() == 0 {
		return nil
	}
	return l.Store.Finish(ctx, fmt.Sprintf("from %s, %d rows", l.Source.From(), l.Report.Taken()))
}

// records returns the converted rows of a table.
func (l Loader) records(ctx context.Context, t Table) Records {
	from := From{Class: t.Class, Table: t.From, Order: t.Order, Columns: t.Reads}
	for _, c := range t.Columns {
		from.Columns += " " + c.from()
	}
	return func(yield func(Record, error) bool) {
		for row, err := range l.Source.Rows(ctx, l.Report, from) {
			if err != nil {
				yield(Record{}, err)
				return
			}
			row.muted = true
			row.Label = os.Expand(t.Label, func(column string) string { return l.label(row, column) })
			row.muted = false
			if values, ok := t.Convert(row); ok && !yield(Record{Label: row.Label, Values: values}, nil) {
				return
			}
		}
	}
}

// Each calls f with each row of a small table. The rows are counted where they are stored; Each counts only rows that f
// drops.
func (l Loader) Each(ctx context.Context, from From, f func(*Row)) error {
	for row, err := range l.Source.Rows(ctx, l.Report, from) {
		if err != nil {
			return err
		}
		if f(row); !row.dropped {
			row.class.Read--
		}
	}
	return nil
}

// ReadNames reads the names of the objects that a column refers to from their table.
func (l Loader) ReadNames(ctx context.Context, column, table string) error {
	names := map[int64]string{}
	l.Names[column] = names
	l.Report = NewReport("", nil) // invalid names are reported when their rows are imported
	return l.Each(ctx, From{Table: table, Order: "id", Columns: "id name"},
		func(row *Row) { names[row.Int("id")] = row.Name("name") })
}

// NameOf returns the name of the object that a column refers to; "" = there is no such object.
func (l Loader) NameOf(row *Row, column string) string { return l.Names[column][row.Int(column)] }

// label returns the text for a column in the label of a row.
func (l Loader) label(row *Row, column string) string {
	value := cmp.Or(row.Name(column), "(none)")
	name, known := l.Names[column][row.Int(column)]
	switch {
	case column == "start": // of an event
		start, _ := row.Epoch(column)
		return start.Format(time.DateTime)
	case len(l.Names[column]) == 0:
		return value
	case !known:
		return "#" + value
	case column == "template_id" || column == "plan_id": // versions have the same name
		return value + " " + name
	}
	return cmp.Or(name, value)
}

// Known returns the name of the object that a column refers to. A row that refers to no object is not imported.
func (l Loader) Known(row *Row, column string) any {
	name, ok := l.Names[column][row.Int(column)]
	if !ok {
		row.Lose("its %s refers to a row that does not exist", column)
	}
	return name
}

// Mode returns the mode of a row. A row whose mode does not exist here is not imported.
func (l Loader) Mode(row *Row, column string) any {
	name, ok := l.Names["mode_id"][row.Int(column)]
	mode, ours := l.Modes.Ours(name)
	switch {
	case !ok:
		row.Lose("its %s refers to a row that does not exist", column)
	case !ours:
		row.Lose("there is no mode %s here: map it to another one with --mode %s=slack", name, name)
	}
	return mode
}

// Leftovers reports tables and columns that have data and were not read. known lists, by table, the columns that are
// left out without a loss ("*" = the whole table). Call it last.
func (l Loader) Leftovers(ctx context.Context, whose string, known map[string]string) error {
	for _, table := range slices.Sorted(maps.Keys(l.Source.tables)) {
		read, asked := l.Source.asked[table]
		switch {
		case known[table] == "*":
			continue
		case !asked:
			if err := l.left(ctx, "table "+table, whose, table, ""); err != nil {
				return err
			}
			continue
		}
		names := append(strings.Fields(known[table]), read...)
		for _, column := range l.Source.tables[table] {
			if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, column) }) {
				continue
			}
			filled := fmt.Sprintf("%[1]s is not null and cast(%[1]s as char) not in ('', '0')", Quote(column))
			if err := l.left(ctx, "column "+table+"."+column, whose, table, filled); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l Loader) left(ctx context.Context, what, whose, table, condition string) error {
	n, err := l.Source.Count(ctx, table, condition)
	if n > 0 {
		l.Report.Class("unknown to the import").AddReason(Reason{Kind: NotTaken, Rows: n, Whole: condition == "",
			Text: "the " + what + " is not part of " + whose + " and was not taken"})
	}
	return err
}
