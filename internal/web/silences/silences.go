// Package silences serves the list of silences and maintenance windows, the page of one with the incidents that it hides, and the form that
// adds or changes one. The web site mounts it. The operations check what the reader may do.
package silences

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/matchers"
	"github.com/iris-oncall/iris/internal/silences"
	"github.com/iris-oncall/iris/internal/web/page"
)

// Silences reads silences. A number that does not exist is a NotFound fault.
type Silences interface {
	// Page returns at most so many silences, newest first, that are older than one; 0 = from the newest. kept leaves out those that are over.
	Page(ctx context.Context, before silences.ID, kept bool, most int) ([]silences.Silence, error)
	ByID(ctx context.Context, id silences.ID) (silences.Silence, error)
	// Incidents returns the incidents that a silence hides, newest first.
	Incidents(ctx context.Context, id silences.ID, application int64, before incidents.ID, most int) ([]incidents.ID, error)
}

// Changes changes silences. If the actor may not silence the incidents, it returns a Forbidden fault; if the silence is over, a Conflict fault.
type Changes interface {
	Create(ctx context.Context, actor auth.Actor, c silences.Content) (silences.Silence, error)
	Replace(ctx context.Context, actor auth.Actor, id silences.ID, c silences.Content) (silences.Silence, error)
	End(ctx context.Context, actor auth.Actor, id silences.ID) error
	// Now returns the time by which silences begin and end.
	Now() time.Time
}

// Incidents reads incidents.
type Incidents interface {
	List(ctx context.Context, q filters.Query) ([]incidents.Incident, error)
	Get(ctx context.Context, id incidents.ID) (incidents.Incident, error)
}

// Deps are the parts that the pages work on.
type Deps struct {
	Silences  Silences
	Changes   Changes
	Incidents Incidents
}

// Handlers serves the pages. It is safe for concurrent use.
type Handlers struct {
	Deps
	Pages *page.Pages
}

