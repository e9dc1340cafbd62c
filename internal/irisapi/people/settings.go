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
)

func (p settings) get(w http.ResponseWriter, r *http.Request, u users.User) error {
	others, err := p.Profiles.Others(r.Context(), u.ID)
	out := v0.Record{{"timezone", u.TimeZone}}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if name != "timezone" {
			out = append(out, v0.Member{name, others[name]})
		}
	}
	return v0.Answer(w, out, err)
}

// set stores the time zone. A zone that people may not choose is ignored, as clients expect.
func (p settings) set(w http.ResponseWriter, r *http.Request, u users.User) error {
	b := v0.ReadBody(w, r, "")
	zone := b.Text("timezone")
	err := b.Err()
	i := slices.IndexFunc(p.TimeZones, func(z string) bool { return strings.EqualFold(z, zone) })
	if err == nil && i >= 0 {
		err = p.Profiles.SetTimeZone(r.Context(), u, p.TimeZones[i], v0.By(r))
	}
	return v0.Empty(w, http.StatusNoContent, err)
}

// setOverrides stores whether SMS have the fixed text of the operator. Other modes have no fixed text.
func (p settings) setOverrides(w http.ResponseWriter, r *http.Request, u users.User) error {
	b := v0.ReadBody(w, r, "")
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
	b.Check(value == "enabled" || value == "disabled", fault.Invalidf("template_overrides", "Invalid sms override setting value: %.100s", value))
	if err := b.Err(); err != nil {
		return err
	}
	return v0.Empty(w, http.StatusNoContent, p.Profiles.SetFixedText(r.Context(), u, users.SMS, value == "enabled", v0.By(r)))
}
