package contract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An application reads and changes what belongs to it. The incidents, messages and notifications of others do not exist
// for its key, in lists and bodies too. TestEveryCallerOnEveryRoute has the routes with a number in their path.
func TestApplicationsReachWhatIsTheirs(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.page("email") // incident 1 and message 1, of demo
	s.exec(`insert into user_contacts select id, 'sms', '+15552220002', '+15552220002' from users where name = 'bob'`)
	s.exec("update applications set allow_authenticating_users = true where name = 'demo'")
	mine := s.do(power, post, "/v1/incidents", m{"plan": "pager", "title": "mine"}).is(201)
	own := int64(decode[m](mine)["id"].(float64))
	s.do(power, post, "/v1/notifications", m{"targets": []m{{"role": "user", "name": "ann"}}, "subject": "mine",
		"mode": "email", "body": "b"}).is(201)
	s.do(demo, post, "/v1/notifications", m{"targets": []m{{"role": "user", "name": "ann"}}, "subject": "theirs",
		"mode": "email", "body": "b"}).is(201)

	for _, as := range []caller{power, asBob, bob} {
		want := map[string]bool{"demo": as.name != power.name, "power": true}
		for _, path := range []string{"/v0/incidents?limit=100", "/v1/incidents", "/v0/messages?limit=100", "/v1/messages", "/v1/notifications"} {
			body := s.do(as, get, path, nil).is(200).body
			for name, shown := range want {
				if text := fmt.Sprintf(`"application":%q`, name); shown {
					require.Contains(t, body, text, "%s: %s", as.name, path)
				} else {
					require.NotContains(t, body, text, "%s: %s", as.name, path)
				}
			}
		}
	}
	require.NotContains(t, s.do(power, get, "/v0/incidents?application=demo", nil).is(200).body, "demo")
	require.Contains(t, s.do(power, get, "/v0/incidents?counts=true&fields=application&limit=100", nil).is(200).body,
		`"power"`)
	require.NotContains(t, s.do(power, get, "/v0/incidents?counts=true&fields=application&limit=100",
		nil).is(200).body, "demo")

	s.readsAboutIncidents(own)

	before := s.everything()
	s.do(power, post, "/v0/incidents/claim", m{"owner": "bob", "incident_ids": []int64{own, 1}}).is(404)
	s.do(power, post, "/v0/incidents/claim", m{"owner": "bob", "incident_ids": []int64{own, 999}}).is(404)
	s.do(power, post, fmt.Sprintf("/v1/incidents/%d/merge", own), m{"into": 1}).is(404)
	s.do(power, post, "/v0/incidents/999/resolve", m{"resolved": true}).is(404)
	require.Equal(t, before, s.everything(), "nothing is changed")
	s.do(power, post, "/v0/incidents/claim", m{"owner": "bob", "incident_ids": []int64{own}}).is(200)
	s.do(demo, post, fmt.Sprintf("/v0/incidents/%d", own), m{"owner": "bob"}).is(404)
	s.do(asBob, post, "/v0/incidents/claim", m{"owner": "bob", "incident_ids": []int64{own, 1}}).is(200)

	// An application that may act for people, but is no relay, passes on answers about its own incidents only.
	s.exec("update applications set relay = false where name = 'power'; update incidents set owner_id = null, active = true where id = 1")
	claim := formOf("Body", "1 claim", "From", "+15552220002")
	s.do(power, post, "/v0/response/twilio/messages", claim, "Content-Type", form)
	require.Zero(t, s.number("select count(*) from incidents where id = 1 and owner_id is not null"))
	s.exec("update applications set relay = true where name = 'power'")
	s.do(power, post, "/v0/response/twilio/messages", claim, "Content-Type", form)
	require.EqualValues(t, 1, s.number("select count(*) from incidents where id = 1 and owner_id is not null"))
}

