package incidents

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/web/page"
)

type incidentView struct {
	incidents.Incident
	Title, State, StateText               string
	CanAcknowledge, CanReopen, CanResolve bool
	NotReopened                           string // why nobody can escalate the incident again; "" = it can, or it escalates
}

type tab struct {
	Label, Href string
	Current     bool
}

type listView struct {
	page.Frame
	Tabs                                           []tab
	Severities                                     []string
	Show, Application, Plan, Integration, Severity string
	Filtered                                       bool // a field of the filter is set
	Live                                           page.Live
}

type rowsView struct {
	Rows     []incidentView
	Older    string    // address of the next rows; "" = there are none
	Since    time.Time // with Older: the incidents opened before are not shown
	Empty    string    // text for a list without rows
	Self     string    // address of this list
	ReadOnly bool
}

// selection is a tab of the list.
type selection struct {
	name, label, empty string
	conditions         []filters.Condition
}

// selections returns the tabs of the list of a reader. The first one is the default.
func selections(reader string) []selection {
	flag := func(field string, v int64) filters.Condition {
		return filters.Condition{Field: field, Op: filters.Eq, Values: []any{v}}
	}
	all := func(c ...filters.Condition) []filters.Condition { return c }
	return []selection{
		{"open", "Open", "No open incidents.", all(flag("resolved", 0), flag("closed", 0))},
		{"mine", "Mine", "You own no open incident: acknowledge one to own it.", all(flag("resolved", 0), flag("closed", 0),
			filters.Condition{Field: "owner", Op: filters.Eq, Values: []any{reader}})},
		{"escalating", "Escalating", "No incident is escalating: nobody is being paged.", all(flag("active", 1))},
		{"resolved", "Resolved", "No resolved incidents.", all(flag("resolved", 1))},
		{"all", "All", "No incidents.", nil},
	}
}

func (h Handlers) list(rw http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	tabs := selections(page.Reader(r).Name)
	chosen := tabs[0]
	for _, s := range tabs {
		if s.name == v.Get("show") {
			chosen = s
		}
	}
	view := listView{Show: chosen.name, Application: strings.TrimSpace(v.Get("application")), Plan: strings.TrimSpace(v.Get("plan")),
		Integration: strings.TrimSpace(v.Get("integration")), Severity: v.Get("severity"), Severities: incidents.Severities}
	q := filters.Query{Conditions: slices.Clone(chosen.conditions), Limit: page.ListLength}
	for _, f := range []struct{ field, text string }{{"application", view.Application}, {"plan", view.Plan}, {"integration", view.Integration}} {
		if f.text != "" {
			q.Conditions = append(q.Conditions, filters.Condition{Field: f.field, Op: filters.Contains, Values: []any{page.Storable(f.text)}})
		}
	}
	if slices.Contains(incidents.Severities, view.Severity) {
		q.Conditions = append(q.Conditions, filters.Condition{Field: view.Severity, Op: filters.Eq, Values: []any{int64(1)}})
	}
	if after, err := filters.ParsePlace(v.Get("after")); err == nil {
		q.After = &after
	}
	found, next, err := filters.Reader[incidents.Incident](h.Incidents.List).Search(r.Context(), q, func(i incidents.Incident) filters.Place {
		return filters.Place{At: i.CreatedAt, ID: int64(i.ID)}
	})
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	rows := rowsView{Empty: chosen.empty, ReadOnly: page.Reader(r).ReadOnly, Self: listPath(v, "show", chosen.name)}
	if len(q.Conditions) > len(chosen.conditions) {
		rows.Empty = "No incident matches the filter."
	}
	if next != nil {
		rows.Older, rows.Since = listPath(v, "after", next.String()), next.At
	}
	for _, i := range found {
		rows.Rows = append(rows.Rows, viewIncident(i))
	}
	live, whole := h.Pages.Live(rw, r, "incident-rows", rows)
	if !whole {
		return
	}
	view.Live, view.Filtered = live, len(q.Conditions) > len(chosen.conditions)
	v.Del("after")
	for _, s := range tabs {
		view.Tabs = append(view.Tabs, tab{s.label, listPath(v, "show", s.name), s.name == chosen.name})
	}
	view.Frame = h.Pages.Frame(r, "Incidents", "incidents")
	h.Pages.Render(rw, r, http.StatusOK, "incidents", view)
}

// listPath returns the address of the list with the query v and one value changed.
func listPath(v url.Values, key, value string) string {
	changed := url.Values{}
	for k, vs := range v {
		changed[k] = vs
	}
	changed.Set(key, value)
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
