package calendar

import (
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/wire/params"
)

// maxWindow bounds the window of one request for gaps or fairness.
const maxWindow = 3 * 366 * 24 * time.Hour

// teamAndWindow returns the team of a request and the window of its query. The default window is start to end days from now.
func (a Deps) teamAndWindow(r *http.Request, start, end int) (t oncall.Profile, from, to time.Time, err error) {
	if t, err = a.Team(r); err != nil {
		return t, from, to, err
	}
	now, err := a.People.Clock(r.Context())
	if err != nil {
		return t, from, to, err
	}
	from, to, err = window(r, now.AddDate(0, 0, start), now.AddDate(0, 0, end))
	return t, from, to, err
}

// window reads start and end of a query; the arguments are the defaults.
func window(r *http.Request, start, end time.Time) (from, to time.Time, err error) {
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
	if !from.Before(to) || to.Sub(from) > maxWindow {
		return from, to, fault.Invalidf("end", "end must be after start, and at most three years")
	}
	return from, to, nil
}

// askedRoles returns the roles of a query; none means all.
func (a Deps) askedRoles(r *http.Request) ([]string, error) {
	var out []string
	for _, name := range r.URL.Query()["role"] {
		if name == "" {
			continue
		}
		role, err := a.Role(r.Context(), name)
		if err != nil {
			return nil, fault.When(err, fault.NotFound, fault.Invalidf("role", "there is no role %q", name))
		}
		out = append(out, role.Name)
	}
	return out, nil
}
