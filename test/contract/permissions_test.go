package contract

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/operation"
)

// columns are the callers, in the order of the marks of a row. Plans, templates and personal objects of the rows belong
// to bob. Ann owns the application demo.
var columns = []caller{
	anonymous,
	other,
	{name: "the application itself", app: "demo"},
	power,
	asBob,
	bob,
	{name: "the owner of the application, a stranger to the person", session: "ann"},
	admin,
	viewer,
}

// right is a request and its permission. For an operation of a wing, who is empty: its role and rule decide. Otherwise
// who has a mark for the answer to each column: o = the status ok, 1 = 401, 3 = 403, 4 = 404, l = a redirect to the
// log-in, k = a redirect to a log-in that offers the change again, h = a redirect from the log-in for callers with a
// session.
type right struct {
	method, path string
	body         any
	ok           int
	who          string
	before       func(*server) // makes an object that a successful request deletes or changes
}

// Patterns that many routes share.
const (
	everybody = "ooooooooo"
	known     = "1oooooooo" // reads: any application, any session
	writers   = "1ooooooo3" // every authenticated caller except read-only people
	forBob    = "111ooo1o3" // in the name of bob: as bob, as an administrator, through an application that acts for people
	bobs      = "111ooo1o1" // the routes of bob
	nobody    = "333333333"
	people    = "llllloooo"
	// Incidents, messages and notifications of the application demo, which other applications do not reach:
	reading  = "14o4ooooo"
	changing = "14o4oooo3" // by everybody else except read-only people
	claiming = "1414oo1o3" // forBob
)

// formOf returns a form, for bodies that are not JSON.
func formOf(pairs ...string) string {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v.Encode()
}

