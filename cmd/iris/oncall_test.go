package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/oncall/scheduling"
)

func TestOncallOnTheCommandLine(t *testing.T) {
	t.Parallel()
	environ, _ := installation(t)
	ask := func(code int, args ...string) string {
		t.Helper()
		got, out, errs := iris(t, environ, "", append([]string{"oncall"}, args...)...)
		require.Equal(t, code, got, errs)
		return out
	}
	require.Equal(t, `Team db at Sun 2026-11-22 01:59:59 +01:00 (Europe/Zurich)
ROLE     WHO            REACHED BY             WHY
primary  ann (Ann Lee)  email ann@example.com  primary of team db: shift until Sun 2026-11-22 02:00 CET
`, ask(0, "db", "--at", "2026-11-22 01:59:59"))
	require.Equal(t, `Team db at Sun 2026-11-22 02:00:00 +01:00 (Europe/Zurich)
ROLE     WHO            REACHED BY                             WHY
primary  bob (Bob Ray)  call +15550102, email bob@example.com  primary of team db: shift until Sun 2026-11-29 02:00 CET
Next hand-offs of primary:
  Sun 2026-11-29 02:00:00 +01:00  from bob to nobody
  Mon 2026-11-30 02:00:00 +01:00  from nobody to ann
Nobody has a shift as primary (pages go to the team's fixed order, or to the fallback):
  Sun 2026-11-29 02:00:00 +01:00  to  Mon 2026-11-30 02:00:00 +01:00  (1 d 0 h)
`, ask(3, "--service", "checkout", "--at", "2026-11-22 02:00", "--next", "--gaps", "--for", "9d"))
	require.Equal(t, "on-call\tdb\tprimary\t2026-11-22T02:00:00+01:00\tbob\n"+
		"hand-off\tdb\tprimary\t2026-11-29T02:00:00+01:00\t\nhand-off\tdb\tprimary\t2026-11-30T02:00:00+01:00\tann\n"+
		"gap\tdb\tprimary\t2026-11-29T02:00:00+01:00\t2026-11-30T02:00:00+01:00\n",
		ask(3, "db", "--at", "2026-11-22T01:00:00Z", "-o", "plain", "--next", "--gaps", "--for", "9d", "--role",
			"Primary"))
	require.Contains(t, ask(0, "db", "--at", "2026-11-22", "--gaps", "--for", "2d"),
		"No gap in primary until Tue 2026-11-24 00:00:00 +01:00.\n")
	require.Contains(t, ask(0, "db", "--at", "2026-11-29 12:00"),
		"ann (Ann Lee)  email ann@example.com  primary of team db: first in its fixed order (nobody has a shift)")
	require.Contains(t, ask(3, "empty"),
		"primary  NOBODY              nobody is primary: team empty has no active member\n")
	require.Regexp(t, "^on-call\tempty\tprimary\t[^\t]+\t\n$", ask(3, "empty", "-o", "plain"),
		"scripts hear of nobody, too")

	var teams []scheduling.Team
	require.NoError(t, json.Unmarshal([]byte(ask(0, "db", "--at", "2026-11-22 02:00", "--output", "json")), &teams))
	require.Equal(t, "bob", teams[0].Roles[0].People[0].Name)
	require.True(t, teams[0].Roles[0].Calendar)
	require.Equal(t, int64(1795914000), teams[0].Roles[0].Gaps[0].Start.Unix())

	for want, args := range map[string][]string{
		"there is no active team nowhere\n":                     {"nowhere"},
		"there is no active team EMTPY; did you mean empty?\n":  {"EMTPY"},
		"there is no service nothing\n":                         {"--service", "nothing"},
		"there is no service chekout; did you mean checkout?\n": {"--service", "chekout"},
		"name a team, or a service with":                        {},
		"not both":                                              {"db", "--service", "checkout"},
		"there is no role primry; known roles: director, manager, primary, secondary, shadow, unavailable, vacation; did you mean primary?": {"db", "--role", "primry"},
		`"soon" is no instant`:             {"db", "--at", "soon"},
		`--for: "3 moons" is not a period`: {"db", "--for", "3 moons"},
		`--for: "900d" is not a period`:    {"db", "--for", "900d"},
	} {
		code, _, errs := iris(t, environ, "", append([]string{"oncall"}, args...)...)
		wantCode := 2
		if strings.HasPrefix(want, "there is no ") { // the database was searched for it
			wantCode = 1
		}
		require.Equal(t, wantCode, code, errs)
		require.Contains(t, errs, want)
	}
	code, _, errs := iris(t, environ, "", "oncall", "db", "--output", "xml")
	require.Equal(t, 2, code, errs)
	code, out, _ := iris(t, environ, "", "oncall", "--help")
	require.Zero(t, code)
	require.Contains(t, out, "Exit code 0: every printed role")
}
