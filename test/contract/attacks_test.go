package contract

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// attack is a request of an attacker that succeeded in an earlier release (docs/security.md). item is its number in the
// review that found it ("1.3"). try sends it again and checks that it fails now. Every attack has its own server.
type attack struct {
	item, name string
	try        func(s *server)
}

// attacks has a row for each attack. Add rows here, and functions for them below or in a file attacks_<topic>_test.go.
var attacks = []attack{
	{"1.1", "a user renames themselves to a name that folds to an administrator's", takeOverByName},
	{"1.1", "an administrator cannot be impersonated by a stored name that folds to theirs", takeOverByStoredName},
	{"1.4", "alert text becomes Slack blocks with buttons under a template that begins with it", alertTextAsBlocks},
	{"1.4", "alert text calls a whole channel and shows its own link in Slack", alertTextAsMarkup},
	{"1.5", "a filter of 60,000 commas becomes as many conditions", manyConditions},
	{"1.8", "metrics are read without credentials", publicMetrics},
	{"1.3", "an administrator of a team of their own changes another person's reminders", changeOthersReminders},
	{"1.3", "an administrator of a team of their own empties another team's rota", emptyOthersRota},
	{"1.8", "a new version of somebody's plan or template replaces the active one", replacePlan},
	{"1.8", "a page of another site ends a session", endSessionFromElsewhere},
	{"1.8", "error texts tell which applications exist", guessApplications},
	{"1.8", "wrong passwords lock somebody out", lockOut},
	{"1.8", "a copy of the database opens calendar feeds", openFeedsOfACopy},
}

func TestAttacksOnRequests(t *testing.T) {
	t.Parallel()
	for _, a := range attacks {
		t.Run(a.item+" "+a.name, func(t *testing.T) {
			t.Parallel()
			a.try(newServer(t))
		})
	}
}

func manyConditions(s *server) {
	for _, query := range []string{strings.Repeat(",", 60000), strings.Repeat(",", 60), "a" + strings.Repeat("&plan__contains=a", 300), strings.Repeat("x", 600)} {
		s.do(viewer, get, "/v0/incidents?plan__contains="+query, nil).is(http.StatusBadRequest)
	}
	s.do(viewer, get, "/v0/incidents?id__in="+strings.Repeat("1,", 5000), nil).is(http.StatusBadRequest)
	s.do(viewer, get, "/v0/incidents?plan__contains=a,b,c", nil).is(http.StatusOK)
}

func guessApplications(s *server) {
	refused := func(as caller, method, path string, body any, header ...string) string {
		a := s.do(as, method, path, body, header...).is(http.StatusUnauthorized)
		require.Contains(s, a.body, "Authentication failure")
		return a.body
	}
	for _, name := range []string{"demo", "scheduler", "iris"} { // the last one has no keys
		for path, method := range map[string]string{
			"/v0/modes": get, "/v0/incidents": post, "/v0/applications/" +
				name: get, "/v0/response/twilio/messages": post,
			"/v0/twilio/deliveryupdate": post, "/api/v0/teams": get, "/api/v0/users": post, "/v1/incidents/1/timeline": get,
		} {
			signed := func(by string, header ...string) string {
				return refused(anonymous, method, path, nil, append(header, "Authorization", "hmac "+by+":x")...)
			}
			require.Equal(s, signed("nix"), signed(name), path)
			require.Equal(s, signed("nix", "X-IRIS-USERNAME", "ann"), signed(name, "X-IRIS-USERNAME", "ann"), path)
		}
		sent := func(by string) string {
			return refused(anonymous, post, "/v0/webhooks/alertmanager?key=x&plan=pager&application="+by, m{})
		}
		require.Equal(s, sent("nix"), sent(name))
	}
	for _, route := range []struct{ method, path string }{
		{put, ""}, {del, ""}, {put, "/rename"}, {post, "/rekey"}, {get, "/key"}, {get, "/secondary"}, {post,
			"/secondary"}, {post, "/quota"}, {put, "/incident_emails"},
	} {
		at := func(as caller, name string) string {
			a := s.do(as, route.method, "/v0/applications/"+name+route.path, m{"new_name": "x"})
			require.Contains(s, []int{http.StatusUnauthorized, http.StatusForbidden}, a.status, route)
			return a.body
		}
		require.Equal(s, at(bob, "nix"), at(bob, "demo"), route)
		require.Equal(s, at(scheduler, "nix"), at(scheduler, "demo"), route)
	}
}

