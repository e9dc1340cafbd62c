package page

import (
	"encoding/csv"
	"net/http"
	"strings"
)

// CSV writes a file of comma-separated values for spreadsheets.
type CSV struct{ w *csv.Writer }

// NewCSV begins an answer that is a file of that name.
func NewCSV(rw http.ResponseWriter, name string) CSV {
	rw.Header().Set("Content-Type", "text/csv; charset=utf-8")
	rw.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	return CSV{csv.NewWriter(rw)}
}

// Row adds a row. A value that a spreadsheet would take for a formula gets an apostrophe before it.
func (c CSV) Row(values ...string) {
	row := make([]string, len(values))
	for i, v := range values {
		row[i] = Plain(v)
	}
	_ = c.w.Write(row) // Flush returns its error
}

// Flush sends the rows. An error means that the client has gone.
func (c CSV) Flush() error {
	c.w.Flush()
	return c.w.Error()
}

// Plain returns a value of a table that no spreadsheet takes for a formula.
func Plain(v string) string {
	if t := strings.TrimLeft(v, " \u00a0"); t != "" && strings.ContainsRune("=+-@\t\r\n|%＝＋－＠", []rune(t)[0]) {
		return "'" + v
	}
	return v
}
