package applications

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/wire"
)

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// form sends a form of the page of an application to an API. It returns the text that the page shows then, and the address to go to; "" = the
// page of the application.
type form func(api page.API, name string, typed url.Values) (flash, to string, err error)

// submit answers a form: with a redirect, or with the page and the reason of the refusal at the form.
func (h Handlers) submit(f form) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		name, typed := wire.Param(r, "app"), page.Typed(r)
		flash, to, err := f(h.Pages.API(r), name, typed)
		if err != nil {
			h.refused(rw, r, typed, err)
			return
		}
		if to == "" {
			to = page.Path("/applications/%s", name)
		}
		h.Pages.Sessions.Put(r.Context(), "flash", flash)
		http.Redirect(rw, r, to, http.StatusSeeOther)
	}
}

// refused shows the page of the application again, with what was typed and why it is refused.
func (h Handlers) refused(rw http.ResponseWriter, r *http.Request, typed url.Values, err error) {
	if fault.Is(err, fault.Unauthenticated) { // how some routes of /v0 refuse people
		err = fault.New(fault.Forbidden, fault.Public(err))
	}
	refusal, ok := h.Pages.Refused(rw, r, err)
	if !ok {
		return
	}
	h.render(rw, r, refusal.Status, showView{form: formOf(r), refusal: refusal, typed: typed})
}

// formOf returns the name of the form of an address: its last segment, without the verb remove. The forms about keys are one.
func formOf(r *http.Request) string {
	path := strings.TrimSuffix(r.URL.EscapedPath(), "/remove")
	name := path[strings.LastIndexByte(path, '/')+1:]
	if strings.HasSuffix(name, "key") || name == "secondary" {
		return "keys"
	}
	return name
}

// showKey shows a key of the application once.
func (h Handlers) showKey(which string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		h.secret(rw, r, which, map[string]string{"key": "The key.", "secondary": "The second key."}[which])
	}
}

// secret reads a key and shows it.
func (h Handlers) secret(rw http.ResponseWriter, r *http.Request, which, what string) {
	var out struct {
		Key string `json:"key"`
	}
	err := h.Pages.API(r).Get(page.Path("/v0/applications/%s/"+which, wire.Param(r, "app")), &out)
	if err == nil && out.Key == "" {
		err = fault.New(fault.Conflict, "the application has no second key")
	}
	if err != nil {
		h.refused(rw, r, nil, err)
		return
	}
	h.render(rw, r, http.StatusOK, showView{Secret: out.Key, What: what})
}

// addKey makes the second key and shows it.
func (h Handlers) addKey(rw http.ResponseWriter, r *http.Request) {
	if err := h.Pages.API(r).Send(http.MethodPost, page.Path("/v0/applications/%s/secondary", wire.Param(r, "app")), nil, nil); err != nil {
		h.refused(rw, r, nil, err)
		return
	}
	h.secret(rw, r, "secondary", "The new key. The old one is still valid.")
}

func rekey(api page.API, name string, _ url.Values) (string, string, error) {
	err := api.Send(http.MethodPost, page.Path("/v0/applications/%s/rekey", name), nil, nil)
	return "The old key is removed. The second key is the key now.", "", err
}

// number reads a whole number of a form.
func number(typed url.Values, field, label string) (int, error) {
	n, err := strconv.Atoi(typed.Get(field))
	if err != nil {
		return 0, fault.Invalidf(field, "%s must be a whole number", label)
	}
	return n, nil
}

func setQuota(api page.API, name string, typed url.Values) (string, string, error) {
	in := map[string]any{"plan_name": typed.Get("plan_name"), "target_name": typed.Get("target_name")}
	for _, f := range []struct {
		field, label string
		unit         int
	}{{"soft_quota_threshold", "Warn from", 1}, {"soft_quota_duration", "Minutes of the warning", 60}, {"hard_quota_threshold", "Drop from", 1},
		{"hard_quota_duration", "Minutes of the limit", 60}, {"wait_time", "Minutes between incidents", 60}} {
		n, err := number(typed, f.field, f.label)
		if err != nil {
			return "", "", err
		}
		in[f.field] = n * f.unit
	}
	return "The quota is saved.", "", api.Send(http.MethodPost, page.Path("/v0/applications/%s/quota", name), in, nil)
}

func removeQuota(api page.API, name string, _ url.Values) (string, string, error) {
	return "The application has no quota now.", "", api.Send(http.MethodDelete, page.Path("/v0/applications/%s/quota", name), nil, nil)
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

func setCategories(api page.API, name string, typed url.Values) (string, string, error) {
	all := []category{}
	for _, row := range rows(typed, "name", "mode", "description") {
		all = append(all, category{Name: row[0], Mode: row[1], Description: row[2]})
	}
	return "The categories are saved.", "", api.Send(http.MethodPost, page.Path("/v0/categories/%s", name), all, nil)
}

func setAddresses(api page.API, name string, typed url.Values) (string, string, error) {
	all := map[string]string{}
	for _, row := range rows(typed, "email", "plan") {
		if _, twice := all[row[0]]; twice {
			return "", "", fault.Invalidf("email", "The address %s is given twice", row[0])
		}
		all[row[0]] = row[1]
	}
	return "The addresses are saved.", "", api.Send(http.MethodPut, page.Path("/v0/applications/%s/incident_emails", name), all, nil)
}

func setFallback(api page.API, name string, typed url.Values) (string, string, error) {
	path := page.Path("/v1/applications/%s/fallback", name)
	if typed.Get("target") == "" {
		return "The application has no fallback now.", "", api.Send(http.MethodDelete, path, nil, nil)
	}
	in := target{typed.Get("role"), typed.Get("target")}
	return "The fallback is saved.", "", api.Send(http.MethodPut, path, in, nil)
}

func give(api page.API, name string, typed url.Values) (string, string, error) {
	team, text := typed.Get("team"), "No team owns the application now."
	if team != "" {
		text = "Team " + team + " owns the application now."
	}
	return text, "", api.Send(http.MethodPut, page.Path("/v1/applications/%s/owner", name), map[string]string{"team": team}, nil)
}

func rename(api page.API, name string, typed url.Values) (string, string, error) {
	to := typed.Get("new_name")
	err := api.Send(http.MethodPut, page.Path("/v0/applications/%s/rename", name), map[string]string{"new_name": to}, nil)
	return fmt.Sprintf("The application is called %s now. Programs must sign with this name.", to), page.Path("/applications/%s", to), err
}

func remove(api page.API, name string, _ url.Values) (string, string, error) {
	return "Application " + name + " is deleted.", "/applications", api.Send(http.MethodDelete, page.Path("/v1/applications/%s", name), nil, nil)
}
