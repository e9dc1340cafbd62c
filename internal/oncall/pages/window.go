package pages

import (
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/oncall"
)

// teamAndWindow returns the team of the path and the window of the query. The default window is start to end, in days
// from now.
func (a Deps) teamAndWindow(r *http.Request, start, end int) (t oncall.Profile, from, to time.Time, err error) {
	if t, err = a.Team(r); err != nil {
		return t, from, to, err
	}
	now, err := a.People.Clock(r.Context())
	if err != nil {
		return t, from, to, err
	}
	from, to, err = Window(r, now.AddDate(0, 0, start), now.AddDate(0, 0, end))
	return t, from, to, err
}
