package irisapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pagesOf reads all pages of a route and returns the entries' field.
func (f *fixture) pagesOf(as caller, path, field string) (all []string, pages int) {
	f.Helper()
	cursor := ""
	for {
		var page struct {
			Entries []map[string]any
			Next    *string
		}
		require.NoError(f, json.Unmarshal([]byte(f.ok(as, get, path+cursor, "")), &page))
		pages++
		for _, e := range page.Entries {
			all = append(all, fmt.Sprint(e[field]))
		}
		if page.Next == nil {
			return all, pages
		}
		cursor = "&cursor=" + url.QueryEscape(*page.Next)
	}
}

func TestTheTimelineIsAnsweredInPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ok(demo, post, "/v0/incidents", `{"plan":"pager","context":{"host":"web1"}}`)
	f.exec(`insert into timeline_entries (incident_id, at, kind, actor, text) select 1, '2040-01-01Z', 'updated', 'x', 'same ' || n from generate_series(1, 5) n`)
	f.ok(power, post, "/v0/incidents/1", `{"owner":"ann"}`)
	whole, pages := f.pagesOf(demo, "/v1/incidents/1/timeline?limit=500", "text")
	require.Equal(t, 1, pages)
	require.Greater(t, len(whole), 6)
	for limit := range 4 {
		parts, pages := f.pagesOf(demo, fmt.Sprintf("/v1/incidents/1/timeline?limit=%d", limit+1), "text")
		require.Equal(t, whole, parts, "limit %d", limit+1)
		require.Greater(t, pages, 1)
	}
	for path, status := range map[string]int{"/v1/incidents/1/timeline?limit=0": 400, "/v1/incidents/1/timeline?limit=x": 400, "/v1/incidents/1/timeline?cursor=x": 400,
		"/v1/incidents/99/timeline": 404, "/v1/incidents/x/timeline": 404} {
		require.Equal(t, status, f.do(demo, get, path, "").Code, path)
	}
	require.Equal(t, 401, f.do(nobody, get, "/v1/incidents/1/timeline", "").Code)
	require.Equal(t, 200, f.do(viewer, get, "/v1/incidents/1/timeline", "").Code)
}

func TestTheAuditLogIsForAdministratorsInPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into audit_log (actor, action, object) select 'ann', 'act ' || n, 'thing' from generate_series(1, 5) n`)
	all, pages := f.pagesOf(asRoot, "/v1/audit?limit=2", "action")
	require.Equal(t, "act 5 act 4 act 3 act 2 act 1", strings.Join(all, " "))
	require.Equal(t, 3, pages)
	for _, as := range []caller{demo, power, asAnn, annHere, viewer} {
		require.Equal(t, 403, f.do(as, get, "/v1/audit", "").Code)
	}
	require.Equal(t, 401, f.do(nobody, get, "/v1/audit", "").Code)
	require.Equal(t, 400, f.do(asRoot, get, "/v1/audit?cursor=x", "").Code)
}
