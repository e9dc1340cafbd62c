package people

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
	"github.com/iris-oncall/iris/internal/users"
)

// noChoice is the mode of a priority for which a person chose no mode.
const noChoice = "default"

func (p modes) get(w http.ResponseWriter, r *http.Request, u users.User) error {
	application, _, err := v0.Parameter(r, "application")
	if err != nil {
		return err
	}
	return p.answer(r.Context(), w, u, application)
}

func (p modes) answer(ctx context.Context, w http.ResponseWriter, u users.User, application string) error {
	chosen, err := p.Modes.Modes(ctx, u.ID, application)
	out := make(v0.Record, len(users.Priorities))
	for i, priority := range users.Priorities {
		out[i] = v0.Member{string(priority), noChoice}
		if mode, ok := chosen[priority]; ok {
			out[i].Value = mode
		}
	}
	return v0.Answer(w, out, err)
}

func (p modes) set(w http.ResponseWriter, r *http.Request, u users.User) error {
	application, choices, err := parseModeBody(v0.ReadBody(w, r, ""))
	if err != nil {
		return err
	}
	if err := p.Modes.SetModes(r.Context(), u, choices, v0.By(r)); err != nil {
		return err
	}
	return p.answer(r.Context(), w, u, application)
}

// parseModeBody reads choices of modes. Without further members they hold for all applications, with `application` for that
// application. With `per_app_modes` the body has choices for several applications and for all; members that are no priorities
// are ignored then. The returned application is the one whose choices are the answer; "" = all.
func parseModeBody(b v0.Body) (application string, choices []users.ModeChoice, err error) {
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

func parseAppModes(b v0.Body, raw json.RawMessage) []users.ModeChoice {
	var apps map[string]map[string]json.RawMessage
	err := json.Unmarshal(raw, &apps)
	b.Check(err == nil && apps != nil, fault.Invalidf("per_app_modes", "per_app_modes must be an object of applications, each an object of priorities and modes"))
	var out []users.ModeChoice
	for _, name := range slices.Sorted(maps.Keys(apps)) {
		b.Check(strings.TrimSpace(name) != "", fault.Invalidf("per_app_modes", "the name of an application in per_app_modes is empty"))
		out = append(out, parseChoices(b.In(apps[name], "", ""), name)...)
	}
	return out
}

func parseChoices(b v0.Body, application string) []users.ModeChoice {
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
