package imports

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Row is a row of the predecessor's database that is being converted. Its methods report values that are not valid
// here, under the row's label. A Row is valid until the next one is read.
type Row struct {
	// Label names the row in the report; set it before reading values.
	Label string

	class  *Class
	index  map[string]int // positions of columns
	values []sql.RawBytes // as MySQL sent them; nil = null
	// dropped: the row is not imported.
	dropped bool
	// said are the reasons of the row.
	said []string
	// muted: values are read for the label, and nothing is reported.
	muted bool
}

// NewRow returns a row with values by column, for tests; nil is null. Its reports go to class.
func NewRow(class *Class, label string, values map[string][]byte) *Row {
	r := &Row{Label: label, class: class, index: make(map[string]int, len(values))}
	for name, value := range values {
		r.index[name] = len(r.values)
		r.values = append(r.values, value)
	}
	return r
}

func (r *Row) raw(column string) []byte {
	if i, ok := r.index[column]; ok {
		return r.values[i]
	}
	return nil
}

// Null reports whether a value is null or its column does not exist.
func (r *Row) Null(column string) bool { return r.raw(column) == nil }

// report adds a reason to the class, once per row.
func (r *Row) report(kind Kind, whole bool, format string, args []any) {
	reason := Reason{Kind: kind, Text: fmt.Sprintf(format, args...), Rows: 1, Whole: whole}
	if r.muted || slices.Contains(r.said, reason.Text) {
		return
	}
	if r.Label != "" {
		reason.Examples = []string{r.Label}
	}
	r.said = append(r.said, reason.Text)
	r.dropped = r.dropped || whole
	r.class.AddReason(reason)
}

// Dropped reports whether the row is not imported.
func (r *Row) Dropped() bool { return r.dropped }

// Note adds a remark about the row to the report.
func (r *Row) Note(format string, args ...any) { r.report(Note, false, format, args) }

// LoseValue reports that a value of the row is lost; the rest is imported.
func (r *Row) LoseValue(format string, args ...any) { r.report(NotTaken, false, format, args) }

// Lose drops the row and reports that it is lost.
func (r *Row) Lose(format string, args ...any) { r.report(NotTaken, true, format, args) }

// Skip drops the row and reports that it has no content, so that nothing is lost.
func (r *Row) Skip(format string, args ...any) {
	r.report(Note, true, format+": it was left out", args)
}

// Ignore drops the row without a report and without counting it, because it is counted in another class.
func (r *Row) Ignore() {
	r.class.Read--
	r.dropped = true
}

// Int returns a number; 0 for null and for a value that is not a number.
func (r *Row) Int(column string) int64 {
	raw := r.raw(column)
	if raw == nil {
		return 0
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange): // n is the nearest one
		r.LoseValue("%s is out of range; the nearest possible value was taken", column)
	case err != nil:
		r.LoseValue("%s is not a number", column)
		return 0
	}
	return n
}

// Number returns the id of the row. ok is false if it is not valid here; the row is then reported as lost.
func (r *Row) Number(column string) (n int64, ok bool) {
	if n = r.Int(column); n < 1 || n > HighestNumber {
		r.Lose(WrongNumber)
		return n, false
	}
	return n, true
}

// Int32 returns a number between low and the largest 32-bit integer. A number outside is replaced by the nearest bound.
func (r *Row) Int32(column string, low int64) int64 {
	n := r.Int(column)
	if fit := min(max(n, low), math.MaxInt32); fit != n {
		r.LoseValue("%s is out of range; the nearest possible value was taken", column)
		return fit
	}
	return n
}

// Bool reports whether a number is not 0.
func (r *Row) Bool(column string) bool { return r.Int(column) != 0 }

// Text returns a text; "" for null.
func (r *Row) Text(column string) string {
	text, problem := cleanText(r.raw(column))
	switch problem {
	case "":
	case textBytes:
		r.LoseValue("%s: %s", column, problem)
	default:
		r.Note("%s: %s", column, problem)
	}
	return text
}

// Name returns a text without trailing spaces, which MySQL ignores in comparisons.
func (r *Row) Name(column string) string {
	text := r.Text(column)
	name := strings.TrimRight(text, " ")
	if name != text {
		r.Note("%s: trailing spaces were removed", column)
	}
	return name
}

// Trimmed returns a text without surrounding white space, for addresses that people pasted.
func (r *Row) Trimmed(column string) string {
	text := r.Text(column)
	trimmed := strings.TrimSpace(text)
	if trimmed != text {
		r.Note("%s: surrounding spaces were removed", column)
	}
	return trimmed
}

// IntOrNil returns a number, or nil for null.
func (r *Row) IntOrNil(column string) any { return orNil(r, column, r.Int) }

// TextOrNil returns a text, or nil for null.
func (r *Row) TextOrNil(column string) any { return orNil(r, column, r.Text) }

func orNil[T any](r *Row, column string, read func(string) T) any {
	if r.Null(column) {
		return nil
	}
	return read(column)
}

// Time returns a time in UTC. ok is false for null and for zero dates. Any other value that is not a time is reported
// as lost.
func (r *Row) Time(column string) (t time.Time, ok bool) {
	raw := string(r.raw(column))
	if raw == "" {
		return t, false
	}
	t, ok = parseTime(raw)
	if !ok && !zeroTime(raw) {
		r.LoseValue("%s is not a time", column)
	}
	return t, ok
}

// TimeOr returns the first of the columns that has a time, or else 1 January 1970.
func (r *Row) TimeOr(columns ...string) time.Time {
	for i, c := range columns {
		if t, ok := r.Time(c); ok {
			if i > 0 {
				r.Note("%s is missing or a zero date; %s is used instead", columns[0], c)
			}
			return t
		}
	}
	r.Note("%s is missing or a zero date; 1970-01-01 is used instead", columns[0])
	return time.Unix(0, 0).UTC()
}

// firstSecond is the start of the year 1 and lastSecond the end of the year 9999, in Unix seconds.
const (
	firstSecond = -62135596800
	lastSecond  = 253402300799
)

// Epoch returns a time that is stored as Unix seconds. A fraction is rounded up and reported. ok is false for null and
// for a value that is not a number, which is reported as lost.
func (r *Row) Epoch(column string) (t time.Time, ok bool) {
	raw := r.raw(column)
	if raw == nil {
		return t, false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || math.IsNaN(f) {
			r.LoseValue("%s is not a number", column)
			return t, false
		}
		if f != math.Trunc(f) {
			r.Note("%s has a fraction of a second; the next whole second was taken", column)
		}
		n = int64(min(max(math.Ceil(f), firstSecond-1), lastSecond+1))
	}
	if fit := min(max(n, firstSecond), lastSecond); fit != n {
		r.LoseValue("%s is out of range; the nearest possible value was taken", column)
		n = fit
	}
	return time.Unix(n, 0).UTC(), true
}

// JSON returns a text that is JSON, unchanged. ok is false if it is not JSON; null is JSON's null. Python writes NaN,
// Infinity and -Infinity, which are not JSON: they become the texts that templates print for them.
func (r *Row) JSON(column string) (value json.RawMessage, text string, ok bool) {
	if r.Null(column) {
		return json.RawMessage("null"), "", true
	}
	text = r.Text(column)
	if !utf8.ValidString(text) || json.Valid([]byte(text)) {
		return json.RawMessage(text), text, utf8.ValidString(text)
	}
	if quoted := quotePython(text); json.Valid([]byte(quoted)) {
		r.Note("%s: NaN and Infinity, which are not JSON, became texts", column)
		return json.RawMessage(quoted), text, true
	}
	return json.RawMessage(text), text, false
}
