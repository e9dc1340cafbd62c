package pages

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

type incidentView struct {
	incidents.Incident
	Title, State, StateText               string
	CanAcknowledge, CanReopen, CanResolve bool
	NotReopened                           string // why nobody can escalate the incident again; "" = it can, or it escalates
}

type listView struct {
	page.Frame
	Show, Group string
	First       bool // the page has the newest incidents
	Filter      filter
	Hidden      []page.Field // what the form of the filter keeps besides its fields
	Chips       []chip
	Groupings   []page.Tab
	Self        string
	Live        page.Live
}

// chip is a field of the filter that is set, with the address of the list without it.
type chip struct{ Label, Value, Without string }

type rowsView struct {
	Tabs     []page.Tab
	Rows     []rowView
	Groups   []groupView // in place of Rows
	Grouped  string      // by what; "" = there are rows
	Cut      int         // with Groups: only so many incidents are grouped; 0 = all
	Older    string      // address of the next rows; "" = there are none
	Since    time.Time   // with Older: the incidents opened before are not shown
	Partly   bool        // with Older: the search ended before the page was full
	Newest   string      // the place of the newest incident; "" = this is not the first page
	Empty    string      // text for a list without rows
	Self     string      // address of this list
	Filtered bool
	ReadOnly bool
}

// selection is a tab of the list: incidents in a state, of some people.
type selection struct {
	name, label, empty string
	state              string // see incidents.InState; "" = any
	whose              []filters.Condition
	counted            bool // its incidents are counted
}

// selections returns the tabs of the list of a reader. The first one is the default.
func selections(reader users.User) []selection {
	whose := func(field string, v any) []filters.Condition {
		return []filters.Condition{{Field: field, Op: filters.Eq, Values: []any{v}}}
	}
	return []selection{
		{"open", "Open", "No open incidents.", incidents.StateOpen, nil, true},
		{"mine", "Mine", "You own no open incident: acknowledge one to own it.", incidents.StateOpen,
			whose("owner", reader.Name), true},
		{"teams", "My teams", "Your teams have no open incident: none on plans that page them or that they own, and none of their applications.", incidents.StateOpen, whose("teams_of", int64(reader.ID)), true},
		{"escalating", "Escalating", "No incident is escalating: nobody is being paged.",
			string(incidents.StateEscalating), nil, true},
		{"resolved", "Resolved", "No resolved incidents.", string(incidents.StateResolved), nil, false},
		{"all", "All", "No incidents.", "", nil, false},
	}
}

// selectedTab returns the tab that a query names, or the first one.
func selectedTab(v url.Values, tabs []selection) selection {
	if i := slices.IndexFunc(tabs, func(s selection) bool { return s.name == v.Get("show") }); i >= 0 {
		return tabs[i]
	}
	return tabs[0]
}

// filter is the filter of the list, as it was typed.
type filter struct {
	State, Severity, Application, Plan, Integration, Owner, Team, Title, Text string
	Labels                                                                    []string // as incidents.HasLabel reads them
}

// field is a field of the filter.
type field struct {
	name, label string
	value       *string
}

func (f *filter) fields() []field {
	return []field{{"state", "State", &f.State}, {"severity", "Severity", &f.Severity},
		{"application", "Application", &f.Application}, {"plan", "Plan", &f.Plan},
		{"integration", "Integration", &f.Integration}, {"owner", "Owner", &f.Owner}, {"team", "Team", &f.Team},
		{"title", "Title", &f.Title}, {"text", "Text", &f.Text}}
}

// maxLabelFilters is how many labels a filter has at most. Further ones are left out.
const maxLabelFilters = 10

// readFilter reads the filter of a query. A state or severity that does not exist is left out.
func readFilter(v url.Values) (f filter) {
	for _, field := range f.fields() {
		*field.value = page.Storable(strings.TrimSpace(v.Get(field.name)))
	}
	for _, label := range v["label"] {
		label = page.Storable(label)
		if _, ok := incidents.HasLabel(label); ok && !slices.Contains(f.Labels, label) && len(f.Labels) < maxLabelFilters {
			f.Labels = append(f.Labels, label)
		}
	}
	if _, ok := incidents.InState(f.State); !ok {
		f.State = ""
	}
	if !slices.Contains(incidents.Severities, f.Severity) {
		f.Severity = ""
	}
	return f
}

// empty reports whether nothing is filtered.
func (f filter) empty() bool {
	return len(f.Labels) == 0 && !slices.ContainsFunc(f.fields(), func(one field) bool { return *one.value != "" })
}

// texts reports whether the filter has a condition on texts, which no index helps.
func (f filter) texts() bool { return f.Text != "" || len(f.Labels) > 0 }