// readsAboutIncidents reads what else names incidents: pages that reached nobody, silences, heartbeats and statistics.
// Incident 1 is of demo, and own of power.
func (s *server) readsAboutIncidents(own int64) {
	s.Helper()
	s.exec("insert into timeline_entries (incident_id, kind, text) select id, 'fallback', 'Failed: this notification reaches NOBODY' from incidents where id in (1, $1)", own)
	s.silence()
	s.exec("update incidents set silence_id = 1 where id in (1, $1)", own)
	s.integrations()
	s.exec("update heartbeats set incident_id = 1 where name = 'default'")
	s.exec(`insert into integrations (application_id, name, type, rate_per_minute, created_by) select id, 'ours', 'heartbeat', 100, 'ann' from applications where name = 'power'`)
	s.exec(`insert into heartbeats (integration_id, name, every_seconds, grace_seconds, created_by, incident_id) select id, 'mine', 60, 0, 'ann', $1 from integrations where name = 'ours'`, own)
	theirs, mine := []string{`"incident_id":1,`, `"id":1}`,
		`"name":"default"`}, []string{fmt.Sprintf(`"incident_id":%d,`, own), fmt.Sprintf(`"id":%d}`,
		own), `"name":"mine"`}
	for i, path := range []string{"/v1/system/unreached", "/v1/silences/1/incidents", "/v1/heartbeats"} {
		for _, as := range []caller{power, asBob, bob} {
			body := s.do(as, get, path, nil).is(200).body
			require.Contains(s, body, mine[i], "%s: %s", as.name, path)
			require.Equal(s, as.name != power.name, strings.Contains(body, theirs[i]), "%s: %s: %s", as.name, path,
				body)
		}
	}
	s.do(power, get, "/v1/integrations/ours/heartbeats/mine", nil).is(200)
	s.do(power, get, "/v1/integrations/heartbeat/heartbeats/default", nil).is(404)
	require.NotContains(s, s.do(power, get, "/v1/integrations/heartbeat/heartbeats", nil).is(200).body, "default")
	s.exec("update incidents set silence_id = null")

	counted := func(as caller, query string) (n int64) {
		for _, f := range decode[struct{ Incidents []struct{ Incidents int64 } }](s.do(as, get, "/v1/statistics?"+query, nil).is(200)).Incidents {
			n += f.Incidents
		}
		return n
	}
	require.EqualValues(s, 1, counted(power, ""))
	require.EqualValues(s, 1, counted(power, "application=power"))
	require.EqualValues(s, 2, counted(bob, ""))
	s.do(power, get, "/v1/statistics?application=demo", nil).is(404)
	s.do(power, post, "/v1/silences/preview", m{"application": "demo"}).is(404)
	require.EqualValues(s, 1, decode[m](s.do(power, post, "/v1/silences/preview",
		m{"plan": "pager"}).is(200))["recent"])
	require.EqualValues(s, 2, decode[m](s.do(bob, post, "/v1/silences/preview", m{"plan": "pager"}).is(200))["recent"])
}

// compatibility.applications_reach_everything restores the contract of Iris.
func TestApplicationsReachEverythingWithTheSwitch(t *testing.T) {
	t.Parallel()
	s := newIrisServer(t)
	s.page("email")
	s.do(demo, post, "/v1/notifications", m{"targets": []m{{"role": "user", "name": "ann"}}, "subject": "s",
		"mode": "email", "body": "b"}).is(201)
	for _, r := range s.marked(rights()) {
		if r.who != reading && r.who != changing || r.before != nil || r.method == post && r.path[:3] == "/v1" {
			continue
		}
		s.do(other, r.method, s.named(r.path), r.body).is(r.ok)
	}
	s.do(power, post, "/v0/incidents/claim", m{"owner": "bob", "incident_ids": []int{1}}).is(200)
	s.do(power, post, "/v0/incidents/claim", m{"owner": "bob", "incident_ids": []int{999}}).is(400)
	require.Contains(t, s.do(other, get, "/v0/incidents?limit=100", nil).is(200).body, `"application":"demo"`)
}
