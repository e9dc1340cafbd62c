package irisapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

func (p settings) get(w http.ResponseWriter, r *http.Request, u users.User) error {
	others, err := p.Settings.Others(r.Context(), u.ID)
	out := Record{{"timezone", u.TimeZone}}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if name != "timezone" {
			out = append(out, Member{name, others[name]})
		}
	}
	return Answer(w, out, err)
}

// set stores the time zone; the clock stays. A zone that people may not choose is ignored, as clients expect.
func (p settings) set(w http.ResponseWriter, r *http.Request, u users.User) error {
	b := ReadBody(w, r, "")
	zone := b.Text("timezone")
	i := slices.IndexFunc(p.TimeZones, func(z string) bool { return strings.EqualFold(z, zone) })
	if err := b.Err(); err != nil || i < 0 {
		return Empty(w, http.StatusNoContent, err)
	}
	by := p.caller(r)
	shown, err := p.Preferences.Shown.Do(r.Context(), by, onePerson(u))
	if err == nil {
		shown.TimeZone = operation.Text(p.TimeZones[i])
		_, err = p.Preferences.ReplaceShown.Do(r.Context(), by, users.DisplayEdit{OnePerson: onePerson(u), Body: shown})
	}
	return Empty(w, http.StatusNoContent, err)
}

// setOverrides stores whether SMS have the fixed text of the operator. Other modes have no fixed text.
func (p settings) setOverrides(w http.ResponseWriter, r *http.Request, u users.User) error {
	b := ReadBody(w, r, "")
	var overrides map[string]json.RawMessage
	err := json.Unmarshal(b.Members["template_overrides"], &overrides)
	b.Check(err == nil && overrides != nil,
		fault.Invalidf("template_overrides", "Invalid json in post body: template_overrides parameter is not a dict"))
	raw, ok := overrides[string(users.SMS)]
	b.Check(ok, fault.Invalidf("template_overrides", "No valid mode override values in post body"))
	var value string
	if json.Unmarshal(raw, &value) != nil {
		value = string(raw)
	}
	b.Check(value == "enabled" || value == "disabled", fault.Invalidf("template_overrides",
		"Invalid sms override setting value: %.100s", value))
	if err := b.Err(); err != nil {
		return err
	}
	_, err = p.Preferences.ReplaceFixedTexts.Do(r.Context(), p.caller(r),
		users.FixedTextsEdit{OnePerson: onePerson(u), Body: users.FixedTexts{SMS: value == "enabled"}})
	return Empty(w, http.StatusNoContent, err)
}

// noChoice is the mode of a priority for which a person chose no mode.
const noChoice = "default"

func (p modes) get(w http.ResponseWriter, r *http.Request, u users.User) error {
	application, _, err := Parameter(r, "application")
	if err != nil {
		return err
	}
	return p.answer(w, r, u, application)
}

// answer answers with the choices for an application; "" = those for all applications.
func (p modes) answer(w http.ResponseWriter, r *http.Request, u users.User, application string) error {
	found, err := p.Preferences.Modes.Do(r.Context(), p.caller(r),
		users.ChoicesOf{OnePerson: onePerson(u), Application: application})
	out := make(Record, len(users.Priorities))
	for i, priority := range users.Priorities {
		out[i] = Member{string(priority), noChoice}
		for _, c := range found.Items {
			if c.Priority == priority && (application != "" || c.Application == "") {
				out[i].Value = c.Mode
			}
		}
	}
	return Answer(w, out, err)
}

func (p modes) set(w http.ResponseWriter, r *http.Request, u users.User) error {
	application, choices, err := parseModeBody(ReadBody(w, r, ""))
	if err != nil {
		return err
	}
	if _, err := p.Preferences.ChooseModes.Do(r.Context(), p.caller(r),
		users.ModesEdit{OnePerson: onePerson(u), Body: users.ModeChoices{Choices: choices}}); err != nil {
		return err
	}
	return p.answer(w, r, u, application)
}

