package calendaring

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
)

// SearchFilter says what to search.
type SearchFilter struct {
	Text string `query:"q" json:"q" required:"true" maxLength:"255" doc:"Part of the name of a team or service, or the beginning of the name of a person. Case is ignored."`
	Team string `query:"team" json:"team,omitempty" doc:"Only people of this team."`
	Kind string `query:"kind" json:"kind,omitempty" maxLength:"200" doc:"Only results of these kinds, separated by commas. Without it, all kinds except label are searched."`
}

// FoundService is a service that a search found.
type FoundService struct {
	Name  string   `json:"name"`
	Teams []string `json:"teams" doc:"The teams that own it."`
}

// FoundPerson is a person whom a search found.
type FoundPerson struct {
	Name     string         `json:"name"`
	FullName operation.Text `json:"full_name"`
}

// Found is the result of a search. Long lists are cut.
type Found struct {
	Teams    []string       `json:"teams"`
	Services []FoundService `json:"services"`
	Users    []FoundPerson  `json:"users"`
	Results  []Result       `json:"results" doc:"At most 5 results of each kind; 20 if the request names kinds."`
}

// Result is a thing that a search found.
type Result struct {
	Kind ResultKind `json:"kind"`
	Name string     `json:"name" doc:"What forms and other routes call it: a name, the number of an incident, or NAME=VALUE of a label."`
	Text string     `json:"text" doc:"What people read besides the name."`
	Path string     `json:"path" doc:"The address of its page in the console; empty: it has none."`
}

// ResultKind is a kind of results.
type ResultKind string

// The kinds of results.
const (
	KindUser        ResultKind = "user"
	KindTeam        ResultKind = "team"
	KindIncident    ResultKind = "incident"
	KindPlan        ResultKind = "plan"
	KindIntegration ResultKind = "integration"
	KindApplication ResultKind = "application"
	KindList        ResultKind = "mailing-list"
	KindLabel       ResultKind = "label"
	KindPage        ResultKind = "page"
	KindAction      ResultKind = "action"
)

const (
	maxOfEach  = 5  // results of each kind
	maxOfAsked = 20 // if the request names kinds
)

// Search finds what the console has by name.
var Search = operation.Define[SearchFilter, Found](operation.Doc{Name: "search", Method: http.MethodGet,
	Path: "/v1/search", Needs: operation.Reader, Errors: []int{http.StatusNotFound},
	Summary: "Find teams, services, people, incidents, plans, integrations and pages by name",
	Note:    "Long lists are cut. Callers without credentials find teams, services and people only. An incident is found by its number, or by a part of its title or context if it was opened lately."})

// Source finds the things of a kind for a caller, at most so many.
type Source struct {
	Kind ResultKind
	Find func(ctx context.Context, by operation.Actor, f SearchFilter, limit int) ([]Result, error)
}

// NewSearch returns the operation. find searches the people of a team; 0 = all people. The results of sources come in
// their order, after teams.
func NewSearch(teams Teams, find func(ctx context.Context, text string, team int64) (oncall.SearchResult, error), sources ...Source) operation.Op[SearchFilter, Found] {
	return Search.By(func(ctx context.Context, by operation.Actor, f SearchFilter) (out Found, err error) {
		f.Text = strings.TrimSpace(f.Text)
		out = Found{Teams: []string{}, Services: []FoundService{}, Users: []FoundPerson{}, Results: []Result{}}
		limit, asked := maxOfEach, func(kind ResultKind) bool { return kind != KindLabel }
		if f.Kind != "" {
			kinds := strings.Split(f.Kind, ",")
			limit, asked = maxOfAsked, func(kind ResultKind) bool { return slices.Contains(kinds, string(kind)) }
		}
		if asked(KindTeam) {
			if err := named(ctx, teams, find, f, &out); err != nil {
				return Found{}, err
			}
		}
		if f.Text == "" || by.Name == "" {
			return out, nil
		}
		if asked(KindTeam) {
			for _, team := range out.Teams[:min(len(out.Teams), limit)] {
				out.Results = append(out.Results, Result{KindTeam, team, "", operation.Path("/teams/{name}", team)})
			}
		}
		for _, source := range sources {
			if !asked(source.Kind) {
				continue
			}
			found, err := source.Find(ctx, by, f, limit)
			if fault.Is(err, fault.Forbidden) {
				continue
			}
			if err != nil {
				return Found{}, err
			}
			out.Results = append(out.Results, found[:min(len(found), limit)]...)
		}
		return out, nil
	})
}

// named finds teams, services and people.
func named(ctx context.Context, teams Teams, find func(ctx context.Context, text string, team int64) (oncall.SearchResult, error), f SearchFilter, out *Found) error {
	var team int64
	if f.Team != "" {
		t, err := Finder{Teams: teams}.ActiveTeam(ctx, f.Team)
		if err != nil {
			return fault.When(err, fault.NotFound, fault.Newf(fault.NotFound, "there is no team %.100q", f.Team))
		}
		team = t.ID
	}
	found, err := find(ctx, f.Text, team)
	if err != nil {
		return err
	}
	out.Teams = append(out.Teams, found.Teams...)
	for _, name := range slices.Sorted(maps.Keys(found.Services)) {
		out.Services = append(out.Services, FoundService{name, found.Services[name]})
	}
	for _, u := range found.Users {
		out.Users = append(out.Users, FoundPerson{u.Name, operation.Text(u.FullName)})
	}
	return nil
}
