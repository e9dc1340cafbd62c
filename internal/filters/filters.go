// Package filters holds the query grammar of list routes as data: conditions over named fields that the edge parses
// (irisapi) and storage turns into SQL (postgres). Domains publish a Schema saying which fields a list has.
package filters

import "time"

// Op is a comparison. The words are those of the v0 wire (`field__op=value`).
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
	Bool Kind = "bool" // bool, from the query words true/false/1/0/yes/no/on/off
	Flag Kind = "flag" // bool stored, compared as integer 0/1 on the wire
)

// Schema names the fields that a list can be filtered by.
type Schema map[string]Kind

// Condition is one comparison. Values has one element except for In. Elements are int64, string, time.Time or bool
// according to the field's Kind (int64 and bool for flags); for Contains, StartsWith and EndsWith they are always strings.
type Condition struct {
	Field  string
	Op     Op
	Values []any
}

// Query is a parsed list request: all conditions hold (AND).
type Query struct {
	Conditions []Condition
	Fields     []string // the columns asked for; empty = all
	Limit      int      // 0 = none; > 0 also means newest first
	After      *Place   // with a limit: only what comes after this place, newest first; nil = from the beginning
}

// Place is where a page of a list ends: the creation and the number of its last row.
type Place struct {
	At time.Time
	ID int64
}

// Tally is what a counted list consists of: how many things match, and for each counted field how many have each value.
type Tally struct {
	Total  int64
	Fields map[string]map[string]int64
}
