package people

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

func (p settings) get(w http.ResponseWriter, r *http.Request, u users.User) error {
	others, err := p.Profiles.Others(r.Context(), u.ID)
	if err != nil {
		return err
	}
	out := v0.Record{{"timezone", u.TimeZone}}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if name != "timezone" {
			out = append(out, v0.Member{name, others[name]})
		}
	}
	return routing.Answer(w, http.StatusOK, out)
}

// set stores the time zone. A zone that people may not choose is ignored, as clients expect.
func (p settings) set(w http.ResponseWriter, r *http.Request, u users.User) error {
	b, err := v0.ReadBody(w, r, "")
	if err != nil {
		return err
	}
	zone, err := b.Text("timezone")
	if err != nil {
		return err
	}
	i := slices.IndexFunc(p.TimeZones, func(z string) bool { return strings.EqualFold(z, zone) })
	if i >= 0 {
		if err := p.Profiles.SetTimeZone(r.Context(), u, p.TimeZones[i], v0.By(r)); err != nil {
			return err
		}
	}
	return routing.Empty(w, http.StatusNoContent)
}

// setOverrides stores whether SMS have the fixed text of the operator. Other modes have no fixed text.
func (p settings) setOverrides(w http.ResponseWriter, r *http.Request, u users.User) error {
	b, err := v0.ReadBody(w, r, "")
	if err != nil {
		return err
	}
	var overrides map[string]json.RawMessage
	if !b.Given("template_overrides") || json.Unmarshal(b.Members["template_overrides"], &overrides) != nil {
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
	if err := p.Profiles.SetFixedText(r.Context(), u, users.SMS, value == "enabled", v0.By(r)); err != nil {
		return err
	}
	return routing.Empty(w, http.StatusNoContent)
}
