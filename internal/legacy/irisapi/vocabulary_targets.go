package irisapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/legacy/params"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

func (v vocabularyTargets) list(w http.ResponseWriter, r *http.Request) error {
	prefix, _, err := Parameter(r, "startswith")
	if err != nil {
		return err
	}
	names, err := v.Targets.Names(r.Context(), prefix)
	return Answer(w, routing.OrEmpty(names), err)
}

// targetList filters the targets of one kind.
var targetList = List{Schema: filters.Schema{"name": filters.Text, "active": filters.Bool},
	More: []string{"startswith"}}

func (v vocabularyTargets) ofKind(w http.ResponseWriter, r *http.Request) error {
	kind := strings.ToLower(strings.TrimRight(wire.Param(r, "kind"), " "))
	if !slices.Contains(escalation.TargetKinds(), kind) {
		return fault.Invalidf("type", "Target type %s not found", wire.Param(r, "kind"))
	}
	q, err := v.Tags.List(targetList).Read(w, r)
	if err != nil {
		return err
	}
	prefix, given, err := Parameter(r, "startswith")
	if err != nil {
		return err
	}
	if given {
		q.Conditions = append(q.Conditions, filters.Condition{Field: "name", Op: filters.StartsWith,
			Values: []any{prefix}})
	}
	names, err := v.Targets.NamesOfKind(r.Context(), kind, q)
	return Answer(w, routing.OrEmpty(names), err)
}

func (v vocabularyTargets) exists(w http.ResponseWriter, r *http.Request) error {
	exists, err := v.Targets.Exists(r.Context(), wire.Param(r, "name"))
	return Answer(w, Record{{"exists", exists}}, err)
}

func (v vocabularyTargets) inLists(w http.ResponseWriter, r *http.Request) error {
	q, err := Query(r)
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
		return params.Missing("list")
	}
	on, err := v.Targets.OnAnyList(r.Context(), wire.Param(r, "username"), lists)
	return Answer(w, Record{{"is_member", on}}, err)
}