// rights lists every route except those of the on-call API, with the callers who may use it.
func rights() []right {
	one := m{"incident_ids": []int{1}}
	quota := m{"hard_quota_threshold": 10, "soft_quota_threshold": 5, "hard_quota_duration": 60,
		"soft_quota_duration": 60, "plan_name": "pager", "wait_time": 60, "target_name": "ann"}
	settings := m{"sample_context": `{}`, "context_template": "", "summary_template": "", "mobile_template": "",
		"variables": []string{"host", "message"}}
	words := m{"name": "spare", "creator": "bob", "content": m{"demo": m{"email": m{"subject": "s", "body": "b"}}}}
	steps := [][]m{{{"target": m{"role": "user", "name": "ann"}, "priority": "high", "template": "words"}}}
	content := []m{{"application": "demo", "mode": "email", "subject": "s", "body": "b"}}
	return []right{
		{get, "/v0/plans", nil, 200, known, nil},
		{post, "/v0/plans", aPlan(m{"name": "spare"}), 201, forBob, nil},
		{get, "/v0/plans/pager", nil, 200, known, nil},
		{post, "/v0/plans/{spare plan}", m{"active": 1}, 200, "133ooo3o3", nil},
		{del, "/v0/plans/spare", nil, 200, "133ooo3o3", spare},
		{get, "/v0/incidents?active=1", nil, 200, known, nil},
		{post, "/v0/incidents", m{"plan": "pager", "application": "demo", "context": m{}}, 201, "13ooo3oo3", nil},
		{post, "/v0/incidents/claim", changed(one, m{"owner": "bob"}), 200, "1114oo1o3", nil},
		{get, "/v0/incidents/1", nil, 200, reading, nil},
		{post, "/v0/incidents/1", m{"owner": "bob"}, 200, "1114oo1o3", nil},
		{post, "/v0/incidents/1/resolve", m{"resolved": 0}, 200, changing, nil},
		{get, "/v0/incidents/1/comments", nil, 200, reading, nil},
		{post, "/v0/incidents/1/comments", m{"author": "bob", "content": "c"}, 201, "1334oo3o3", nil},
		{get, "/v0/messages?limit=1", nil, 200, known, nil},
		{get, "/v0/messages/1", nil, 200, reading, nil},
		{get, "/v0/messages/1/auditlog", nil, 200, reading, nil},
		{post, "/v0/notifications", m{"role": "user", "target": "ann", "subject": "s", "mode": "email", "body": "b"},
			200, writers, nil},
		{get, "/v0/targets", nil, 200, known, nil},
		{get, "/v0/targets/user", nil, 200, known, nil},
		{get, "/v0/targets/ann/exists", nil, 200, known, nil},
		{get, "/v0/target_roles", nil, 200, known, nil},
		{get, "/v0/templates", nil, 200, known, nil},
		{post, "/v0/templates", words, 201, forBob, nil},
		{get, "/v0/templates/words", nil, 200, known, nil},
		{post, "/v0/templates/{spare template}", m{"active": 1}, 200, "133ooo3o3", nil},

		{get, "/v0/users/bob", nil, 200, bobs, nil},
		{get, "/v0/users/{number of bob}", nil, 200, "111o111o1", nil},
		{get, "/v0/users/settings/bob", nil, 200, bobs, nil},
		{put, "/v0/users/settings/bob", m{"timezone": "UTC"}, 204, bobs, nil},
		{get, "/v0/users/modes/bob", nil, 200, bobs, nil},
		{post, "/v0/users/modes/bob", m{"high": "sms"}, 200, bobs, nil},
		{post, "/v0/users/overrides/bob", m{"template_overrides": m{"sms": "enabled"}}, 204, bobs, nil},
		{get, "/v0/users/reprioritization/bob", nil, 200, bobs, nil},
		{post, "/v0/users/reprioritization/bob", m{"src_mode": "call", "dst_mode": "email", "count": 3,
			"duration": 60}, 200, bobs, nil},
		{del, "/v0/users/reprioritization/bob/call", nil, 200, bobs, func(s *server) {
			s.exec("insert into user_reprioritizations select id, 'call', 'email', 3, 60 from users where name = 'bob' on conflict do nothing")
		}},
		{get, "/v0/users/bob/in_lists?list=all-ops", nil, 200, known, nil},
		{get, "/v0/users/bob/categories", nil, 200, bobs, nil},
		{get, "/v0/users/bob/categories/demo", nil, 200, bobs, nil},
		{post, "/v0/users/bob/categories/demo", m{}, 201, bobs, nil},
		{del, "/v0/users/bob/categories/demo", nil, 204, bobs, nil},
		{get, "/v0/users/bob/slackid", nil, 201, known, nil},
		{get, "/v0/modes", nil, 200, known, nil},
		{get, "/v0/priorities", nil, 200, known, nil},
		{get, "/v0/timezones", nil, 200, known, nil},
		{post, "/v0/devices", m{"username": "bob", "registration_id": "token", "platform": "iOS"}, 201, "13o333333",
			nil},

		{get, "/v0/applications", nil, 200, known, nil},
		{post, "/v0/applications", m{"name": "spare"}, 201, "1111111o3",
			func(s *server) { s.exec("delete from applications where name = 'spare'") }},
		{get, "/v0/applications/demo", nil, 200, known, nil},
		{put, "/v0/applications/demo", settings, 200, "111111oo3", nil},
		{del, "/v0/applications/spare", nil, 200, "111133oo3", func(s *server) {
			s.exec(`insert into applications (name) values ('spare') on conflict do nothing;
				insert into application_owners select a.id, u.id from applications a, users u where a.name = 'spare' and u.name = 'ann' on conflict do nothing`)
		}},
		{get, "/v0/applications/demo/quota", nil, 200, known, nil},
		{post, "/v0/applications/demo/quota", quota, 201, "111111oo3", nil},
		{del, "/v0/applications/demo/quota", nil, 204, "111111oo3", nil},
		{get, "/v0/applications/demo/stats", nil, 200, known, nil},
		{get, "/v0/applications/demo/key", nil, 200, "111133oo3", nil},
		{get, "/v0/applications/demo/secondary", nil, 200, "111133oo3", nil},
		{post, "/v0/applications/demo/secondary", nil, 200, "111133oo3", func(s *server) {
			s.exec("update applications set secondary_key_sealed = null where name = 'demo'")
		}},
		{post, "/v0/applications/demo/rekey", nil, 200, "111133oo3", func(s *server) {
			s.do(admin, post, "/v0/applications/demo/secondary", nil)
		}},
		{get, "/v0/applications/demo/incident_emails", nil, 200, known, func(s *server) {
			s.keys["demo"] = decode[map[string]string](s.do(admin, get, "/v0/applications/demo/key",
				nil).is(200))["key"]
		}},
		{put, "/v0/applications/demo/incident_emails", m{"in@example.com": "pager"}, 200, "111133oo3", nil},
		{put, "/v0/applications/demo/rename", m{"new_name": "demo2"}, 200, "111133oo3", func(s *server) {
			s.exec("update applications set name = 'demo' where id = (select application_id from template_contents order by template_id limit 1)")
		}},
		{get, "/v0/applications/demo/plans", nil, 200, known, func(s *server) {
			s.exec("update applications set name = 'demo' where id = (select application_id from template_contents order by template_id limit 1)")
		}},
		{get, "/v0/categories", nil, 200, known, nil},
		{get, "/v0/categories/demo", nil, 200, known, nil},
		{post, "/v0/categories/demo", []m{{"name": "news", "description": "d", "mode": "email"}}, 200, "11o111oo3",
			nil},
		{get, "/v0/stats", nil, 200, known, nil},
		{get, "/v0/singlestats/total_incidents", nil, 200, known, nil},
		{get, "/v0/queues", nil, 200, known, nil},
		{get, "/v1/plans/pager/simulation", nil, 200, "", nil},
		{get, "/v1/incidents/1/timeline", nil, 200, "", nil},
		{get, "/v1/incidents/1/next", nil, 200, "", nil},
		{get, "/v1/audit", nil, 200, "", nil},
		{get, "/v1/audit/export", nil, 200, "", nil},
		{get, "/v1/incidents?state=open", nil, 200, "", nil},
		{post, "/v1/incidents", m{"plan": "pager", "application": "demo", "title": "t"}, 201, "", nil},
		{get, "/v1/incidents/1", nil, 200, "", nil},
		{get, "/v1/incidents/1/alerts", nil, 200, "", nil},
		{get, "/v1/incidents/1/messages", nil, 200, "", nil},
		{get, "/v1/incidents/1/comments", nil, 200, "", nil},
		{post, "/v1/incidents/1/comments", m{"author": "bob", "content": "c"}, 201, "", nil},
		{post, "/v1/incidents/1/acknowledge", m{"owner": "bob"}, 200, "", nil},
		{post, "/v1/incidents/1/resolve", nil, 200, "", nil},
		{post, "/v1/incidents/1/unresolve", nil, 200, "", nil},
		{post, "/v1/incidents/1/reopen", nil, 200, "", nil},
		{post, "/v1/incidents/acknowledge", m{"incidents": []int{1}, "owner": "bob"}, 200, "", nil},
		{post, "/v1/incidents/unacknowledge", m{"incidents": []int{1}}, 200, "", nil},
		{post, "/v1/incidents/resolve", m{"incidents": []int{1}}, 200, "", nil},
		{post, "/v1/incidents/snooze", m{"incidents": []int{1}, "for": "1h"}, 200, "", unresolved},
		{post, "/v1/incidents/1/move", m{"step": 1, "escalating": true}, 200, "", unresolved},
		{post, "/v1/incidents/1/escalate", nil, 200, "", unresolved},
		{post, "/v1/incidents/1/restart", nil, 200, "", unresolved},
		{post, "/v1/incidents/1/snooze", m{"for": "1h"}, 200, "", unresolved},
		{post, "/v1/incidents/1/unsnooze", nil, 200, "", snoozed},
		{post, "/v1/incidents/1/merge", m{"into": 900, "comment": "c"}, 200, "", withParent},
		{post, "/v1/incidents/1/unmerge", nil, 200, "", merged},
		{post, "/v1/incidents/1/page", m{"targets": []m{{"role": "user", "name": "bob"}}}, 200, "", unresolved},
		{post, "/v1/incidents/1/reassign", m{"owner": "bob"}, 200, "", owned},
		{get, "/v1/incidents/1/updates", nil, 200, "", nil},
		{post, "/v1/incidents/1/updates", m{"state": "resolved", "text": "t"}, 201, "", withoutUpdates},
		{get, "/v1/incidents/1/subscribers", nil, 200, "", nil},
		{get, "/v1/update-subscriptions", nil, 200, "", nil},
		{post, "/v1/update-subscriptions", m{"incident": 1, "mode": "email"}, 201, "", nil},
		{del, "/v1/update-subscriptions/900", nil, 204, "", bobsUpdates},
		{get, "/v1/reviews", nil, 200, "", nil},
		{get, "/v1/reviews/1", nil, 200, "", reviewed},
		{put, "/v1/reviews/1", m{"title": "t", "text": "x"}, 200, "", reviewed},
		{del, "/v1/reviews/1", nil, 204, "", reviewed},
		{get, "/v1/reviews/1/draft", nil, 200, "", nil},
		{get, "/v1/reviews/1/markdown", nil, 200, "", reviewed},
		{get, "/v1/messages?limit=1", nil, 200, "", nil},
		{get, "/v1/messages/1", nil, 200, "", nil},
		{get, "/v1/notifications", nil, 200, "", nil},
		{post, "/v1/notifications", m{"targets": []m{{"role": "user", "name": "ann"}}, "subject": "s", "mode": "email",
			"body": "b"}, 201, "", nil},
		{post, "/v1/plans", m{"name": "spare", "creator": "bob", "steps": steps}, 201, "",
			func(s *server) { s.exec("delete from plan_active where name_key = 'spare'") }},
		{put, "/v1/plans/spare", m{"creator": "bob", "steps": steps}, 200, "", spare},
		{post, "/v1/templates", m{"name": "spare1", "creator": "bob", "content": content}, 201, "",
			func(s *server) { s.exec("delete from template_active where name_key = 'spare1'") }},
		{put, "/v1/templates/words", m{"creator": "bob", "content": content}, 200, "", nil},
		{post, "/v1/plans/spare/versions/{spare plan}/activate", nil, 200, "", nil},
		{post, "/v1/templates/spare/versions/{spare template}/activate", nil, 200, "", nil},
		{post, "/v1/applications", m{"name": "spare1"}, 201, "",
			func(s *server) { s.exec("delete from applications where name = 'spare1'") }},
		{put, "/v1/applications/demo", m{"variables": []string{"host", "message"}}, 200, "", nil},
		{del, "/v1/applications/spare", nil, 204, "", func(s *server) {
			s.exec(`insert into applications (name) values ('spare') on conflict do nothing;
				insert into application_owners select a.id, u.id from applications a, users u where a.name = 'spare' and u.name = 'ann' on conflict do nothing`)
		}},
		{get, "/v1/target-roles", nil, 200, "", nil},
		{put, "/v1/applications/demo/quota", m{"hard_threshold": 10, "hard_seconds": 60, "soft_threshold": 5,
			"soft_seconds": 60, "plan": "pager", "target": "ann", "wait_seconds": 60}, 200, "", nil},
		{del, "/v1/applications/demo/quota", nil, 204, "", nil},
		{get, "/v1/applications/demo/categories", nil, 200, "", nil},
		{put, "/v1/applications/demo/categories", m{"categories": []m{{"name": "news", "mode": "email"}}}, 200, "", nil},
		{get, "/v1/applications/demo/incident-addresses", nil, 200, "", nil},
		{put, "/v1/applications/demo/incident-addresses",
			m{"addresses": []m{{"address": "in@example.com", "plan": "pager"}}}, 200, "", nil},
		{get, "/v1/applications/demo/statistics", nil, 200, "", nil},
		{post, "/v1/applications/spare/rename", m{"name": "spare4"}, 200, "", func(s *server) {
			s.exec(`update applications set name = 'spare' where name = 'spare4';
				insert into applications (name) values ('spare') on conflict do nothing;
				insert into application_owners select a.id, u.id from applications a, users u where a.name = 'spare' and u.name = 'ann' on conflict do nothing`)
		}},
		{get, "/v1/applications/demo/key", nil, 200, "", nil},
		{get, "/v1/applications/demo/secondary-key", nil, 200, "", func(s *server) {
			s.do(admin, post, "/v0/applications/demo/secondary", nil)
		}},
		{post, "/v1/applications/demo/secondary-key", nil, 201, "", func(s *server) {
			s.exec("update applications set secondary_key_sealed = null where name = 'demo'")
		}},
		{post, "/v1/applications/demo/key/rotate", nil, 204, "", func(s *server) {
			s.do(admin, post, "/v0/applications/demo/secondary", nil)
		}},
		{get, "/v1/applications?search=demo", nil, 200, "", func(s *server) { // the key has changed
			s.keys["demo"] = decode[map[string]string](s.do(admin, get, "/v0/applications/demo/key", nil).is(200))["key"]
		}},
		{get, "/v1/notifications/{notification}", nil, 200, "", nil},
		{get, "/v1/plans", nil, 200, "", nil},
		{get, "/v1/plans/pager", nil, 200, "", nil},
		{get, "/v1/plan-uses?id=1", nil, 200, "", nil},
		{get, "/v1/plans/pager/uses", nil, 200, "", nil},
		{post, "/v1/plans/preview", m{"plan": "spare", "creator": "bob", "steps": steps}, 200, "", spare},
		{put, "/v1/plans/spare/paused", m{"paused": true}, 200, "", spare},
		{get, "/v1/templates", nil, 200, "", nil},
		{get, "/v1/templates/words", nil, 200, "", nil},
		{get, "/v1/plans/pager/owner", nil, 200, "", nil},
		{put, "/v1/plans/spare/owner", m{"team": nil}, 200, "", spare},
		{get, "/v1/templates/words/owner", nil, 200, "", nil},
		{put, "/v1/templates/words/owner", m{"team": nil}, 200, "", nil},
		{get, "/v1/applications/demo/owner", nil, 200, "", nil},
		{put, "/v1/applications/demo/owner", m{"team": nil}, 200, "", nil},
		{get, "/v1/integrations", nil, 200, "", nil},
		{get, "/v1/recipes", nil, 200, "", nil},
		{get, "/v1/integrations/generic", nil, 200, "", (*server).integrations},
		{put, "/v1/integrations/generic", m{"default_plan": "pager", "rules": []m{{"match": "a=b", "plan": "pager"}}},
			200, "", (*server).integrations},
		{del, "/v1/integrations/generic", nil, 204, "", (*server).integrations},
		{put, "/v1/integrations/generic/token", nil, 201, "", (*server).integrations},
		{del, "/v1/integrations/generic/token", nil, 204, "", (*server).integrations},
		{put, "/v1/integrations/generic/secrets", m{"secrets": []string{}}, 200, "", (*server).integrations},
		{get, "/v1/integrations/generic/payloads", nil, 200, "", (*server).integrations},
		{post, "/v1/integrations/generic/route-test", m{"title": "t", "labels": m{"a": "b"}}, 200, "",
			(*server).integrations},
		{get, "/v1/tokens", nil, 200, "", nil},
		{post, "/v1/tokens", m{"name": "laptop", "scopes": []string{"read"}}, 201, "",
			func(s *server) { s.exec("delete from personal_tokens") }},
		{del, "/v1/tokens/900", nil, 204, "", bobsToken},
		{post, "/v1/tokens/exchange", m{"code": "x", "verifier": "x"}, 401, "",
			nil}, // the code is the credential
		{get, "/v1/tokens/current", nil, 0, "",
			nil}, // callers with a token have their own tests
		{del, "/v1/tokens/current", nil, 0, "", nil},
		{get, "/v1/sessions", nil, 200, "", nil},
		{del, "/v1/sessions/900", nil, 204, "", bobsSession},
		{del, "/v1/sessions", nil, 204, "", nil},
		{get, "/v1/scim-connections", nil, 200, "", nil},
		{post, "/v1/scim-connections", m{"name": "corp"}, 201, "",
			func(s *server) { s.exec("delete from scim_connections") }},
		{get, "/v1/scim-connections/corp", nil, 200, "", scimConnection},
		{put, "/v1/scim-connections/corp/token", nil, 201, "", scimConnection},
		{del, "/v1/scim-connections/corp/token", nil, 204, "", scimConnection},
		{post, "/v1/scim-connections/corp/users", m{"user": "pushed"}, 204, "", func(s *server) {
			heldDeactivation(s)
			s.exec("delete from scim_users")
		}},
		{del, "/v1/scim-connections/corp", nil, 204, "", scimConnection},
		{get, "/v1/held-deactivations", nil, 200, "", heldDeactivation},
		{post, "/v1/held-deactivations/900/confirm", nil, 204, "", heldDeactivation},
		{del, "/v1/held-deactivations/900", nil, 204, "", heldDeactivation},
		{get, "/v1/service-tokens", nil, 200, "", nil},
		{post, "/v1/service-tokens", m{"name": "deploy", "scopes": []string{"read"}}, 201, "",
			func(s *server) { s.exec("delete from service_tokens") }},
		{get, "/v1/service-tokens/900", nil, 200, "", serviceToken},
		{del, "/v1/service-tokens/900", nil, 204, "", serviceToken},
		{post, "/v1/integrations/generic/preview", m{"payload": m{"title": "t"}}, 200, "",
			(*server).integrations},
		{get, "/v1/identities", nil, 200, "", linked},
		{get, "/v1/identities/refused", nil, 200, "", linked},
		{post, "/v1/identities", m{"user": "bob", "provider": "corp", "subject": "s"}, 204, "",
			func(s *server) { s.exec("delete from user_identities") }},
		{del, "/v1/identities/1", nil, 204, "", linked},
		{get, "/v1/invitations", nil, 200, "", withInvitation},
		{post, "/v1/invitations", m{"name": "zoe", "email": "zoe@example.com", "full_name": "Zoe", "role": "read_only",
			"teams": []string{"ops"}}, 201, "", func(s *server) { s.exec("delete from invitations") }},
		{post, "/v1/invitations/1/send", nil, 200, "", withInvitation},
		{del, "/v1/invitations/1", nil, 204, "", withInvitation},
		{del, "/v1/users/bob/second-factor", nil, 204, "", withFactor},
		{get, "/v1/silences", nil, 200, "", nil},
		{post, "/v1/silences", m{"application": "demo", "for_seconds": 60, "comment": "c"}, 201, "", nil},
		{post, "/v1/silences/preview", m{"application": "demo"}, 200, "", nil},
		{get, "/v1/silences/1", nil, 200, "", (*server).silence},
		{put, "/v1/silences/1", m{"application": "demo", "for_seconds": 60, "comment": "c"}, 200, "",
			(*server).silence},
		{del, "/v1/silences/1", nil, 204, "", (*server).silence},
		{get, "/v1/silences/1/incidents", nil, 200, "", (*server).silence},
		{get, "/v1/heartbeats", nil, 200, "", nil},
		{get, "/v1/integrations/heartbeat/heartbeats", nil, 200, "", (*server).integrations},
		{get, "/v1/integrations/heartbeat/heartbeats/default", nil, 200, "", (*server).integrations},
		{put, "/v1/integrations/heartbeat/heartbeats/default", m{"every_seconds": 60}, 200, "",
			(*server).integrations},
		{del, "/v1/integrations/heartbeat/heartbeats/default", nil, 204, "", (*server).integrations},
		{get, "/v1/applications", nil, 200, "", nil},
		{get, "/v1/applications/demo", nil, 200, "", nil},
		{get, "/v1/users", nil, 200, "", nil},
		{post, "/v1/users", m{"name": "zed", "contacts": m{"email": "zed@example.com"}}, 201, "",
			func(s *server) { s.exec("delete from users where name = 'zed'") }},
		{put, "/v1/users/zed", m{"read_only": true}, 200, "", zed},
		{get, "/v1/reachability", nil, 200, "", nil},
		{get, "/v1/users/bob/settings", nil, 200, "", nil},
		{put, "/v1/users/bob/settings", m{"time_zone": "Europe/Berlin", "clock": "24"}, 200, "", nil},
		{get, "/v1/users/bob/modes", nil, 200, "", nil},
		{post, "/v1/users/bob/modes", m{"choices": []m{{"application": "demo", "priority": "high", "mode": "sms"}}}, 200,
			"", nil},
		{get, "/v1/users/bob/reprioritisations", nil, 200, "", nil},
		{put, "/v1/users/bob/reprioritisations/call", m{"count": 3, "window_seconds": 60, "to": "email"}, 200, "", nil},
		{get, "/v1/users/bob/reprioritisations/call", nil, 200, "", nil},
		{del, "/v1/users/bob/reprioritisations/call", nil, 204, "", func(s *server) {
			s.exec("insert into user_reprioritizations select id, 'call', 'email', 3, 60 from users where name = 'bob' on conflict do nothing")
		}},
		{get, "/v1/users/bob/categories", nil, 200, "", nil},
		{post, "/v1/users/bob/categories", m{"choices": []m{{"application": "demo", "category": "ads", "mode": "sms"}}}, 200,
			"", withCategory},
		{del, "/v1/users/bob/categories?application=demo", nil, 204, "", nil},
		{get, "/v1/users/bob/fixed-texts", nil, 200, "", nil},
		{put, "/v1/users/bob/fixed-texts", m{"sms": true}, 200, "", nil},
		{get, "/v1/users/bob/devices", nil, 200, "", nil},
		{get, "/v1/priorities", nil, 200, "", nil},
		{post, "/v1/users/bob/password-link", nil, 202, "",
			func(s *server) { s.exec("delete from password_resets") }},
		{get, "/v1/users/bob", nil, 200, "", nil},
		{get, "/v1/users/bob/quiet-limits", nil, 200, "", nil},
		{put, "/v1/users/bob/quiet-limits", m{"calls_and_texts_per_day": 5, "working_days_only": []string{"low"}}, 200,
			"", nil},
		{get, "/v1/users/bob/notification-rules", nil, 200, "", nil},
		{put, "/v1/users/bob/notification-rules", m{"rules": []m{{"priority": "low", "mode": "email"}}}, 200, "",
			nil},
		{get, "/v1/teams", nil, 200, "", nil},
		{get, "/v1/oncall?team=ops", nil, 200, "", nil},
		{get, "/v1/teams/ops", nil, 200, "", nil},
		{get, "/v1/plans/spare/fallback", nil, 200, "", spareWithFallback},
		{put, "/v1/plans/spare/fallback", m{"role": "user", "target": "ann"}, 200, "", spare},
		{del, "/v1/plans/spare/fallback", nil, 204, "", spare},
		{get, "/v1/plans/spare/settings", nil, 200, "", spare},
		{put, "/v1/plans/spare/settings", m{"repeat": 1}, 200, "", spare},
		{get, "/v1/applications/demo/fallback", nil, 200, "", demoWithFallback},
		{put, "/v1/applications/demo/fallback", m{"role": "user", "target": "ann"}, 200, "", nil},
		{del, "/v1/applications/demo/fallback", nil, 204, "", nil},

		{del, "/v1/teams/gone-team", nil, 204, "", func(s *server) {
			s.exec("insert into teams (name) select 'gone-team' where not exists (select from teams where name = 'gone-team')")
		}},
		{del, "/v1/users/gone-user", nil, 204, "", func(s *server) {
			s.exec("insert into users (name) values ('gone-user') on conflict do nothing; update users set active = true where name = 'gone-user'")
		}},
		{del, "/v1/plans/gone-plan", nil, 204, "", func(s *server) {
			s.exec(`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset)
				select 'gone-plan', id, 0, 0, 0, 0 from users where name = 'bob';
				insert into plan_active (name_key, plan_id) select 'gone-plan', max(id) from plans where name = 'gone-plan' on conflict do nothing`)
		}},
		{del, "/v1/templates/gone-template", nil, 204, "", func(s *server) {
			s.exec(`insert into templates (name, creator_id) select 'gone-template', id from users where name = 'bob';
				insert into template_active (name_key, template_id) select 'gone-template', max(id) from templates where name = 'gone-template' on conflict do nothing`)
		}},

		// Relays pass on the answers of all people; people pass on only their own.
		{post, "/v0/response/email", m{"body": "f", "headers": []m{{"name": "From", "value": "bob@example.com"}}}, 204,
			"133ooo1o3", nil},
		{post, "/v0/response/gmail", m{"body": "f", "headers": []m{{"name": "From", "value": "bob@example.com"}}}, 204,
			"133ooo1o3", nil},
		{post, "/v0/response/gmail-oneclick", m{"msg_id": 1, "email_address": "bob@example.com", "cmd": "claim"}, 204,
			"133ooo1o3", nil},
		{post, "/v0/response/twilio/calls?message_id=1", formOf("Digits", "2", "To", "+15552220002"), 200, "133ooo1o3",
			nil},
		{post, "/v0/response/twilio/messages", formOf("Body", "1 claim", "From", "+15552220002"), 200, "133ooo1o3",
			nil},
		{post, "/v0/response/slack", m{"msg_id": 1, "source": "bob", "content": "claim"}, 200, "133ooo1o3", nil},
		{post, "/v0/twilio/deliveryupdate", formOf("MessageSid", "SM1", "MessageStatus", "delivered"), 204,
			"133o333o3", nil},

		// Only the key in the query counts, not the credentials of the caller.
		{post, "/v0/webhooks/alertmanager?application=demo&key={key of demo}",
			m{"version": "4", "status": "firing", "alerts": []m{},
				"groupLabels": m{"iris_plan": "pager"}}, 201, everybody, nil},
		{post, "/v0/webhooks/grafana?plan=pager&application=demo&key={key of demo}",
			m{"ruleName": "r", "state": "alerting"}, 201, everybody, nil},
		{post, "/v0/webhooks/rackspace?plan=pager&application=demo&key={key of demo}",
			m{"event_id": "e", "details": m{}}, 201, everybody, nil},
		{post, "/v0/webhooks/freshping?plan=pager&application=demo&key={key of demo}",
			m{"title": "t", "description": "d", "tags": "", "ticket_id": 1}, 201, everybody, nil},

		{get, "/pagerduty/incidents", nil, 200, known, nil},
		{put, "/pagerduty/incidents", m{"incidents": []m{{"id": "1", "status": "resolved"}}}, 200, changing, nil},
		{get, "/pagerduty/incidents/1", nil, 200, reading, nil},
		{put, "/pagerduty/incidents/1", m{"incident": m{"status": "resolved"}}, 200, changing, nil},
		{get, "/pagerduty/oncalls", nil, 200, known, nil},
		{get, "/pagerduty/schedules", nil, 200, known, nil},
		{get, "/pagerduty/services", nil, 200, known, nil},
		{get, "/pagerduty/users", nil, 200, known, nil},
		{get, "/pagerduty/escalation_policies", nil, 200, known, nil},

		// Only the token of the integration counts.
		{post, "/v1/hooks/generic", m{"title": "t"}, 200, "111111111", nil},
		{put, "/v1/hooks/generic", m{"title": "t"}, 200, "111111111", nil},
		{post, "/v1/hooks/generic/generic-token", formOf("title", "t"), 200, everybody, (*server).integrations},
		{post, "/v1/hooks/generic/api/v2/alerts", formOf("title", "t"), 200, "111111111", nil},
		{post, "/v1/hooks/generic/generic-token/api/v2/alerts", formOf("title", "t"), 200, everybody, (*server).integrations},
		{put, "/v1/hooks/generic/generic-token", formOf("title", "t"), 200, everybody, (*server).integrations},
		{get, "/v1/hooks/heartbeat", nil, 200, "111111111", nil},
		{post, "/v1/hooks/heartbeat", nil, 200, "111111111", nil},
		{put, "/v1/hooks/heartbeat", nil, 200, "111111111", nil},
		{get, "/v1/hooks/heartbeat/heartbeat-token", nil, 200, everybody, (*server).integrations},
		{post, "/v1/hooks/heartbeat/heartbeat-token", nil, 200, everybody, (*server).integrations},
		{put, "/v1/hooks/heartbeat/heartbeat-token", nil, 200, everybody, (*server).integrations},
		{get, "/v1/hooks/heartbeat/heartbeat-token/default", nil, 200, everybody, (*server).integrations},
		{post, "/v1/hooks/heartbeat/heartbeat-token/default", nil, 200, everybody, (*server).integrations},
		{put, "/v1/hooks/heartbeat/heartbeat-token/default", nil, 200, everybody, (*server).integrations},
		{get, "/v1/hooks/heartbeat/heartbeat-token/default/log", nil, 200, everybody, (*server).integrations},
		{post, "/v1/hooks/heartbeat/heartbeat-token/default/log", nil, 200, everybody, (*server).integrations},
		{put, "/v1/hooks/heartbeat/heartbeat-token/default/log", nil, 200, everybody, (*server).integrations},
		{get, "/v2/heartbeats/default/ping?apiKey=opsgenie-token", nil, 202, everybody, (*server).integrations},
		{post, "/v2/heartbeats/default/ping?apiKey=opsgenie-token", nil, 202, everybody, (*server).integrations},
		{put, "/v2/heartbeats/default/ping?apiKey=opsgenie-token", nil, 202, everybody, (*server).integrations},
		{patch, "/v2/heartbeats/default/ping?apiKey=opsgenie-token", nil, 202, everybody, (*server).integrations},
		{post, "/v2/heartbeats/default/enable?apiKey=opsgenie-token", nil, 200, everybody, (*server).integrations},
		{put, "/v2/heartbeats/default/enable?apiKey=opsgenie-token", nil, 200, everybody, (*server).integrations},
		{patch, "/v2/heartbeats/default/enable?apiKey=opsgenie-token", nil, 200, everybody, (*server).integrations},
		{post, "/v2/heartbeats/default/disable?apiKey=opsgenie-token", nil, 200, everybody, (*server).integrations},
		{put, "/v2/heartbeats/default/disable?apiKey=opsgenie-token", nil, 200, everybody, (*server).integrations},
		{patch, "/v2/heartbeats/default/disable?apiKey=opsgenie-token", nil, 200, everybody, (*server).integrations},
		{get, "/v2/heartbeats?apiKey=opsgenie-token", nil, 200, everybody, (*server).integrations},
		{post, "/v2/heartbeats?apiKey=opsgenie-token", m{"name": "default", "interval": 1}, 201, everybody,
			(*server).integrations},
		{get, "/v2/heartbeats/default?apiKey=opsgenie-token", nil, 200, everybody, (*server).integrations},
		{patch, "/v2/heartbeats/default?apiKey=opsgenie-token", m{"interval": 2}, 200, everybody,
			(*server).integrations},
		{del, "/v2/heartbeats/default?apiKey=opsgenie-token", nil, 200, everybody, (*server).integrations},
		{post, "/v2/enqueue", m{"routing_key": "pagerduty-token", "event_action": "trigger",
			"payload": m{"summary": "s"}}, 202, everybody, (*server).integrations},
		{post, "/v2/change/enqueue", m{"routing_key": "pagerduty-token", "payload": m{"summary": "s"}}, 202, everybody,
			(*server).integrations},
		{post, "/generic/2010-04-15/create_event.json", m{"service_key": "pagerduty-token", "event_type": "trigger",
			"description": "s"}, 200, everybody, (*server).integrations},
		{post, "/v2/alerts?apiKey=opsgenie-token", m{"message": "m"}, 202, everybody, (*server).integrations},
		{post, "/v2/alerts/x/close?apiKey=opsgenie-token", nil, 202, everybody, (*server).integrations},
		{post, "/v2/alerts/x/acknowledge?apiKey=opsgenie-token", nil, 202, everybody, (*server).integrations},
		{post, "/v2/alerts/x/unacknowledge?apiKey=opsgenie-token", nil, 202, everybody, (*server).integrations},
		{post, "/v2/alerts/x/escalate?apiKey=opsgenie-token", nil, 202, everybody, (*server).integrations},
		{post, "/v2/alerts/x/assign?apiKey=opsgenie-token", m{"owner": m{"username": "ann"}}, 202, everybody,
			(*server).integrations},
		{post, "/v2/alerts/x/snooze?apiKey=opsgenie-token", m{"endTime": "2999-01-01T00:00:00Z"}, 202, everybody,
			(*server).integrations},
		{post, "/v2/alerts/x/responders?apiKey=opsgenie-token", m{"responder": m{"type": "team", "name": "ops"}}, 202,
			everybody, (*server).integrations},
		{post, "/v2/alerts/x/teams?apiKey=opsgenie-token", m{"team": m{"name": "ops"}}, 202, everybody,
			(*server).integrations},
		{post, "/v2/alerts/x/notes?apiKey=opsgenie-token", m{"note": "n"}, 202, everybody, (*server).integrations},
		{post, "/v2/alerts/x/tags?apiKey=opsgenie-token", m{"tags": []string{"t"}}, 202, everybody,
			(*server).integrations},
		{post, "/v2/alerts/x/details?apiKey=opsgenie-token", m{"details": m{"a": "b"}}, 202, everybody,
			(*server).integrations},
		{put, "/v2/alerts/x/message?apiKey=opsgenie-token", m{"message": "m"}, 202, everybody, (*server).integrations},
		{put, "/v2/alerts/x/description?apiKey=opsgenie-token", m{"description": "d"}, 202, everybody,
			(*server).integrations},
		{put, "/v2/alerts/x/priority?apiKey=opsgenie-token", m{"priority": "P1"}, 202, everybody,
			(*server).integrations},
		{del, "/v2/alerts/x/tags?apiKey=opsgenie-token&tags=t", nil, 202, everybody, (*server).integrations},
		{del, "/v2/alerts/x/details?apiKey=opsgenie-token&keys=a", nil, 202, everybody, (*server).integrations},
		{del, "/v2/alerts/x?apiKey=opsgenie-token", nil, 202, everybody, (*server).integrations},
		{get, "/v2/alerts?apiKey=opsgenie-token", nil, 200, everybody, (*server).integrations},
		{get, "/v2/alerts/count?apiKey=opsgenie-token", nil, 200, everybody, (*server).integrations},
		{get, "/v2/alerts/x?apiKey=opsgenie-token", nil, 404, everybody, (*server).integrations},
		{get, "/v2/alerts/x/notes?apiKey=opsgenie-token", nil, 404, everybody, (*server).integrations},
		{get, "/v2/alerts/x/logs?apiKey=opsgenie-token", nil, 404, everybody, (*server).integrations},
		{get, "/v2/alerts/x/recipients?apiKey=opsgenie-token", nil, 404, everybody, (*server).integrations},
		{get, "/v2/alerts/requests/63000000-0000-8000-8000-000000000000?apiKey=opsgenie-token", nil, 200, everybody,
			(*server).integrations},

		// The operator lists internal applications. They do not act for people.
		{get, "/v0/allowed_metadata_tags", nil, 200, known, nil},
		{get, "/v0/internal/plan_aggregation_settings", nil, 200, known, nil},
		{get, "/v0/internal/priority_mode_map", nil, 200, known, nil},
		{get, "/v0/internal/target?role=user&target=ann", nil, 200, "133o33333", nil},
		{post, "/v0/internal/incident/1", m{"current_step": 1, "active": true}, 200, "133o33333", unresolved},
		{put, "/v0/internal/incident_tag", m{"id": 1, "name": "service", "values": []string{"x"}}, 201, "133o33333",
			nil},
		{put, "/v0/internal/plan_tag", m{"id": 1, "name": "service", "values": []string{"x"}}, 201, "133o33333", nil},
		{put, "/v0/internal/template_tag", m{"id": 1, "name": "service", "values": []string{"x"}}, 201, "133o33333",
			nil},
		{put, "/v0/internal/application_tag", m{"id": 1, "name": "service", "values": []string{"x"}}, 201, "133o33333",
			nil},
		{put, "/v0/internal/target_tag", m{"id": 1, "name": "service", "values": []string{"x"}}, 201, "133o33333", nil},

		// Requests of vendors need the vendor's signature and nothing else.
		{post, "/api/v0/twilio/messages/relay", formOf("Body", "f", "From", "+15552220002"), 0, nobody, nil},
		{post, "/api/v0/twilio/calls/gather?message_id=1", "", 0, nobody, nil},
		{get, "/api/v0/twilio/calls/say?message_id=1", nil, 0, nobody, nil},
		{post, "/api/v0/twilio/calls/say?message_id=1", "", 0, nobody, nil},
		{post, "/api/v0/twilio/calls/relay?message_id=1", formOf("Digits", "2", "To", "+15552220002"), 0, nobody, nil},
		{post, "/api/v0/twilio/status", formOf("MessageSid", "SM1", "MessageStatus", "failed"), 0, nobody, nil},
		{post, "/api/v0/slack/messages/relay", formOf("payload", "{}"), 0, "111111111", nil},
		{post, "/api/v0/gmail-oneclick/relay?msg_id=1&email_address=bob@example.com&cmd=claim&expires=1&token=x", nil,
			0, nobody, nil},
		{get, "/api/v0/slack/authenticate", nil, 200, everybody, nil},
		{get, "/ack/x", nil, 400, everybody, nil},
		{post, "/ack/x", nil, 400, everybody, nil},

		{get, "/healthcheck", nil, 200, everybody, nil},
		{get, "/livez", nil, 200, everybody, nil},
		{get, "/readyz", nil, 200, everybody, nil},
		{get, "/openapi.json", nil, 200, everybody, nil},
		{get, "/docs", nil, 200, everybody, nil},
		{get, "/static/nothing.css", nil, 404, everybody, nil},
	}
}