func publicMetrics(s *server) {
	s.do(anonymous, get, "/metrics", nil).is(http.StatusNotFound)
	s.do(admin, get, "/metrics", nil).is(http.StatusNotFound)
}

func takeOverByName(s *server) {
	s.do(bob, put, "/api/v0/users/bob", m{"name": "ſyſadm"}).is(http.StatusForbidden)
	s.do(bob, put, "/api/v0/users/bob", m{"name": "ro\u006ft2"}).is(http.StatusForbidden)
	s.do(bob, put, "/api/v0/users/bob", m{"name": "bob", "full_name": "Bob"}).is(http.StatusNoContent)
	s.do(admin, put, "/api/v0/users/bob", m{"name": "ſyſadm"}).is(http.StatusBadRequest)
	s.do(admin, post, "/api/v0/users", m{"name": "ſyſadm"}).is(http.StatusBadRequest)
	s.do(admin, put, "/api/v0/users/bob", m{"name": "robert"}).is(http.StatusNoContent)
}

// takeOverByStoredName starts from data that an earlier release accepted: a stored name that folds to the name of
// another person.
func takeOverByStoredName(s *server) {
	s.join("sysadm")
	s.join("ſyſadm")
	evil := caller{name: "ſyſadm", session: "ſyſadm"}
	s.do(evil, get, "/v0/users/sysadm", nil).is(http.StatusUnauthorized)
	s.do(evil, put, "/v0/users/settings/sysadm", m{"timezone": "UTC"}).is(http.StatusUnauthorized)
	s.do(evil, put, "/api/v0/users/sysadm", m{"contacts": m{"email": "evil@example.com"}}).is(http.StatusForbidden)
	s.do(evil, get, "/api/v0/ical_key/requester/sysadm", nil).is(http.StatusForbidden)
	s.do(evil, post, "/api/v0/ical_key/user/sysadm", nil).is(http.StatusForbidden)
	id := s.open()
	s.do(evil, post, "/v0/incidents/claim", m{"owner": "sysadm",
		"incident_ids": []int64{id}}).is(http.StatusUnauthorized)
	s.do(evil, post, "/v0/plans", aPlan(m{"name": "spare", "creator": "sysadm"})).is(http.StatusUnauthorized)
	s.exec("insert into application_owners select a.id, u.id from applications a, users u where a.name = 'demo' and u.name = 'sysadm'")
	s.do(evil, get, "/v0/applications/demo/key", nil).is(http.StatusForbidden)
	s.do(caller{name: "sysadm", session: "sysadm"}, get, "/v0/applications/demo/key", nil).is(http.StatusOK)
}

func replacePlan(s *server) {
	s.join("eve")
	eve := caller{name: "a stranger", session: "eve"}
	words := m{"name": "words", "content": m{"demo": m{"email": m{"subject": "s", "body": "b"}}}}
	s.do(eve, post, "/v0/plans", aPlan(m{"name": "Pager", "creator": "eve"})).is(http.StatusForbidden)
	s.do(eve, post, "/v0/templates", changed(words, m{"creator": "eve"})).is(http.StatusForbidden)
	s.do(other, post, "/v0/plans", aPlan(m{"name": "pager", "creator": "ann"})).is(http.StatusUnauthorized)
	s.do(bob, post, "/v0/plans", aPlan(m{"name": "pager", "creator": "bob"})).is(http.StatusCreated) // of ann's team
	s.do(admin, post, "/v0/plans", aPlan(m{"name": "pager", "creator": "root"})).is(http.StatusCreated)
	s.do(caller{name: "the creator", session: "ann"}, post, "/v0/templates",
		changed(words, m{"creator": "ann"})).is(http.StatusCreated)
}

func endSessionFromElsewhere(s *server) {
	for _, path := range []string{"/logout", "/logout/"} {
		require.Contains(s, s.do(bob, get, path, nil, "Sec-Fetch-Site", "cross-site").is(http.StatusOK).body,
			`method="post"`)
		r, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.url+path, http.NoBody)
		require.NoError(s, err)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		resp, err := s.sessions["bob"].Do(r)
		require.NoError(s, err)
		require.NoError(s, resp.Body.Close())
		require.Equal(s, http.StatusForbidden, resp.StatusCode)
		s.do(bob, get, "/v0/modes", nil).is(http.StatusOK)
	}
}

