package contract

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Walks the doors at which a caller names the application of an incident, as nobody, a read-only person, strangers,
// members of the owning team, owners, administrators, applications, and tokens of each scope.
func TestWhoMayOpenIncidentsOfAnApplication(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	s.join("mia")
	s.join("sid")
	s.exec(`insert into teams (name) values ('crew'), ('others');
		insert into team_members (team_id, user_id, position, admin, member) select t.id, u.id, 1, u.name = 'bob', true from teams t, users u where t.name = 'crew' and u.name in ('bob', 'mia');
		insert into team_members (team_id, user_id, position, admin, member) select t.id, u.id, 1, true, true from teams t, users u where t.name = 'others' and u.name = 'sid'`)
	s.do(admin, put, "/v1/applications/demo/owner", m{"team": "crew"}).is(200)
	member, stranger := caller{name: "a member", session: "mia"}, caller{name: "a stranger", session: "sid"}
	personal := func(as caller, scopes ...string) caller { c, _ := s.token(as, scopes...); return c }
	service := func(as caller, team string, scopes ...string) caller {
		c, _ := s.serviceToken(as, team, scopes...)
		return c
	}
	for _, c := range []struct {
		caller
		named, own int // the answer to POST /v1/incidents with the application demo, and without one
	}{
		{anonymous, 401, 401}, {viewer, 403, 403}, {stranger, 403, 201}, {other, 403, 201},
		{member, 201, 201}, {bob, 201, 201}, {owner, 201, 201}, {admin, 201, 201}, {demo, 201, 201}, {power, 201,
			201}, {asBob, 201, 201},
		{personal(stranger, "incidents"), 403, 201}, {personal(stranger, "admin"), 403, 201},
		{personal(member, "incidents"), 201, 201}, {personal(admin, "incidents"), 201, 201}, {personal(admin, "admin"),
			201, 201},
		{personal(member, "read"), 403, 403}, {personal(admin, "oncall"), 403, 403}, {personal(admin, "config"), 403,
			403},
		{service(stranger, "others", "incidents"), 403, 201},
		{service(bob, "crew", "incidents"), 201, 201}, {service(bob, "crew", "read"), 403, 403},
		{service(admin, "", "incidents"), 201, 201}, {service(admin, "", "admin"), 201, 201},
	} {
		before := s.number("select count(*) from incidents")
		a := s.do(c.caller, post, "/v1/incidents", m{"plan": "pager", "application": "demo", "title": "t"})
		require.Equal(t, c.named, a.status, "%s: %s", a.what, a.body)
		v0 := s.do(c.caller, post, "/v0/incidents", m{"plan": "pager", "application": "demo", "context": m{}})
		require.Equal(t, c.named, v0.status, "%s: %s", v0.what, v0.body)
		if c.named != 201 {
			require.Equal(t, before, s.number("select count(*) from incidents"), a.what)
		}
		if c.named == 403 && c.own == 201 {
			a.problem(403, "application")
			require.Contains(t, v0.body, "application")
			unknown := s.do(c.caller, post, "/v1/incidents",
				m{"plan": "pager", "application": "no such one", "title": "t"})
			require.Equal(t, a.status, unknown.status, "the refusal does not tell which applications exist")
			require.Equal(t, decode[m](a)["detail"], decode[m](unknown)["detail"])
		}
		a = s.do(c.caller, post, "/v1/incidents", m{"plan": "pager", "title": "t"})
		require.Equal(t, c.own, a.status, "%s: %s", a.what, a.body)
		if want := "iris"; c.own == 201 {
			if c.app != "" {
				want = c.app
			}
			require.Equal(t, want, decode[m](a)["application"], a.what)
		}
	}
	s.do(admin, post, "/v1/incidents", m{"plan": "pager", "application": "no such one", "title": "t"}).problem(400,
		"application")
	s.do(stranger, post, "/v1/incidents", m{"plan": "pager", "application": "iris", "title": "t"}).is(201)
	s.exec("update applications set allow_other_app_incidents = false where name = 'power'")
	s.do(power, post, "/v1/incidents", m{"plan": "pager", "application": "demo", "title": "t"}).problem(403,
		"application")
	s.do(asBob, post, "/v1/incidents", m{"plan": "pager", "application": "demo",
		"title": "t"}).is(201) // bob is a member of the team that owns it
	s.exec("delete from team_members")
	s.do(member, post, "/v1/incidents", m{"plan": "pager", "application": "demo", "title": "t"}).problem(403,
		"application")
}

// People and service tokens have a space of dedup keys each: none of them can occupy the key of another, or of an
// application.
func TestEveryOpenerHasDedupKeys(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	token, _ := s.serviceToken(admin, "", "incidents")
	seen := map[float64]string{}
	for _, c := range []caller{bob, owner, admin, token, demo} {
		body := m{"plan": "pager", "title": "t", "dedup_key": "disk"}
		made := s.do(c, post, "/v1/incidents", body).is(201)
		id := decode[m](made)["id"].(float64)
		again := decode[m](s.do(c, post, "/v1/incidents", body).is(200))["id"].(float64)
		require.Empty(t, seen[id], "%s got the incident of another", c.name)
		seen[id] = c.name
		require.Equal(t, int64(id), int64(again), "%s has one incident with the key", c.name)
	}
	laptop, _ := s.token(bob, "incidents")
	s.do(laptop, post, "/v1/incidents", m{"plan": "pager", "title": "t",
		"dedup_key": "disk"}).is(200) // the token of a person opens as the person
	require.EqualValues(t, 4, s.number("select count(*) from incidents where opener is not null"))
}
