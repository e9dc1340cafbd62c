// Package listing reads and answers the lists of /v1. `limit` and `cursor` in the query select a page. The answer has
// the items and the cursor of the next page.
package listing

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Sizes of a page.
const (
	usual = 100
	most  = 500
)

// Query is the query of a list. Unknown parameters are refused.
type Query struct {
	Size   int
	cursor string
	values map[string][]string
}

// Read reads the query of a list. known are the parameters of the list besides limit and cursor.
func Read(r *http.Request, known ...string) (Query, error) {
	values := r.URL.Query()
	q := Query{Size: usual, values: values}
	for name, given := range values {
		if name != "limit" && name != "cursor" && !slices.Contains(known, name) {
			return q, fault.Invalidf(name, "there is no parameter %.60q", name)
		}
		if len(given) != 1 {
			return q, fault.Invalidf(name, "%s is given more than once", name)
		}
	}
	if text := values.Get("limit"); values.Has("limit") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > most {
			return q, fault.Invalidf("limit", "limit must be a number between 1 and %d", most)
		}
		q.Size = n
	}
	raw, err := base64.RawURLEncoding.DecodeString(values.Get("cursor"))
	if err != nil || values.Has("cursor") && len(raw) == 0 {
		return q, BadCursor()
	}
	q.cursor = string(raw)
	return q, nil
}

// BadCursor returns the fault of a cursor that is not from an answer.
func BadCursor() error {
	return fault.Invalidf("cursor", "cursor must be the next of an earlier answer")
}

// Text returns a parameter. ok is false if the query does not have it.
func (q Query) Text(name string) (text string, ok bool) {
	given, ok := q.values[name]
	if !ok {
		return "", false
	}
	return given[0], true
}

// Flag returns a boolean parameter, or otherwise if the query does not have it.
func (q Query) Flag(name string, otherwise bool) (bool, error) {
	switch text, ok := q.Text(name); {
	case !ok:
		return otherwise, nil
	case text == "true":
		return true, nil
	case text == "false":
		return false, nil
	}
	return false, fault.Invalidf(name, "%s must be true or false", name)
}

// Number returns a whole number. ok is false if the query does not have it.
func (q Query) Number(name string) (n int64, ok bool, err error) {
	text, ok := q.Text(name)
	if !ok {
		return 0, false, nil
	}
	if n, err = strconv.ParseInt(text, 10, 64); err != nil {
		return 0, false, fault.Invalidf(name, "%s must be a number", name)
	}
	return n, true, nil
}

// Time returns an instant. ok is false if the query does not have it.
func (q Query) Time(name string) (at time.Time, ok bool, err error) {
	text, ok := q.Text(name)
	if !ok {
		return at, false, nil
	}
	if at, err = time.Parse(time.RFC3339, text); err != nil {
		return at, false, fault.Invalidf(name, "%s must be a time like 2026-11-22T09:30:00Z", name)
	}
	return at, true, nil
}

// StorableText returns a parameter that the database can compare; "" if the query does not have it.
func (q Query) StorableText(name string) (string, error) {
	text, _ := q.Text(name)
	if !wire.Storable(text) {
		return "", fault.Invalidf(name, "%s must be UTF-8 text without NUL characters", name)
	}
	return text, nil
}

// texts adds an equality condition for each of the fields that the query has.
func (q Query) texts(to *filters.Query, fields []string) error {
	for _, name := range fields {
		if _, ok := q.Text(name); !ok {
			continue
		}
		text, err := q.StorableText(name)
		if err != nil {
			return err
		}
		to.Conditions = append(to.Conditions, Equal(name, text))
	}
	return nil
}

// created adds the conditions created_after and created_before.
func (q Query) created(to *filters.Query) error {
	for name, op := range map[string]filters.Op{"created_after": filters.Ge, "created_before": filters.Lt} {
		at, ok, err := q.Time(name)
		if err != nil {
			return err
		}
		if ok {
			to.Conditions = append(to.Conditions, filters.Condition{Field: "created", Op: op, Values: []any{at}})
		}
	}
	return nil
}

// Equal returns the condition that a field has a value.
func Equal(field string, value any) filters.Condition {
	return filters.Condition{Field: field, Op: filters.Eq, Values: []any{value}}
}

// newest adds the order, the limit and the beginning of the page, newest first.
func (q Query) newest(to *filters.Query) error {
	to.Limit = q.Size
	if q.cursor == "" {
		return nil
	}
	after, err := filters.ParsePlace(q.cursor)
	if err != nil {
		return BadCursor()
	}
	to.After = &after
	return nil
}

// List is a list of rows, newest first.
type List[T any] struct {
	Read  filters.Reader[T]
	Show  func(T) any
	Place func(T) filters.Place
	Texts []string // parameters that are equality conditions
	// Endless: the list can have so many rows that a search for a rare condition stops after about a second, see
	// filters.Reader.Search.
	Endless bool
	// Indexed: most conditions of an Endless list have an index, so one statement without a period is tried first, see
	// filters.Reader.Find.
	Indexed bool
	// Further reads further parameters, which More names; nil = there are none.
	More    []string
	Further func(q Query, to *filters.Query) error
}

type (
	// Place is the place of a row in a list.
	Place = filters.Place
	// Reader reads the rows that match a query.
	Reader[T any] = filters.Reader[T]
)