// pages lists the routes for browsers. They accept sessions, but no signatures.
func pages() []right {
	var out []right
	for _, path := range []string{"/incidents", "/incidents/1", "/teams", "/me", "/teams/ops", "/teams/ops/rosters",
		"/teams/ops/schedules", "/teams/ops/coverage", "/teams/ops/settings", "/teams/ops/audit"} {
		out = append(out, right{get, path, nil, 200, people, nil})
	}
	for _, more := range []func() []right{homePages, incidentsPages, plansPages, textsPages, integrationsPages, calendarPages, peoplePages, applicationsPages, messagesPages, systemPages, reviewsPages} {
		out = append(out, more()...)
	}
	out = append(out, right{get, "/session-ready", nil, 200, people, nil},
		right{get, "/dev/components", nil, 200, people, nil})
	for _, path := range []string{"/integrations", "/integrations/generic"} {
		out = append(out, right{get, path, nil, 200, people, (*server).integrations})
	}
	for _, path := range []string{"/silences", "/silences/new", "/silences/1", "/silences/1/edit"} {
		out = append(out, right{get, path, nil, 200, people, (*server).silence})
	}
	for path, moved := range map[string]int{"/user": 302, "/cluster": 302, "/stats": 302, "/stats/demo": 302, "/singlestats/total_incidents": 302, "/validate/jinja": 302, "/user/bob": 302, "/user/bob/ical": 302, "/team/ops": 301, "/team/ops/info": 301, "/team/ops/schedules": 301,
		"/team/ops/subscriptions": 301, "/team/ops/audit": 301} {
		out = append(out, right{get, path, nil, moved, people, nil})
	}
	return append(out,
		right{post, "/silences", formOf("application", "demo", "for_seconds", "1h", "comment", "c"), 303, "111113oo3", nil},
		right{post, "/silences/1/edit", formOf("application", "demo", "for_seconds", "1h", "comment", "c"), 303, "111113oo3",
			(*server).silence},
		right{post, "/silences/1/end", nil, 303, "111113oo3", (*server).silence},
		right{post, "/theme", formOf("theme", "dark", "back", "/plans"), 303, people, nil},
		right{get, "/audit-log", nil, 200, "lllll33o3", nil},
		right{get, "/sessions", nil, 200, people, nil},
		right{get, "/sessions?user=bob", nil, 200, "lllllo3o3", nil},
		right{post, "/sessions/end-others", formOf("user", "pushed"), 303, "lllll33o3", heldDeactivation},
		right{post, "/sessions/900/end", nil, 303, "lllllo4o4", bobsSession},
		right{get, "/tokens", nil, 200, people, nil},
		right{get, "/tokens?all=true", nil, 200, "lllll33o3", nil},
		right{post, "/tokens", formOf("name", "laptop", "scopes", "read"), 200, "lllllooo3", nil},
		right{post, "/tokens/900/revoke", nil, 303, "lllllo4o3", bobsToken},
		right{get, "/service-tokens", nil, 200, people, nil},
		right{post, "/service-tokens", formOf("name", "deploy", "scopes", "read"), 200, "lllll33o3",
			func(s *server) { s.exec("delete from service_tokens") }},
		right{post, "/service-tokens/900/revoke", nil, 303, "lllll44o3", serviceToken},
		right{get, "/login/command-line?" + askedBy("read"), nil, 200, "lllllooo3", nil},
		right{post, "/login/command-line", askedBy("read") + "&answer=allow", 303, "lllllooo3", nil},
		right{post, "/login", formOf("username", "bob", "password", "wrong"), 401, everybody, nil},
		right{post, "/login/", formOf("username", "bob", "password", "wrong"), 302, everybody, nil},
		right{get, "/login", nil, 200, "ooooohhhh", nil},
		right{get, "/login/", nil, 200, "ooooohhhh", nil},
		right{get, "/login/sso/corp", nil, 302, everybody, nil},
		right{get, "/login/sso/corp/callback", nil, 302, everybody, nil},
		right{post, "/login/sso/corp/backchannel", formOf("logout_token", ""), 400, everybody, nil},
		right{get, "/login/second-factor", nil, 302, everybody, nil},
		right{post, "/login/second-factor", formOf("code", "1"), 302, everybody, nil},
		right{get, "/login/second-factor/set-up", nil, 302, everybody, nil},
		right{post, "/login/second-factor/set-up", formOf("code", "1"), 302, everybody, nil},
		right{get, "/login/password", nil, 200, everybody, nil},
		right{post, "/login/password", formOf("login", "nobody"), 200, everybody, nil},
		right{get, "/login/password/unknown", nil, 404, everybody, nil},
		right{post, "/login/password/unknown", formOf("password", password, "again", password), 404, everybody, nil},
		right{get, "/invitation/unknown", nil, 404, everybody, nil},
		right{post, "/invitation/unknown", formOf("password", password, "again", password), 404, everybody, nil},
		right{get, "/invitations", nil, 200, "lllll33o3", nil},
		right{post, "/invitations", formOf("name", "xia", "email", "xia@example.com"), 303, "lllll33o3",
			func(s *server) { s.exec("delete from invitations") }},
		right{post, "/invitations/1/send", nil, 303, "lllll33o3", withInvitation},
		right{post, "/invitations/1/revoke", nil, 303, "lllll33o3", withInvitation},
		right{get, "/account/second-factor", nil, 200, people, nil},
		right{get, "/account/second-factor/set-up", nil, 302, people, nil},
		right{post, "/account/second-factor", formOf("password", "wrong"), 403, "lllll3333", nil},
		right{post, "/account/second-factor/set-up", formOf("code", "1"), 302, people, nil},
		right{post, "/account/second-factor/recovery-codes", formOf("password", "wrong"), 403, "lllll3333", nil},
		right{post, "/account/password", formOf("password", "wrong"), 403, "lllll3333", nil},
		right{post, "/account/second-factor/remove", formOf("password", "wrong"), 403, "lllll3333", nil},
		right{get, "/logout", nil, 200, people, nil},
		right{get, "/logout/", nil, 200, people, nil},
		// These are the last rows, because a log-out ends the caller's session.
		right{post, "/logout", nil, 200, everybody, nil},
		right{post, "/logout/", nil, 302, everybody, nil},
	)
}

