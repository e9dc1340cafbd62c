package oncallapi

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/edits"
	"github.com/iris-oncall/iris/internal/users"
)

func (a *API) shiftRoutes() []route {
	return []route{
		{get, v0 + "/events", read, a.listEvents},
		{post, v0 + "/events", login, a.createEvent},
		{get, v0 + "/events/{id}", read, a.getEvent},
		{put, v0 + "/events/{id}", login, a.updateEvent},
		{del, v0 + "/events/{id}", login, a.deleteEvent},
		{post, v0 + "/events/link", login, a.createLinked},
		{put, v0 + "/events/link/{link}", login, a.updateLinked},
		{del, v0 + "/events/link/{link}", login, a.deleteLinked},
		{post, v0 + "/events/swap", login, a.swapEvents},
		{post, v0 + "/events/override", login, a.overrideEvents},
		{post, v1 + "/events/preview", login, a.previewEdit},
		{post, v1 + "/events/swap", login, a.swapFromNow},
		{get, v0 + "/teams/{team}/summary", read, a.summary},
		{get, v0 + "/teams/{team}/oncall", read, a.teamOncall},
		{get, v0 + "/teams/{team}/oncall/{role}", read, a.teamOncall},
		{get, v0 + "/services/{service}/oncall", read, a.serviceOncall},
		{get, v0 + "/services/{service}/oncall/{role}", read, a.serviceOncall},
	}
}

var eventFields = []string{"id", "start", "end", "role", "team", "user", "full_name", "schedule_id", "link_id", "note"}

// eventObject is a shift as the wire shows it.
func eventObject(s oncall.ShiftRow) map[string]any {
	e := map[string]any{
		"id": s.ID, "start": s.Start.Unix(), "end": s.End.Unix(), "role": s.Role, "team": s.Team, "user": s.UserName,
		"full_name": orNull(s.FullName), "schedule_id": nil, "link_id": orNull(s.Link), "note": orNull(s.Note),
	}
	if s.Schedule != 0 {
		e["schedule_id"] = s.Schedule
	}
	return e
}

func eventObjects(rows []oncall.ShiftRow, asked []string) []map[string]any {
	out := make([]map[string]any, len(rows))
	for i, row := range rows {
		out[i] = pick(eventObject(row), asked)
	}
	return out
}

func (a *API) listEvents(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	query, none, err := a.eventQuery(r.Context(), q)
	if err != nil {
		return err
	}
	asked, err := fields(q, eventFields, nil)
	if err != nil {
		return err
	}
	var rows []oncall.ShiftRow
	if !none {
		if rows, err = a.Shifts.Find(r.Context(), query); err != nil {
			return err
		}
	}
	return answer(w, http.StatusOK, eventObjects(rows, asked))
}

// eventQuery reads the filters of a list of events. none: they name something that does not exist, nothing can be found.
func (a *API) eventQuery(ctx context.Context, q url.Values) (query oncall.ShiftQuery, none bool, err error) {
	known := map[string]kind{"id": numbers, "start": numbers, "end": numbers, "team_id": numbers, "role": words, "team": words, "user": words}
	cs, others := conditions(q, known)
	for _, key := range others {
		if key != "fields" && key != "include_subscribed" {
			return query, false, fault.New(fault.Invalid, "Bad constraint param")
		}
	}
	for _, c := range cs {
		switch c.field {
		case "id":
			narrow(&query.IDs, &query.NotIDs, c)
		case "start":
			narrow(&query.Start, &query.NotStart, c)
		case "end":
			narrow(&query.End, &query.NotEnd, c)
		}
	}
	subscribed, err := queryFlag(q, "include_subscribed", true)
	if err != nil {
		return query, false, err
	}
	byTeam := only(cs, "team", "team_id")
	query.Subscribed = subscribed && slices.ContainsFunc(byTeam, func(c condition) bool { return c.op != "endswith" })
	if len(byTeam) > 0 {
		if query.Teams, err = a.matchingTeams(ctx, byTeam); err != nil || len(query.Teams) == 0 {
			return query, true, err
		}
	}
	if byRole := only(cs, "role"); len(byRole) > 0 {
		if query.Roles, err = a.matchingRoles(ctx, byRole); err != nil || len(query.Roles) == 0 {
			return query, true, err
		}
	}
	if byUser := only(cs, "user"); len(byUser) > 0 {
		if query.Users, err = a.matchingUsers(ctx, byUser); err != nil || len(query.Users) == 0 {
			return query, true, err
		}
	}
	return query, false, nil
}

// narrow adds a comparison to a range of whole numbers.
func narrow(at *oncall.Range, not *[]int64, c condition) {
	low := func(n int64) {
		if at.Min == nil || *at.Min < n {
			at.Min = &n
		}
	}
	high := func(n int64) {
		if at.Max == nil || *at.Max > n {
			at.Max = &n
		}
	}
	switch c.op {
	case "eq":
		low(c.num)
		high(c.num)
	case "ne":
		*not = append(*not, c.num)
	case "gt":
		low(c.num + 1)
	case "ge":
		low(c.num)
	case "lt":
		high(c.num - 1)
	case "le":
		high(c.num)
	}
}

