package contract

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/web/wire"
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
		return decode[struct{ Items []entry }](s.do(admin, get, "/v1/audit?"+query, nil).is(200)).Items
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
		"actor=BOB&address=127.0.0.1&actor_kind=person": 3, "actor=bob&action=token+created": 1, "actor=nobody": 0, "action=token+revoked": 1,
		"actor=bob&action=logged+in": 1, "actor_kind=application": 0,
		"actor=bob&created_after=" + url.QueryEscape(time.Now().Add(time.Hour).Format(time.RFC3339)):  0,
		"actor=bob&created_before=" + url.QueryEscape(time.Now().Add(time.Hour).Format(time.RFC3339)): 3,
	} {
		require.Len(t, list(query), want, query)
		require.Equal(t, list(query), export(query), query)
	}
	found := list("actor=bob")
	require.Equal(t, "token revoked", found[0].Action, "newest first")
	require.Equal(t, found[:2], list("actor=bob&object="+url.QueryEscape(found[0].Object)))
	require.Contains(t, s.do(admin, get, "/v1/audit?created_after=yesterday", nil).is(400).body, "created_after")
	s.do(admin, get, "/v1/audit/export?limit=1", nil).is(400)

	s.exec("insert into audit_log (actor, action) select 'many', 'x' from generate_series(1, 2500)")
	all := export("actor=many")
	require.Len(t, all, 2500)
	require.Greater(t, all[0].ID, all[2499].ID)
}

// An entry says who changed what from where, and what it was before. Secrets have fingerprints.
func TestAuditEntries(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	type change struct{ Field, Before, After string }
	type entry struct {
		Actor, Action, Object, Address, Through string
		ActorKind                               string `json:"actor_kind"`
		ActorID, TokenID                        int64  `json:",omitempty"`
		RequestID                               string `json:"request_id"`
		Changes                                 []change
	}
	of := func(a answer) entry {
		t.Helper()
		found := decode[struct{ Items []entry }](s.do(admin, get, "/v1/audit?request_id="+
			a.header.Get(wire.RequestIDHeader), nil).is(200)).Items
		require.Len(t, found, 1, a.what)
		e := found[0]
		require.Equal(t, "127.0.0.1", e.Address)
		return e
	}
	e := of(s.do(admin, put, "/v1/plans/pager/settings", m{"repage_after_seconds": 120}).is(200))
	require.Equal(t, []string{"root", "person", "plan settings changed", "plan pager"},
		[]string{e.Actor, e.ActorKind, e.Action, e.Object})
	require.Equal(t, []change{{"repage_after", "3600", "120"}}, e.Changes)

	e = of(s.do(asBob, post, "/v0/users/modes/bob", m{"high": "sms"}).is(200))
	require.Equal(t, []string{"bob", "person", "power"}, []string{e.Actor, e.ActorKind, e.Through},
		"an application acts for a person")

	personal, _ := s.token(admin, "admin")
	s.do(personal, post, "/v0/applications/demo/secondary", nil).is(200)
	e = of(s.do(personal, post, "/v0/applications/demo/rekey", nil).is(200))
	require.Equal(t, "application secondary key made the primary one", e.Action)
	require.Len(t, e.Changes, 2)
	for _, c := range e.Changes {
		require.NotContains(t, s.keys["demo"], c.Before+"?")
		require.LessOrEqual(t, len(c.Before), 12, "a fingerprint")
	}

	first := s.number("select max(plan_id) from plan_active where name_key = 'pager'")
	s.exec(`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset)
		select name, creator_id, 1, 1, 1, 1 from plans where id = $1`, first)
	second := s.number("select max(id) from plans where name = (select name from plans where id = $1)", first)
	e = of(s.do(admin, post, fmt.Sprintf("/v1/plans/pager/versions/%d/activate", second), nil).is(200))
	require.Equal(t, "plan version activated", e.Action)
	require.Contains(t, e.Changes, change{"version", fmt.Sprint(first), fmt.Sprint(second)})

	old := s.number("select max(template_id) from template_active where name_key = 'words'")
	s.exec("insert into templates (name, creator_id) select name, creator_id from templates where id = $1", old)
	newer := s.number("select max(id) from templates where name = (select name from templates where id = $1)", old)
	e = of(s.do(admin, post, fmt.Sprintf("/v1/templates/words/versions/%d/activate", newer), nil).is(200))
	require.Equal(t, "template version activated", e.Action)
}
