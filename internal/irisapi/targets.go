package irisapi

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// Targets lists what plans may name. Names are compared without regard to case.
type Targets interface {
	Names(ctx context.Context, prefix string) ([]string, error)
	NamesOfKind(ctx context.Context, kind string, q filters.Query) ([]string, error)
	Exists(ctx context.Context, name string) (bool, error)
	Roles(ctx context.Context) ([]escalation.TargetRole, error)
	// PriorityModes returns the default mode of every priority.
	PriorityModes(ctx context.Context) (map[users.Priority]users.Mode, error)
	OnAnyList(ctx context.Context, user string, lists []string) (bool, error)
}

// vocabulary are the routes that list what other requests may name.
type vocabulary struct {
	targets    Targets
	categories Categories
	zones      []string
	tagging    tagging
}

func newVocabulary(d Deps) *vocabulary {
	return &vocabulary{targets: d.Targets, categories: d.Categories, zones: d.Config.TimeZones, tagging: tagging{d.Config.Tags, d.Tags}}
}

func (v *vocabulary) table() []route {
	return []route{
		{get, "/v0/targets", someone, v.listTargets},
		{get, "/v0/targets/{kind}", someone, v.listKind},
		{get, "/v0/targets/{name}/exists", someone, v.targetExists},
		{get, "/v0/target_roles", read, v.listRoles},
		{get, "/v0/categories", read, v.listCategories},
		{get, "/v0/categories/{app}", read, v.listCategories},
		{get, "/v0/users/{username}/in_lists", someone, v.inLists},
		{get, "/v0/modes", someone, v.listModes},
		{get, "/v0/priorities", someone, v.listPriorities},
		{get, "/v0/timezones", read, v.listZones},
	}
}

// text reads a parameter that may be given once or not at all; the last one counts.
func text(r *http.Request, name string) (value string, given bool, err error) {
	q, err := query(r)
	if err != nil {
		return "", false, err
	}
	values, given := q[name]
	if !given {
		return "", false, nil
	}
	if value = values[len(values)-1]; !storable(value) {
		return "", true, invalidParameter(name, "The value must be UTF-8 text.")
	}
	return value, true, nil
}

func (v *vocabulary) listTargets(w http.ResponseWriter, r *http.Request) error {
	prefix, _, err := text(r, "startswith")
	if err != nil {
		return err
	}
	names, err := v.targets.Names(r.Context(), prefix)
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, orEmpty(names))
	return nil
}

// targetList is how lists of one kind of targets are filtered, beside startswith.
var targetList = list{schema: filters.Schema{"name": filters.Text, "active": filters.Bool}, more: []string{"startswith"}}

func (v *vocabulary) listKind(w http.ResponseWriter, r *http.Request) error {
	kind := strings.ToLower(strings.TrimRight(wire.Param(r, "kind"), " "))
	if !slices.Contains(escalation.TargetKinds(), kind) {
		return fault.Invalidf("type", "Target type %s not found", wire.Param(r, "kind"))
	}
	q, err := v.tagging.list(targetList).read(w, r)
	if err != nil {
		return err
	}
	prefix, given, err := text(r, "startswith")
	if err != nil {
		return err
	}
	if given {
		q.Conditions = append(q.Conditions, filters.Condition{Field: "name", Op: filters.StartsWith, Values: []any{prefix}})
	}
	names, err := v.targets.NamesOfKind(r.Context(), kind, q)
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, orEmpty(names))
	return nil
}

func (v *vocabulary) targetExists(w http.ResponseWriter, r *http.Request) error {
	exists, err := v.targets.Exists(r.Context(), wire.Param(r, "name"))
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, record{{"exists", exists}})
	return nil
}

func (v *vocabulary) inLists(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r)
	if err != nil {
		return err
	}
	var lists []string
	for _, value := range q["list"] {
		for name := range strings.SplitSeq(value, ",") {
			if name = strings.TrimSpace(name); name != "" {
				lists = append(lists, name)
			}
		}
	}
	if len(lists) == 0 {
		return &fault.Error{Kind: fault.Invalid, Field: "list", Message: "Missing parameter", Detail: `The "list" parameter is required.`}
	}
	on, err := v.targets.OnAnyList(r.Context(), wire.Param(r, "username"), lists)
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, record{{"is_member", on}})
	return nil
}

func (v *vocabulary) listRoles(w http.ResponseWriter, r *http.Request) error {
	roles, err := v.targets.Roles(r.Context())
	if err != nil {
		return err
	}
	out := make([]record, len(roles))
	for i, role := range roles {
		out[i] = record{{"name", role.Name}, {"type", role.Kind}}
	}
	wire.JSON(w, http.StatusOK, out)
	return nil
}

// listModes leaves out drop, which is no way to reach anybody. Clients see them alphabetically.
func (v *vocabulary) listModes(w http.ResponseWriter, _ *http.Request) error {
	var out []string
	for _, m := range users.Modes {
		if m != users.Drop {
			out = append(out, string(m))
		}
	}
	slices.Sort(out)
	wire.JSON(w, http.StatusOK, out)
	return nil
}

func (v *vocabulary) listPriorities(w http.ResponseWriter, r *http.Request) error {
	modes, err := v.targets.PriorityModes(r.Context())
	if err != nil {
		return err
	}
	out := make([]record, len(users.Priorities))
	for i, p := range users.Priorities {
		out[i] = record{{"name", p}, {"default_mode", modes[p]}}
	}
	wire.JSON(w, http.StatusOK, out)
	return nil
}

func (v *vocabulary) listZones(w http.ResponseWriter, _ *http.Request) error {
	wire.JSON(w, http.StatusOK, orEmpty(v.zones))
	return nil
}