// zed adds a person whom nothing uses.
func zed(s *server) {
	s.exec("insert into users (name) values ('zed') on conflict do nothing; update users set active = true, read_only = false where name = 'zed'")
}

// withCategory gives the application demo the category ads.
func withCategory(s *server) {
	s.exec("insert into notification_categories (application_id, name, mode) select id, 'ads', 'email' from applications where name = 'demo' on conflict do nothing")
}

// withInvitation makes the invitation 1.
func withInvitation(s *server) {
	s.exec(`insert into invitations (id, name, canonical_name, full_name, email, role, teams, invited_by, hash, expires_at)
		values (1, 'yan', 'yan', '', 'yan@example.com', '', '{}', 'root', 'h', now() + interval '1 hour') on conflict do nothing`)
}

// withFactor gives bob a second factor that nobody can use.
func withFactor(s *server) {
	s.exec("insert into second_factors (user_id, secret, last_step) select id, '', 0 from users where name = 'bob' on conflict do nothing")
}

// linked gives bob the linked account 1, and another account a refusal.
func linked(s *server) {
	s.exec(`delete from user_identities; insert into user_identities (id, user_id, provider, issuer, subject) select 1, id, 'corp', 'http://127.0.0.1:1', 's' from users where name = 'bob';
		insert into refused_identities (provider, issuer, subject, name, email, reason) values ('corp', 'http://127.0.0.1:1', 't', 'ann', '', 'r') on conflict do nothing`)
}