// lockOut logs in from a known address: the seed logged in from it in another process. The log-in of a person who never
// logged in from this address is slowed down.
func lockOut(s *server) {
	wrong := url.Values{"username": {"bob"}, "password": {"wrong"}}
	for range 25 {
		resp, err := browser(s.T).PostForm(s.url+"/login", wrong)
		require.NoError(s, err)
		require.NoError(s, resp.Body.Close())
		require.Equal(s, http.StatusUnauthorized, resp.StatusCode)
	}
	_, _, _ = s.logIn("bob")
	wrong.Set("username", "gone")
	throttled := 0
	for range 25 {
		resp, err := browser(s.T).PostForm(s.url+"/login", wrong)
		require.NoError(s, err)
		require.NoError(s, resp.Body.Close())
		if resp.StatusCode == http.StatusTooManyRequests {
			throttled++
			require.NotEmpty(s, resp.Header.Get("Retry-After"))
		}
	}
	require.Positive(s, throttled)
	_, _, _ = s.logIn("bob")
}

func emptyOthersRota(s *server) {
	s.join("eve")
	eve := caller{name: "an administrator of a team of their own", session: "eve"}
	s.do(eve, post, "/api/v0/teams", m{"name": "trap", "scheduling_timezone": "UTC"}).is(http.StatusCreated)
	s.do(eve, post, "/api/v0/teams/trap/users", m{"name": "bob"}).is(http.StatusCreated)
	start := time.Now().Add(time.Hour)
	body := m{"user": "bob", "start": start, "end": start.Add(time.Hour), "rule": "FREQ=DAILY"}
	s.do(eve, post, "/v1/teams/ops/unavailability", body).is(http.StatusForbidden)
	s.do(eve, post, "/v1/teams/trap/unavailability", body).is(http.StatusCreated)
	require.EqualValues(s, 1, s.number("select count(*) from unavailabilities a join teams t on t.id = a.team_id where t.name = 'trap' and a.set_by = 'eve'"))
	require.Empty(s, itemsOf[m](s.do(admin, get, "/v1/teams/ops/unavailability", nil).is(http.StatusOK)),
		"it counts in their own team alone")
	own := decode[struct{ ID int64 }](s.do(bob, post, "/v1/teams/ops/unavailability", body).is(http.StatusCreated))
	s.do(eve, del, fmt.Sprintf("/v1/unavailability/%d", own.ID), nil).is(http.StatusForbidden)
}

func changeOthersReminders(s *server) {
	s.join("eve")
	eve := caller{name: "an administrator of a team of their own", session: "eve"}
	made := decode[struct{ ID int64 }](s.do(bob, post, "/api/v0/users/bob/notifications",
		m{"team": "ops", "roles": []string{"primary"}, "mode": "email", "type": "oncall_reminder",
			"time_before": 60}).is(http.StatusCreated))
	s.do(eve, post, "/api/v0/teams", m{"name": "trap", "scheduling_timezone": "UTC"}).is(http.StatusCreated)
	s.do(eve, post, "/api/v0/teams/trap/users", m{"name": "bob"}).is(http.StatusCreated)
	at := fmt.Sprintf("/api/v0/notifications/%d", made.ID)
	s.do(eve, del, at, nil).is(http.StatusForbidden)
	s.do(eve, put, at, m{"time_before": 1}).is(http.StatusForbidden)
	s.do(eve, post, "/api/v0/users/bob/pinned_teams", m{"team": "trap"}).is(http.StatusForbidden)
	require.EqualValues(s, 1, s.number("select count(*) from notice_settings where id = $1 and time_before = 60",
		made.ID))
}

func openFeedsOfACopy(s *server) {
	key := s.do(bob, post, "/api/v0/ical_key/user/bob", nil).is(http.StatusCreated).body
	var stored string
	require.NoError(s, s.db.QueryRow(s.Context(), "select key from ical_keys").Scan(&stored))
	require.NotEqual(s, key, stored)
	s.do(anonymous, get, "/api/v0/ical/"+stored, nil).is(http.StatusNotFound)
	require.Zero(s, s.number("select count(*) from ical_keys k where to_jsonb(k)::text like '%' || $1 || '%' or encode(key_sealed, 'escape') like '%' || $1 || '%'", key))
	s.do(anonymous, get, "/api/v0/ical/"+key, nil).is(http.StatusOK)
}
