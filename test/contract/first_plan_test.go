package contract

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The commands of "The first plan" in docs/api.md work in an installation that has only what the section names.
func TestTheFirstPlanOfTheManual(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	env := environment(t, s.db.Config().ConnString())
	s.iris(env, password+"\n", "user", "add", "alice", "--admin", "--email", "alice@example.com")
	s.iris(env, "", "app", "add", "alertmanager")
	s.iris(env, "", "team", "add", "database", "--member", "alice")
	s.sessions["alice"], _, s.tokens["alice"] = s.logIn("alice")
	alice := caller{name: "alice", session: "alice"}

	page, err := os.ReadFile("../../docs/api.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "## The first plan\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	require.NotContains(t, section, "/v0/")
	require.NotContains(t, section, `"template"`)
	bodies := map[string]m{}
	for _, command := range regexp.MustCompile(`(?s)\$iris(/v1/\w+) -d '(.*?)'\n`).FindAllStringSubmatch(section, -1) {
		var body m
		require.NoError(t, json.Unmarshal([]byte(command[2]), &body))
		bodies[command[1]] = body
	}
	s.do(alice, post, "/v1/plans", bodies["/v1/plans"]).is(201)
	sim := decode[m](s.do(alice, get, "/v1/plans/db-on-call/simulation", nil).is(200))
	require.Len(t, sim["pages"], 3, "the team twice, then alice")
	s.do(alice, post, "/v1/incidents", bodies["/v1/incidents"]).is(201)
}
