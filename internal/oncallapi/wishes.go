package oncallapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
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
	for _, l := range oncall.Fairness(shifts, a.zoneOf(t), holidays, from, to, roles...) {
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

func absenceObject(s oncall.StoredAbsence) map[string]any {
	start := s.Start.In(s.Zone)
	return map[string]any{"id": s.ID, "user": s.UserName, "start": start.Unix(), "end": s.End().Unix(),
		"timezone": s.Zone.String(), "rule": orNull(s.Rule), "note": orNull(s.Reason)}
}

func (a *API) listAbsences(w http.ResponseWriter, r *http.Request) error {
	t, err := a.team(r)
	if err != nil {
		return err
	}
	people, err := a.Teams.People(r.Context(), t.ID)
	if err != nil {
		return err
	}
	absences, err := a.Wishes.Absences(r.Context(), idsOf(people))
	if err != nil {
		return err
	}
	out := []map[string]any{}
	for _, s := range absences {
		out = append(out, absenceObject(s))
	}
	return answer(w, http.StatusOK, out)
}

// maxAbsences is about how many unavailabilities a person may have: each is looked through whenever a team of theirs is filled.
const maxAbsences = 200

// addAbsence stores when a person cannot be on call: by themselves, or by an administrator of the team.
func (a *API) addAbsence(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, err := a.team(r)
	if err != nil {
		return err
	}
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	u, err := a.absentee(ctx, b, t)
	if err != nil {
		return err
	}
	start, err := b.mustAt("start")
	if err != nil {
		return err
	}
	end, err := b.mustAt("end")
	if err != nil {
		return err
	}
	absence := oncall.Recurring{User: u.ID}
	if absence.Rule, err = b.text("rule"); err != nil {
		return err
	}
	if absence.Reason, err = b.text("note"); err != nil {
		return err
	}
	name, err := b.text("timezone")
	if err != nil {
		return err
	}
	absence.Zone = a.zoneOf(t)
	if name != "" {
		name, err = zoneName(name)
		if err == nil {
			absence.Zone, err = time.LoadLocation(name)
		}
		if err != nil {
			return fault.Invalidf("timezone", "unknown time zone %q", name)
		}
	}
	absence.Start, absence.Length = oncall.LocalIn(start, absence.Zone), oncall.Lasts(start, end, absence.Zone)
	if err := absence.Check(); err != nil {
		return err
	}
	known, err := a.Wishes.Absences(ctx, []users.ID{u.ID})
	if err != nil {
		return err
	}
	if len(known) >= maxAbsences {
		return fault.Invalidf("user", "%s has %d unavailabilities; remove those that are over first", u.Name, len(known))
	}
	id, err := a.Wishes.AddAbsence(ctx, absence)
	if err != nil {
		return err
	}
	return answer(w, http.StatusCreated, map[string]any{"id": id})
}

// absentee is whose unavailability a body is about: the user it names, or the caller.
func (a *API) absentee(ctx context.Context, b body, t oncall.Profile) (oncall.Person, error) {
	name, err := b.text("user")
	if err != nil {
		return oncall.Person{}, err
	}
	if name == "" {
		return a.personOf(ctx, b)
	}
	u, err := a.People.ByName(ctx, name)
	if err != nil {
		return u, when(err, fault.NotFound, fault.Invalidf("user", "there is no user %q", name))
	}
	people, err := a.Teams.People(ctx, t.ID)
	if err != nil {
		return u, err
	}
	if !slices.Contains(idsOf(people), u.ID) {
		return u, fault.Invalidf("user", "%s is not part of team %s", u.Name, t.Name)
	}
	return u, wire.Actor(ctx).MayEditPerson(u.User, []int64{t.ID}, auth.Openings{AdminsEditMembers: true})
}

func (a *API) dropAbsence(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	id, err := shiftID(r, "id")
	if err != nil {
		return err
	}
	s, err := a.Wishes.Absence(ctx, id)
	if err != nil {
		return err
	}
	teams, err := a.People.Teams(ctx, s.User)
	if err != nil {
		return err
	}
	var theirs []int64
	for _, t := range teams {
		theirs = append(theirs, t.ID)
	}
	if err := wire.Actor(ctx).MayEditPerson(users.User{ID: s.User, Name: s.UserName}, theirs, auth.Openings{AdminsEditMembers: true}); err != nil {
		return err
	}
	if err := a.Wishes.DropAbsence(ctx, id); err != nil {
		return err
	}
	return empty(w, http.StatusNoContent)
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
	if err := a.Wishes.SetHolidays(r.Context(), t, oncall.HolidayCalendar{Source: string(raw), Days: days}, by(r, nil)); err != nil {
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
