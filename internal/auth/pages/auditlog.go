// This file serves the page of the audit log for administrators: filters, and the fields before and after each change.

package pages

import (
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/page"
)

// AuditLogDeps are the parts that the page works on.
type AuditLogDeps struct{ Log *auth.AuditLog }

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
	Rows    []auth.AuditEntry
	Older   string // address of the next rows; "" = there are none
	Export  string // address of all matching entries as a file
	Chosen  bool   // there is a filter
}

func (h AuditLogPages) list(rw http.ResponseWriter, r *http.Request) {
	given := r.URL.Query()
	v := listView{Kinds: choices("anybody", audit.Kinds()), Kind: given.Get("actor_kind"),
		Actions: choices("any action", audit.Actions()), Action: given.Get("action"),
		From: given.Get("from"), Day: given.Get("until")}
	text := func(name string) string { return page.Storable(strings.TrimSpace(given.Get(name))) }
	f := auth.AuditSelection{Actor: text("actor"), ActorKind: text("actor_kind"), Action: text("action"),
		Object: text("object"), Address: text("address"), RequestID: text("request_id")}
	if day, err := time.Parse(time.DateOnly, v.From); err == nil {
		f.CreatedAfter = day
	}
	if day, err := time.Parse(time.DateOnly, v.Day); err == nil {
		f.CreatedBefore = day.AddDate(0, 0, 1)
	}
	found, err := h.Log.List.Do(r.Context(), page.Actor(r), auth.AuditFilter{AuditSelection: f,
		Paging: operation.Paging{Limit: page.ListLength, Cursor: given.Get("cursor")}})
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	for _, one := range []field{{"actor", "Who", "A whole name.", ""}, {"object", "Object", "Such as: user ann.", ""}, {"address", "Address", "Of the client.", ""}, {"request_id", "Request", "", ""}} {
		one.Value = given.Get(one.Name)
		v.Fields = append(v.Fields, one)
	}
	v.Rows, v.Chosen = found.Items, f != auth.AuditSelection{}
	v.Export, _ = operation.Request(auth.ExportAudit, f)
	if next := page.Next(found.Next); next != "" {
		given.Set("cursor", next)
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
