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
	"github.com/iris-oncall/iris/internal/wire/routing"
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
	if err != nil {
		return err
	}
	out := make(v0.Record, len(users.Priorities))
	for i, priority := range users.Priorities {
		out[i] = v0.Member{string(priority), noChoice}
		if mode, ok := chosen[priority]; ok {
			out[i].Value = mode
		}
	}
	return routing.Answer(w, http.StatusOK, out)
}

func (p modes) set(w http.ResponseWriter, r *http.Request, u users.User) error {
	b, err := v0.ReadBody(w, r, "")
	if err != nil {
		return err
	}
	application, choices, err := parseModeBody(b)
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
		choices, err = parseAppModes(raw)
		if err != nil {
			return "", nil, err
		}
		maps.DeleteFunc(b.Members, func(name string, _ json.RawMessage) bool {
			_, known := users.ParsePriority(name)
			return !known
		})
		own, err := parseChoices("", b.Members)
		return "", append(choices, own...), err
	}
	if _, one := b.Members["application"]; one {
		if application, err = b.Required("application"); err != nil {
			return "", nil, err
		}
		if strings.TrimSpace(application) == "" {
			return "", nil, b.Fault("application", "application must not be empty")
		}
		delete(b.Members, "application")
	}
	choices, err = parseChoices(application, b.Members)
	return application, choices, err
}

func parseAppModes(raw json.RawMessage) ([]users.ModeChoice, error) {
	var apps map[string]map[string]json.RawMessage
	if v0.IsNull(raw) || json.Unmarshal(raw, &apps) != nil {
		return nil, fault.Invalidf("per_app_modes", "per_app_modes must be an object of applications, each an object of priorities and modes")
	}
	var out []users.ModeChoice
	for _, name := range slices.Sorted(maps.Keys(apps)) {
		if strings.TrimSpace(name) == "" {
			return nil, fault.Invalidf("per_app_modes", "the name of an application in per_app_modes is empty")
		}
		choices, err := parseChoices(name, apps[name])
		if err != nil {
			return nil, err
		}
		out = append(out, choices...)
	}
	return out, nil
}

func parseChoices(application string, members map[string]json.RawMessage) ([]users.ModeChoice, error) {
	var out []users.ModeChoice
	for _, name := range slices.Sorted(maps.Keys(members)) {
		priority, known := users.ParsePriority(name)
		if !known {
			return nil, fault.Titled("Invalid priority", name)
		}
		var mode string
		if v0.IsNull(members[name]) || json.Unmarshal(members[name], &mode) != nil {
			return nil, fault.Invalidf(name, "the mode of priority %s must be a string", name)
		}
		choice := users.ModeChoice{Application: application, Priority: priority}
		if !strings.EqualFold(strings.TrimSpace(mode), noChoice) {
			if choice.Mode, known = users.ParseMode(mode); !known {
				return nil, fault.Titled("Invalid mode", mode)
			}
		}
		out = append(out, choice)
	}
	return out, nil
}
