package irisapi

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// member is one name and value of a record.
type member struct {
	name  string
	value any
}

// record is a JSON object whose members keep their order.
type record []member

// MarshalJSON implements json.Marshaler.
func (r record) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	buf.WriteByte('{')
	for i, m := range r {
		if i > 0 {
			buf.WriteByte(',')
		}
		if err := enc.Encode(m.name); err != nil {
			return nil, err
		}
		buf.WriteByte(':')
		if err := enc.Encode(m.value); err != nil {
			return nil, err
		}
	}
	buf.WriteByte('}')
	return buf.Bytes(), nil
}

// column is one field of a list: its name on the wire and where it comes from.
type column[T any] struct {
	name  string
	value func(T) any
}

type columns[T any] []column[T]

func (c columns[T]) names() []string {
	out := make([]string, len(c))
	for i, col := range c {
		out[i] = col.name
	}
	return out
}

// pick returns the columns that were asked for; all when none was.
func (c columns[T]) pick(fields []string) columns[T] {
	if len(fields) == 0 {
		return c
	}
	var out columns[T]
	for _, col := range c {
		if slices.Contains(fields, col.name) {
			out = append(out, col)
		}
	}
	return out
}

func (c columns[T]) record(item T) record {
	out := make(record, len(c))
	for i, col := range c {
		out[i] = member{col.name, col.value(item)}
	}
	return out
}

// records renders a list; an empty one is [].
func records[T any](c columns[T], items []T) []record {
	out := make([]record, len(items))
	for i, item := range items {
		out[i] = c.record(item)
	}
	return out
}

// flag is how the database's flags look on the wire: 0 or 1.
func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// orNull is null for an empty text or a zero number.
func orNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// unix is Unix seconds, null for no time.
func unix(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Unix()
}
