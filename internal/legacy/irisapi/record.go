package irisapi

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// Member is a name and a value of a Record.
type Member = struct {
	Name  string
	Value any
}

// Record is a JSON object whose members keep their order.
type Record []Member

// MarshalJSON implements json.Marshaler.
func (r Record) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	buf.WriteByte('{')
	for i, m := range r {
		if i > 0 {
			buf.WriteByte(',')
		}
		if err := enc.Encode(m.Name); err != nil {
			return nil, err
		}
		buf.WriteByte(':')
		if err := enc.Encode(m.Value); err != nil {
			return nil, err
		}
	}
	buf.WriteByte('}')
	return buf.Bytes(), nil
}

// Columns are the fields of the objects of a list: their names on the wire and their values.
type Columns[T any] []struct {
	Name  string
	Value func(T) any
}

// Names returns the names of the fields.
func (c Columns[T]) Names() []string {
	out := make([]string, len(c))
	for i, col := range c {
		out[i] = col.Name
	}
	return out
}

// Pick returns the columns with the given names; all when no name is given.
func (c Columns[T]) Pick(fields []string) Columns[T] {
	if len(fields) == 0 {
		return c
	}
	var out Columns[T]
	for _, col := range c {
		if slices.Contains(fields, col.Name) {
			out = append(out, col)
		}
	}
	return out
}

// With returns the columns and one more.
func (c Columns[T]) With(name string, value func(T) any) Columns[T] {
	return append(slices.Clip(c), Columns[T]{{name, value}}...)
}

// Record returns the object of an item.
func (c Columns[T]) Record(item T) Record {
	out := make(Record, len(c))
	for i, col := range c {
		out[i] = Member{col.Name, col.Value(item)}
	}
	return out
}

// Records returns the objects of a list, never nil: JSON shows an empty list as [].
func (c Columns[T]) Records(items []T) []Record {
	out := make([]Record, len(items))
	for i, item := range items {
		out[i] = c.Record(item)
	}
	return out
}

// Flag returns 0 or 1: the form of booleans that Iris read from its database.
func Flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// OrNull returns nil for an empty text or a zero number.
func OrNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// Seconds returns whole seconds.
func Seconds(d time.Duration) int64 { return int64(d / time.Second) }

// Unix returns Unix seconds; nil for the zero time.
func Unix(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Unix()
}
