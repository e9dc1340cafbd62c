package vocabulary

import (
	"net/http"
	"slices"

	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

func (v names) listRoles(w http.ResponseWriter, r *http.Request) error {
	roles, err := v.Roles.Roles(r.Context())
	out := make([]v0.Record, len(roles))
	for i, role := range roles {
		out[i] = v0.Record{{"name", role.Name}, {"type", role.Kind}}
	}
	return v0.Answer(w, out, err)
}

// listModes lists the modes alphabetically, without drop, which reaches nobody.
func (v names) listModes(w http.ResponseWriter, _ *http.Request) error {
	var out []string
	for _, m := range users.Modes {
		if m != users.Drop {
			out = append(out, string(m))
		}
	}
	slices.Sort(out)
	return routing.Answer(w, http.StatusOK, out)
}

func (v names) listPriorities(w http.ResponseWriter, r *http.Request) error {
	modes, err := v.Roles.PriorityModes(r.Context())
	out := make([]v0.Record, len(users.Priorities))
	for i, p := range users.Priorities {
		out[i] = v0.Record{{"name", p}, {"default_mode", modes[p]}}
	}
	return v0.Answer(w, out, err)
}

func (v names) listZones(w http.ResponseWriter, _ *http.Request) error {
	return routing.Answer(w, http.StatusOK, routing.OrEmpty(v.TimeZones))
}

// priorityModes answers with the numbers of priorities and modes, and the default mode of each priority.
func (v names) priorityModes(w http.ResponseWriter, r *http.Request) error {
	defaults, err := v.Roles.PriorityModes(r.Context())
	priorities, modes := map[users.Priority]int{}, map[users.Mode]int{}
	for n, p := range users.Priorities {
		priorities[p] = n + 1
	}
	for n, m := range users.Modes {
		modes[m] = n + 1
	}
	return v0.Answer(w, v0.Record{{"priority_map", priorities}, {"mode_id_map", modes}, {"default_priority_map", defaults}}, err)
}