// bobsToken gives bob the token 900.
func bobsToken(s *server) {
	s.exec(`insert into personal_tokens (id, user_id, name, hash, scopes, expires_at) overriding system value
		select 900, id, 'x', 'x', '{read}', now() + interval '1 hour' from users where name = 'bob' on conflict do nothing`)
}

// owned makes ann the owner of incident 1.
func owned(s *server) {
	s.exec("update incidents set owner_id = (select id from users where name = 'ann'), active = false, resolved = false, snoozed_until = null, merged_into = null where id = 1")
}

// unowned removes the owner of incident 1.
func unowned(s *server) {
	s.exec("update incidents set owner_id = null, active = true, resolved = false, snoozed_until = null, merged_into = null where id = 1")
}

func spareWithFallback(s *server) {
	spare(s)
	s.exec(`update plans set fallback_role = 'user', fallback_target_id = (select target_id from targets where name = 'ann' and kind = 'user') where name = 'spare'`)
}

func demoWithFallback(s *server) {
	s.exec(`update applications set fallback_role = 'user', fallback_target_id = (select target_id from targets where name = 'ann' and kind = 'user') where name = 'demo'`)
}

func spare(s *server) {
	s.exec(`delete from plan_active where name_key = 'spare'; delete from plans where name = 'spare';
		with p as (insert into plans (name, creator_id, description, threshold_window, threshold_count, aggregation_window, aggregation_reset)
			select 'spare', id, '', 0, 0, 0, 0 from users where name = 'bob' returning id, name)
		insert into plan_active select name, id from p`)
}

