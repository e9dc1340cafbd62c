package apiserver_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// entriesOf reads all pages of a route and returns a field of each entry.
func (f *fixture) entriesOf(as, path, field string) (all []string, pages int) {
	f.Helper()
	cursor := ""
	for {
		page := ok[struct {
			Items []map[string]any
			Next  *string
		}](f, http.StatusOK, as, http.MethodGet, path+cursor, "")
		pages++
		for _, e := range page.Items {
			all = append(all, fmt.Sprint(e[field]))
		}
		if page.Next == nil {
			return all, pages
		}
		cursor = "&cursor=" + url.QueryEscape(*page.Next)
	}
}

func TestTimelineIsReadInPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.open("disk", 0)
	f.exec(`insert into users (name, read_only) values ('viewer', true)`)
	f.exec(`insert into timeline_entries (incident_id, at, kind, actor, text) select 1, '2040-01-01Z', 'updated', 'x', 'same ' || n from generate_series(1, 5) n`)
	require.Equal(t, 200, f.do("ann", http.MethodPost, "/v1/incidents/1/acknowledge", "").Code)
	whole, pages := f.entriesOf("", "/v1/incidents/1/timeline?limit=500", "text")
	require.Equal(t, 1, pages)
	require.Greater(t, len(whole), 5)
	for limit := range 4 {
		parts, pages := f.entriesOf("", fmt.Sprintf("/v1/incidents/1/timeline?limit=%d", limit+1), "text")
		require.Equal(t, whole, parts, "limit %d", limit+1)
		require.Greater(t, pages, 1)
	}
	for path, status := range map[string]int{"/v1/incidents/1/timeline?limit=0": 400, "/v1/incidents/1/timeline?limit=x": 400,
		"/v1/incidents/1/timeline?cursor=x": 400, "/v1/incidents/1/timeline?cursor=eA": 400,
		"/v1/incidents/99/timeline": 404, "/v1/incidents/x/timeline": 404} {
		require.Equal(t, status, f.do("", http.MethodGet, path, "").Code, path)
	}
	require.Equal(t, 401, f.do("nobody", http.MethodGet, "/v1/incidents/1/timeline", "").Code)
	require.Equal(t, 200, f.do("viewer", http.MethodGet, "/v1/incidents/1/timeline", "").Code)
}

func TestOnlyAdministratorsReadTheAuditLogInPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into users (name, admin, read_only) values ('root', true, false), ('viewer', false, true)`)
	f.exec(`insert into audit_log (actor, action, object) select 'ann', 'act ' || n, 'thing' from generate_series(1, 5) n`)
	all, pages := f.entriesOf("root", "/v1/audit?limit=2&actor=ann", "action")
	require.Equal(t, "act 5 act 4 act 3 act 2 act 1", strings.Join(all, " "))
	require.Equal(t, 3, pages)
	for _, as := range []string{"", "ann", "viewer"} {
		require.Equal(t, 403, f.do(as, http.MethodGet, "/v1/audit", "").Code)
	}
	require.Equal(t, 401, f.do("nobody", http.MethodGet, "/v1/audit", "").Code)
	require.Equal(t, 400, f.do("root", http.MethodGet, "/v1/audit?cursor=x", "").Code)
}

// Several packages serve one path. OPTIONS lists the methods of all of them.
func TestOptionsListsEveryMethod(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for path, allow := range map[string]string{
		"/v1/teams/ops":                  "DELETE, GET, HEAD, OPTIONS",
		"/v1/plans/pager":                "DELETE, GET, HEAD, PUT, OPTIONS",
		"/v1/plans/pager/fallback":       "DELETE, GET, HEAD, PUT, OPTIONS",
		"/v1/plans":                      "GET, HEAD, POST, OPTIONS",
		"/v1/templates":                  "GET, HEAD, POST, OPTIONS",
		"/v1/applications":               "GET, HEAD, POST, OPTIONS",
		"/v1/notifications":              "GET, HEAD, POST, OPTIONS",
		"/v1/incidents/1/timeline":       "GET, HEAD, OPTIONS",
		"/v1/incidents/1/escalate":       "POST, OPTIONS",
		"/v1/applications/demo":          "DELETE, GET, HEAD, PUT, OPTIONS",
		"/v1/templates/words":            "DELETE, GET, HEAD, PUT, OPTIONS",
		"/v1/applications/demo/fallback": "DELETE, GET, HEAD, PUT, OPTIONS",
	} {
		require.Equal(t, allow, f.do("nobody", http.MethodOptions, path, "").Header().Get("Allow"), path)
	}
}
