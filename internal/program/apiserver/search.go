package apiserver

import (
	"context"
	"strconv"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/program/site"
	"github.com/iris-oncall/iris/internal/users"
)

// searched are the things that a search finds, in the order of its results. Each kind is read by the operation that
// lists it, with the permissions of the caller.
func (s *apiShared) searched() []calendaring.Source {
	return []calendaring.Source{
		site.Places(calendaring.KindAction),
		site.Places(calendaring.KindPage),
		listed(calendaring.KindUser, func() operation.Op[users.PeopleFilter, operation.Page[users.PersonRow]] { return s.people.List },
			func(f calendaring.SearchFilter, p operation.Paging) users.PeopleFilter {
				return users.PeopleFilter{Search: f.Text, Team: f.Team, Paging: p}
			}, func(u users.PersonRow) (name, text, path string) { return u.Name, string(u.FullName), "/people/{name}" }),
		{Kind: calendaring.KindIncident, Find: s.findIncidents},
		listed(calendaring.KindPlan, func() operation.Op[catalog.Filter, operation.Page[catalog.PlanRow]] { return s.plans.List },
			func(f calendaring.SearchFilter, p operation.Paging) catalog.Filter {
				return catalog.Filter{Search: f.Text, Paging: p}
			}, func(p catalog.PlanRow) (name, text, path string) { return p.Name, p.Description, "/plans/{name}" }),
		listed(calendaring.KindIntegration, func() operation.Op[integrations.Filter, operation.Page[integrations.Row]] { return s.integrations.List },
			func(f calendaring.SearchFilter, p operation.Paging) integrations.Filter {
				return integrations.Filter{Text: f.Text, Paging: p}
			}, func(i integrations.Row) (name, text, path string) {
				return i.Name, i.Application, "/integrations/{name}"
			}),
		listed(calendaring.KindApplication, func() operation.Op[catalog.ApplicationFilter, operation.Page[catalog.ApplicationRow]] {
			return s.applications.List
		}, func(f calendaring.SearchFilter, p operation.Paging) catalog.ApplicationFilter {
			return catalog.ApplicationFilter{Search: f.Text, Paging: p}
		}, func(a catalog.ApplicationRow) (name, text, path string) { return a.Name, "", "/applications/{name}" }),
		{Kind: calendaring.KindList, Find: s.findLists},
		{Kind: calendaring.KindLabel, Find: s.findLabels},
	}
}

// listed finds the things that an operation lists. The operation may be made after the search.
func listed[In, Row any](kind calendaring.ResultKind, list func() operation.Op[In, operation.Page[Row]], in func(calendaring.SearchFilter, operation.Paging) In,
	row func(Row) (name, text, path string),
) calendaring.Source {
	return calendaring.Source{Kind: kind, Find: func(ctx context.Context, by operation.Actor, f calendaring.SearchFilter, limit int) (out []calendaring.Result, err error) {
		found, err := list().Do(ctx, by, in(f, operation.Paging{Limit: limit}))
		for _, one := range found.Items {
			name, text, path := row(one)
			out = append(out, calendaring.Result{Kind: kind, Name: name, Text: text, Path: operation.Path(path, name)})
		}
		return out, err
	}}
}

func (s *apiShared) findIncidents(ctx context.Context, by operation.Actor, f calendaring.SearchFilter, limit int) (out []calendaring.Result, err error) {
	found, err := s.incidents.Search(ctx, by, f.Text, limit)
	for _, i := range found {
		number := strconv.FormatInt(int64(i.ID), 10)
		out = append(out, calendaring.Result{Kind: calendaring.KindIncident, Name: number,
			Text: i.Title() + ", " + string(i.State()), Path: "/incidents/" + number})
	}
	return out, err
}

// findLists finds mailing lists.
func (s *apiShared) findLists(ctx context.Context, _ operation.Actor, f calendaring.SearchFilter, limit int) (out []calendaring.Result, err error) {
	names, err := s.Targets.NamesOfKind(ctx, "mailing-list", filters.Query{Conditions: []filters.Condition{filters.Equal("active", true),
		{Field: "name", Op: filters.Contains, Values: []any{f.Text}}}})
	for _, name := range names[:min(len(names), limit)] {
		out = append(out, calendaring.Result{Kind: calendaring.KindList, Name: name})
	}
	return out, err
}

func (s *apiShared) findLabels(ctx context.Context, by operation.Actor, f calendaring.SearchFilter, limit int) (out []calendaring.Result, err error) {
	found, err := s.incidents.FindLabels(ctx, by, f.Text, limit)
	for _, label := range found {
		out = append(out, calendaring.Result{Kind: calendaring.KindLabel, Name: label})
	}
	return out, err
}
