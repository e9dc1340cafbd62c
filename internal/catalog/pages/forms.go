package pages

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// refused shows the page of the application again, with the reason at the keys.
func (h ApplicationPages) refused(rw http.ResponseWriter, r *http.Request, err error) {
	if refusal, ok := h.Pages.Refused(rw, r, err); ok {
		h.render(rw, r, page.Again{Form: "keys", Refusal: refusal})
	}
}

// showKey shows a key that an operation reads or makes. what says which key it is.
func (h ApplicationPages) showKey(read operation.Op[catalog.OneApplication, catalog.Key], what string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		found, err := read.Do(r.Context(), page.Actor(r), applicationOne(wire.Param(r, "app")))
		if err != nil {
			h.refused(rw, r, fault.When(err, fault.NotFound, fault.New(fault.Conflict, fault.Public(err))))
			return
		}
		h.renderSecret(rw, r, applicationShowView{Secret: found.Key, What: what})
	}
}

func (h ApplicationPages) rekey(r *http.Request, o page.Version, _ url.Values) (string, string, error) {
	_, err := h.Applications.RotateKey.Do(r.Context(), page.Actor(r), applicationOne(o.Name))
	return "The old key is removed. The second key is the key now.", "", err
}

func (h ApplicationPages) setQuota(r *http.Request, o page.Version, _ url.Values) (string, string, error) {
	in, err := page.Decode[catalog.QuotaSettings](r)
	if err == nil {
		_, err = h.Applications.ReplaceQuota.Do(r.Context(), page.Actor(r),
			catalog.QuotaEdit{OneApplication: applicationOne(o.Name), Body: in})
	}
	return "The quota is saved.", "", err
}

func (h ApplicationPages) removeQuota(r *http.Request, o page.Version, _ url.Values) (string, string, error) {
	_, err := h.Applications.RemoveQuota.Do(r.Context(), page.Actor(r), applicationOne(o.Name))
	return "The application has no quota now.", "", err
}

// rows returns the rows of a table of fields. A row whose first field is empty is left out.
func rows(typed url.Values, fields ...string) (out [][]string) {
	for i, first := range typed[fields[0]] {
		if first == "" {
			continue
		}
		row := []string{first}
		for _, f := range fields[1:] {
			value := ""
			if i < len(typed[f]) {
				value = typed[f][i]
			}
			row = append(row, value)
		}
		out = append(out, row)
	}
	return out
}

func (h ApplicationPages) setCategories(r *http.Request, o page.Version, typed url.Values) (string, string, error) {
	in := catalog.Categories{Categories: []catalog.Category{}}
	for _, row := range rows(typed, "name", "mode", "description") {
		in.Categories = append(in.Categories, catalog.Category{Name: row[0], Mode: users.Mode(row[1]), Description: row[2]})
	}
	_, err := h.Applications.ReplaceCategories.Do(r.Context(), page.Actor(r),
		catalog.CategoryEdit{OneApplication: applicationOne(o.Name), Body: in})
	return "The categories are saved.", "", err
}

func (h ApplicationPages) setAddresses(r *http.Request, o page.Version, typed url.Values) (string, string, error) {
	in := catalog.IncidentAddresses{Addresses: []catalog.IncidentAddress{}}
	for _, row := range rows(typed, "email", "plan") {
		in.Addresses = append(in.Addresses, catalog.IncidentAddress{Address: row[0], Plan: row[1]})
	}
	_, err := h.Applications.ReplaceAddresses.Do(r.Context(), page.Actor(r),
		catalog.AddressEdit{OneApplication: applicationOne(o.Name), Body: in})
	return "The addresses are saved.", "", err
}

func (h ApplicationPages) setFallback(r *http.Request, o page.Version, typed url.Values) (string, string, error) {
	if typed.Get("target") == "" {
		_, err := h.Applications.RemoveFallback.Do(r.Context(), page.Actor(r), applicationOne(o.Name))
		return "The application has no fallback now.", "", err
	}
	_, err := h.Applications.ChangeFallback.Do(r.Context(), page.Actor(r), catalog.ApplicationFallback{
		OneApplication: applicationOne(o.Name), Body: catalog.Fallback{Role: typed.Get("role"), Target: typed.Get("target")}})
	return "The fallback is saved.", "", err
}

func (h ApplicationPages) rename(r *http.Request, o page.Version, typed url.Values) (string, string, error) {
	renamed, err := h.Applications.Rename.Do(r.Context(), page.Actor(r),
		catalog.Renaming{OneApplication: applicationOne(o.Name), Body: catalog.NewName{Name: typed.Get("name")}})
	return fmt.Sprintf("The application is called %s now. Programs must sign with this name.", renamed.Name),
		page.Path("/applications/%s", renamed.Name), err
}

func (h ApplicationPages) remove(r *http.Request, o page.Version, _ url.Values) (string, string, error) {
	_, err := h.Applications.Delete.Do(r.Context(), page.Actor(r),
		catalog.ApplicationRemoval{OneApplication: applicationOne(o.Name)})
	return "Application " + o.Name + " is deleted.", "/applications", err
}
