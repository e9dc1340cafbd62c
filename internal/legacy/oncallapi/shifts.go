package oncallapi

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/legacy/params"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

func (a events) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/api/v0/events", routing.Read, a.listEvents),
		routing.Post("/api/v0/events", routing.Write, a.createEvent),
		routing.Get("/api/v0/events/{id}", routing.Read, a.getEvent),
		routing.Put("/api/v0/events/{id}", routing.Write, a.updateEvent),
		routing.Delete("/api/v0/events/{id}", routing.Write, a.deleteEvent),
		routing.Post("/api/v0/events/link", routing.Write, a.createLinked),
		routing.Put("/api/v0/events/link/{link}", routing.Write, a.updateLinked),
		routing.Delete("/api/v0/events/link/{link}", routing.Write, a.deleteLinked),
		routing.Post("/api/v0/events/swap", routing.Write, a.swapEvents),
		routing.Post("/api/v0/events/override", routing.Write, a.overrideEvents),
	}
}

// listEvents answers with the shifts that match the query.
func (a events) listEvents(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	query, none, err := a.eventQuery(r.Context(), q)
	if err != nil {
		return err
	}
	asked, err := params.Fields(q, EventFields, nil)
	if err != nil {
		return err
	}
	var rows []oncall.ShiftRow
	if !none {
		if rows, err = a.Shifts.Find(r.Context(), query); err != nil {
			return err
		}
	}
	return routing.Answer(w, http.StatusOK, EventObjects(rows, asked))
}

// eventQuery reads the filters of a list of shifts. none is true if a filter matches no team, role or user: the list is
// then empty.
func (a events) eventQuery(ctx context.Context, q url.Values) (query oncall.ShiftQuery, none bool, err error) {
	known := map[string]params.Kind{"id": params.Number, "start": params.Number, "end": params.Number,
		"team_id": params.Number, "role": params.Text, "team": params.Text, "user": params.Text}
	cs, others := params.Conditions(q, known)
	for _, key := range others {
		if key != "fields" && key != "include_subscribed" {
			return query, false, fault.New(fault.Invalid, "Bad constraint param")
		}
	}
	for _, c := range cs {
		switch c.Field {
		case "id":
			narrow(&query.IDs, &query.NotIDs, c)
		case "start":
			narrow(&query.Start, &query.NotStart, c)
		case "end":
			narrow(&query.End, &query.NotEnd, c)
		}
	}
	subscribed, err := params.Flag(q, "include_subscribed", true)
	if err != nil {
		return query, false, err
	}
	byTeam := params.Only(cs, "team", "team_id")
	query.Subscribed = subscribed && slices.ContainsFunc(byTeam,
		func(c params.Condition) bool { return c.Op != "endswith" })
	if len(byTeam) > 0 {
		if query.Teams, err = a.matchingTeams(ctx, byTeam); err != nil || len(query.Teams) == 0 {
			return query, true, err
		}
	}
	if byRole := params.Only(cs, "role"); len(byRole) > 0 {
		if query.Roles, err = a.matchingRoles(ctx, byRole); err != nil || len(query.Roles) == 0 {
			return query, true, err
		}
	}
	if byUser := params.Only(cs, "user"); len(byUser) > 0 {
		if query.Users, err = a.matchingUsers(ctx, byUser); err != nil || len(query.Users) == 0 {
			return query, true, err
		}
	}
	return query, false, nil
}

// narrow applies a comparison to a range of whole numbers, or to the list of excluded numbers.
func narrow(at *oncall.Range, not *[]int64, c params.Condition) {
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
	switch c.Op {
	case "eq":
		low(c.Num)
		high(c.Num)
	case "ne":
		*not = append(*not, c.Num)
	case "gt":
		low(c.Num + 1)
	case "ge":
		low(c.Num)
	case "lt":
		high(c.Num - 1)
	case "le":
		high(c.Num)
	}
}

// exact returns the value if the only condition is that field equals it. Such a name is looked up without reading all
// names.
func exact(cs []params.Condition, field string) (string, bool) {
	if len(cs) == 1 && cs[0].Field == field && cs[0].Op == "eq" {
		return cs[0].Text, true
	}
	return "", false
}

// matchingTeams returns the teams that meet the conditions, deleted teams included.
func (a events) matchingTeams(ctx context.Context, cs []params.Condition) ([]int64, error) {
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
			if params.Match(cs, params.Values{Text: map[string]string{"team": t.Name}, Num: map[string]int64{"team_id": t.OncallID}}) {
				out = append(out, t.ID)
			}
		}
	}
	return out, nil
}

// matchingRoles returns the roles that meet the conditions.
func (a events) matchingRoles(ctx context.Context, cs []params.Condition) ([]string, error) {
	roles, err := a.Roles.Roles(ctx)
	var out []string
	for _, role := range roles {
		if params.Match(cs, params.Values{Text: map[string]string{"role": role.Name}}) {
			out = append(out, role.Name)
		}
	}
	return out, err
}

// matchingUsers returns the people who meet the conditions.
func (a events) matchingUsers(ctx context.Context, cs []params.Condition) ([]users.ID, error) {
	if name, ok := exact(cs, "user"); ok {
		u, err := a.People.ByName(ctx, name)
		if fault.Is(err, fault.NotFound) || err == nil && u.Name != name {
			return nil, nil
		}
		return []users.ID{u.ID}, err
	}
	people, err := a.Users.All(ctx)
	var out []users.ID
	for _, u := range people {
		if params.Match(cs, params.Values{Text: map[string]string{"user": u.Name}}) {
			out = append(out, u.ID)
		}
	}
	return out, err
}

// getEvent answers with a shift and its ETag.
func (a events) getEvent(w http.ResponseWriter, r *http.Request) error {
	id, err := ShiftID(r, "id")
	if err != nil {
		return err
	}
	asked, err := params.Fields(r.URL.Query(), EventFields, params.ErrFields)
	if err != nil {
		return err
	}
	rows, err := a.ShiftRows(r.Context(), editing.Selection{IDs: []oncall.ShiftID{oncall.ShiftID(id)}})
	if err != nil {
		return err
	}
	row, ok := rows[oncall.ShiftID(id)]
	if !ok {
		return fault.New(fault.NotFound, "not found")
	}
	routing.ShowTag(w, row.Tag())
	return routing.Answer(w, http.StatusOK, params.Pick(row.Event(), asked))
}
