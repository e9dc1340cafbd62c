package contract

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The contacts of the walk: bob is not on call, ann is. annPhone and ann@example.com are ann's.
const (
	bobPhone = "+15552220002"
	bobHook  = "https://hooks.example.com/secret-path-of-bob"
	bobToken = "secret-token-of-bob"
)

// newWithContacts returns a server on which bob has every kind of contact and was paged by each, and on which ann is on
// call.
func newWithContacts(t *testing.T) *server {
	t.Helper()
	s := newForRights(t)
	s.exec(`insert into user_contacts select id, m, d from users, (values ('webhook', $1), ('push', $2)) c(m, d) where name = 'bob'`, bobHook, bobToken)
	for mode, to := range map[string]string{"sms": bobPhone, "webhook": bobHook, "push": bobToken} {
		n := s.number(`insert into messages (bucket, incident_id, application_id, plan_id, step, recipient, user_id, target, priority, class, mode, state, settled_at)
			select i.bucket, i.id, i.application_id, i.plan_id, 2, 'user:' || u.id || $1, u.id, u.name, 'high', 0, $1, 'sent', clock_timestamp()
			from incidents i, users u where i.id = 1 and u.name = 'bob' returning id`, mode)
		s.exec(`insert into message_contents (message_id, destination, subject, body) values ($1, $2, 'S', 'disk full')`, n, to)
		s.exec(`insert into attempts (message_id, attempt, mode, vendor, destination, process_id, finished_at, outcome, detail)
			values ($1, 1, $2, 'v', $3, 'p', clock_timestamp(), 'sent', 'took it for ' || $3)`, n, mode, to)
	}
	s.exec("insert into teams (name) values ('duty')")
	s.exec(`insert into shifts (team_id, role_id, user_id, starts_at, ends_at)
		select t.id, r.id, u.id, clock_timestamp() - interval '1 hour', clock_timestamp() + interval '1 day'
		from teams t, users u, oncall_roles r where t.name = 'duty' and u.name = 'ann' and r.name = 'primary'`)
	return s
}

// Reads everything as everybody: what is secret in a contact of bob is shown to bob and to administrators only, and a
// reader does not get the number of bob, who is not on call.
func TestContactsOnEveryRoute(t *testing.T) {
	t.Parallel()
	s := newWithContacts(t)
	read, _ := s.token(owner, "read")
	full := 0
	for _, r := range s.marked(slices.Concat(rights(), pages())) {
		if r.method != get || strings.HasPrefix(r.path, "/logout") {
			continue
		}
		for i, as := range append(slices.Clone(columns), read) {
			if i < len(columns) && r.who[i] != 'o' {
				continue
			}
			if r.before != nil {
				r.before(s)
			}
			a := s.do(as, r.method, s.named(r.path), nil)
			own := as.name == bob.name || as.name == asBob.name || as.name == admin.name
			for _, secret := range []string{"secret-path-of-bob", bobToken} {
				if strings.Contains(a.body, secret) {
					full++
					if !own {
						t.Errorf("%s shows %s: %.500s", a.what, secret, a.body)
					}
				}
			}
			if (as.name == viewer.name || as.name == read.name) && strings.Contains(a.body, bobPhone) {
				t.Errorf("%s shows the number of somebody who is not on call: %.500s", a.what, a.body)
			}
		}
	}
	require.Greater(t, full, 5, "bob and administrators see the secrets")
}

// What each caller sees of contacts at the doors that show them.
func TestContactsShown(t *testing.T) {
	t.Parallel()
	s := newWithContacts(t)
	own, _ := s.token(bob, "read")
	contacts := func(as caller, path string) map[string]any {
		got, _ := decode[m](s.do(as, get, path, nil).is(200))["contacts"].(map[string]any)
		seen := map[string]any{}
		for _, c := range itemsOf[m](s.do(as, get, "/v1"+strings.TrimPrefix(path, "/api/v0")+"/visible-contacts", nil).is(200)) {
			seen[fmt.Sprint(c["mode"])] = c["destination"]
		}
		require.Equal(t, got, seen, "both doors show the same")
		return got
	}
	hidden := contacts(owner, "/api/v0/users/bob")
	require.Equal(t, bobPhone, hidden["sms"])
	require.Regexp(t, `^hooks\.example\.com, fingerprint [0-9a-f]{12}$`, hidden["webhook"])
	require.Regexp(t, `^fingerprint [0-9a-f]{12}$`, hidden["push"])
	for _, as := range []caller{bob, admin, own} {
		require.Equal(t, []any{bobPhone, bobHook, bobToken},
			[]any{contacts(as, "/api/v0/users/bob")["sms"], contacts(as, "/api/v0/users/bob")["webhook"],
				contacts(as, "/api/v0/users/bob")["push"]}, as.name)
	}
	require.Empty(t, contacts(viewer, "/api/v0/users/bob"))
	require.Equal(t, "ann@example.com", contacts(viewer, "/api/v0/users/ann")["email"], "ann is on call")
	// A search does not tell what is hidden.
	for path, found := range map[string]map[string]int{
		"/v1/messages?destination=hooks.example":             {bob.name: 0, admin.name: 1},
		"/v0/messages?limit=9&destination__contains=secret-": {bob.name: 0, admin.name: 2},
		"/v1/messages?destination=%2B1555222":                {bob.name: 1, admin.name: 1},
	} {
		for _, as := range []caller{bob, admin} {
			a := s.do(as, get, path, nil).is(200)
			require.Equal(t, found[as.name], strings.Count(a.body, `"destination"`), "%s as %s: %s", path, as.name,
				a.body)
		}
		require.Contains(t, s.do(viewer, get, path, nil).is(403).body, "destination", path)
	}
	for as, offered := range map[*caller]bool{&viewer: false, &bob: true, &admin: true} {
		require.Equal(t, offered, strings.Contains(s.do(*as, get, "/messages", nil).is(200).body,
			`name="destination"`), "the field of the search, as %s", as.name)
	}
	// The audit log keeps no secret of a contact.
	s.do(bob, put, "/v1/users/bob/contacts/webhook",
		m{"destination": "https://hooks.example.com/new-secret-path"}).is(204)
	audit := s.do(admin, get, "/v1/audit?action=contact+set", nil).is(200).body
	require.Contains(t, audit, "webhook")
	require.NotContains(t, audit, "secret-path")
}