// newForRights returns a server with the objects that the rows of rights name.
func newForRights(t *testing.T) *server {
	t.Helper()
	s := newRelay(t)
	_, _, _ = s.logIn("bob") // bob logs in here, so that wrong passwords from this address are not slowed down
	s.page("email")          // incident 1, message 1
	s.exec(`insert into user_contacts select id, m, d, d from users, (values ('sms', '+15552220002'), ('call', '+15552220002'), ('slack', 'bob')) c(m, d) where name = 'bob'`)
	s.do(bob, post, "/v0/plans", aPlan(m{"name": "spare"})).is(201)
	s.do(bob, post, "/v0/templates", m{"name": "spare", "creator": "bob",
		"content": m{"demo": m{"email": m{"subject": "s", "body": "b"}}}}).is(201)
	return s
}

// named replaces names in a path by ids.
func (s *server) named(path string) string {
	number := func(query string) string { return fmt.Sprint(s.number(query)) }
	for words, value := range map[string]func() string{
		"{spare plan}":     func() string { return number("select max(id) from plans where name = 'spare'") },
		"{spare template}": func() string { return number("select max(id) from templates where name = 'spare'") },
		"{number of bob}":  func() string { return number("select target_id from users where name = 'bob'") },
		"{key of demo}":    func() string { return s.keys["demo"] },
		"{notification}": func() string {
			return number("select coalesce(max(n.id), 1) from notification_requests n join applications a on a.id = n.application_id where a.name = 'demo'")
		},
	} {
		if strings.Contains(path, words) {
			path = strings.ReplaceAll(path, words, value())
		}
	}
	return path
}

