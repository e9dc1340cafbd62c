package pages

import (
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/web/params"
)

// MaxWindow is the longest window of a calendar that one request may read.
const MaxWindow = planning.MaxWindow

// Flag reads a boolean of the query; false if the query does not have it.
func Flag(r *http.Request, name string) (bool, error) { return params.Flag(r.URL.Query(), name, false) }

// Window reads start and end of the query, in Unix seconds. The arguments are the defaults. It returns an Invalid fault
// if end is not after start, or if the window is longer than MaxWindow.
func Window(r *http.Request, start, end time.Time) (from, to time.Time, err error) {
	from, to = start, end
	if t, given, err := params.Time(r.URL.Query(), "start"); err != nil {
		return from, to, err
	} else if given {
		from = t
	}
	if t, given, err := params.Time(r.URL.Query(), "end"); err != nil {
		return from, to, err
	} else if given {
		to = t
	}
	if !from.Before(to) || to.Sub(from) > MaxWindow {
		return from, to, fault.Invalidf("end", "end must be after start, and at most three years")
	}
	return from, to, nil
}