// conditions returns what incidents of the tab must meet, except for the title. A state of the filter replaces that of
// the tab.
func (f filter) conditions(s selection) []filters.Condition {
	state := s.state
	if f.State != "" {
		state = f.State
	}
	out, _ := incidents.InState(state)
	out = append(out, s.whose...)
	for name, text := range map[string]string{"application": f.Application, "plan": f.Plan, "integration": f.Integration} {
		if whole, ok := quoted(text); ok {
			out = append(out, filters.Equal(name, whole))
		} else if text != "" {
			out = append(out, filters.Condition{Field: name, Op: filters.Contains, Values: []any{text}})
		}
	}
	if f.Severity != "" {
		out = append(out, filters.Equal(f.Severity, true))
	}
	if f.Owner != "" {
		out = append(out, filters.Equal("owner", f.Owner))
	}
	if f.Team != "" {
		out = append(out, filters.Equal(incidents.FieldTeam, f.Team))
	}
	for _, label := range f.Labels {
		condition, _ := incidents.HasLabel(label)
		out = append(out, condition)
	}
	if f.Text != "" {
		out = append(out, incidents.HasText(f.Text))
	}
	return out
}

// quoted returns the text between quotation marks. They say that a name is whole, and not a part of one.
func quoted(text string) (string, bool) {
	inner, begins := strings.CutPrefix(text, `"`)
	inner, ends := strings.CutSuffix(inner, `"`)
	return inner, begins && ends && inner != ""
}

func (f filter) chips(v url.Values) (out []chip) {
	for _, field := range f.fields() {
		if *field.value != "" {
			out = append(out, chip{field.label, *field.value, listPath(v, field.name, "")})
		}
	}
	for _, label := range f.Labels {
		name, value, _ := strings.Cut(label, "=")
		without := slices.DeleteFunc(slices.Clone(f.Labels), func(other string) bool { return other == label })
		out = append(out, chip{name, value, listPath(v, "label", without...)})
	}
	return out
}

func (h Handlers) list(rw http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	tabs := selections(page.Reader(r))
	tab := selectedTab(v, tabs)
	view := listView{Show: tab.name, Group: grouping(v), First: v.Get("after") == "", Filter: readFilter(v),
		Self: listPath(v, "show", tab.name)}
	rows, err := h.rows(r, tab, view.Filter)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	rows.Tabs = h.tabs(r, tabs, tab, view.Filter)
	live, whole := h.Pages.Live(rw, r, "incident-rows", rows)
	if !whole {
		return
	}
	view.Live = live
	v.Del("after")
	view.Chips = view.Filter.chips(v)
	view.Hidden = []page.Field{{Name: "show", Value: view.Show}, {Name: "group", Value: view.Group},
		{Name: "team", Value: view.Filter.Team}, {Name: "title", Value: view.Filter.Title}}
	for _, label := range view.Filter.Labels {
		view.Hidden = append(view.Hidden, page.Field{Name: "label", Value: label})
	}
	for _, g := range groupings {
		view.Groupings = append(view.Groupings, page.Tab{Label: g.label, Href: listPath(v, "group", g.name),
			Current: g.name == view.Group})
	}
	view.Frame = h.Pages.Frame(r, "Incidents", "incidents")
	view.Modules = []string{"incidents.js"}
	h.Pages.Render(rw, r, http.StatusOK, "incidents", view)
}

// maxCounted is up to which number the incidents of a tab are counted.
const maxCounted = 1000

// tabs returns the tabs, with the numbers of their incidents that the filter lets through. Numbers that take too long
// are left out; so are those of searches in texts.
func (h Handlers) tabs(r *http.Request, all []selection, current selection, f filter) (out []page.Tab) {
	v := r.URL.Query()
	v.Del("after")
	var queries []filters.Query
	for _, s := range all {
		if s.counted && !f.texts() && f.Title == "" && f.State == "" {
			queries = append(queries, filters.Query{Conditions: f.conditions(s)})
		}
	}
	var counts []int
	if len(queries) > 0 {
		var err error
		counts, err = h.Incidents.CountUpTo(r.Context(), maxCounted+1, queries...)
		if err != nil {
			h.Pages.Note(r, err)
			counts = nil
		}
	}
	for _, s := range all {
		tab := page.Tab{Label: s.label, Href: listPath(v, "show", s.name), Current: s.name == current.name}
		if s.counted && len(counts) > 0 {
			if tab.Count = fmt.Sprint(counts[0]); counts[0] > maxCounted {
				tab.Count = "1,000+"
			}
			counts = counts[1:]
		}
		out = append(out, tab)
	}
	return out
}

