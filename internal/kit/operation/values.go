package operation

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Text is a text that is null in JSON if it is empty.
type Text string

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // as the encoder around it is set
	err := enc.Encode(string(t))
	return buf.Bytes(), err
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(raw []byte) error {
	if bytes.Equal(raw, []byte("null")) {
		*t = ""
		return nil
	}
	return json.Unmarshal(raw, (*string)(t))
}

// Schema implements huma.SchemaProvider.
func (Text) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true}
}

// Sizes of a page.
const (
	usualPage = 100
	mostPage  = 500
)

// Paging selects a page of a list. Inputs of lists embed it.
type Paging struct {
	Limit  int    `query:"limit" json:"limit,omitempty" minimum:"1" maximum:"500" doc:"The most items of the page; default: 100."`
	Cursor string `query:"cursor" json:"cursor,omitempty" doc:"The value of next on the previous page; default: the first page."`
}

var errCursor = fault.Invalidf("cursor", "cursor must be the value of next in an earlier answer")

// Size returns the most items of the page.
func (p Paging) Size() int {
	if p.Limit == 0 {
		return usualPage
	}
	return min(p.Limit, mostPage)
}

// Place returns the place that the cursor has, see NextOf; "" = the first page.
func (p Paging) Place() (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err != nil {
		return "", errCursor
	}
	return string(raw), nil
}

// NextOf returns the cursor of a place; nil for "".
func NextOf(place string) *string {
	if place == "" {
		return nil
	}
	cursor := base64.RawURLEncoding.EncodeToString([]byte(place))
	return &cursor
}

// Before returns the number that the cursor has; 0 = the first page.
func (p Paging) Before() (int64, error) {
	if p.Cursor == "" {
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	var n int64
	if err == nil {
		n, err = strconv.ParseInt(string(raw), 10, 64)
	}
	if err != nil || n <= 0 {
		return 0, errCursor
	}
	return n, nil
}

// Page is a part of a list.
type Page[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next" doc:"Cursor of the next page; null = there is none."`
}

// PageOf returns a page of a list in the order of numbers. found has one row more than the page if there is a next
// page.
func PageOf[T any, ID ~int64](p Paging, found []T, number func(T) ID) Page[T] {
	out := Page[T]{Items: found}
	if len(found) > p.Size() {
		out.Items = found[:p.Size()]
		next := CursorOf(number(out.Items[p.Size()-1]))
		out.Next = &next
	}
	if out.Items == nil {
		out.Items = []T{}
	}
	return out
}

// PageByName returns a page of a whole list, which is in the order of names.
func PageByName[T any](p Paging, all []T, name func(T) string) (Page[T], error) {
	place, err := p.Place()
	if err != nil {
		return Page[T]{}, err
	}
	start, there := slices.BinarySearchFunc(all, place,
		func(item T, after string) int { return strings.Compare(name(item), after) })
	if there {
		start++
	}
	out := Page[T]{Items: append([]T{}, all[start:]...)}
	if len(out.Items) > p.Size() {
		out.Items = out.Items[:p.Size()]
		out.Next = NextOf(name(out.Items[p.Size()-1]))
	}
	return out, nil
}

// CursorOf returns the cursor of the page after a row with this number.
func CursorOf[ID ~int64](number ID) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(int64(number), 10)))
}

// None is the output of an operation that returns nothing.
type None struct{}

// IsNone reports whether outputs of a type have no body.
func IsNone(t reflect.Type) bool { return t == reflect.TypeFor[None]() }

// State is the part of inputs that change an object only if it is in a state that the caller has read.
type State struct {
	IfMatch     string `header:"If-Match" json:"-" doc:"The ETag of an earlier answer: the answer is 412 if the object has changed since. Without it, the object is changed in any state."`
	IfNoneMatch string `header:"If-None-Match" json:"-" doc:"*: only create the object; the answer is 412 if it exists."`
}

// Tags returns the tags of the states that may be changed; nil = any. With If-None-Match there are none, because no
// object may be changed.
func (s State) Tags() []string {
	switch {
	case s.IfNoneMatch == "*":
		return []string{}
	case s.IfMatch == "":
		return nil
	}
	return etag.Parse(s.IfMatch)
}

// Check returns etag.ErrStale if the tag of the present state is not one of those that may be changed. A tag that is
// empty means that there is no object yet. conditional is true if the caller named states: storage must then check the
// state again.
func (s State) Check(tag string) (conditional bool, err error) {
	if s.IfNoneMatch == "*" && tag == "" {
		return false, nil
	}
	wanted := s.Tags()
	return wanted != nil && !slices.Contains(wanted, "*"), etag.Match(wanted, tag)
}

// In returns the condition that an object still has a tag.
func In(tag string) State { return State{IfMatch: `"` + tag + `"`} }

// Optional is a member that may be left out, or null.
type Optional[T any] struct {
	Given bool // the member is there
	Value *T   // nil = null
}

// IsZero reports whether the member is left out.
func (o Optional[T]) IsZero() bool { return !o.Given }

// MarshalJSON implements json.Marshaler.
func (o Optional[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Value) }

// UnmarshalJSON implements json.Unmarshaler.
func (o *Optional[T]) UnmarshalJSON(raw []byte) error {
	o.Given, o.Value = true, nil
	return json.Unmarshal(raw, &o.Value)
}

// Schema implements huma.SchemaProvider.
func (Optional[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}
