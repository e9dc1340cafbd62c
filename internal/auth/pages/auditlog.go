// This file serves the page of the audit log for administrators: filters, and the fields before and after each change.

package pages

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/web/page"
)

// AuditLogDeps are the parts that the page works on.
type AuditLogDeps struct{ Read filters.Reader[audit.Record] }

// AuditLogPages serves the page. It is safe for concurrent use.
type AuditLogPages struct {
	AuditLogDeps
	Pages *page.Pages
}

// Routes mounts the page.
func (h AuditLogPages) Routes(r chi.Router) { page.Get(r, "/audit-log", h.list) }

const address = "/audit-log"

// field is a filter of the form.
type field struct{ Name, Label, Hint, Value string }

type listView struct {
	page.Frame
	Fields  []field
	Kind    string
	Kinds   []page.Option
	Actions []page.Option
	From    string // the entries from the beginning of this day, in UTC; "" = from the first
	Action  string
	Day     string // the entries until the end of this day, in UTC; "" = until now
	Rows    []audit.Record
	Older   string // address of the next rows; "" = there are none
	Export  string // address of all matching entries as a file
	Chosen  bool   // there is a filter
}

func (h AuditLogPages) list(rw http.ResponseWriter, r *http.Request) {
	if err := (auth.Actor{}).As(page.Reader(r)).MayAdminister(); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	given := r.URL.Query()
	v := listView{Kinds: choices("anybody", audit.Kinds()), Kind: given.Get("actor_kind"),
		Actions: choices("any action", audit.Actions()), Action: given.Get("action"),
		From: given.Get("from"), Day: given.Get("until")}
	q, exported := filters.Query{Limit: page.ListLength}, url.Values{}
	add := func(name string, value string) {
		if value = page.Storable(strings.TrimSpace(value)); value != "" {
			q.Conditions = append(q.Conditions, filters.Condition{Field: name, Op: filters.Eq, Values: []any{value}})
			exported.Set(name, value)
		}
	}
	for _, f := range []field{{"actor", "Who", "A whole name.", ""}, {"object", "Object", "Such as: user ann.", ""}, {"address", "Address", "Of the client.", ""}, {"request_id", "Request", "", ""}} {
		f.Value = given.Get(f.Name)
		v.Fields = append(v.Fields, f)
		add(f.Name, f.Value)
	}
	add("actor_kind", v.Kind)
	add("action", v.Action)
	if day, err := time.Parse(time.DateOnly, v.From); err == nil {
		q.Conditions = append(q.Conditions, filters.Condition{Field: "created", Op: filters.Ge, Values: []any{day}})
		exported.Set("created_after", day.Format(time.RFC3339))
	}
	if day, err := time.Parse(time.DateOnly, v.Day); err == nil {
		end := day.AddDate(0, 0, 1)
		q.Conditions = append(q.Conditions, filters.Condition{Field: "created", Op: filters.Lt, Values: []any{end}})
		exported.Set("created_before", end.Format(time.RFC3339))
	}
	v.Chosen = len(q.Conditions) > 0
	if after, err := filters.ParsePlace(given.Get("after")); err == nil {
		q.After = &after
	}
	found, next, err := h.Read.Page(r.Context(), q,
		func(e audit.Record) filters.Place { return filters.Place{At: e.At, ID: e.ID} })
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v.Rows, v.Export = found, "/v1/audit/export?"+exported.Encode()
	if next != nil {
		given.Set("after", next.String())
		v.Older = address + "?" + given.Encode()
	}
	v.Frame = h.Pages.Frame(r, "Audit log", "audit")
	h.Pages.Render(rw, r, http.StatusOK, "audit-log", v)
}

// choices returns the choices of a filter, with one that does not filter.
func choices[T ~string](none string, values []T) []page.Option {
	all := []page.Option{{Label: none}}
	for _, v := range values {
		all = append(all, page.Option{Value: string(v), Label: strings.ReplaceAll(string(v), "_", " ")})
	}
	return all
}