// exact returns the value of a lone comparison for equality, which is answered without reading everything.
func exact(cs []condition, field string) (string, bool) {
	if len(cs) == 1 && cs[0].field == field && cs[0].op == "eq" {
		return cs[0].text, true
	}
	return "", false
}

func (a *API) matchingTeams(ctx context.Context, cs []condition) ([]int64, error) {
	if name, ok := exact(cs, "team"); ok {
		t, err := a.Teams.ByName(ctx, name)
		if fault.Is(err, fault.NotFound) || err == nil && t.Name != name {
			return nil, nil
		}
		return []int64{t.ID}, err
	}
	var out []int64
	for _, active := range []bool{true, false} {
		teams, err := a.Teams.Names(ctx, active)
		if err != nil {
			return nil, err
		}
		for _, t := range teams {
			if match(cs, values{text: map[string]string{"team": t.Name}, num: map[string]int64{"team_id": t.OncallID}}) {
				out = append(out, t.ID)
			}
		}
	}
	return out, nil
}

func (a *API) matchingRoles(ctx context.Context, cs []condition) ([]string, error) {
	roles, err := a.Names.Roles(ctx)
	var out []string
	for _, role := range roles {
		if match(cs, values{text: map[string]string{"role": role.Name}}) {
			out = append(out, role.Name)
		}
	}
	return out, err
}

func (a *API) matchingUsers(ctx context.Context, cs []condition) ([]users.ID, error) {
	if name, ok := exact(cs, "user"); ok {
		u, err := a.People.ByName(ctx, name)
		if fault.Is(err, fault.NotFound) || err == nil && u.Name != name {
			return nil, nil
		}
		return []users.ID{u.ID}, err
	}
	people, err := a.People.All(ctx)
	var out []users.ID
	for _, u := range people {
		if match(cs, values{text: map[string]string{"user": u.Name}}) {
			out = append(out, u.ID)
		}
	}
	return out, err
}

// shiftID reads the number in the path; what is no number does not exist.
func shiftID(r *http.Request, name string) (int64, error) {
	n, err := strconv.ParseInt(param(r, name), 10, 64)
	if err != nil || n <= 0 {
		return 0, fault.New(fault.NotFound, "not found")
	}
	return n, nil
}

func (a *API) getEvent(w http.ResponseWriter, r *http.Request) error {
	id, err := shiftID(r, "id")
	if err != nil {
		return err
	}
	asked, err := fields(r.URL.Query(), eventFields, errBadFields)
	if err != nil {
		return err
	}
	rows, err := a.shiftRows(r.Context(), edits.Selection{IDs: []oncall.ShiftID{oncall.ShiftID(id)}})
	if err != nil {
		return err
	}
	row, ok := rows[oncall.ShiftID(id)]
	if !ok {
		return fault.New(fault.NotFound, "not found")
	}
	showTag(w, row.Tag())
	return answer(w, http.StatusOK, pick(eventObject(row), asked))
}

// shiftRows reads chosen shifts with their names.
func (a *API) shiftRows(ctx context.Context, c edits.Selection) (map[oncall.ShiftID]oncall.ShiftRow, error) {
	out := map[oncall.ShiftID]oncall.ShiftRow{}
	add := func(q oncall.ShiftQuery) error {
		rows, err := a.Shifts.Find(ctx, q)
		for _, row := range rows {
			out[row.ID] = row
		}
		return err
	}
	if len(c.IDs) > 0 {
		if err := add(oncall.ShiftQuery{Numbers: c.IDs}); err != nil {
			return nil, err
		}
	}
	for _, link := range c.Links {
		if err := add(oncall.ShiftQuery{Link: &link}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// named adds the names that people know to shifts.
func (a *API) named(ctx context.Context, shifts []oncall.Shift) ([]oncall.ShiftRow, error) {
	ids, teams := []users.ID{}, map[int64]string{}
	for _, s := range shifts {
		ids = append(ids, s.User)
		if _, known := teams[s.TeamID]; !known {
			t, err := a.Teams.ByID(ctx, s.TeamID)
			if err != nil {
				return nil, err
			}
			teams[s.TeamID] = t.Name
		}
	}
	people, err := a.People.ByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	known := map[users.ID]oncall.Person{}
	for _, u := range people {
		known[u.ID] = u
	}
	out := make([]oncall.ShiftRow, len(shifts))
	for i, s := range shifts {
		out[i] = oncall.ShiftRow{Shift: s, Team: teams[s.TeamID], UserName: known[s.User].Name, FullName: known[s.User].FullName}
	}
	return out, nil
}
