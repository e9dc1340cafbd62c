package pagerdutyapi

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// The limits of lists, as PagerDuty has them: items of a page, the largest page, and the largest offset and limit
// together, which is also how many objects are read for a list.
const (
	usualPage = 25
	mostPage  = 100
	mostItems = 10_000
)

// list is how a list is answered.
type list struct {
	// each calls add for each object that matches, until add returns false.
	each    func(ctx context.Context, query url.Values, add func(object) bool) error
	filters string // the parameters that select objects
}

// listed returns the handler of a list.
func (a *API) listed(name string, l list) routing.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		query := r.URL.Query()
		in, err := readWindow(query, strings.Fields(l.filters))
		if err != nil {
			return err
		}
		if err := l.each(r.Context(), query, in.add); err != nil {
			return err
		}
		answer := object{name: routing.OrEmpty(in.items), "limit": in.limit, "offset": in.offset, "more": in.more, "total": nil}
		if in.count {
			answer["total"] = in.seen
		}
		return routing.Answer(w, http.StatusOK, answer)
	}
}

// window is the page of a list.
type window struct {
	limit, offset int
	count         bool // all objects are counted
	seen          int
	items         []object
	more          bool
}

// readWindow reads the parameters of a list. A parameter that would select objects but is not supported is refused,
// because the answer would be wrong; others, such as include[], are ignored.
func readWindow(query url.Values, filters []string) (window, error) {
	in := window{limit: usualPage, count: query.Get("total") == "true" || query.Get("total") == "1"}
	for name, to := range map[string]*int{"limit": &in.limit, "offset": &in.offset} {
		if given := query.Get(name); given != "" {
			n, err := strconv.Atoi(given)
			if err != nil || n < 0 {
				return in, fault.Invalidf(name, "%s must be a number from 0 on", name)
			}
			*to = n
		}
	}
	if in.limit = min(max(in.limit, 1), mostPage); in.offset > mostItems-in.limit {
		return in, fault.Invalidf("offset", "offset and limit together must be at most %d", mostItems)
	}
	for name := range query {
		selects := strings.HasSuffix(name, "_ids[]") || slices.Contains([]string{"urgencies[]", "incident_key", "query", "statuses[]"}, name)
		if selects && !slices.Contains(filters, name) {
			return in, fault.Invalidf(name, "Iris does not support %s here", name)
		}
	}
	return in, nil
}

// add adds an object, and reports whether further ones are needed.
func (in *window) add(o object) bool {
	switch {
	case in.seen < in.offset:
	case len(in.items) < in.limit:
		in.items = append(in.items, o)
	default:
		in.more = true
	}
	in.seen++
	return (in.count || !in.more) && in.seen < mostItems
}

// walk calls add for the items of all pages, until it returns false or mostItems were read.
func walk[T any](read func(operation.Paging) (operation.Page[T], error), add func(T) bool) error {
	for p, n := (operation.Paging{Limit: mostPage}), 0; n < mostItems; {
		page, err := read(p)
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			if n++; !add(item) {
				return nil
			}
		}
		if page.Next == nil {
			return nil
		}
		p.Cursor = *page.Next
	}
	return nil
}

// wanted reports whether a parameter with a list of values is absent or has the value.
func wanted(query url.Values, name, value string) bool {
	return len(query[name]) == 0 || slices.Contains(query[name], value)
}

// only returns the value of a parameter with a list of values if it has exactly one.
func only(query url.Values, name string) string {
	if len(query[name]) != 1 {
		return ""
	}
	return query.Get(name)
}

// one refuses a parameter with several values.
func one(query url.Values, name string) error {
	if len(query[name]) > 1 {
		return fault.Invalidf(name, "Iris supports only one value of %s", name)
	}
	return nil
}

func (a *API) users(ctx context.Context, query url.Values, add func(object) bool) error {
	if err := one(query, "team_ids[]"); err != nil {
		return err
	}
	by := a.d.Caller(ctx)
	return walk(func(p operation.Paging) (operation.Page[users.PersonRow], error) {
		return a.d.People.List.Do(ctx, by, users.PeopleFilter{Paging: p, Search: query.Get("query"), Team: only(query, "team_ids[]")})
	}, func(u users.PersonRow) bool {
		o := a.person("user", u.Name, string(u.FullName))
		role := "user"
		switch {
		case u.Admin:
			role = "admin"
		case u.ReadOnly:
			role = "read_only_user"
		}
		o["name"], o["email"], o["time_zone"], o["role"] = o["summary"], "", string(u.TimeZone), role
		o["teams"], o["contact_methods"], o["notification_rules"] = []object{}, []object{}, []object{}
		return add(o)
	})
}

