package imports

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rowOf makes a row of texts; "null" means null.
func rowOf(values map[string]string) (*Row, *Class) {
	raw := map[string][]byte{}
	for name, value := range values {
		if raw[name] = nil; value != "null" {
			raw[name] = []byte(value)
		}
	}
	c := &Class{Name: "rows"}
	return NewRow(c, "row 1", raw), c
}

func said(c *Class) (out []string) {
	for _, r := range c.Reasons {
		out = append(out, string(r.Kind)+": "+r.Text)
	}
	return out
}

func TestRowNumbers(t *testing.T) {
	t.Parallel()
	r, c := rowOf(map[string]string{"n": "-5", "big": "99999999999", "none": "null", "word": "seven",
		"huge": "18446744073709551615", "yes": "2", "no": "0"})
	require.Equal(t, int64(-5), r.Int("n"))
	require.Equal(t, int64(0), r.Int("none"))
	require.Equal(t, int64(0), r.Int("no such column"))
	require.Nil(t, r.IntOrNil("none"))
	require.Equal(t, int64(99999999999), r.IntOrNil("big"))
	require.True(t, r.Bool("yes"))
	require.False(t, r.Bool("no"))
	require.Empty(t, said(c))
	require.Equal(t, int64(2147483647), r.Int32("big", 0))
	require.Equal(t, int64(0), r.Int32("n", 0))
	require.Equal(t, int64(0), r.Int("word"))
	require.Equal(t, int64(math.MaxInt64), r.Int("huge"), "never the number of another row")
	require.Equal(t, []string{"not taken: big is out of range; the nearest possible value was taken",
		"not taken: n is out of range; the nearest possible value was taken",
		"not taken: word is not a number", "not taken: huge is out of range; the nearest possible value was taken"},
		said(c))
	require.Zero(t, c.NotTaken, "values are lost, not rows")
}

func TestRowTimes(t *testing.T) {
	t.Parallel()
	r, c := rowOf(map[string]string{"good": "2024-01-02 03:04:05", "zero": "0000-00-00 00:00:00", "none": "null",
		"bad": "2023-02-31 00:00:00"})
	good := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	require.Equal(t, good, r.TimeOr("good"))
	require.Empty(t, said(c))
	require.Equal(t, good, r.TimeOr("zero", "good"))
	require.Equal(t, good, r.TimeOr("none", "zero", "good"))
	require.Equal(t, time.Unix(0, 0).UTC(), r.TimeOr("bad", "none"))
	require.Equal(t, []string{"note: zero is missing or a zero date; good is used instead",
		"note: none is missing or a zero date; good is used instead",
		"not taken: bad is not a time", "note: bad is missing or a zero date; 1970-01-01 is used instead"}, said(c))
}

func TestRowTexts(t *testing.T) {
	t.Parallel()
	r, c := rowOf(map[string]string{"name": "ann  ", "none": "null", "empty": "", "pasted": "\t a@example.com ",
		"json": `{"a": 1.50}`, "cut": `{"a": "b`, "nan": `{"a": NaN}`})
	require.Equal(t, "ann", r.Name("name"))
	require.Empty(t, r.Text("none"))
	require.Nil(t, r.TextOrNil("none"))
	require.Empty(t, r.TextOrNil("empty"))
	require.True(t, r.Null("none") && r.Null("no such column") && !r.Null("empty"))
	value, _, ok := r.JSON("json")
	require.True(t, ok)
	require.Equal(t, `{"a": 1.50}`, string(value), "as it is")
	value, _, ok = r.JSON("nan")
	require.True(t, ok)
	require.JSONEq(t, `{"a": "nan"}`, string(value))
	for _, broken := range []string{"cut", "empty"} {
		_, _, ok = r.JSON(broken)
		require.False(t, ok, broken)
	}
	value, _, ok = r.JSON("none")
	require.True(t, ok)
	require.Equal(t, "null", string(value))
	require.Equal(t, "a@example.com", r.Trimmed("pasted"))
	require.Equal(t, []string{"note: name: trailing spaces were removed",
		"note: nan: NaN and Infinity, which are not JSON, became texts", "note: pasted: surrounding spaces were removed"}, said(c))
}

func TestReportCountsByReason(t *testing.T) {
	t.Parallel()
	r := NewReport("root@db/iris", nil)
	c := r.Class("users")
	for i := range 7 {
		c.AddReason(Reason{Kind: NotTaken, Whole: true, Rows: 1, Examples: []string{"user " + string(rune('a'+i))},
			Text: "it has no name"})
	}
	c.AddReason(Reason{Kind: NotTaken, Rows: 1, Examples: []string{"user x"}, Text: "its time zone is unknown"})
	c.AddOutcome(Outcome{Taken: 3, Same: 2, Reasons: []Reason{{Kind: Note, Text: "odd", Rows: 4}}})
	require.Equal(t, int64(7), c.NotTaken)
	require.Equal(t, int64(8), r.Lost())
	require.Len(t, c.Reasons[0].Examples, 5)
	require.Equal(t, "Nothing was new here. 8 rows or values were not taken.",
		func() string { e := *r; e.Classes = []*Class{{Name: "x", Reasons: c.Reasons}}; return e.Sentence() }())
	r.Written = true
	require.Equal(t, "3 rows are new here. 8 rows or values were not taken.", r.Sentence())
	c.AddReason(Reason{Kind: Conflict, Whole: true, Rows: 1, Examples: []string{"user y"}, Text: "differs"})
	require.Equal(t, "Nothing was written: see the conflicts.", r.Sentence())
	r.Class("empty")
	r.Tidy()
	require.Len(t, r.Classes, 1)
	require.Equal(t, Conflict, c.Reasons[0].Kind, "the worst comes first")
}

func TestParseURL(t *testing.T) {
	t.Parallel()
	c, from, err := parseURL("mysql://ann:p%40ss%2Fword@db.example.com/iris?tls=skip-verify", "")
	require.NoError(t, err)
	require.Equal(t, "ann@db.example.com:3306/iris", from)
	require.Equal(t, "p@ss/word", c.Passwd)
	require.True(t, c.TLS.InsecureSkipVerify)
	c, from, err = parseURL("mysql://ann@/iris?socket=/run/mysqld/mysqld.sock", "from-a-file")
	require.NoError(t, err)
	require.Equal(t, "ann@/run/mysqld/mysqld.sock/iris", from)
	require.Equal(t, "from-a-file", c.Passwd)
	for _, bad := range []string{"", "iris", "postgres://a:secret@b/c", "mysql://a:secret@b", "mysql://a:secret@b/", "mysql://b/c", "mysql://a:secret@/c",
		"mysql://a:se cret%@b/c", "mysql://a:secret@b/c?charset=latin1", "mysql://a:secret@b/c?tls=maybe"} {
		_, _, err := parseURL(bad, "")
		require.Error(t, err, bad)
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	require.Equal(t, "`key`", Quote("key"))
	require.Equal(t, "`a``b`", Quote("a`b"))
}
