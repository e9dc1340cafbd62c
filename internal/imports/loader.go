package imports

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Loading is the part of a Store that stores rows.
type Loading interface {
	// Load stores records in a table. The contexts of incidents (an Aside column), lines of timelines for comments and for
	// changes of messages are stored with them.
	Load(ctx context.Context, t Table, records Records) (Outcome, error)
}

// From selects the source of a class of rows.
type From struct {
	Class   string
	Table   string
	Order   string // columns in SQL
	Columns []string
}

// Loader converts rows of a source and stores them. It is used by one goroutine.
type Loader struct {
	Source *Source
	Store  Loading
	Report *Report
}

// Load converts and stores rows. convert returns false for a row that is not imported; it has reported why.
func (l Loader) Load(ctx context.Context, f From, t Table, convert func(*Row) ([]any, bool)) error {
	class := l.Report.Class(f.Class)
	out, err := l.Store.Load(ctx, t, l.Records(ctx, f, convert))
	class.AddOutcome(out)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Class, err)
	}
	return nil
}

// Records returns the converted rows.
func (l Loader) Records(ctx context.Context, f From, convert func(*Row) ([]any, bool)) Records {
	class := l.Report.Class(f.Class)
	return func(yield func(Record, error) bool) {
		for row, err := range l.Source.Rows(ctx, l.Report, class, f.Table, f.Order, f.Columns...) {
			if err != nil {
				yield(Record{}, err)
				return
			}
			values, ok := convert(row)
			if ok && !yield(Record{Label: row.Label, Values: values}, nil) {
				return
			}
		}
	}
}

// Each calls f with each row of a small table. The rows are counted where they are stored; Each counts only rows that f
// does not import.
func (l Loader) Each(ctx context.Context, fr From, f func(*Row)) error {
	class := l.Report.Class(fr.Class)
	for row, err := range l.Source.Rows(ctx, l.Report, class, fr.Table, fr.Order, fr.Columns...) {
		if err != nil {
			return err
		}
		before := class.NotTaken
		f(row)
		if class.NotTaken == before {
			row.Uncount()
		}
	}
	return nil
}

// Leftovers reports tables and columns that have data and were not read. known has the columns that are not imported
// because nothing is lost by it, by table ("*" = the whole table). Call it last.
func (l Loader) Leftovers(ctx context.Context, whose string, known map[string]string) error {
	tables := l.Source.Tables()
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		if known[table] == "*" {
			continue
		}
		read, ok := l.Source.asked[table]
		if !ok {
			n, err := l.Source.Count(ctx, table, "")
			if err != nil {
				return err
			}
			l.left(n, "the table "+table+" is not one of "+whose+"'s and was not taken", true)
			continue
		}
		names := append(strings.Fields(known[table]), read...)
		for _, column := range tables[table] {
			if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, column) }) {
				continue
			}
			quoted := Quote(column)
			n, err := l.Source.Count(ctx, table, quoted+" is not null and cast("+quoted+" as char) not in ('', '0')")
			if err != nil {
				return err
			}
			l.left(n, "the column "+table+"."+column+" is not one of "+whose+"'s and was not taken", false)
		}
	}
	return nil
}

func (l Loader) left(rows int64, text string, whole bool) {
	if rows > 0 {
		l.Report.Class("unknown to the import").AddReason(Reason{Kind: NotTaken, Text: text, Rows: rows, Whole: whole})
	}
}
