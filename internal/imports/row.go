package imports

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Row is one row of the predecessor's database while it is converted to a record. Odd values are reported under its label. It is
// valid until the next row is read.
type Row struct {
	// Label names the row in the report; set it before reading values.
	Label string

	class  *Class
	index  map[string]int
	values []rawValue
}

// rawValue is a value as MySQL sent it; nil is null.
type rawValue = []byte

// NewRow returns a row of the values, by column; nil is null. Odd values are reported in class.
func NewRow(class *Class, label string, values map[string][]byte) *Row {
	r := &Row{Label: label, class: class, index: make(map[string]int, len(values))}
	for name, value := range values {
		r.index[name] = len(r.values)
		r.values = append(r.values, value)
	}
	return r
}

func (r *Row) raw(column string) rawValue {
	i, ok := r.index[column]
	if !ok || i < 0 {
		return nil
	}
	return r.values[i]
}

// Null reports whether a value is null, or its column does not exist.
func (r *Row) Null(column string) bool { return r.raw(column) == nil }

// Note adds a remark on the row to the report.
func (r *Row) Note(format string, args ...any) { r.class.Add(Note, false, r.Label, format, args...) }

// LoseValue notes that a value of the row is lost; the rest of it is taken.
func (r *Row) LoseValue(format string, args ...any) {
	r.class.Add(NotTaken, false, r.Label, format, args...)
}

// Lose notes that the row is not taken.
func (r *Row) Lose(format string, args ...any) { r.class.Add(NotTaken, true, r.Label, format, args...) }

// Int returns a number; 0 for null and for other values.
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

// Number returns the row's own number. ok is false when it cannot be one here; the row is then noted as lost.
func (r *Row) Number(column string) (n int64, ok bool) {
	if n = r.Int(column); n < 1 || n > HighestNumber {
		r.Lose(WrongNumber)
		return n, false
	}
	return n, true
}

// Int32 returns a number that must lie between low and the largest of 32 bits; one that does not is moved there.
func (r *Row) Int32(column string, low int64) int64 {
	n := r.Int(column)
	if fit := min(max(n, low), math.MaxInt32); fit != n {
		r.LoseValue("%s is out of range; the nearest possible value was taken", column)
		return fit
	}
	return n
}

// IntOrNil returns a number, or nil for null.
func (r *Row) IntOrNil(column string) any {
	if r.Null(column) {
		return nil
	}
	return r.Int(column)
}

// Bool returns whether a number is not 0.
func (r *Row) Bool(column string) bool { return r.Int(column) != 0 }

// Text returns a text; "" for null.
func (r *Row) Text(column string) string {
	text, odd := cleanText(r.raw(column))
	switch odd {
	case "":
	case oddBytes:
		r.LoseValue("%s: %s", column, odd)
	default:
		r.Note("%s: %s", column, odd)
	}
	return text
}

// Name returns a text without spaces at its end: MySQL compares names without them.
func (r *Row) Name(column string) string {
	text := r.Text(column)
	name := strings.TrimRight(text, " ")
	if name != text {
		r.Note("%s: spaces at the end were taken away", column)
	}
	return name
}

// Trimmed returns a text without white space around it, for addresses that people pasted.
func (r *Row) Trimmed(column string) string {
	text := r.Text(column)
	trimmed := strings.TrimSpace(text)
	if trimmed != text {
		r.Note("%s: spaces around it were taken away", column)
	}
	return trimmed
}

// TextOrNil returns a text, or nil for null.
func (r *Row) TextOrNil(column string) any {
	if r.Null(column) {
		return nil
	}
	return r.Text(column)
}

// Time returns a time in UTC. ok is false for null and for zero dates, which say nothing. Anything else that is no time is
// noted as lost.
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

// TimeOr returns the first of the columns that holds a time, or else 1 January 1970.
func (r *Row) TimeOr(columns ...string) time.Time {
	for i, c := range columns {
		if t, ok := r.Time(c); ok {
			if i > 0 {
				r.Note("%s is missing or a zero date; %s stands in for it", columns[0], c)
			}
			return t
		}
	}
	r.Note("%s is missing or a zero date; 1970-01-01 stands in for it", columns[0])
	return time.Unix(0, 0).UTC()
}

// lastSecond is the end of the year 9999, firstSecond the beginning of the year 1, in Unix seconds.
const (
	firstSecond = -62135596800
	lastSecond  = 253402300799
)

// Epoch returns an instant that is stored as seconds since 1970, rounded up to a whole second. ok is false for null and for values
// that are no number, which are reported as lost.
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

// JSON returns a text that is JSON, as it is. ok is false when it is not; null is JSON's null. Python writes NaN, Infinity and
// -Infinity, which JSON does not know: they become the texts that templates print for them.
func (r *Row) JSON(column string) (value json.RawMessage, text string, ok bool) {
	if r.Null(column) {
		return json.RawMessage("null"), "", true
	}
	text = r.Text(column)
	if !utf8.ValidString(text) || json.Valid([]byte(text)) {
		return json.RawMessage(text), text, utf8.ValidString(text)
	}
	if mended := quotePython(text); json.Valid([]byte(mended)) {
		r.Note("%s: NaN and Infinity, which JSON does not know, became texts", column)
		return json.RawMessage(mended), text, true
	}
	return json.RawMessage(text), text, false
}

// Skip notes that the row is not taken because it says nothing; nothing is lost.
func (r *Row) Skip(format string, args ...any) {
	r.class.Add(Note, true, r.Label, format+": it was left out", args...)
}

// Uncount takes the row out of the number of rows read: it belongs to another class.
func (r *Row) Uncount() { r.class.Read-- }