// Routes mounts the pages that change nothing.
func (h Handlers) Routes(r chi.Router) {
	page.Get(r, "/silences", h.list)
	page.Get(r, "/silences/new", h.form)
	page.Get(r, "/silences/{silence}", h.show)
	page.Get(r, "/silences/{silence}/edit", h.edit)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (h Handlers) ChangeRoutes(r chi.Router) {
	r.Post("/silences", h.create)
	r.Post("/silences/{silence}/edit", h.change)
	r.Post("/silences/{silence}/end", h.end)
	r.Post("/silences/{silence}/longer", h.extend)
}

type tab struct {
	Name, Label string
	Current     bool
}

type listView struct {
	page.Frame
	Show string
	Tabs []tab
	Rows []row
	More string // address of the next rows; "" = there are none
	May  bool   // each row has buttons
	Back []page.Field
}

// row is a silence with what depends on the present time.
type row struct {
	silences.Silence
	State string
	Span  silences.Span // the present occurrence, else the next one; zero = there is none
}

func view(s silences.Silence, now time.Time) row {
	r := row{Silence: s, State: s.State(now)}
	if r.State == "over" {
		return r
	}
	span, current := s.At(now)
	if !current {
		span, _ = s.Next(now)
	}
	r.Span = span
	return r
}

// list shows the silences of one state, newest first.
func (h Handlers) list(rw http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	list := listView{Show: v.Get("show"), Tabs: []tab{{Name: "active", Label: "Active"}, {Name: "planned", Label: "Planned"}, {Name: "over", Label: "Over"}}}
	if list.Show != "planned" && list.Show != "over" {
		list.Show = "active"
	}
	for k := range list.Tabs {
		list.Tabs[k].Current = list.Tabs[k].Name == list.Show
	}
	before, _ := strconv.ParseInt(v.Get("before"), 10, 64) // 0 = from the newest
	rows, more, err := h.search(r.Context(), list.Show, silences.ID(before))
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	list.Rows = rows
	if more != 0 {
		list.More = page.Query("/silences", "show", list.Show, "before", fmt.Sprint(more))
	}
	list.Frame = h.Pages.Frame(r, "Silences", "silences")
	list.May, list.Back = !list.ReadOnly && list.Show != "over", []page.Field{{Name: "back", Value: list.Show}}
	h.Pages.Render(rw, r, http.StatusOK, "silences", list)
}

const (
	atOnce      = 200 // silences that one search reads
	maxSearches = 10  // for one page of the list
)

// search returns a page of silences in a state. more is the silence before which the next page begins; 0 = there is none.
func (h Handlers) search(ctx context.Context, state string, before silences.ID) (rows []row, more silences.ID, err error) {
	now := h.Changes.Now()
	for range maxSearches {
		found, err := h.Silences.Page(ctx, before, state != "over", atOnce)
		if err != nil {
			return nil, 0, err
		}
		for _, s := range found {
			one := view(s, now)
			switch {
			case one.State != state:
			case len(rows) == page.ListLength:
				return rows, rows[len(rows)-1].ID, nil
			default:
				rows = append(rows, one)
			}
			before = s.ID
		}
		if len(found) < atOnce {
			return rows, 0, nil
		}
	}
	return rows, before, nil
}

type showView struct {
	page.Frame
	S      row
	Hidden []hidden
	Spans  []silences.Span // the next occurrences of a window
	// Outgrown is why the match is refused when the silence is saved again; "" = it is not.
	Outgrown string
	May      bool // the page offers to change and end the silence
}

type hidden struct {
	ID    incidents.ID
	Title string
}

// show shows a silence and the latest incidents that it hides.
func (h Handlers) show(rw http.ResponseWriter, r *http.Request) {
	id, err := number(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	s, err := h.Silences.ByID(r.Context(), id)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	list, err := h.hidden(r.Context(), id)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := showView{Frame: h.Pages.Frame(r, fmt.Sprintf("Silence %d", id), "silences"), S: view(s, h.Changes.Now()), Hidden: list}
	v.May = !v.ReadOnly && v.S.State != "over"
	if v.S.State != "over" {
		v.Outgrown = matchers.Outgrown(s.Match)
	}
	if v.S.State != "over" && s.Recurrence != "" {
		v.Spans = upcoming(s.Content, h.Changes.Now(), shownSpans)
	}
	h.Pages.Render(rw, r, http.StatusOK, "silence", v)
}

func (h Handlers) hidden(ctx context.Context, id silences.ID) (out []hidden, err error) {
	ids, err := h.Silences.Incidents(ctx, id, 0, 0, page.ListLength)
	if err != nil {
		return nil, err
	}
	return h.titles(ctx, ids)
}

// titles reads the titles of incidents.
func (h Handlers) titles(ctx context.Context, ids []incidents.ID) (out []hidden, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	q := filters.Query{Conditions: []filters.Condition{{Field: "id", Op: filters.In}}, Limit: page.ListLength}
	for _, n := range ids {
		q.Conditions[0].Values = append(q.Conditions[0].Values, int64(n))
	}
	found, err := h.Deps.Incidents.List(ctx, q)
	for _, i := range found {
		out = append(out, hidden{i.ID, i.Title()})
	}
	return out, err
}

// end ends a silence now.
func (h Handlers) end(rw http.ResponseWriter, r *http.Request) {
	id, err := number(r)
	if err == nil {
		err = h.Changes.End(r.Context(), actor(r), id)
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Done(rw, r, back(r, id), fmt.Sprintf("Silence %d has ended. The incidents that it hid escalate within two minutes if their source still reports them.", id))
}

// extend makes a silence that does not repeat last longer, by the period in the field for.
func (h Handlers) extend(rw http.ResponseWriter, r *http.Request) {
	s, _, err := h.editable(r)
	d, wrong := time.ParseDuration(r.PostFormValue("for"))
	switch {
	case err != nil:
	case wrong != nil || d <= 0:
		err = fault.Invalidf("for", "%.40q is no period such as 1h", r.PostFormValue("for"))
	case s.Recurrence != "":
		err = fault.New(fault.Conflict, "the window repeats: change it instead")
	default:
		s.To = s.To.Add(d)
		_, err = h.Changes.Replace(r.Context(), actor(r), s.ID, s.Content)
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Done(rw, r, back(r, s.ID), fmt.Sprintf("Silence %d lasts longer now.", s.ID))
}

// back returns the address after a button was pressed: the list that has the button, otherwise the page of the silence.
func back(r *http.Request, id silences.ID) string {
	if show := r.PostFormValue("back"); show == "active" || show == "planned" {
		return "/silences?show=" + show
	}
	return fmt.Sprintf("/silences/%d", id)
}

func actor(r *http.Request) auth.Actor { return (auth.Actor{}).As(page.Reader(r)) }

func number(r *http.Request) (silences.ID, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(chi.URLParam(r, "silence")), 10, 64)
	if err != nil || n <= 0 {
		return 0, fault.New(fault.NotFound, "there is no such silence")
	}
	return silences.ID(n), nil
}
