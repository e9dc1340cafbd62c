package contract

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/dev/golden"
)

const permissionsPage = "../../docs/reference/permissions.md"

// The page of permissions is made from the tables that TestEveryCallerOnEveryRoute and TestOncallPermissions check.
func TestPermissionsPage(t *testing.T) {
	t.Parallel()
	s := newForRights(t)
	var page strings.Builder
	page.WriteString(`# Permissions

Who may use which operation. This page is made by ` + "`go test ./test/contract -run TestPermissionsPage -update`" + ` from the tables with which the tests send
every request as every caller. A dot means that the caller is refused, and the number is the status of the refusal where it is not 403.

- **Roles.** An administrator may do everything. A member may read, and change what is theirs or their teams'. A read-only person may only read.
- **Teams.** An administrator of a team changes the team, its rosters and its schedules; members change shifts.
- **Ownership.** Plans, templates and applications belong to a team or to the person who created them. Members of the team and that person may change them,
  and integrations follow their application. ` + "`TestTeamsOwnObjects`" + ` checks members, administrators of teams, strangers and service tokens of teams.
- **Applications** sign with their key. One that may act for people has the rights of the person that it names in ` + "`X-IRIS-USERNAME`" + `.
- **Tokens.** A personal token has the rights of its person, and a service token those of an administrator of its team, or of an administrator, as far as the
  scope in the last column of the first table goes (` + "`TestTokensOnEveryRoute`" + `). A service token has no person, so it has no sessions, tokens and
  keys of applications.
- **Accounts that a directory or provider manages** have the same rights. Only memberships that groups give cannot be removed by hand.

## /v0, /v1 and pages

Objects of the rows belong to the person; the application is owned by somebody else.

| operation | no credentials | another application | the application | one that acts for people | the same, for the person | the person | owner of the application | administrator | read-only | scope |
|---|---|---|---|---|---|---|---|---|---|---|
`)
	var lines []string
	for _, r := range s.marked(slices.Concat(rights(), pages())) {
		path, _, _ := strings.Cut(s.named(r.path), "?")
		o := s.api.find(r.method, path)
		require.NotNil(t, o, r.path)
		line := fmt.Sprintf("| `%s %s` |", o.method, o.path)
		for _, mark := range r.who {
			line += " " + map[rune]string{'o': "yes", '3': "·", 'l': "log-in", 'k': "log-in", 'h': "log-in",
				'1': "401", '4': "404"}[mark] + " |"
		}
		scope := ""
		if apis.MatchString(o.path) && !others.MatchString(o.path) {
			scope = string(tokens.Needed(o.method, path))
		}
		lines = append(lines, line+" "+scope+" |")
	}
	page.WriteString(sorted(lines))
	page.WriteString(`
## /api/v0 and the calendar in /v1

Objects of the rows belong to the person, who is a member of the team.

| operation | no credentials | application | one with ` + "`allow_oncall`" + ` | read-only | stranger | member | the person | team administrator | administrator |
|---|---|---|---|---|---|---|---|---|---|
`)
	lines = nil
	for _, p := range permissions {
		line := fmt.Sprintf("| `%s %s` |", p.method, p.path)
		for _, status := range strings.Fields(p.want) {
			switch {
			case status <= "400": // 400: the caller may, but the code of the row is wrong
				status = "yes"
			case status == "403":
				status = "·"
			}
			line += " " + status + " |"
		}
		lines = append(lines, line)
	}
	page.WriteString(sorted(lines))
	golden.Equal(t, permissionsPage, page.String(), "run go test ./test/contract -run TestPermissionsPage -update")
}

// sorted returns the rows by path, each once.
func sorted(rows []string) string {
	key := func(row string) string {
		method, path, _ := strings.Cut(strings.Trim(strings.SplitN(row, "|", 3)[1], " `"), " ")
		return path + " " + method
	}
	slices.SortStableFunc(rows, func(a, b string) int { return strings.Compare(key(a), key(b)) })
	return strings.Join(slices.Compact(rows), "\n") + "\n"
}
