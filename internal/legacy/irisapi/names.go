package irisapi

import (
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

func (v names) listRoles(w http.ResponseWriter, r *http.Request) error {
	roles, err := v.Targets.Roles(r.Context())
	out := make([]Record, len(roles))
	for i, role := range roles {
		out[i] = Record{{"name", role.Name}, {"type", role.Kind}}
	}
	return Answer(w, out, err)
}

// listModes lists the modes alphabetically, without drop, which reaches nobody.
func (v names) listModes(w http.ResponseWriter, _ *http.Request) error {
	var out []string
	for _, m := range users.Modes {
		if m != users.Drop {
			out = append(out, string(m))
		}
	}
	slices.Sort(out)
	return routing.Answer(w, http.StatusOK, out)
}

func (v names) listPriorities(w http.ResponseWriter, r *http.Request) error {
	modes, err := v.Targets.PriorityModes(r.Context())
	out := make([]Record, len(users.Priorities))
	for i, p := range users.Priorities {
		out[i] = Record{{"name", p}, {"default_mode", modes[p]}}
	}
	return Answer(w, out, err)
}

func (v names) listZones(w http.ResponseWriter, _ *http.Request) error {
	return routing.Answer(w, http.StatusOK, routing.OrEmpty(v.TimeZones))
}

// priorityModes answers with the numbers of priorities and modes, and the default mode of each priority.
func (v names) priorityModes(w http.ResponseWriter, r *http.Request) error {
	defaults, err := v.Targets.PriorityModes(r.Context())
	priorities, modes := map[users.Priority]int{}, map[users.Mode]int{}
	for n, p := range users.Priorities {
		priorities[p] = n + 1
	}
	for n, m := range users.Modes {
		modes[m] = n + 1
	}
	return Answer(w, Record{{"priority_map", priorities}, {"mode_id_map", modes}, {"default_priority_map", defaults}},
		err)
}

var categoryList = List{Schema: filters.Schema{
	"id": filters.Text, "name": filters.Text, "application": filters.Text, "mode": filters.Text,
}}

var vocabularyCategoryColumns = Columns[applications.Category]{
	{"id", func(c applications.Category) any { return c.ID }},
	{"name", func(c applications.Category) any { return c.Name }},
	{"application", func(c applications.Category) any { return c.Application }},
	{"description", func(c applications.Category) any { return c.Description }},
	{"mode", func(c applications.Category) any { return c.Mode }},
}

// list answers with the categories of all applications, or of the one in the path. An unknown application has none.
func (v vocabularyCategories) list(w http.ResponseWriter, r *http.Request) error {
	q, err := categoryList.Read(w, r)
	if err != nil {
		return err
	}
	if app := ApplicationName(r); app != "" {
		q.Conditions = append(q.Conditions, filters.Condition{Field: "application", Op: filters.Eq,
			Values: []any{StorableName(app)}})
	}
	found, err := v.Categories.Categories(r.Context(), q)
	return Answer(w, vocabularyCategoryColumns.Records(found), err)
}

// allowed lists the names of the tags that may be attached.
func (v tags) allowed(w http.ResponseWriter, _ *http.Request) error {
	return routing.Answer(w, http.StatusOK, routing.OrEmpty(v.Tags.Names))
}

// maxTagValue is the longest value of a tag in bytes, and maxTagValues the most values of a tag of one object.
const (
	maxTagValue  = 255
	maxTagValues = 100
)

// set replaces the values of one tag of an object.
func (v tags) set(kind string) routing.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		b := ReadBody(w, r, "")
		id, name := b.Whole("id", 1, 1<<62), b.Required("name")
		b.Check(slices.Contains(v.Tags.Names, name), fault.Invalidf("name",
			"The tag %s is not one of those that are allowed", name))
		values, ok := texts(b.Members["values"])
		wrong := slices.ContainsFunc(values, func(v string) bool { return v == "" || len(v) > maxTagValue })
		b.Check(ok && len(values) <= maxTagValues && !wrong,
			fault.Invalidf("values", "values must be a list of at most %d texts of 1 to %d bytes", maxTagValues,
				maxTagValue))
		if err := b.Err(); err != nil {
			return err
		}
		if err := v.Tags.Store.Set(r.Context(), kind, id, name, values); err != nil {
			return fault.When(err, fault.NotFound, fault.New(fault.Invalid, fault.Public(err)))
		}
		return routing.Answer(w, http.StatusCreated, []int{})
	}
}
