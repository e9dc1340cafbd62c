package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// refused shows the page of the application again, with the reason at the keys.
func (h ApplicationPages) refused(rw http.ResponseWriter, r *http.Request, err error) {
	if refusal, ok := h.Pages.Refused(rw, r, err); ok {
		h.render(rw, r, page.Again{Form: "keys", Refusal: refusal})
	}
}

// showKey shows a key of the application once.
func (h ApplicationPages) showKey(which string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		h.secret(rw, r, which, map[string]string{"key": "The key.", "secondary": "The second key."}[which])
	}
}

// secret reads a key and shows it.
func (h ApplicationPages) secret(rw http.ResponseWriter, r *http.Request, which, what string) {
	var out struct {
		Key string `json:"key"`
	}
	err := h.Pages.API(r).Get(page.Path("/v0/applications/%s/"+which, wire.Param(r, "app")), &out)
	if err == nil && out.Key == "" {
		err = fault.New(fault.Conflict, "the application has no second key")
	}
	if err != nil {
		h.refused(rw, r, err)
		return
	}
	h.renderSecret(rw, r, applicationShowView{Secret: out.Key, What: what})
}

// addKey makes the second key and shows it.
func (h ApplicationPages) addKey(rw http.ResponseWriter, r *http.Request) {
	if err := h.Pages.API(r).Send(http.MethodPost, page.Path("/v0/applications/%s/secondary", wire.Param(r, "app")), nil, nil); err != nil {
		h.refused(rw, r, err)
		return
	}
	h.secret(rw, r, "secondary", "The new key. The old one is still valid.")
}

func (h ApplicationPages) rekey(r *http.Request, o page.Version, _ url.Values) (string, string, error) {
	err := h.Pages.API(r).Send(http.MethodPost, page.Path("/v0/applications/%s/rekey", o.Name), nil, nil)
	return "The old key is removed. The second key is the key now.", "", err
}

// applicationNumber reads a whole number of a form.
func applicationNumber(typed url.Values, field, label string) (int, error) {
	n, err := strconv.Atoi(typed.Get(field))
	if err != nil {
		return 0, fault.Invalidf(field, "%s must be a whole number", label)
	}
	return n, nil
}

func (h ApplicationPages) setQuota(r *http.Request, o page.Version, typed url.Values) (string, string, error) {
	in := map[string]any{"plan_name": typed.Get("plan_name"), "target_name": typed.Get("target_name")}
	for field, label := range map[string]string{"soft_quota_threshold": "Warn from", "hard_quota_threshold": "Drop from"} {
		n, err := applicationNumber(typed, field, label)
		if err != nil {
			return "", "", err
		}
		in[field] = n
	}
	for _, field := range []string{"soft_quota_duration", "hard_quota_duration", "wait_time"} {
		n, err := page.Seconds(field, typed.Get(field))
		if err != nil {
			return "", "", err
		}
		in[field] = n
	}
	return "The quota is saved.", "", h.Pages.API(r).Send(http.MethodPost,
		page.Path("/v0/applications/%s/quota", o.Name), in, nil)
}

func (h ApplicationPages) removeQuota(r *http.Request, o page.Version, _ url.Values) (string, string, error) {
	return "The application has no quota now.", "", h.Pages.API(r).Send(http.MethodDelete,
		page.Path("/v0/applications/%s/quota", o.Name), nil, nil)
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
	all := []category{}
	for _, row := range rows(typed, "name", "mode", "description") {
		all = append(all, category{Name: row[0], Mode: row[1], Description: row[2]})
	}
	return "The categories are saved.", "", h.Pages.API(r).Send(http.MethodPost,
		page.Path("/v0/categories/%s", o.Name), all, nil)
}

func (h ApplicationPages) setAddresses(r *http.Request, o page.Version, typed url.Values) (string, string, error) {
	all := map[string]string{}
	for _, row := range rows(typed, "email", "plan") {
		if _, twice := all[row[0]]; twice {
			return "", "", fault.Invalidf("email", "The address %s is given twice", row[0])
		}
		all[row[0]] = row[1]
	}
	return "The addresses are saved.", "", h.Pages.API(r).Send(http.MethodPut,
		page.Path("/v0/applications/%s/incident_emails", o.Name), all, nil)
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
	to := typed.Get("new_name")
	err := h.Pages.API(r).Send(http.MethodPut, page.Path("/v0/applications/%s/rename", o.Name),
		map[string]string{"new_name": to}, nil)
	return fmt.Sprintf("The application is called %s now. Programs must sign with this name.",
		to), page.Path("/applications/%s", to), err
}

func (h ApplicationPages) remove(r *http.Request, o page.Version, _ url.Values) (string, string, error) {
	_, err := h.Applications.Delete.Do(r.Context(), page.Actor(r),
		catalog.ApplicationRemoval{OneApplication: applicationOne(o.Name)})
	return "Application " + o.Name + " is deleted.", "/applications", err
}