// Sends every request as every caller: first as callers who may not, which must change nothing; then as callers who
// may.
func TestEveryCallerOnEveryRoute(t *testing.T) {
	t.Parallel()
	s := newForRights(t)
	for _, r := range s.marked(slices.Concat(rights(), pages())) {
		require.Len(t, r.who, len(columns), "%s %s", r.method, r.path)
		if r.before != nil {
			r.before(s)
		}
		before := s.everything()
		s.ask(r, false)
		for table, rows := range s.everything() {
			if before[table] != rows {
				t.Errorf("%s %s was refused, and changed the table %s", r.method, r.path, table)
			}
		}
		s.ask(r, true)
	}
}

// admitted has the marks of the operations of wings by access and rule.
var admitted = map[[2]string]string{
	{"any"}: known, {"any", string(operation.Confined)}: reading, {"any", string(operation.OwnSettings)}: bobs,
	{"user"}: writers, {"user", string(operation.InTheNameOf)}: forBob, {"user",
		string(operation.OfAuthor)}: "133ooo3o3",
	{"user", string(operation.People)}: "133ooooo3", {"user", string(operation.OfApplication)}: "133333oo3",
	{"user", string(operation.OfApplicationByPeople)}: "111133oo3", {"user", string(operation.OfApplicationAndItsKey)}: "13o333oo3",
	{"user", string(operation.Confined)}:            changing,
	{"user", string(operation.ConfinedInTheNameOf)}: claiming,
	{"admin"}: "1333333o3", {"public"}: everybody,
	{"any", string(operation.Themselves)}: "13333oooo", {"user", string(operation.Themselves)}: "13333ooo3",
	{"any", string(operation.TheirOwn)}: "13333o4o4", {"user", string(operation.TheirOwn)}: "13333o4o3",
	{"user", string(operation.OfTeamAdmins)}: "1333333o3", {"any", string(operation.WithToken)}: "133333333",
	{"any", string(operation.HiddenOfTeam)}: "1333344o4", {"user", string(operation.HiddenOfTeam)}: "1333344o3",
	{"user", string(operation.OfItsTeam)}:     "1333333o3", // nobody of them administers the team
	{"user", string(operation.PeopleOnly)}:    "1333oooo3",
	{"user", string(operation.AsApplication)}: "13ooo3oo3",
}

// marked returns rows with the marks of operations of wings.
func (s *server) marked(all []right) []right {
	s.Helper()
	for i, r := range all {
		path, _, _ := strings.Cut(r.path, "?")
		o := s.api.find(r.method, path)
		require.NotNil(s, o, r.path)
		require.Equal(s, o.name != "", r.who == "", "%s %s: operations of wings have no marks here, other routes have",
			r.method, r.path)
		if o.name != "" {
			all[i].who = admitted[[2]string{o.access, o.rule}]
			require.NotEmpty(s, all[i].who, "%s %s: add the access %q with the rule %q to admitted in permissions_test.go", r.method,
				r.path, o.access, o.rule)
		}
	}
	return all
}

// ask sends the request of a row as the callers who may, or as the callers who may not.
func (s *server) ask(r right, allowed bool) {
	s.Helper()
	for i, as := range columns {
		if mark := r.who[i]; (mark == 'o' || mark == 'h') == allowed {
			s.askAs(r, as, mark)
		}
	}
}

// askAs sends the request of a row as a caller and compares the answer with a mark.
func (s *server) askAs(r right, as caller, mark byte) {
	s.Helper()
	allowed := mark == 'o' || mark == 'h'
	if allowed && r.before != nil {
		r.before(s)
	}
	var header []string
	if text, isText := r.body.(string); isText && text != "" {
		header = []string{"Content-Type", form}
	}
	a := s.do(as, r.method, s.named(r.path), r.body, header...)
	want := map[byte]int{'o': r.ok, '1': 401, '3': 403, '4': 404, 'l': 302, 'k': 303, 'h': 302}[mark]
	kept := mark == 'l' && r.method == post
	if kept {
		want = 401 // the page keeps a form without secrets until the person has logged in
	}
	if a.status != want { // report all differences, because together they show a pattern
		s.Errorf("%s: %d, not %d: %.300s", a.what, a.status, want, a.body)
		return
	}
	switch {
	case kept:
		require.Regexp(s, "Send it again|send the form again", a.body, a.what)
	case mark == 'l', mark == 'k':
		require.Contains(s, a.header.Get("Location"), "/login", a.what)
	case !allowed && strings.HasPrefix(r.path, "/v") && (mark != '4' ||
		strings.HasPrefix(r.path, "/v1/")): // a 404 of /v0 has no body
		require.NotEmpty(s, decode[m](a)["title"], "a refusal says why: %s", a.what)
	}
	require.Empty(s, a.header.Get("WWW-Authenticate"), a.what)
}

// everything returns a fingerprint of each table, except tables that every request or a background task may change.
func (s *server) everything() map[string]string {
	s.Helper()
	rows, err := s.db.Query(s.Context(), `select relname, coalesce((xpath('/row/h/text()', query_to_xml(format(
			'select md5(string_agg(t::text, ''|'' order by t::text)) as h from %I t %s', relname,
			case relname when 'audit_log' then 'where action <> ''log-in refused''' else '' end), true, true, '')))[1]::text, '')
		from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace and relname not in ('sessions', 'login_attempts', 'statistics_snapshots', 'watch_results', 'integration_tokens', 'integration_payloads', 'integration_activity', 'heartbeat_reception')`)
	require.NoError(s, err)
	out := map[string]string{}
	var table, hash string
	_, err = pgx.ForEachRow(rows, []any{&table, &hash}, func() error {
		out[table] = hash
		return nil
	})
	require.NoError(s, err)
	return out
}