// services are the applications.
func (a *API) services(ctx context.Context, query url.Values, add func(object) bool) error {
	if err := one(query, "team_ids[]"); err != nil {
		return err
	}
	by := a.d.Caller(ctx)
	return walk(func(p operation.Paging) (operation.Page[catalog.ApplicationRow], error) {
		return a.d.Applications.List.Do(ctx, by, catalog.ApplicationFilter{Paging: p, Search: query.Get("query"), Team: only(query, "team_ids[]")})
	}, func(s catalog.ApplicationRow) bool {
		o := a.service("service", s.Name)
		o["name"], o["description"], o["status"], o["created_at"] = s.Name, "", "active", s.CreatedAt.UTC()
		o["teams"], o["integrations"], o["escalation_policy"] = []object{}, []object{}, nil
		return add(o)
	})
}

// policies are the active plans.
func (a *API) policies(ctx context.Context, query url.Values, add func(object) bool) error {
	by := a.d.Caller(ctx)
	return walk(func(p operation.Paging) (operation.Page[catalog.PlanRow], error) {
		return a.d.Plans.List.Do(ctx, by, catalog.Filter{Paging: p, Search: query.Get("query")})
	}, func(plan catalog.PlanRow) bool {
		o := a.policy("escalation_policy", plan.Name)
		o["name"], o["description"], o["num_loops"] = plan.Name, plan.Description, 0
		o["escalation_rules"], o["services"], o["teams"] = []object{}, []object{}, []object{}
		return add(o)
	})
}

// eachTeam calls do for the teams by name, until it returns false or an error.
func (a *API) eachTeam(ctx context.Context, by operation.Actor, do func(team string) (bool, error)) error {
	var failed error
	err := walk(func(p operation.Paging) (operation.Page[teams.TeamRow], error) { return a.d.Teams.List.Do(ctx, by, p) },
		func(t teams.TeamRow) bool {
			var further bool
			further, failed = do(t.Name)
			return further && failed == nil
		})
	if failed != nil {
		return failed
	}
	return err
}

// schedule is the role of a team: its rotations share a calendar.
func (a *API) schedule(kind, team, role string) object {
	return a.reference(kind, team+"/"+role, team+" "+role, "/team/"+url.PathEscape(team))
}

// schedules are the roles of teams that have rotations.
func (a *API) schedules(ctx context.Context, query url.Values, add func(object) bool) error {
	by, search := a.d.Caller(ctx), strings.ToLower(query.Get("query"))
	return a.eachTeam(ctx, by, func(team string) (bool, error) {
		found, err := a.d.Planning.Rotations.Do(ctx, by, users.OneTeam{Team: team})
		seen := map[string]bool{}
		for _, r := range found.Items {
			name := team + " " + r.Role
			if seen[r.Role] || !strings.Contains(strings.ToLower(name), search) {
				continue
			}
			seen[r.Role] = true
			o := a.schedule("schedule", team, r.Role)
			o["name"], o["time_zone"], o["description"] = name, r.TimeZone, ""
			o["users"], o["teams"], o["escalation_policies"] = []object{}, []object{}, []object{}
			if !add(o) {
				return false, err
			}
		}
		return true, err
	})
}

// onCalls are the people who are on call now. Each has the schedule that its team and role are.
func (a *API) onCalls(ctx context.Context, query url.Values, add func(object) bool) error {
	for _, name := range []string{"since", "until"} {
		if query.Get(name) != "" && query.Get("earliest") == "" {
			return fault.Invalidf(name, "Iris answers who is on call now: leave out since and until")
		}
	}
	by := a.d.Caller(ctx)
	return a.eachTeam(ctx, by, func(team string) (bool, error) {
		if !slices.ContainsFunc(query["schedule_ids[]"], func(id string) bool { return strings.HasPrefix(id, team+"/") }) &&
			len(query["schedule_ids[]"]) > 0 {
			return true, nil
		}
		found, err := a.d.OnCall.Do(ctx, by, calendaring.OnCallFilter{Team: team})
		if fault.Is(err, fault.NotFound) { // deleted at the same time
			return true, nil
		}
		for _, t := range found.Items {
			for _, role := range t.Roles {
				if !wanted(query, "schedule_ids[]", team+"/"+role.Role) {
					continue
				}
				var end any
				if len(role.Next) > 0 {
					end = role.Next[0].At.UTC()
				}
				for _, p := range role.People {
					if !wanted(query, "user_ids[]", p.Name) {
						continue
					}
					if !add(object{"user": a.person("user_reference", p.Name, p.FullName), "schedule": a.schedule("schedule_reference", team, role.Role),
						"escalation_policy": nil, "escalation_level": 1, "start": nil, "end": end}) {
						return false, err
					}
				}
			}
		}
		return true, err
	})
}
