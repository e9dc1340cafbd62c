package pages

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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
	Tabs   []page.Tab
	Show   string
	Filter filter
	Chips  []chip
	Self   string
	Live   page.Live
}

// chip is a field of the filter that is set, with the address of the list without it.
type chip struct{ Label, Value, Without string }

type rowsView struct {
	Rows     []rowView
	Older    string    // address of the next rows; "" = there are none
	Since    time.Time // with Older: the incidents opened before are not shown
	Partly   bool      // with Older: the search ended before the page was full
	Empty    string    // text for a list without rows
	Self     string    // address of this list
	Filtered bool
	ReadOnly bool
}

// selection is a tab of the list: incidents in a state, of some people.
type selection struct {
	name, label, empty string
	state              string // see incidents.InState; "" = any
	whose              []filters.Condition
}

// selections returns the tabs of the list of a reader. The first one is the default.
func selections(reader users.User) []selection {
	whose := func(field string, v any) []filters.Condition {
		return []filters.Condition{{Field: field, Op: filters.Eq, Values: []any{v}}}
	}
	return []selection{
		{"open", "Open", "No open incidents.", incidents.StateOpen, nil},
		{"mine", "Mine", "You own no open incident: acknowledge one to own it.", incidents.StateOpen,
			whose("owner", reader.Name)},
		{"teams", "My teams", "Your teams have no open incident: none on plans that page them or that they own, and none of their applications.", incidents.StateOpen, whose("teams_of", int64(reader.ID))},
		{"escalating", "Escalating", "No incident is escalating: nobody is being paged.",
			string(incidents.StateEscalating), nil},
		{"resolved", "Resolved", "No resolved incidents.", string(incidents.StateResolved), nil},
		{"all", "All", "No incidents.", "", nil},
	}
}

// filter is the filter of the list, as it was typed.
type filter struct {
	State, Severity, Application, Plan, Integration, Owner, Text string
}

// field is a field of the filter.
type field struct {
	name, label string
	value       *string
}

func (f *filter) fields() []field {
	return []field{{"state", "State", &f.State}, {"severity", "Severity", &f.Severity},
		{"application", "Application", &f.Application}, {"plan", "Plan", &f.Plan},
		{"integration", "Integration", &f.Integration}, {"owner", "Owner", &f.Owner}, {"text", "Text", &f.Text}}
}

// readFilter reads the filter of a query. A state or severity that does not exist is left out.
func readFilter(v url.Values) (f filter) {
	for _, field := range f.fields() {
		*field.value = page.Storable(strings.TrimSpace(v.Get(field.name)))
	}
	if _, ok := incidents.InState(f.State); !ok {
		f.State = ""
	}
	if !slices.Contains(incidents.Severities, f.Severity) {
		f.Severity = ""
	}
	return f
}

// conditions returns what incidents of the tab must meet. A state of the filter replaces that of the tab.
func (f filter) conditions(s selection) []filters.Condition {
	state := s.state
	if f.State != "" {
		state = f.State
	}
	out, _ := incidents.InState(state)
	out = append(out, s.whose...)
	for name, text := range map[string]string{"application": f.Application, "plan": f.Plan, "integration": f.Integration} {
		if text != "" {
			out = append(out, filters.Condition{Field: name, Op: filters.Contains, Values: []any{text}})
		}
	}
	if f.Severity != "" {
		out = append(out, filters.Condition{Field: f.Severity, Op: filters.Eq, Values: []any{true}})
	}
	if f.Owner != "" {
		out = append(out, filters.Condition{Field: "owner", Op: filters.Eq, Values: []any{f.Owner}})
	}
	if f.Text != "" {
		out = append(out, textCondition(f.Text))
	}
	return out
}

