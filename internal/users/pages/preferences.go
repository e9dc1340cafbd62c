package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// applicationModes are the modes that a person chose for an application.
type applicationModes struct {
	Application string
	Modes       map[users.Priority]users.Mode
}

// limit is a reprioritisation as the page shows it.
type limit struct{ users.ShownReprioritisation }

// Text describes the limit.
func (l limit) Text() string {
	return "More than " + strconv.Itoa(l.Count) + " by " + modeTexts[l.Mode] + " in " +
		humanize.Duration(time.Duration(l.WindowSeconds)*time.Second) + ": the further ones come by " + modeTexts[l.To] + "."
}

type preferencesView struct {
	personView
	Zones        []string
	TimeZone     string
	ClockChoice  string
	Clocks       []page.Option
	Applications []applicationModes
	Limits       []limit
	Categories   []users.CategoryChoice
	Known        []users.CategoryChoice // the categories of applications with their own modes, to choose from
	Names        []string               // of applications
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
		WithDrop: append([]page.Option{{Value: noChoice, Label: "no choice"}}, modeOptions(true)...),
		Clocks: []page.Option{{Value: "24", Label: "24 hours: 18:30"},
			{Value: "12", Label: "12 hours: 6:30 PM"}}}
	v.Modes = modeOptions(false)
	if err := h.readPreferences(r, &v); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Render(rw, r, was.Status(), "preferences", v)
}

func (h Handlers) readPreferences(r *http.Request, v *preferencesView) error {
	ctx, by, one := r.Context(), page.Actor(r), users.OnePerson{User: v.Person.Name}
	shown, err := h.Preferences.Shown.Do(ctx, by, one)
	if err != nil {
		return err
	}
	modes, err := h.Preferences.Modes.Do(ctx, by, users.ChoicesOf{OnePerson: one})
	if err != nil {
		return err
	}
	limits, err := h.Preferences.Reprioritisations.Do(ctx, by, one)
	if err != nil {
		return err
	}
	categories, err := h.Preferences.Categories.Do(ctx, by, users.ChoicesOf{OnePerson: one})
	if err != nil {
		return err
	}
	fixed, err := h.Preferences.FixedTexts.Do(ctx, by, one)
	if err != nil {
		return err
	}
	known, err := h.Categories(ctx, filters.Query{})
	if err != nil {
		return err
	}
	v.TimeZone, v.ClockChoice, v.FixedSMS = string(shown.TimeZone), string(shown.Clock), fixed.SMS
	v.Zones, v.Applications, v.Categories = h.TimeZones, byApplication(modes.Items), categories.Items
	for _, l := range limits.Items {
		v.Limits = append(v.Limits, limit{l})
	}
	for _, k := range known {
		v.Known = append(v.Known, users.CategoryChoice{Application: k.Application, Category: k.Name, Mode: k.Mode})
	}
	v.Names = page.Suggest(r, h.Applications.List,
		catalog.ApplicationFilter{Paging: operation.Paging{Limit: page.Longest}},
		func(a catalog.ApplicationRow) string { return a.Name })
	return nil
}

// byApplication returns the choices for single applications, which are in the order of their names.
func byApplication(choices []users.ModeChoice) (out []applicationModes) {
	for _, c := range choices {
		if c.Application == "" {
			continue
		}
		if n := len(out); n == 0 || out[n-1].Application != c.Application {
			out = append(out, applicationModes{c.Application, map[users.Priority]users.Mode{}})
		}
		out[len(out)-1].Modes[c.Priority] = c.Mode
	}
	return out
}

// Chosen returns the choice of an application for a priority.
func (a applicationModes) Chosen(p users.Priority) string {
	if m, ok := a.Modes[p]; ok {
		return string(m)
	}
	return noChoice
}

// setPreference carries out a form of the page.
func (h Handlers) setPreference(r *http.Request, user string, form url.Values) (done, to string, err error) {
	ctx, by, one, own := r.Context(), page.Actor(r), users.OnePerson{User: user}, h.Preferences
	switch form.Get("form") {
	case "times":
		in, err := page.Decode[users.DisplaySettings](r)
		if err == nil {
			_, err = own.ReplaceShown.Do(ctx, by, users.DisplayEdit{OnePerson: one, Body: in})
		}
		return "Time zone and clock are saved.", "", err
	case "application":
		return h.setApplicationModes(r, user, form)
	case "limit":
		in, err := page.Decode[users.Excess](r)
		if err == nil {
			_, err = own.SetReprioritisation.Do(ctx, by, users.ReprioritisationEdit{Body: in,
				OneReprioritisation: users.OneReprioritisation{OnePerson: one, Mode: form.Get("mode")}})
		}
		return "The limit is saved.", "", err
	case "no-limit":
		_, err = own.RemoveReprioritisation.Do(ctx, by,
			users.OneReprioritisation{OnePerson: one, Mode: form.Get("mode")})
		return "The limit is removed.", "", err
	case "category":
		in, err := page.Decode[users.CategoryChoice](r)
		if err == nil {
			_, err = own.ChooseCategories.Do(ctx, by, users.CategoriesEdit{OnePerson: one,
				Body: users.CategoryChoices{Choices: []users.CategoryChoice{in}}})
		}
		return "The choice is saved.", "", err
	case "fixed-text":
		in, err := page.Decode[users.FixedTexts](r)
		if err == nil {
			_, err = own.ReplaceFixedTexts.Do(ctx, by, users.FixedTextsEdit{OnePerson: one, Body: in})
		}
		return "The choice is saved.", "", err
	}
	return "", "", fault.Invalidf("form", "there is no such form")
}

// noChoice is the value of a field without a mode.
const noChoice = "default"

// setApplicationModes stores the modes for an application. The field of a priority that is left out keeps its choice.
func (h Handlers) setApplicationModes(r *http.Request, user string, form url.Values) (done, to string, err error) {
	application := form.Get("application")
	if application == "" {
		return "", "", fault.Invalidf("application", "choose the application")
	}
	var chosen []users.ModeChoice
	for _, p := range users.Priorities {
		mode := form.Get(string(p))
		if mode == "" {
			continue
		}
		if mode == noChoice {
			mode = ""
		}
		chosen = append(chosen, users.ModeChoice{Application: application, Priority: p, Mode: users.Mode(mode)})
	}
	_, err = h.Preferences.ChooseModes.Do(r.Context(), page.Actor(r),
		users.ModesEdit{OnePerson: users.OnePerson{User: user}, Body: users.ModeChoices{Choices: chosen}})
	if fault.FieldOf(err) == "choices[0].application" {
		err = fault.Invalidf("application", "%s", fault.Public(err))
	}
	return "The modes for " + application + " are saved.", "", err
}
