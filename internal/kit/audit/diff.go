package audit

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxValue is how many bytes of a value are kept.
const maxValue = 2000

// Diff lists the fields in which two values differ, sorted by name. The values are structs, maps or nil for "there is
// none". Fields have names in snake_case with a dot for each level, and an index in lists: "steps[0].wait". A field
// with the tag `audit:"-"` is left out.
func Diff(before, after any) []Change {
	was, is := map[string]string{}, map[string]string{}
	flatten(was, "", reflect.ValueOf(before))
	flatten(is, "", reflect.ValueOf(after))
	var out []Change
	for field, v := range was {
		if now, has := is[field]; now != v && (has || !empty(v)) {
			out = append(out, Change{Field: field, Before: shorten(v), After: shorten(is[field])})
		}
	}
	for field, v := range is {
		if _, had := was[field]; !had && !empty(v) {
			out = append(out, Change{Field: field, After: shorten(v)})
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Field, b.Field) })
	return out
}

// empty reports whether a value says no more than its absence.
func empty(v string) bool { return v == "" || v == "false" || v == "0" }

// flatten adds the fields of a value to out, as texts. Empty values are "".
func flatten(out map[string]string, field string, v reflect.Value) {
	if !v.IsValid() {
		return
	}
	if text, ok := asText(v); ok {
		out[field] = text
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		flatten(out, field, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || f.Tag.Get("audit") == "-" {
				continue
			}
			name := snake(f.Name)
			if f.Anonymous {
				name = ""
			}
			flatten(out, join(field, name), v.Field(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			flatten(out, join(field, fmt.Sprint(key)), v.MapIndex(key))
		}
	case reflect.Slice, reflect.Array:
		if raw, ok := v.Interface().(json.RawMessage); ok {
			var value any
			d := json.NewDecoder(bytes.NewReader(raw))
			d.UseNumber()
			if d.Decode(&value) == nil {
				flatten(out, field, reflect.ValueOf(value))
			}
			return
		}
		for i := range v.Len() {
			flatten(out, field+"["+strconv.Itoa(i)+"]", v.Index(i))
		}
	default:
		if !v.IsZero() || v.Kind() == reflect.Bool {
			out[field] = fmt.Sprint(v.Interface())
		}
	}
}

// asText returns the text of a value that has one: names, times, durations. A zero value is "".
func asText(v reflect.Value) (string, bool) {
	if k := v.Kind(); k == reflect.Pointer || k == reflect.Interface || !v.CanInterface() {
		return "", false
	}
	switch x := v.Interface().(type) {
	case encoding.TextMarshaler:
		if v.IsZero() {
			return "", true
		}
		text, err := x.MarshalText()
		return string(text), err == nil
	case fmt.Stringer:
		if v.IsZero() {
			return "", true
		}
		return x.String(), true
	}
	return "", false
}

func join(field, name string) string {
	if field == "" || name == "" {
		return field + name
	}
	return field + "." + name
}

// snake turns "RatePerMinute" into "rate_per_minute", and "TeamID" into "team_id".
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func shorten(s string) string {
	if len(s) <= maxValue {
		return s
	}
	return strings.ToValidUTF8(s[:maxValue], "") + "…"
}