// textCondition finds an incident by its number, "#12", or incidents by a text in their context, which has the title
// too.
func textCondition(text string) filters.Condition {
	if number, is := strings.CutPrefix(text, "#"); is {
		if id, err := strconv.ParseInt(number, 10, 64); err == nil {
			return filters.Condition{Field: "id", Op: filters.Eq, Values: []any{id}}
		}
	}
	var b bytes.Buffer // as the text is written in JSON
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a text can be encoded
	quoted := strings.TrimSpace(b.String())
	return filters.Condition{Field: "context", Op: filters.Contains, Values: []any{quoted[1 : len(quoted)-1]}}
}

func (f filter) chips(v url.Values) (out []chip) {
	for _, field := range f.fields() {
		if *field.value != "" {
			out = append(out, chip{field.label, *field.value, listPath(v, field.name, "")})
		}
	}
	return out
}

func (h Handlers) list(rw http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	tabs := selections(page.Reader(r))
	chosen := tabs[0]
	for _, s := range tabs {
		if s.name == v.Get("show") {
			chosen = s
		}
	}
	view := listView{Show: chosen.name, Filter: readFilter(v), Self: listPath(v, "show", chosen.name)}
	rows, err := h.rows(r, chosen, view.Filter)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	live, whole := h.Pages.Live(rw, r, "incident-rows", rows)
	if !whole {
		return
	}
	view.Live = live
	v.Del("after")
	view.Chips = view.Filter.chips(v)
	for _, s := range tabs {
		view.Tabs = append(view.Tabs, page.Tab{Label: s.label, Href: listPath(v, "show", s.name),
			Current: s.name == chosen.name})
	}
	view.Frame = h.Pages.Frame(r, "Incidents", "incidents")
	view.Modules = []string{"incidents.js"}
	h.Pages.Render(rw, r, http.StatusOK, "incidents", view)
}

// rows reads a page of the list.
func (h Handlers) rows(r *http.Request, s selection, f filter) (rowsView, error) {
	v := r.URL.Query()
	q := filters.Query{Conditions: f.conditions(s), Limit: page.ListLength}
	if after, err := filters.ParsePlace(v.Get("after")); err == nil {
		q.After = &after
	}
	found, next, err := h.find(r.Context(), q, f.Text != "")
	if err != nil {
		return rowsView{}, err
	}
	ids := make([]incidents.ID, len(found))
	for k, i := range found {
		ids[k] = i.ID
	}
	outlooks, err := h.Outlooks(r.Context(), ids)
	if err != nil {
		return rowsView{}, err
	}
	rows := rowsView{Empty: s.empty, ReadOnly: page.Reader(r).ReadOnly, Self: listPath(v, "show", s.name),
		Filtered: f != filter{}}
	if rows.Filtered {
		rows.Empty = "No incident matches the filter."
	}
	if next != nil {
		rows.Older, rows.Since = listPath(v, "after", next.String()), next.At
		rows.Partly = len(found) < page.ListLength
	}
	for _, i := range found {
		rows.Rows = append(rows.Rows, viewRow(i, outlooks[i.ID]))
	}
	return rows, nil
}

// shortly is how long the first page of a search in texts searches. Further pages search for a second each.
const shortly = 40 * time.Millisecond

// find reads a page of the list. No index helps a search in texts, so it reads period after period: see
// filters.Reader.Search.
func (h Handlers) find(ctx context.Context, q filters.Query, texts bool) ([]incidents.Incident, *filters.Place, error) {
	read := filters.Reader[incidents.Incident](h.Incidents.List)
	place := func(i incidents.Incident) filters.Place { return filters.Place{At: i.CreatedAt, ID: int64(i.ID)} }
	switch {
	case !texts:
		return read.Find(ctx, q, place)
	case q.After == nil:
		return read.SearchFor(ctx, shortly, q, place)
	}
	return read.Search(ctx, q, place)
}

// listPath returns the address of the list with the query v and one value changed; "" removes the value.
func listPath(v url.Values, key, value string) string {
	changed := url.Values{}
	for k, vs := range v {
		if len(vs) > 0 && vs[0] != "" {
			changed[k] = vs
		}
	}
	changed.Set(key, value)
	if value == "" {
		changed.Del(key)
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
