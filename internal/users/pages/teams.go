package pages

import (
	"net/http"

	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// TeamNames returns names of teams, for suggestions.
func TeamNames(r *http.Request, t *teams.Teams) []string {
	return page.Suggest(r, t.List, operation.Paging{Limit: page.Longest}, func(t teams.TeamRow) string { return t.Name })
}

// TeamsOf returns the teams of the reader. If they cannot be read, there are none: pages only suggest them, and hide
// buttons.
func TeamsOf(r *http.Request, people *users.People) []string {
	me, _ := people.Get.Do(r.Context(), page.Actor(r), users.OnePerson{User: page.Reader(r).Name})
	return me.Teams
}
