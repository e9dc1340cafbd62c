package oncallapi_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/legacy/oncallapi"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// own are the paths of what read-only people may change, because it belongs to them.
var own = regexp.MustCompile("/contacts/|/reminders|/pinned-teams|/calendar-feed")

// Every route refuses unauthenticated callers and applications without allow_oncall. Every route that changes something
// refuses read-only people.
func TestEveryRouteChecksTheCaller(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	d := f.deps
	paths := slices.Concat(oncallapi.Routes(d.Teams), oncallapi.PeopleRoutes(d.People),
		oncallapi.EventsRoutes(d.Events), oncallapi.EscalateRoutes(d.Escalate), f.calendar)
	paths = slices.DeleteFunc(paths, func(rt routing.Route) bool { return rt.Access == routing.Public })
	require.Greater(t, len(paths), 90)
	names := strings.NewReplacer("{team}", "ops", "{user}", "bob", "{roster}", "ops-roster", "{role}", "primary",
		"{service}", "web", "{id}", "1",
		"{link}", "0123", "{key}", "0123", "{other}", "empty", "{mode}", "sms")
	for _, p := range paths {
		method, path := p.Method, names.Replace(p.Path)
		require.NotRegexp(t, `[{}]`, path)
		require.Equal(t, 401, f.do(nobody, method, path, "{}").Code, "%s %s", method, path)
		require.Equal(t, 403, f.do(stranger, method, path, "{}").Code, "%s %s", method, path)
		if method == "GET" {
			require.NotEqual(t, 401, f.do(viewer, method, path, "").Code, "%s %s", method, path)
			continue
		}
		if p.Access != routing.Self && !own.MatchString(p.Path) {
			require.Equal(t, 403, f.do(viewer, method, path, "{}").Code, "%s %s", method, path)
		}
		require.Equal(t, 401, f.do(caller{session: "root", csrf: "-"}, method, path, "{}").Code, "%s %s", method, path)
	}
}

func TestReadOnlyPeopleChangeTheirOwnSettings(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.want(204, "", viewer, "PUT", "/api/v0/users/viewer", `{"time_zone":"Europe/Zurich"}`)
	f.want(201, "", viewer, "POST", "/api/v0/users/viewer/pinned_teams", `{"team":"ops"}`)
	require.Len(t, f.ok(viewer, "POST", "/api/v0/ical_key/team/ops", ""), 36)
	refused := says("Unauthorized", "This user may only read")
	f.want(403, refused, viewer, "PUT", "/api/v0/users/bob", `{"time_zone":"UTC"}`)
	f.want(403, refused, viewer, "POST", "/api/v0/users/bob/notifications", `{}`)
	f.want(403, refused, viewer, "DELETE", "/api/v0/users/bob/pinned_teams/ops", "")
}
