package contract

import (
	"bufio"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The audit log is filtered, and exported as JSON lines without an end of its pages.
func TestAuditLogIsFilteredAndExported(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	_, path := s.token(bob, "read")
	s.do(bob, del, path, nil).is(204)
	s.token(owner, "read")
	type entry struct {
		ID                    int64
		At                    time.Time
		Actor, Action, Object string
	}
	list := func(query string) []entry {
		t.Helper()
		return decode[struct{ Entries []entry }](s.do(admin, get, "/v1/audit?"+query, nil).is(200)).Entries
	}
	export := func(query string) []entry {
		t.Helper()
		a := s.do(admin, get, "/v1/audit/export?"+query, nil).is(200)
		require.Equal(t, "application/jsonl", a.header.Get("Content-Type"))
		out := []entry{}
		for lines := bufio.NewScanner(strings.NewReader(a.body)); lines.Scan(); {
			var e entry
			require.NoError(t, json.Unmarshal(lines.Bytes(), &e))
			out = append(out, e)
		}
		return out
	}
	for query, want := range map[string]int{
		"actor=BOB": 2, "actor=bob&action=token+create": 1, "actor=nobody": 0, "action=token+revoke": 1,
		"actor=bob&created_after=" + url.QueryEscape(time.Now().Add(time.Hour).Format(time.RFC3339)):  0,
		"actor=bob&created_before=" + url.QueryEscape(time.Now().Add(time.Hour).Format(time.RFC3339)): 2,
	} {
		require.Len(t, list(query), want, query)
		require.Equal(t, list(query), export(query), query)
	}
	found := list("actor=bob")
	require.Equal(t, "token revoke", found[0].Action, "newest first")
	require.Equal(t, found, list("actor=bob&object="+url.QueryEscape(found[0].Object)))
	require.Contains(t, s.do(admin, get, "/v1/audit?created_after=yesterday", nil).is(400).body, "created_after")
	s.do(admin, get, "/v1/audit/export?limit=1", nil).is(400)

	s.exec("insert into audit_log (actor, action) select 'many', 'x' from generate_series(1, 2500)")
	all := export("actor=many")
	require.Len(t, all, 2500)
	require.Greater(t, all[0].ID, all[2499].ID)
}
