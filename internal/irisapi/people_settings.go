package irisapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

func (p *people) getSettings(w http.ResponseWriter, r *http.Request, u users.User) error {
	others, err := p.settings.Others(r.Context(), u.ID)
	if err != nil {
		return err
	}
	out := record{{"timezone", u.TimeZone}}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if name != "timezone" {
			out = append(out, member{name, others[name]})
		}
	}
	wire.JSON(w, http.StatusOK, out)
	return nil
}

// setSettings stores the time zone. One that is not on offer is ignored, as clients expect.
func (p *people) setSettings(w http.ResponseWriter, r *http.Request, u users.User) error {
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	zone, err := b.optionalText("timezone")
	if err != nil {
		return err
	}
	i := slices.IndexFunc(p.zones, func(z string) bool { return strings.EqualFold(z, zone) })
	if i >= 0 {
		if err := p.settings.SetTimeZone(r.Context(), u, p.zones[i], by(r)); err != nil {
			return err
		}
	}
	wire.Empty(w, http.StatusNoContent)
	return nil
}

// setOverrides decides whether texts carry the operator's fixed words. Of the modes, only sms has such words.
func (p *people) setOverrides(w http.ResponseWriter, r *http.Request, u users.User) error {
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	var overrides map[string]json.RawMessage
	if !b.given("template_overrides") || json.Unmarshal(b.members["template_overrides"], &overrides) != nil {
		return fault.Invalidf("template_overrides", "Invalid json in post body: template_overrides parameter is not a dict")
	}
	raw, ok := overrides[string(users.SMS)]
	if !ok {
		return fault.Invalidf("template_overrides", "No valid mode override values in post body")
	}
	var value string
	if json.Unmarshal(raw, &value) != nil {
		value = string(raw)
	}
	if value != "enabled" && value != "disabled" {
		return fault.Invalidf("template_overrides", "Invalid sms override setting value: %.100s", value)
	}
	if err := p.settings.SetFixedText(r.Context(), u, users.SMS, value == "enabled", by(r)); err != nil {
		return err
	}
	wire.Empty(w, http.StatusNoContent)
	return nil
}

func (p *people) getReprioritisations(w http.ResponseWriter, r *http.Request, u users.User) error {
	rules, err := p.settings.Reprioritisations(r.Context(), u.ID)
	if err != nil {
		return err
	}
	out := make([]record, len(rules))
	for i, rule := range rules {
		out[i] = record{{"target", u.Name}, {"src_mode", rule.Source}, {"dst_mode", rule.Destination},
			{"count", rule.Count}, {"duration", int(rule.Window.Seconds())}}
	}
	wire.JSON(w, http.StatusOK, out)
	return nil
}

func (p *people) setReprioritisation(w http.ResponseWriter, r *http.Request, u users.User) error {
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	rule, err := parseReprioritisation(b)
	if err != nil {
		return err
	}
	if err := p.settings.SetReprioritisation(r.Context(), u, rule, by(r)); err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, []int{})
	return nil
}

// Bounds of a rule, from the v0 wire.
const (
	shortestWindow = 60
	longestWindow  = 3600
	mostMessages   = 255
)

func parseReprioritisation(b body) (users.Reprioritisation, error) {
	var rule users.Reprioritisation
	for _, name := range []string{"duration", "count", "src_mode", "dst_mode"} {
		if !b.given(name) {
			return rule, fault.Titled("Missing argument", "missing arg: "+name)
		}
	}
	seconds, ok := integer(b.members["duration"])
	switch {
	case !ok:
		return rule, fault.Titled("Invalid duration", "duration must be an integer")
	case seconds < shortestWindow:
		return rule, fault.Titled("Invalid duration", "duration must be greater than 1 minute")
	case seconds > longestWindow:
		return rule, fault.Titled("Invalid duration", "duration must be at most 3600 seconds")
	}
	count, ok := integer(b.members["count"])
	switch {
	case !ok:
		return rule, fault.Titled("Invalid count", "count must be an integer")
	case count <= 0:
		return rule, fault.Titled("Invalid count", "count must be greater than 0")
	case count > mostMessages:
		return rule, fault.Titled("Invalid count", "count must be under 255")
	}
	rule.Window, rule.Count = time.Duration(seconds)*time.Second, int(count)
	if rule.Source, ok = modeOf(b.members["src_mode"]); !ok {
		return rule, fault.Titled("Invalid source mode.", "Invalid source mode.")
	}
	if rule.Destination, ok = modeOf(b.members["dst_mode"]); !ok {
		return rule, fault.Titled("Invalid destination mode.", "Invalid destination mode.")
	}
	return rule, nil
}

// modeOf reads the name of a mode; false when it is none.
func modeOf(raw json.RawMessage) (users.Mode, bool) {
	var name string
	if json.Unmarshal(raw, &name) != nil {
		return "", false
	}
	return users.ParseMode(name)
}

func (p *people) removeReprioritisation(w http.ResponseWriter, r *http.Request, u users.User) error {
	mode, known := users.ParseMode(wire.Param(r, "mode"))
	if !known {
		return fault.New(fault.NotFound, "no such mode")
	}
	if err := p.settings.RemoveReprioritisation(r.Context(), u, mode, by(r)); err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, []int{})
	return nil
}