// rowView is a row of the list.
type rowView struct {
	incidentView
	incidents.AlertCount
	Next   nextView
	Labels []chip
}

// rows reads a page of the list, or the groups of the newest incidents.
func (h Handlers) rows(r *http.Request, s selection, f filter) (rowsView, error) {
	v := r.URL.Query()
	q := filters.Query{Conditions: f.conditions(s), Limit: page.ListLength}
	if after, err := filters.ParsePlace(v.Get("after")); err == nil {
		q.After = &after
	}
	rows := rowsView{Empty: s.empty, ReadOnly: page.Reader(r).ReadOnly, Self: listPath(v, "show", s.name),
		Filtered: !f.empty(), Grouped: grouping(v)}
	if rows.Filtered {
		rows.Empty = "No incident matches the filter."
	}
	if rows.Grouped != "" {
		q.Limit = maxGrouped
	}
	found, older, err := h.find(r.Context(), q, f)
	if err != nil {
		return rowsView{}, err
	}
	if rows.Grouped != "" {
		if older != nil {
			rows.Cut = len(found)
		}
		rows.Groups = groupsOf(found, v, rows.Grouped)
		return rows, nil
	}
	ids := make([]incidents.ID, len(found))
	for k, i := range found {
		ids[k] = i.ID
	}
	alerts, err := h.AlertCounts(r.Context(), ids)
	if err != nil {
		return rowsView{}, err
	}
	if older != nil {
		rows.Older, rows.Since = listPath(v, "after", older.String()), older.At
		rows.Partly = len(found) < page.ListLength
	}
	if q.After == nil && len(found) > 0 {
		rows.Newest = found[0].Place().String()
	}
	next := h.next(r, found...)
	for _, i := range found {
		rows.Rows = append(rows.Rows, rowView{viewIncident(i), alerts[i.ID], next[i.ID], labelChips(i, v, f)})
	}
	return rows, nil
}

// shortly is how long the first page of a search in texts searches. Further pages search for a second each.
const shortly = 40 * time.Millisecond

// find reads a page of the list. No index helps a search in texts, so it reads period after period: see
// filters.Reader.Search.
func (h Handlers) find(ctx context.Context, q filters.Query, f filter) ([]incidents.Incident, *filters.Place, error) {
	read := filters.Reader[incidents.Incident](h.Incidents.List)
	size := q.Limit
	if f.Title != "" {
		q.Limit = maxGrouped
	}
	var found []incidents.Incident
	var older *filters.Place
	var err error
	switch {
	case !f.texts():
		found, older, err = read.Find(ctx, q, incidents.Incident.Place)
	case q.After == nil:
		found, older, err = read.SearchFor(ctx, shortly, q, incidents.Incident.Place)
	default:
		found, older, err = read.Search(ctx, q, incidents.Incident.Place)
	}
	if f.Title == "" || err != nil {
		return found, older, err
	}
	titled := found[:0]
	for _, i := range found {
		if i.Title() != f.Title {
			continue
		}
		if len(titled) == size {
			last := titled[size-1].Place()
			return titled, &last, nil
		}
		titled = append(titled, i)
	}
	return titled, older, nil
}

// listPath returns the address of the list with the query v and the values of one key changed; none or "" removes the
// key.
func listPath(v url.Values, key string, values ...string) string {
	changed := url.Values{}
	for k, vs := range v {
		if len(vs) > 0 && vs[0] != "" {
			changed[k] = vs
		}
	}
	changed.Del(key)
	for _, value := range values {
		if value != "" {
			changed.Add(key, value)
		}
	}
	return "/incidents?" + changed.Encode()
}

func viewIncident(i incidents.Incident) incidentView {
	state := i.State()
	v := incidentView{Incident: i, Title: i.Title(), State: string(state), StateText: string(state)}
	switch {
	case state == incidents.StateEscalating && i.CurrentStep == 0:
		v.StateText = "starting"
	case state == incidents.StateEscalating:
		v.StateText = fmt.Sprintf("escalating, step %d", i.CurrentStep)
	case state == incidents.StateAcknowledged && i.Owner != "":
		v.StateText = "acknowledged by" // the template adds the owner
	case state == incidents.StateAcknowledged:
		v.StateText = "acknowledged at the source"
	case state == incidents.StateExhausted:
		v.StateText = "nobody acknowledged"
	}
	v.CanAcknowledge = !i.Resolved && i.Owner == ""
	switch state {
	case incidents.StateSilenced:
		v.NotReopened = "a silence hides the incident: end the silence first"
	case incidents.StateMerged:
		v.NotReopened = "the incident is merged into another one: change that one"
	default:
		v.CanReopen = !i.Resolved && !i.Active
	}
	v.CanResolve = !i.Resolved
	return v
}
