package oncallapi

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/schedules"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

func (a *API) wishRoutes() []route {
	return []route{
		{post, v1 + "/teams/{team}/take", login, a.takePager},
		{get, v1 + "/teams/{team}/fairness", read, a.fairness},
		{get, v1 + "/teams/{team}/unavailability", read, a.listAbsences},
		{post, v1 + "/teams/{team}/unavailability", login, a.addAbsence},
		{del, v1 + "/unavailability/{id}", login, a.dropAbsence},
		{get, v1 + "/teams/{team}/conflicts", read, a.listConflicts},
		{get, v1 + "/teams/{team}/holidays", read, a.getHolidays},
		{put, v1 + "/teams/{team}/holidays", login, a.setHolidays},
		{del, v1 + "/teams/{team}/holidays", login, a.dropHolidays},
	}
}

// maxWindow bounds what one look at gaps or fairness reads.
const maxWindow = 3 * 366 * 24 * time.Hour

// teamAndWindow returns the team of a request, and the window of its query: from start to end days from now unless it says so.
func (a *API) teamAndWindow(r *http.Request, start, end int) (t oncall.Profile, from, to time.Time, err error) {
	if t, err = a.team(r); err != nil {
		return t, from, to, err
	}
	now, err := a.People.Clock(r.Context())
	if err != nil {
		return t, from, to, err
	}
	from, to, err = window(r, now.AddDate(0, 0, start), now.AddDate(0, 0, end))
	return t, from, to, err
}

// window reads start and end of a query, with what holds when they are not given.
func window(r *http.Request, start, end time.Time) (from, to time.Time, err error) {
	from, to = start, end
	if t, given, err := queryAt(r.URL.Query(), "start"); err != nil {
		return from, to, err
	} else if given {
		from = t
	}
	if t, given, err := queryAt(r.URL.Query(), "end"); err != nil {
		return from, to, err
	} else if given {
		to = t
	}
	if !from.Before(to) || to.Sub(from) > maxWindow {
		return from, to, fault.Invalidf("end", "end must be after start, and at most three years")
	}
	return from, to, nil
}

// askedRoles reads the roles that a query asks for; none means all.
func (a *API) askedRoles(r *http.Request) ([]string, error) {
	var out []string
	for _, name := range r.URL.Query()["role"] {
		if name == "" {
			continue
		}
		role, err := a.role(r.Context(), name)
		if err != nil {
			return nil, when(err, fault.NotFound, fault.Invalidf("role", "there is no role %q", name))
		}
		out = append(out, role.Name)
	}
	return out, nil
}

// fairness answers how much each person carried.
func (a *API) fairness(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, from, to, err := a.teamAndWindow(r, -90, 0)
	if err != nil {
		return err
	}
	start, end := from.Unix(), to.Unix()
	rows, err := a.Shifts.Find(ctx, oncall.ShiftQuery{Teams: []int64{t.ID}, End: oncall.Range{Min: &start}, Start: oncall.Range{Max: &end}})
	if err != nil {
		return err
	}
	shifts, names := make([]oncall.Shift, len(rows)), map[users.ID]oncall.ShiftRow{}
	for i, row := range rows {
		shifts[i], names[row.User] = row.Shift, row
	}
	holidays, err := a.holidaysOf(ctx, t)
	if err != nil {
		return err
	}
	roles, err := a.askedRoles(r)
	if err != nil {
		return err
	}
	out := []map[string]any{}
	for _, l := range schedules.Fairness(shifts, a.zoneOf(t), holidays, from, to, roles...) {
		out = append(out, map[string]any{"user": names[l.User].UserName, "full_name": orNull(names[l.User].FullName), "shifts": l.Shifts,
			"hours": l.Total.Hours(), "nights": l.Night.Hours(), "weekends": l.Weekend.Hours(), "holidays": l.Holidays.Hours()})
	}
	return answer(w, http.StatusOK, out)
}

func (a *API) zoneOf(t oncall.Profile) *time.Location {
	zone, err := time.LoadLocation(t.TimeZone)
	if err != nil {
		return time.UTC
	}
	return zone
}

func (a *API) holidaysOf(ctx context.Context, t oncall.Profile) (map[oncall.Date]bool, error) {
	c, err := a.Wishes.Holidays(ctx, t.ID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	out := map[oncall.Date]bool{}
	for _, d := range c.Days {
		out[d.Day] = true
	}
	return out, nil
}

func (a *API) getHolidays(w http.ResponseWriter, r *http.Request) error {
	t, err := a.team(r)
	if err != nil {
		return err
	}
	c, err := a.Wishes.Holidays(r.Context(), t.ID)
	if err != nil {
		return err
	}
	days := []map[string]string{}
	for _, d := range c.Days {
		days = append(days, map[string]string{"date": d.Day.String(), "name": d.Name})
	}
	return answer(w, http.StatusOK, map[string]any{"holidays": days, "uploaded_by": c.UploadedBy, "uploaded_at": c.UploadedAt.Unix()})
}

// setHolidays takes a team's holidays from the text of an iCalendar.
func (a *API) setHolidays(w http.ResponseWriter, r *http.Request) error {
	t, err := a.administered(r)
	if err != nil {
		return err
	}
	raw, _, err := wire.Body(w, r, wire.MaxBody)
	if err != nil {
		return err
	}
	days, err := readHolidays(raw)
	if err != nil {
		return err
	}
	if err := a.Wishes.SetHolidays(r.Context(), t, schedules.HolidayCalendar{Source: string(raw), Days: days}, by(r, nil)); err != nil {
		return err
	}
	return empty(w, http.StatusNoContent)
}

func (a *API) dropHolidays(w http.ResponseWriter, r *http.Request) error {
	t, err := a.administered(r)
	if err != nil {
		return err
	}
	if err := a.Wishes.DropHolidays(r.Context(), t, by(r, nil)); err != nil {
		return err
	}
	return empty(w, http.StatusNoContent)
}