// exported is how many rows an export reads at once.
const exported = 1000

// Export answers with all matching rows as JSON lines, newest first, as a file of that name. It holds few rows in
// memory. If it fails after the first ones, the connection breaks off, so that the caller does not take a part for the
// whole.
func (l List[T]) Export(w http.ResponseWriter, r *http.Request, name string) error {
	if r.URL.Query().Has("limit") || r.URL.Query().Has("cursor") {
		return fault.Invalidf("limit", "an export has all rows: it takes no limit and no cursor")
	}
	_, query, err := l.read(r)
	if err != nil {
		return err
	}
	query.Limit = exported
	out, begun := bufio.NewWriter(w), false
	for lines := json.NewEncoder(out); ; {
		found, next, err := l.Read.Page(r.Context(), query, l.Place)
		switch {
		case err != nil && begun:
			panic(http.ErrAbortHandler)
		case err != nil:
			return err
		case !begun:
			begun = true
			w.Header().Set("Content-Type", "application/jsonl")
			w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
		}
		for _, row := range found {
			if err := lines.Encode(l.Show(row)); err != nil {
				panic(http.ErrAbortHandler) // the caller has gone
			}
		}
		if next == nil {
			return out.Flush()
		}
		query.After = next
	}
}

func (l List[T]) read(r *http.Request) (q Query, query filters.Query, err error) {
	q, err = Read(r, slices.Concat(l.Texts, l.More, []string{"created_after", "created_before"})...)
	if err == nil && l.Further != nil {
		err = l.Further(q, &query)
	}
	if err == nil {
		err = q.texts(&query, l.Texts)
	}
	if err == nil {
		err = q.created(&query)
	}
	return q, query, err
}

// Answer answers a request for a page of the list.
func (l List[T]) Answer(w http.ResponseWriter, r *http.Request) error {
	q, query, err := l.read(r)
	if err != nil {
		return err
	}
	if l.Endless {
		if l.Indexed {
			return l.answer(w, r, q, query, l.Read.Find)
		}
		return l.answer(w, r, q, query, l.Read.Search)
	}
	return l.answer(w, r, q, query, l.Read.Page)
}

// AnswerWhere is Answer for the rows that meet a condition. The query of the request has no parameters of its own.
func (l List[T]) AnswerWhere(w http.ResponseWriter, r *http.Request, c filters.Condition) error {
	q, err := Read(r)
	if err != nil {
		return err
	}
	return l.answer(w, r, q, filters.Query{Conditions: []filters.Condition{c}}, l.Read.Page)
}

func (l List[T]) answer(w http.ResponseWriter, r *http.Request, q Query, query filters.Query,
	read func(context.Context, filters.Query, func(T) filters.Place) ([]T, *filters.Place, error),
) error {
	if err := q.newest(&query); err != nil {
		return err
	}
	found, after, err := read(r.Context(), query, l.Place)
	if err != nil {
		return err
	}
	next := ""
	if after != nil {
		next = after.String()
	}
	return Answer(w, found, l.Show, next)
}

// AfterName returns the key after which a page of a list in the order of keys begins; "" = the first page.
func (q Query) AfterName() string { return q.cursor }

// AnswerFrom answers with a page of a list in the order of keys. found has one row more than the page if there is a
// next page.
func AnswerFrom[T any](w http.ResponseWriter, q Query, found []T, show func(T) any, key func(T) string) error {
	next := ""
	if len(found) > q.Size {
		found = found[:q.Size]
		next = key(found[len(found)-1])
	}
	return Answer(w, found, show, next)
}

// AnswerNamed answers with a page of all, which must be in the order of keys.
func AnswerNamed[T any](w http.ResponseWriter, q Query, all []T, show func(T) any, key func(T) string) error {
	start := 0
	if q.cursor != "" {
		var there bool
		start, there = slices.BinarySearchFunc(all, q.cursor,
			func(item T, cursor string) int { return strings.Compare(key(item), cursor) })
		if there {
			start++
		}
	}
	return AnswerFrom(w, q, all[start:], show, key)
}

// Answer answers with a page of a list. next is the place of the next page; "" = none.
func Answer[T any](w http.ResponseWriter, items []T, show func(T) any, next string) error {
	body := struct {
		Items []any   `json:"items"`
		Next  *string `json:"next"`
	}{shown(items, show), cursor(next)}
	wire.JSON(w, http.StatusOK, body)
	return nil
}

// AnswerAll answers with a list that is never long, as it is: all of it, without a next page.
func AnswerAll[T any](w http.ResponseWriter, all []T) error {
	return Answer(w, all, func(item T) any { return item }, "")
}

func shown[T any](items []T, show func(T) any) []any {
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = show(item)
	}
	return out
}

// cursor encodes a place for Read; nil for "".
func cursor(place string) *string { return OrNull(base64.RawURLEncoding.EncodeToString([]byte(place))) }

// Time returns an instant on the wire; nil for the zero time.
func Time(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	text := at.UTC().Format(time.RFC3339Nano)
	return &text
}

// OrNull returns nil for the zero value, such as an empty text.
func OrNull[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// Sort sorts a list by key, for AnswerNamed.
func Sort[T any](all []T, key func(T) string) {
	slices.SortFunc(all, func(a, b T) int { return strings.Compare(key(a), key(b)) })
}
