package filters

import (
	"reflect"
	"time"
)

// Op is a comparison. The values are those of the v0 wire (`field__op=value`).
type Op string

// The comparisons.
const (
	Eq         Op = "eq"
	Ne         Op = "ne"
	Gt         Op = "gt"
	Ge         Op = "ge"
	Lt         Op = "lt"
	Le         Op = "le"
	In         Op = "in"
	Contains   Op = "contains"
	StartsWith Op = "startswith"
	EndsWith   Op = "endswith"
)

// Kind is the type of a field's values.
type Kind string

// The types of fields.
const (
	Int  Kind = "int"  // int64
	Text Kind = "text" // string; compared case-insensitively
	Time Kind = "time" // integer Unix seconds on the wire
	Bool Kind = "bool" // bool, from the query values true/false/1/0/yes/no/on/off
	Flag Kind = "flag" // bool stored, compared as integer 0/1 on the wire
)

// Schema has the fields that filter a list, with their types.
type Schema map[string]Kind

// Condition is one comparison. Values has one element except for In. Elements are int64, string, time.Time or bool
// according to the field's Kind (int64 and bool for flags); for Contains, StartsWith and EndsWith they are always
// strings.
type Condition struct {
	Field  string
	Op     Op
	Values []any
}

// Equal returns the condition that a field has a value.
func Equal(field string, value any) Condition {
	return Condition{Field: field, Op: Eq, Values: []any{value}}
}

// Query is a parsed list request. A row must meet all conditions.
type Query struct {
	Conditions []Condition
	Fields     []string // requested columns; empty = all
	Limit      int      // 0 = no limit; with a limit the newest row comes first
	After      *Place   // with a limit: only rows after this one; nil = from the first row
}

// Add adds a condition unless the value is the zero value of its type.
func (q *Query) Add(field string, op Op, value any) {
	if !reflect.ValueOf(value).IsZero() {
		q.Conditions = append(q.Conditions, Condition{Field: field, Op: op, Values: []any{value}})
	}
}

// Place identifies the last row of a page of a list: its creation time and its id.
type Place struct {
	At time.Time
	ID int64
}

// Tally counts the rows that match: all of them, and for each counted field the rows with each value.
type Tally struct {
	Total  int64
	Fields map[string]map[string]int64
}
