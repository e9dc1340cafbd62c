package site

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
)

// teams has the team "Ops / 24x7 <b>", and a deleted team.
type teams struct{}

func (teams) ByName(_ context.Context, name string) (oncall.Team, error) {
	switch {
	case strings.EqualFold(name, "Ops / 24x7 <b>"):
		return oncall.Team{ID: 1, Name: "Ops / 24x7 <b>", TimeZone: "Europe/Berlin", Active: true}, nil
	case name == "gone":
		return oncall.Team{ID: 2, Name: "gone"}, nil
	}
	return oncall.Team{}, fault.New(fault.NotFound, "no such team")
}

const opsPath = "/teams/Ops%20%2F%2024x7%20%3Cb%3E"

// teamPages are the pages of a team; true = the page draws a calendar.
func teamPages() map[string]bool {
	return map[string]bool{"": true, "/rosters": false, "/schedules": true, "/coverage": false, "/settings": false,
		"/audit": false}
}

func TestCalendarPagesNameReaderAndTeam(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	for path, grid := range teamPages() {
		status, body := b.get(opsPath + path)
		require.Equal(t, http.StatusOK, status, path)
		require.Contains(t, body, `data-team="Ops / 24x7 &lt;b&gt;"`)
		require.NotContains(t, body, "24x7 <b>")
		require.Contains(t, body, `data-team-zone="Europe/Berlin"`)
		require.Contains(t, body, `data-user="ann"`)
		require.NotContains(t, body, "data-admin")
		require.NotContains(t, body, "data-read-only")
		require.Contains(t, body, `href="`+opsPath+path+`" aria-current="page"`)
		require.Equal(t, grid, strings.Contains(body, "event-calendar"))
		require.Regexp(t, `<meta name="csrf-token" content="[0-9a-f]{32}">`, body)
	}
	w.ann.Admin, w.ann.ReadOnly = true, true
	for _, p := range []string{"/teams", "/teams/", "/me"} {
		status, body := b.get(p)
		require.Equal(t, http.StatusOK, status, p)
		require.Contains(t, body, "data-admin data-read-only")
	}
}

func TestPagesNameTheZoneOfTheirTimes(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	_, body := b.get("/login/")
	require.NotContains(t, body, "Times are in", "there is none on it")
	b.login()
	for _, p := range []string{"/incidents", "/silences", "/plans"} {
		_, body := b.get(p)
		require.Contains(t, body, `Times are in <span id="zone-name">UTC</span>`, p)
		require.Equal(t, 1, strings.Count(body, "<h1"), p)
	}
	_, body = b.get("/teams")
	require.NotContains(t, body, "Times are in", "the calendar has a switch for it")
}

func TestCalendarPagesHaveTheTokenOfTheSession(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	_, answer := b.post("/login", right)
	token := regexp.MustCompile(`"csrf_token":"([0-9a-f]{32})"`).FindStringSubmatch(answer)
	require.Len(t, token, 2)
	_, body := b.get("/teams")
	require.Contains(t, body, `content="`+token[1]+`"`)
	_, body = b.get("/incidents")
	require.NotContains(t, body, token[1], "pages without scripts that need it do not show it")
}

func TestUnknownAndDeletedTeamsAreNotFound(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	b.login()
	for _, p := range []string{"/teams/nobody", "/teams/gone", "/teams/gone/rosters"} {
		status, _ := b.get(p)
		require.Equal(t, http.StatusNotFound, status, p)
	}
}

func TestOncallAddressesRedirect(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	b.login()
	const team = "/team/Ops%20%2F%2024x7%20%3Cb%3E"
	for from, to := range map[string]string{
		team: opsPath, team + "/": opsPath, team + "/info": opsPath + "/rosters", team + "/schedules": opsPath +
			"/schedules",
		team + "/subscriptions": opsPath + "/settings", team + "/audit": opsPath + "/audit",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.base+from, nil)
		require.NoError(t, err)
		resp, err := b.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode)
		require.Equal(t, to, resp.Request.URL.EscapedPath())
	}
}

// Follows every import of the scripts from the addresses in the pages, as a browser does.
func TestScriptsImportExistingModules(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	b.login()
	imports, later := regexp.MustCompile(`import[^;"(]*"(\./[^"]+)"`), regexp.MustCompile(`import\("(\./[^"]+)"\)`)
	seen := map[string]bool{}
	var follow func(string)
	follow = func(address string) {
		if seen[address] {
			return
		}
		seen[address] = true
		status, script := b.get(address)
		require.Equal(t, http.StatusOK, status, address)
		require.NotContains(t, script, "innerHTML", "data is never parsed as HTML")
		require.Len(t, imports.FindAllString(script, -1), strings.Count(script, "}from\"")+
			strings.Count(script, "import\""), address)
		for _, m := range append(imports.FindAllStringSubmatch(script, -1), later.FindAllStringSubmatch(script, -1)...) {
			follow(path.Join(path.Dir(address), m[1]))
		}
	}
	pages := []string{"/teams", "/me"}
	for path := range teamPages() {
		pages = append(pages, opsPath+path)
	}
	for _, p := range pages {
		_, body := b.get(p)
		main := regexp.MustCompile(`src="([^"]+)" type="module"`).FindStringSubmatch(body)
		require.Len(t, main, 2, p)
		follow(main[1])
	}
	scripts, err := fs.ReadDir(files, "static/oncall")
	require.NoError(t, err)
	require.Len(t, seen, len(scripts), "every script is used")
}

// The test counts what a browser loads for a page at once, uncompressed: the page, its style sheets, font and icons, and its scripts
// with their imports. Dialogs load their scripts when they are opened.
func TestCalendarPagesAreBelow250Kilobytes(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	b.login()
	links, imports := regexp.MustCompile(`(?:href|src)="(/static/[^"#]+)["#]`), regexp.MustCompile(`(?m)^import .* from "(\./[^"]+)";$`)
	pages := []string{"/teams", "/me"}
	for p := range teamPages() {
		pages = append(pages, opsPath+p)
	}
	for _, p := range pages {
		_, body := b.get(p)
		seen, total := map[string]bool{}, len(body)
		var load func(string)
		load = func(address string) {
			if seen[address] {
				return
			}
			seen[address] = true
			_, file := b.get(address)
			total += len(file)
			for _, m := range imports.FindAllStringSubmatch(file, -1) {
				load(path.Join(path.Dir(address), m[1]))
			}
		}
		for _, m := range links.FindAllStringSubmatch(body, -1) {
			load(m[1])
		}
		require.Less(t, total, 250_000, p)
		t.Log(p, total)
	}
}

func TestVendoredFilesMatchTheirChecksums(t *testing.T) {
	t.Parallel()
	list, err := files.ReadFile("static/vendor/README.md")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| (\S+\.(?:js|css|woff2|svg)) \| .* \| ([0-9a-f]{64}) \|$`).FindAllStringSubmatch(string(list), -1)
	require.NotEmpty(t, rows)
	listed := map[string]bool{}
	for _, row := range rows {
		body, err := files.ReadFile("static/vendor/" + row[1])
		require.NoError(t, err)
		sum := sha256.Sum256(body)
		require.Equal(t, row[2], hex.EncodeToString(sum[:]), row[1])
		listed[row[1]] = true
	}
	vendored, err := fs.ReadDir(files, "static/vendor")
	require.NoError(t, err)
	for _, f := range vendored {
		text := f.Name() == "README.md" || path.Ext(f.Name()) == ".LICENSE"
		require.True(t, text || listed[f.Name()], f.Name())
	}
}
