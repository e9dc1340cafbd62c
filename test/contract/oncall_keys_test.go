package contract

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOncallCalendarKeys(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	const user, team = "/api/v0/ical_key/user/bob", "/api/v0/ical_key/team/ops"
	s.do(bob, get, user, nil).is(404)
	first := s.do(bob, post, user, nil).is(201).body
	require.Regexp(t, "^[0-9a-f-]{36}$", first)
	require.Equal(t, first, s.do(bob, get, user, nil).is(200).body)
	second := s.do(bob, post, user, nil).is(201).body
	require.NotEqual(t, first, second)
	s.do(anonymous, get, "/api/v0/ical/"+first, nil).is(404)
	feed := s.do(anonymous, get, "/api/v0/ical/"+second, nil).is(200)
	require.Contains(t, feed.body, "BEGIN:VCALENDAR\r\n")
	s.do(owner, get, user, nil).refuses(403, "Unauthorized",
		`Action not allowed: "ann" is not allowed to view ical_key of "bob"`)
	s.do(scheduler, get, user, nil).is(403)
	shared := s.do(bob, post, team, nil).is(201).body
	require.Equal(t, shared, s.do(bob, get, team, nil).is(200).body)
	s.do(bob, post, "/api/v0/ical_key/team/none", nil).refuses(400, "Invalid team name",
		`Team "none" does not exist or is inactive`)
	require.Equal(t, "ops", decode[[]m](s.do(bob, get, "/api/v0/ical_key/key/"+shared, nil).is(200))[0]["name"])
	s.do(owner, get, "/api/v0/ical_key/key/"+shared, nil).is(403)
	s.do(admin, get, "/api/v0/ical_key/key/"+shared, nil).is(200)
	s.do(bob, get, "/api/v0/ical_key/key/none", nil).is(404)
	require.Len(t, decode[[]m](s.do(bob, get, "/api/v0/ical_key/requester/bob", nil).is(200)), 2)
	s.do(owner, get, "/api/v0/ical_key/requester/ann", nil).is(404)
	s.do(bob, del, "/api/v0/ical_key/key/"+shared, nil).empty(200)
	s.do(bob, del, user, nil).empty(200)
	s.do(bob, post, team, nil).is(201)
	s.do(bob, del, team, nil).empty(200)
	s.do(bob, post, team, nil).is(201)
	s.do(bob, del, "/api/v0/ical_key/requester/bob", nil).empty(200)
	s.do(anonymous, get, "/api/v0/ical/"+second, nil).is(404)
	for _, path := range []string{"/api/v0/users/bob/ical", "/api/v0/teams/ops/ical", "/api/v0/users/zoe/ical"} {
		a := s.do(scheduler, get, path, nil).is(200)
		require.Contains(t, a.header.Get("Content-Type"), "text/calendar")
		require.NotEmpty(t, a.header.Get("ETag"))
	}
}

func TestOncallEscalate(t *testing.T) {
	t.Parallel()
	s := newCalendar(t, configured(t, "oncall: {escalate_application: demo, urgent_plan: pager}\n"))
	require.Equal(t, true, decode[m](s.do(scheduler, get, "/api/v0/iris_settings", nil).is(200))["activated"])
	const path = "/api/v0/teams/ops/iris_escalate"
	s.do(bob, post, path, m{"description": ""}).refuses(400, "Iris escalation failed",
		"Escalation cannot have an empty description")
	s.do(bob, post, path, m{"description": "x", "plan": "magic"}).refuses(400, "Iris escalation failed",
		"Invalid escalation plan")
	s.do(owner, put, "/api/v0/teams/ops", m{"iris_plan": "pager", "iris_enabled": true}).empty(200)
	id := s.do(bob, post, path, m{"description": "help"}).is(200).body
	require.EqualValues(t, 1, s.number("select count(*) from incidents where id = $1::bigint and active",
		strings.TrimSpace(id)))
	s.do(scheduler, post, path, m{"description": "help", "plan": "urgent"}).is(200)
	s.do(bob, post, path, m{"description": "help", "plan": "medium"}).refuses(400, "Iris escalation failed",
		"Invalid escalation plan")
	s.do(anonymous, post, path, m{"description": "help"}).is(401)
	off := newCalendar(t)
	off.do(scheduler, get, "/api/v0/iris_settings", nil).says(200, `{"activated": false}`)
}
