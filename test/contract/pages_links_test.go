package contract

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLinksOfThePredecessors opens the addresses of Iris's and Oncall's pages. The importer keeps the numbers of
// objects (test/import compares them), so a number leads to its object, also to a version that is no longer active.
func TestLinksOfThePredecessors(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.exec(`insert into plans (id, name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) overriding system value select 90011 + n, 'of Iris', id, 900, 10, 300, 300 from users, generate_series(0, 1) n where name = 'bob';
		insert into plan_active (name_key, plan_id) values ('of iris', 90012);
		insert into templates (id, name, creator_id) overriding system value select 90021 + n, 'words of Iris', id from users, generate_series(0, 1) n where name = 'bob';
		insert into template_active (name_key, template_id) values ('words of iris', 90022)`)
	incident := s.open()
	s.do(bob, post, "/v1/notifications", m{"targets": []m{{"role": "user", "name": "bob"}},
		"subject": "an old message", "body": "b", "priority": "low"}).is(201)
	message := s.number("select max(id) from messages")
	for from, to := range map[string]struct{ path, shows string }{
		"/plans/90011":                         {"", "This is not the active version."},
		"/plans/90012":                         {"", `<h1 dir="auto">of Iris</h1>`},
		"/templates/90021":                     {"", "not active"},
		"/templates/90022":                     {"", `<h1 dir="auto">words of Iris</h1>`},
		"/applications/demo":                   {"", `<h1 dir="auto">demo</h1>`},
		fmt.Sprintf("/incidents/%d", incident): {"", fmt.Sprintf("/incidents/%d/", incident)},
		fmt.Sprintf("/messages/%d", message):   {"", "<bdi>bob</bdi>"},
		"/user/bob":                            {"/people/bob", "<h1"},
		"/user/bob/notifications":              {"/people/bob", "<h1"},
		"/team/ops":                            {"/teams/ops", "ops"},
		"/team/ops/info":                       {"/teams/ops/rosters", "ops"},
		"/stats":                               {"/statistics", "<h1"},
		"/stats/demo":                          {"/applications/demo", "demo"},
		"/singlestats/total_plans":             {"/statistics", "<h1"},
		"/validate/jinja":                      {"/templates", "<h1"},
	} {
		a := s.do(bob, get, from, nil)
		if to.path != "" {
			require.Contains(t, []int{http.StatusFound, http.StatusMovedPermanently}, a.status, from)
			require.Equal(t, to.path, a.header.Get("Location"), from)
			a = s.do(bob, get, to.path, nil)
		}
		require.Contains(t, a.is(200).body, to.shows, from)
	}
	s.do(bob, get, "/plans/90013", nil).is(404)
}