// parseModeBody reads choices of modes. They apply to the application in the member `application`, or to all
// applications without it. `per_app_modes` adds choices for several applications; then members that are no priorities
// are ignored. The returned application is the one whose choices are the answer; "" = all.
func parseModeBody(b Body) (application string, choices []users.ModeChoice, err error) {
	if raw, many := b.Members["per_app_modes"]; many {
		choices = parseAppModes(b, raw)
		maps.DeleteFunc(b.Members, func(name string, _ json.RawMessage) bool {
			_, known := users.ParsePriority(name)
			return !known
		})
	} else if b.Has("application") {
		application = b.Required("application")
		b.Check(strings.TrimSpace(application) != "", b.Fault("application", "application must not be empty"))
		delete(b.Members, "application")
	}
	choices = append(choices, parseChoices(b, application)...)
	return application, choices, b.Err()
}

func parseAppModes(b Body, raw json.RawMessage) []users.ModeChoice {
	var apps map[string]map[string]json.RawMessage
	err := json.Unmarshal(raw, &apps)
	b.Check(err == nil && apps != nil, fault.Invalidf("per_app_modes",
		"per_app_modes must be an object of applications, each an object of priorities and modes"))
	var out []users.ModeChoice
	for _, name := range slices.Sorted(maps.Keys(apps)) {
		b.Check(strings.TrimSpace(name) != "", fault.Invalidf("per_app_modes",
			"the name of an application in per_app_modes is empty"))
		out = append(out, parseChoices(b.In(apps[name], "", ""), name)...)
	}
	return out
}

func parseChoices(b Body, application string) []users.ModeChoice {
	var out []users.ModeChoice
	for _, name := range slices.Sorted(maps.Keys(b.Members)) {
		priority, known := users.ParsePriority(name)
		b.Check(known, fault.Titled("Invalid priority", name))
		var mode *string
		err := json.Unmarshal(b.Members[name], &mode)
		b.Check(err == nil && mode != nil, fault.Invalidf(name, "the mode of priority %s must be a string", name))
		choice := users.ModeChoice{Application: application, Priority: priority}
		if mode != nil && !strings.EqualFold(strings.TrimSpace(*mode), noChoice) {
			choice.Mode, known = users.ParseMode(*mode)
			b.Check(known, fault.Titled("Invalid mode", *mode))
		}
		out = append(out, choice)
	}
	return out
}

func (p reprioritisations) get(w http.ResponseWriter, r *http.Request, u users.User) error {
	rules, err := p.Preferences.Reprioritisations.Do(r.Context(), p.caller(r), onePerson(u))
	out := make([]Record, len(rules.Items))
	for i, rule := range rules.Items {
		out[i] = Record{{"target", u.Name}, {"src_mode", rule.Mode}, {"dst_mode", rule.To}, {"count", rule.Count},
			{"duration", rule.WindowSeconds}}
	}
	return Answer(w, out, err)
}

func (p reprioritisations) set(w http.ResponseWriter, r *http.Request, u users.User) error {
	mode, excess, err := parseReprioritisation(ReadBody(w, r, ""))
	if err != nil {
		return err
	}
	_, err = p.Preferences.SetReprioritisation.Do(r.Context(), p.caller(r), users.ReprioritisationEdit{
		OneReprioritisation: users.OneReprioritisation{OnePerson: onePerson(u), Mode: string(mode)}, Body: excess})
	return Done(w, err)
}

