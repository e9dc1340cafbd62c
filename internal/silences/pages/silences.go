package pages

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/matchers"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/silences"
	"github.com/iris-oncall/iris/internal/web/page"
)

// Incidents reads incidents.
type Incidents interface {
	List(ctx context.Context, q filters.Query) ([]incidents.Incident, error)
	Get(ctx context.Context, id incidents.ID) (incidents.Incident, error)
}

// Deps are the parts that the pages work on.
type Deps struct {
	Silences     *silences.Silences
	Incidents    Incidents
	Applications *catalog.Applications
	Plans        *catalog.Plans
	Teams        *teams.Teams
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
	Name    silences.State
	Label   string
	Current bool
}

type listView struct {
	page.Frame
	Show silences.State
	Tabs []tab
	Rows []silences.Silence
	More string // address of the next rows; "" = there are none
	May  bool   // each row has buttons
	Back []page.Field
}

// list shows the silences of one state, newest first.
func (h Handlers) list(rw http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	list := listView{Show: silences.State(v.Get("show")), Tabs: []tab{{Name: silences.Active, Label: "Active"},
		{Name: silences.Planned, Label: "Planned"}, {Name: silences.Over, Label: "Over"}}}
	if list.Show != silences.Planned && list.Show != silences.Over {
		list.Show = silences.Active
	}
	for k := range list.Tabs {
		list.Tabs[k].Current = list.Tabs[k].Name == list.Show
	}
	before, _ := strconv.ParseInt(v.Get("before"), 10, 64) // 0 = from the newest
	rows, more, err := h.search(r, list.Show, silences.ID(before))
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	list.Rows = rows
	if more != 0 {
		list.More = page.Query("/silences", "show", string(list.Show), "before", fmt.Sprint(more))
	}
	list.Frame = h.Pages.Frame(r, "Silences", "silences")
	list.May, list.Back = !list.ReadOnly &&
		list.Show != silences.Over, []page.Field{{Name: "back", Value: string(list.Show)}}
	h.Pages.Render(rw, r, http.StatusOK, "silences", list)
}

const (
	atOnce      = 200 // silences that one search reads
	maxSearches = 10  // for one page of the list
)

// search returns a page of silences in a state. more is the silence before which the next page begins; 0 = there is
// none.
func (h Handlers) search(r *http.Request, state silences.State, before silences.ID) (rows []silences.Silence, more silences.ID, err error) {
	for range maxSearches {
		f := silences.Filter{Paging: operation.Paging{Limit: atOnce}, Over: state == silences.Over}
		if before > 0 {
			f.Cursor = operation.CursorOf(before)
		}
		found, err := h.Silences.List.Do(r.Context(), page.Actor(r), f)
		if err != nil {
			return nil, 0, err
		}
		for _, s := range found.Items {
			switch {
			case s.State != state:
			case len(rows) == page.ListLength:
				return rows, rows[len(rows)-1].ID, nil
			default:
				rows = append(rows, s)
			}
			before = s.ID
		}
		if found.Next == nil {
			return rows, 0, nil
		}
	}
	return rows, before, nil
}

type showView struct {
	page.Frame
	S      silences.Silence
	Hidden []hidden
	Spans  []silences.Span // the next occurrences of a window
	// ResaveProblem is why the match is refused when the silence is saved again; "" = it is not.
	ResaveProblem string
	May           bool // the page offers to change and end the silence
}

type hidden struct {
	ID    incidents.ID
	Title string
}

// show shows a silence and the latest incidents that it hides.
func (h Handlers) show(rw http.ResponseWriter, r *http.Request) {
	one := number(r)
	s, err := h.Silences.Get.Do(r.Context(), page.Actor(r), one)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := showView{Frame: h.Pages.Frame(r, fmt.Sprintf("Silence %d", s.ID), "silences"), S: s}
	if v.Hidden, err = h.hidden(r, one); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	if s.State != silences.Over {
		v.May, v.ResaveProblem = !v.ReadOnly, matchers.ResaveProblem(string(s.Match))
		if s.Recurrence != "" {
			v.Spans = upcoming(s.Content, h.Silences.Now(), shownSpans)
		}
	}
	h.Pages.Render(rw, r, http.StatusOK, "silence", v)
}

func (h Handlers) hidden(r *http.Request, one silences.One) ([]hidden, error) {
	found, err := h.Silences.Hidden.Do(r.Context(), page.Actor(r),
		silences.Hiding{One: one, Paging: operation.Paging{Limit: page.ListLength}})
	if err != nil {
		return nil, err
	}
	ids := make([]incidents.ID, len(found.Items))
	for k, i := range found.Items {
		ids[k] = i.ID
	}
	return h.titles(r.Context(), ids)
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
	one := number(r)
	if _, err := h.Silences.End.Do(r.Context(), page.Actor(r), one); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Done(rw, r, back(r, one.ID),
		fmt.Sprintf("Silence %d has ended. The incidents that it hid escalate within two minutes if their source still reports them.", one.ID))
}

// extend makes a silence that does not repeat last longer, by the period in the field for_seconds.
func (h Handlers) extend(rw http.ResponseWriter, r *http.Request) {
	one := number(r)
	s, err := h.Silences.Get.Do(r.Context(), page.Actor(r), one)
	longer, wrong := page.Decode[struct {
		Seconds int64 `json:"for_seconds"`
	}](r)
	switch {
	case err != nil:
	case wrong != nil:
		err = wrong
	case longer.Seconds == 0:
		err = fault.Invalidf("for_seconds", "for_seconds must be a period such as 1h")
	case s.Recurrence != "":
		err = fault.New(fault.Conflict, "the window repeats: change it instead")
	default:
		s.To = s.To.Add(time.Duration(longer.Seconds) * time.Second)
		_, err = h.Silences.Replace.Do(r.Context(), page.Actor(r),
			silences.Edit{One: one, Body: silences.Draft{Content: s.Content}})
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

// number returns the silence that the address names; 0, which no silence has, if it names none.
func number(r *http.Request) silences.One {
	n, err := strconv.ParseInt(strings.TrimSpace(chi.URLParam(r, "silence")), 10, 64)
	if err != nil {
		n = 0
	}
	return silences.One{ID: silences.ID(n)}
}
