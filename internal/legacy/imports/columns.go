package imports

import (
	"cmp"
	"encoding/json"
	"time"
)

// Convert returns the values of a row. ok is false if the row is not imported, which is reported.
func (t Table) Convert(row *Row) (values []any, ok bool) {
	values = make([]any, len(t.Columns))
	for i, c := range t.Columns {
		if values[i] = c.value(row); row.dropped {
			return nil, false
		}
	}
	return values, true
}

func (c Column) from() string { return cmp.Or(c.From, c.Name) }

func (c Column) value(row *Row) any {
	switch from := c.from(); {
	case c.Value != nil:
		return c.Value(row, from)
	case c.Ref != nil && !c.Ref.Optional:
		return row.Int(from)
	case c.Ref != nil || c.Type == "bigint":
		return row.IntOrNil(from)
	case c.Type == "int":
		return row.Int32(from, 0)
	case c.Type == "boolean":
		return row.Bool(from)
	case c.Type == "timestamptz":
		return row.TimeOr(from)
	default:
		return row.Text(from)
	}
}

// FoldedName is the unique expression for names that are compared without case.
const FoldedName = "lower(@name)"

// NameColumn returns the column for names that are compared without case.
func NameColumn() Column {
	return Column{Name: "name", Value: Named, Same: "lower(s.name) = lower(t.name)"}
}

// AdminColumn returns the column that makes a person an administrator. An import does not remove an administrator.
func AdminColumn(from string) Column {
	return Column{Name: "admin", Type: "boolean", From: from, Same: "t.admin or not s.admin", Empty: "not t.admin"}
}

// ZoneColumn returns the column for the time zone of a person. An unknown zone becomes UTC, which does not replace
// another zone here.
func ZoneColumn() Column {
	return Column{Name: "time_zone", Value: Zone, Same: "s.time_zone in ('UTC', t.time_zone)",
		Empty: "t.time_zone = 'UTC'"}
}

// PositionColumn returns the column that numbers the rows with the same value in the column group, from 1.
func PositionColumn(group string) Column {
	last := map[int64]int{}
	return Column{Name: "position", Type: "int", State: true, Value: func(row *Row, _ string) any {
		number := row.Int(group)
		last[number]++
		return last[number]
	}}
}

// Unverified returns the column that stores contacts as not verified. Finish verifies those that belong to one person
// only.
func Unverified() Column {
	return Column{Name: "verified_destination", State: true, Value: func(*Row, string) any { return "" }}
}

// ByID returns a reference to a table whose rows keep the predecessor's ids.
func ByID(table string) *Ref { return &Ref{Table: table, Match: "id", Take: "id"} }

// Named returns a name. A row without a name is not imported.
func Named(row *Row, column string) any {
	name := row.Name(column)
	if name == "" {
		row.Lose("it has no name")
	}
	return name
}

// Filled returns an address or token without surrounding white space. A row without one is left out.
func Filled(row *Row, column string) any {
	text := row.Trimmed(column)
	if text == "" {
		row.Skip("it is empty")
	}
	return text
}

// FilledOrNil returns a text, or nil for null and an empty text.
func FilledOrNil(row *Row, column string) any {
	if text := row.Text(column); text != "" {
		return text
	}
	return nil
}

// Zone returns a time zone. An unknown zone is reported and becomes UTC.
func Zone(row *Row, column string) any {
	name := row.Name(column)
	if name != "" && !IsZone(name) {
		row.LoseValue("there is no such time zone; UTC was taken")
		name = ""
	}
	return cmp.Or(name, "UTC")
}

// IsZone reports whether a time zone exists.
func IsZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && name != "Local"
}

// Unreadable returns a JSON object that has text, which is not JSON, in the field unreadable_context.
func Unreadable(text string) json.RawMessage {
	raw, err := json.Marshal(map[string]string{"unreadable_context": text})
	if err != nil { // a string is always valid
		return json.RawMessage("{}")
	}
	return raw
}