// parseReprioritisation checks the fields in the order of Iris, with its texts.
func parseReprioritisation(b Body) (source users.Mode, e users.Excess, err error) {
	for _, name := range []string{"duration", "count", "src_mode", "dst_mode"} {
		b.Check(b.Given(name), fault.Titled("Missing argument", "missing arg: "+name))
	}
	var ok bool
	e.WindowSeconds, ok = Integer(b.Members["duration"])
	b.Check(ok, fault.Titled("Invalid duration", "duration must be an integer"))
	b.Check(e.WindowSeconds >= users.ShortestWindow,
		fault.Titled("Invalid duration", "duration must be greater than 1 minute"))
	b.Check(e.WindowSeconds <= users.LongestWindow, fault.Titled("Invalid duration",
		fmt.Sprintf("duration must be at most %d seconds", users.LongestWindow)))
	count, ok := Integer(b.Members["count"])
	b.Check(ok, fault.Titled("Invalid count", "count must be an integer"))
	b.Check(count > 0, fault.Titled("Invalid count", "count must be greater than 0"))
	b.Check(count <= users.MostMessages,
		fault.Titled("Invalid count", fmt.Sprint("count must be under ", users.MostMessages)))
	e.Count = int(count)
	source, ok = modeOf(b.Members["src_mode"])
	b.Check(ok, fault.Titled("Invalid source mode.", "Invalid source mode."))
	e.To, ok = modeOf(b.Members["dst_mode"])
	b.Check(ok, fault.Titled("Invalid destination mode.", "Invalid destination mode."))
	return source, e, b.Err()
}

// modeOf reads the name of a mode; false = it is no mode.
func modeOf(raw json.RawMessage) (users.Mode, bool) {
	var name string
	if json.Unmarshal(raw, &name) != nil {
		return "", false
	}
	return users.ParseMode(name)
}

func (p reprioritisations) remove(w http.ResponseWriter, r *http.Request, u users.User) error {
	_, err := p.Preferences.RemoveReprioritisation.Do(r.Context(), p.caller(r),
		users.OneReprioritisation{OnePerson: onePerson(u), Mode: wire.Param(r, "mode")})
	return Done(w, err)
}

func (p categories) get(w http.ResponseWriter, r *http.Request, u users.User) error {
	found, err := p.Preferences.Categories.Do(r.Context(), p.caller(r),
		users.ChoicesOf{OnePerson: onePerson(u), Application: wire.Param(r, "application")})
	return Answer(w, choiceColumns.Records(found.Items), err)
}

var choiceColumns = Columns[users.CategoryChoice]{
	{"mode", func(c users.CategoryChoice) any { return c.Mode }},
	{"category", func(c users.CategoryChoice) any { return c.Category }},
	{"application", func(c users.CategoryChoice) any { return c.Application }},
}

// set stores the modes that a person chooses for categories of an application; null removes a choice.
func (p categories) set(w http.ResponseWriter, r *http.Request) error {
	application := wire.Param(r, "application")
	u, unknown := p.known(r)
	if unknown != nil && !fault.Is(unknown, fault.NotFound) {
		return unknown
	}
	b := ReadBody(w, r, "")
	choices := make([]users.CategoryChoice, 0, len(b.Members))
	for _, category := range slices.Sorted(maps.Keys(b.Members)) {
		c := users.CategoryChoice{Application: application, Category: category}
		if b.Given(category) {
			mode, known := modeOf(b.Members[category])
			b.Check(known, fault.Titled("Invalid mode", string(b.Members[category])))
			c.Mode = mode
		}
		choices = append(choices, c)
	}
	b.Check(unknown == nil, fault.New(fault.Invalid, "Invalid user specified"))
	if err := b.Err(); err != nil {
		return err
	}
	if _, err := p.Preferences.ChooseCategories.Do(r.Context(), p.caller(r),
		users.CategoriesEdit{OnePerson: onePerson(u), Body: users.CategoryChoices{Choices: choices}}); err != nil {
		return err
	}
	return routing.Answer(w, http.StatusCreated, struct{}{})
}

func (p categories) clear(w http.ResponseWriter, r *http.Request, u users.User) error {
	_, err := p.Preferences.ClearCategories.Do(r.Context(), p.caller(r),
		users.ClearedCategories{OnePerson: onePerson(u), Application: wire.Param(r, "application")})
	return Empty(w, http.StatusNoContent, err)
}