// unresolved makes the first incident active again, before the first step of its plan.
func unresolved(s *server) {
	s.exec("update incidents set resolved = false, active = true, current_step = 0, snoozed_until = null, merged_into = null where id = 1")
}

// withParent makes an incident 900, which the first one can be merged into.
func withParent(s *server) {
	unresolved(s)
	s.exec(`insert into incidents (id, plan_id, application_id) select 900, plan_id, application_id from incidents where id = 1 on conflict do nothing;
		update incidents set resolved = false, active = true where id = 900`)
}

// withoutUpdates removes all updates; incident 1 is not merged.
func withoutUpdates(s *server) {
	s.exec("delete from incident_updates; update incidents set merged_into = null where id = 1")
}

// bobsUpdates is a subscription of bob to incident 1.
func bobsUpdates(s *server) {
	s.exec(`delete from update_subscriptions where user_id = (select id from users where name = 'bob');
		insert into update_subscriptions (id, user_id, incident_id, mode) overriding system value
			select 900, id, 1, 'email' from users where name = 'bob'`)
}

// reviewed makes a review of incident 1.
func reviewed(s *server) {
	s.exec(`insert into reviews (incident_id, title, body, author, changed_by) values (1, 't', 'x', 'bob', 'bob') on conflict do nothing`)
}

// merged merges the first incident into incident 900.
func merged(s *server) {
	withParent(s)
	s.exec("update incidents set active = false, merged_into = 900 where id = 1")
}

// bobsSession gives bob the session 900.
func bobsSession(s *server) {
	s.exec(`insert into sessions (id, token, data, expiry, user_id) overriding system value
		select 900, 'x', '', now() + interval '1 hour', id from users where name = 'bob' on conflict do nothing`)
}

// scimConnection makes the connection corp.
func scimConnection(s *server) {
	s.exec("insert into scim_connections (name, created_by) values ('corp', 'kim') on conflict do nothing")
}

// heldDeactivation makes the held deactivation 900 of a person whom the connection corp pushed.
func heldDeactivation(s *server) {
	scimConnection(s)
	s.exec(`delete from scim_deactivations;
		insert into users (name, canonical_name) values ('pushed', 'pushed') on conflict do nothing;
		insert into scim_users (connection_id, user_id, user_name, attributes) select c.id, u.id, u.name, '{"userName": "pushed"}'
			from scim_connections c, users u where u.name = 'pushed' on conflict do nothing;
		insert into scim_deactivations (id, connection_id, scim_user_id, held) select 900, connection_id, id, true from scim_users where user_name = 'pushed'`)
}

// serviceToken makes the service token 900 of the administrators.
func serviceToken(s *server) {
	s.exec(`insert into service_tokens (id, name, hash, scopes, created_by, expires_at) overriding system value
		values (900, 'x', 'x', '{read}', 'kim', now() + interval '1 hour') on conflict do nothing`)
}

// snoozed snoozes the first incident.
func snoozed(s *server) {
	s.exec("update incidents set resolved = false, active = false, snoozed_until = now() + interval '1 hour', merged_into = null where id = 1")
}

// Fails if an operation of the OpenAPI document has no row in rights.
func TestEveryRouteHasARight(t *testing.T) {
	t.Parallel()
	s := newForRights(t)
	listed := map[string]bool{}
	for _, r := range slices.Concat(rights(), pages()) {
		path, _, _ := strings.Cut(s.named(r.path), "?")
		if o := s.api.find(r.method, path); o != nil {
			listed[o.method+" "+o.path] = true
		} else {
			require.Fail(t, "the document has no such operation", "%s %s", r.method, r.path)
		}
	}
	var missing []string
	for _, o := range s.api.operations {
		if o.ofOncall() || listed[o.method+" "+o.path] || o.path == "/readyz/paging" { // no processor runs, so nobody is paged
			continue
		}
		missing = append(missing, o.method+" "+o.path)
	}
	require.Empty(t, missing, "add a row for each to rights() in permissions_test.go")
}

// resources are the routes below /v1 with a row in rights(). All others below /v1 have a row in permissions, in
// oncall_permissions_test.go. An entry that ends with a slash includes the routes below it.
var resources = []string{
	"/v1/applications",
	"/v1/applications/",
	"/v1/audit",
	"/v1/audit/",
	"/v1/heartbeats",
	"/v1/hooks/",
	"/v1/identities",
	"/v1/identities/",
	"/v1/incidents",
	"/v1/incidents/",
	"/v1/integrations",
	"/v1/integrations/",
	"/v1/messages",
	"/v1/messages/",
	"/v1/notifications",
	"/v1/notifications/",
	"/v1/plans",
	"/v1/plan-uses", "/v1/plans/",
	"/v1/recipes",
	"/v1/reviews",
	"/v1/reviews/",
	"/v1/update-subscriptions",
	"/v1/update-subscriptions/",
	"/v1/held-deactivations",
	"/v1/held-deactivations/",
	"/v1/scim-connections",
	"/v1/scim-connections/",
	"/v1/service-tokens",
	"/v1/sessions",
	"/v1/sessions/",
	"/v1/service-tokens/",
	"/v1/silences",
	"/v1/statistics",
	"/v1/system/",
	"/v1/silences/",
	"/v1/oncall",
	"/v1/target-roles",
	"/v1/teams",
	"/v1/teams/{team}",
	"/v1/templates",
	"/v1/templates/",
	"/v1/tokens",
	"/v1/tokens/",
	"/v1/users",
	"/v1/users/{user}",
	"/v1/users/{user}/notification-rules",
	"/v1/users/{user}/quiet-limits",
	"/v1/users/{user}/modes", "/v1/users/{user}/reprioritisations", "/v1/users/{user}/reprioritisations/",
	"/v1/users/{user}/categories", "/v1/users/{user}/fixed-texts", "/v1/users/{user}/devices", "/v1/priorities",
	"/v1/invitations", "/v1/invitations/", "/v1/reachability", "/v1/users/{user}/settings", "/v1/users/{user}/password-link", "/v1/users/{user}/second-factor",
}

// ofOncall reports whether an operation belongs to the on-call API. These have their own tests.
func (o descriptionOf) ofOncall() bool {
	return ofOncall(o.path) || o.name == "team.create" || o.name == "team.change"
}

// ofOncall reports whether a route belongs to the on-call API, or is a page.
func ofOncall(path string) bool {
	switch {
	case slices.ContainsFunc(resources, func(r string) bool {
		return path == r || strings.HasSuffix(r, "/") &&
			strings.HasPrefix(path, r)
	}):
		return false
	case strings.HasPrefix(path, "/v0/"), strings.HasPrefix(path, "/api/v0/twilio/"), strings.HasPrefix(path,
		"/api/v0/slack/"),
		strings.HasPrefix(path, "/api/v0/gmail-oneclick/"):
		return false
	case strings.HasPrefix(path, "/api/v0/"), strings.HasPrefix(path, "/v1/"):
		return true
	}
	return false
}

// integrations adds the integrations generic and pagerduty, with the tokens generic-token and pagerduty-token, if they
// are missing.
func (s *server) integrations() {
	for _, kind := range []string{"generic", "pagerduty", "opsgenie", "heartbeat"} {
		s.exec("insert into integrations (application_id, name, type, default_plan, rate_per_minute, created_by) select id, '" + kind + "', '" + kind +
			"', 'pager', 100000, 'ann' from applications where name = 'demo' on conflict do nothing")
		s.exec("insert into integration_tokens (integration_id, hash) select id, sha256('" + kind +
			"-token') from integrations where name = '" + kind + "' on conflict do nothing")
	}
	s.exec(`insert into heartbeats (integration_id, name, every_seconds, grace_seconds, created_by)
		select id, 'default', 60, 0, 'ann' from integrations where type in ('heartbeat', 'opsgenie') on conflict do nothing`)
}

// silence makes silence 1 of the application demo.
func (s *server) silence() {
	s.exec(`insert into silences (id, match, application_id, starts_at, ends_at, comment, author)
		select 1, '', id, clock_timestamp(), clock_timestamp() + interval '1 minute', 'c', 'ann' from applications where name = 'demo'
		on conflict (id) do update set ended_at = null`)
	s.exec(`select setval('silences_id_seq', greatest(1, (select max(id) from silences)))`)
}
