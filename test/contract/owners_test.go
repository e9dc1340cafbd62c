package contract

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Walks the changes of a plan, a template, an application and an integration that the team crew owns. Ann made the plan
// and the template and is no member. Bob administers the team, mia is a member.
func TestTeamsOwnObjects(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	s.open()
	s.join("mia")
	s.join("sid")
	s.exec(`insert into teams (name) values ('crew'), ('others');
		insert into team_members (team_id, user_id, position, admin, member) select t.id, u.id, 1, u.name = 'bob', true from teams t, users u where t.name = 'crew' and u.name in ('bob', 'mia')`)
	member, stranger := caller{name: "a member", session: "mia"}, caller{name: "a stranger", session: "sid"}
	steps := [][]m{{{"target": m{"role": "user", "name": "ann"}, "priority": "high", "template": "words"}}}
	content := []m{{"application": "demo", "mode": "email", "subject": "s", "body": "b"}}
	s.do(owner, post, "/v1/plans", m{"name": "team plan", "steps": steps}).is(201)
	s.do(owner, post, "/v1/templates", m{"name": "team words", "content": content}).is(201)
	s.exec(`insert into applications (name) values ('team app')`)
	s.do(admin, put, "/v1/integrations/sender", m{"type": "generic", "application": "team app",
		"default_plan": "pager"}).is(201)
	paths := []string{"/v1/plans/team%20plan", "/v1/templates/team%20words", "/v1/applications/team%20app"}
	for _, path := range paths {
		require.JSONEq(t, `{"team": null}`, s.do(stranger, get, path+"/owner", nil).is(200).body,
			"the migration leaves the rights of creators")
		s.do(stranger, put, path+"/owner", m{"team": "others"}).is(403)
		s.do(owner, put, path+"/owner", m{"team": "crew"}).is(403)
		s.do(admin, put, path+"/owner", m{"team": "no such team"}).is(400)
		s.do(admin, put, path+"/owner", m{}).problem(400, "team")
		before := s.do(admin, get, path+"/owner", nil).is(200).header.Get("ETag")
		a := s.do(admin, put, path+"/owner", m{"team": "crew"}, "If-Match", before).is(200)
		require.JSONEq(t, `{"team": "crew"}`, a.body)
		s.do(admin, put, path+"/owner", m{"team": "others"}, "If-Match", before).is(http.StatusPreconditionFailed)
		require.Contains(t, s.do(stranger, get, path, nil).is(200).body, `"team":"crew"`)
		list := path[:strings.LastIndex(path, "/")]
		require.Contains(t, s.do(stranger, get, list+"?team=crew", nil).is(200).body, `"name":"team `)
		require.NotContains(t, s.do(stranger, get, list+"?team=others", nil).is(200).body, `"name":"team `)
	}
	require.Contains(t, s.do(stranger, get, "/v1/integrations?team=crew", nil).is(200).body, `"name":"sender"`)
	require.NotContains(t, s.do(stranger, get, "/v1/integrations?team=others", nil).is(200).body, `"name":"sender"`)

	service, _ := s.serviceToken(bob, "crew", "admin")
	reading, _ := s.serviceToken(bob, "crew", "read")
	root, _ := s.serviceToken(admin, "", "admin")
	personal, _ := s.token(member, "admin")
	// The person in whose name each caller saves a version.
	callers := []struct {
		caller
		creator string
	}{{anonymous, "ann"}, {viewer, "viewer"}, {stranger, "sid"}, {owner, "ann"}, {other, "ann"}, {reading, "mia"},
		{member, "mia"}, {bob, "bob"}, {asBob, "bob"}, {personal, "mia"}, {service, "mia"}, {admin, "root"}, {root,
			"mia"}}
	const refused = 6 // the callers before this one are refused
	words := func(creator string) m {
		return m{"name": "team words", "creator": creator,
			"content": m{"demo": m{"email": m{"subject": "s", "body": "b"}}}}
	}
	for _, r := range []struct {
		method, path string
		body         func(creator string) m
		ok           int
	}{
		{put, paths[0], func(creator string) m { return m{"creator": creator, "steps": steps} }, 200},
		{put, paths[1], func(creator string) m { return m{"creator": creator, "content": content} }, 200},
		{post, "/v0/plans", func(creator string) m { return aPlan(m{"name": "team plan", "creator": creator}) }, 201},
		{post, "/v0/templates", words, 201},
		{put, paths[0] + "/settings", func(string) m { return m{"repeat": 1} }, 200},
		{put, paths[2], func(string) m { return m{"title_variable": ""} }, 200},
		{put, "/v1/integrations/sender",
			func(string) m { return m{"type": "generic", "application": "team app", "default_plan": "pager"} }, 200},
	} {
		for i, c := range callers {
			a := s.do(c.caller, r.method, r.path, r.body(c.creator))
			if i < refused {
				require.Contains(t, []int{401, 403}, a.status, "%s: %s", a.what, a.body)
				continue
			}
			require.Equal(t, r.ok, a.status, "%s: %s", a.what, a.body)
		}
		require.Contains(t, s.do(stranger, get, paths[0], nil).is(200).body, `"team":"crew"`,
			"the owner of a name holds for new versions")
	}
	require.Contains(t, s.do(owner, post, "/v0/plans", aPlan(m{"name": "team plan", "creator": "ann"})).is(403).body,
		"Only members of the team crew or an admin may replace the plan team plan")

	s.do(service, post, "/v1/plans", m{"name": "by program", "creator": "sid", "steps": steps}).is(401)
	s.do(service, post, "/v1/plans", m{"name": "by program", "creator": "mia", "steps": steps}).is(201)
	require.Contains(t, s.do(stranger, get, "/v1/plans/by%20program", nil).is(200).body, `"team":"crew"`)
	s.do(stranger, post, "/v1/plans", m{"name": "taken", "team": "crew", "steps": steps}).is(403)
	s.do(member, post, "/v1/plans", m{"name": "mine", "team": "crew", "steps": steps}).is(201)
	s.do(member, post, "/v1/templates", m{"name": "my words", "team": "crew", "content": content}).is(201)

	for _, path := range []string{"/v1/plans/mine", "/v1/templates/my%20words"} {
		s.do(stranger, del, path, nil).is(403)
		s.do(member, del, path, nil).is(204)
	}
	s.do(service, del, "/v1/plans/by%20program", nil).is(204)

	s.exec("update teams set active = false where name = 'crew'")
	s.do(bob, put, paths[0], m{"steps": steps}).is(403)
	s.do(member, put, paths[0], m{"steps": steps}).is(200) // the creator of the active version
	s.exec("update teams set active = true where name = 'crew'")
	for _, path := range paths {
		s.do(member, put, path+"/owner", m{"team": "others"}).is(403)
		s.do(bob, put, path+"/owner", m{"team": "others"}).is(200)
		s.do(bob, put, path+"/owner", m{"team": "crew"}).is(403)
		s.do(admin, put, path+"/owner", m{"team": nil}).is(200)
	}
	require.Contains(t, s.do(admin, get, "/v1/audit", nil).is(200).body, "plan given to a team")
}
