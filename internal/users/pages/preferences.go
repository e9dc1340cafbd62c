package pages

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// applicationModes are the modes that a person chose for an application.
type applicationModes struct {
	Application string
	Modes       map[users.Priority]users.Mode
}

// limit is a reprioritisation of the v0 API: messages beyond Count of a mode within the window go to another mode.
type limit struct {
	From    users.Mode `json:"src_mode"`
	To      users.Mode `json:"dst_mode"`
	Count   int        `json:"count"`
	Seconds int        `json:"duration"`
}

// Text describes the limit.
func (l limit) Text() string {
	return "More than " + strconv.Itoa(l.Count) + " by " + modeTexts[l.From] + " in " +
		humanize.Duration(time.Duration(l.Seconds)*time.Second) + ": the further ones come by " + modeTexts[l.To] + "."
}

// category is a choice for a category of an application.
type category struct {
	Application string     `json:"application"`
	Category    string     `json:"category"`
	Mode        users.Mode `json:"mode"`
}

type preferencesView struct {
	personView
	Zones        []string
	TimeZone     string
	ClockChoice  string
	Clocks       []page.Option
	Applications []applicationModes
	Limits       []limit
	Categories   []category
	Known        []category // categories of applications, to choose from
	Names        []string   // of applications
	Priorities   []users.Priority
	FixedSMS     bool
	WithDrop     []page.Option
}

func (h Handlers) preferences(rw http.ResponseWriter, r *http.Request) {
	h.showPreferences(rw, r, page.Again{})
}

func (h Handlers) showPreferences(rw http.ResponseWriter, r *http.Request, was page.Again) {
	p, ok := h.own(rw, r, "Preferences")
	if !ok {
		return
	}
	p.Again, p.Tabs = was, accountTabs(p.Person.Name, "/preferences", p.Own)
	v := preferencesView{personView: p, Priorities: users.Priorities,
		WithDrop: append([]page.Option{{Value: "default", Label: "no choice"}}, modeOptions(true)...),
		Clocks: []page.Option{{Label: "as the browser does"}, {Value: "24", Label: "24 hours: 18:30"},
			{Value: "12", Label: "12 hours: 6:30 PM"}}}
	v.Modes = modeOptions(false)
	if err := v.read(h.Pages.API(r)); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Render(rw, r, was.Status(), "preferences", v)
}

func (v *preferencesView) read(api page.API) error {
	var settings struct {
		TimeZone string `json:"time_zone"`
		Clock    string `json:"clock"`
	}
	var profile struct {
		Applications map[string]map[users.Priority]users.Mode `json:"per_app_modes"`
		Fixed        []users.Mode                             `json:"template_overrides"`
	}
	var applications page.Listed[page.Named]
	var known []struct {
		Application string     `json:"application"`
		Name        string     `json:"name"`
		Mode        users.Mode `json:"mode"`
	}
	name := v.Person.Name
	for _, read := range []struct {
		path string
		into any
	}{
		{page.Path("/v1/users/%s/settings", name), &settings}, {page.Path("/v0/users/%s", name),
			&profile}, {page.Path("/v0/users/reprioritization/%s", name), &v.Limits},
		{page.Path("/v0/users/%s/categories", name), &v.Categories}, {"/v0/timezones",
			&v.Zones}, {"/v1/applications?limit=500", &applications}, {"/v0/categories", &known},
	} {
		if err := api.Get(read.path, read.into); err != nil {
			return err
		}
	}
	v.TimeZone, v.ClockChoice, v.FixedSMS = settings.TimeZone, settings.Clock, slices.Contains(profile.Fixed, users.SMS)
	for _, app := range slices.Sorted(maps.Keys(profile.Applications)) {
		v.Applications = append(v.Applications, applicationModes{app, profile.Applications[app]})
	}
	for _, a := range applications.Items {
		v.Names = append(v.Names, a.Name)
	}
	for _, k := range known {
		v.Known = append(v.Known, category{k.Application, k.Name, k.Mode})
	}
	return nil
}

// Chosen returns the choice of an application for a priority.
func (a applicationModes) Chosen(p users.Priority) string {
	if m, ok := a.Modes[p]; ok {
		return string(m)
	}
	return "default"
}

// setPreference carries out a form of the page.
func setPreference(api page.API, user string, form url.Values) (done, to string, err error) {
	switch form.Get("form") {
	case "times":
		body := map[string]any{"time_zone": orNil(form.Get("time_zone")), "clock": orNil(form.Get("clock"))}
		return "Time zone and clock are saved.", "", api.Send(http.MethodPut, page.Path("/v1/users/%s/settings", user),
			body, nil)
	case "application":
		application := form.Get("application")
		if application == "" {
			return "", "", fault.Invalidf("application", "choose the application")
		}
		body := map[string]string{"application": application}
		for _, p := range users.Priorities {
			if mode := form.Get(string(p)); mode != "" {
				body[string(p)] = mode
			}
		}
		return "The modes for " + application + " are saved.", "", api.Send(http.MethodPost,
			page.Path("/v0/users/modes/%s", user), body, nil)
	case "limit":
		count, errCount := strconv.Atoi(form.Get("count"))
		minutes, errMinutes := strconv.Atoi(form.Get("duration"))
		switch {
		case errCount != nil:
			return "", "", fault.Invalidf("count", "the number of messages must be a number")
		case errMinutes != nil || minutes < 1 || minutes > 60:
			return "", "", fault.Invalidf("duration", "the window must be 1 to 60 minutes")
		}
		body := map[string]any{"src_mode": form.Get("src_mode"), "dst_mode": form.Get("dst_mode"), "count": count,
			"duration": minutes * 60}
		return "The limit is saved.", "", api.Send(http.MethodPost, page.Path("/v0/users/reprioritization/%s", user),
			body, nil)
	case "no-limit":
		return "The limit is removed.", "", api.Send(http.MethodDelete,
			page.Path("/v0/users/reprioritization/%s/%s", user, form.Get("mode")), nil, nil)
	case "category":
		return "The choice is saved.", "", api.Send(http.MethodPost,
			page.Path("/v0/users/%s/categories/%s", user, form.Get("application")),
			map[string]*string{form.Get("category"): orNil(form.Get("mode"))}, nil)
	case "fixed-text":
		state := "disabled"
		if form.Get("sms") != "" {
			state = "enabled"
		}
		return "The choice is saved.", "", api.Send(http.MethodPost, page.Path("/v0/users/overrides/%s", user),
			map[string]any{"template_overrides": map[string]string{"sms": state}}, nil)
	}
	return "", "", fault.Invalidf("form", "there is no such form")
}
