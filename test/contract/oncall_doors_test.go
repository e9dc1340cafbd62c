package contract

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A role that shifts use stays, on the page and at /v1. Oncall deletes it with its shifts, so /api/v0 does too.
func TestARoleInUseStays(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	used := func() int64 { return s.number("select count(*) from shifts") }
	add := func() {
		s.do(scheduler, post, "/v1/on-call-roles", m{"name": "night"}).is(204)
		s.event("ann", "night", time.Now().Unix()+day, time.Now().Unix()+2*day)
	}
	add()
	require.EqualValues(t, 1, used())
	s.do(scheduler, del, "/v1/on-call-roles/Night", nil).is(409)
	require.Contains(t, s.post(admin, "/on-call-roles", "form", "delete", "name", "night").is(409).body, "use the role")
	require.EqualValues(t, 1, used())
	s.do(scheduler, del, "/v1/on-call-roles/night?force=true", nil).is(204)
	require.Zero(t, used())
	add()
	s.do(scheduler, del, "/api/v0/roles/night", nil).empty(200)
	require.Zero(t, used())
	s.do(scheduler, del, "/v1/on-call-roles/night", nil).is(404)
	s.do(scheduler, post, "/v1/on-call-roles", m{"name": "idle"}).is(204)
	s.do(scheduler, del, "/v1/on-call-roles/idle", nil).is(204)
}

// An administrator who may only read sees and closes no feed of somebody else, at no door.
func TestFeedsAreNotForReadOnlyAdministrators(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	key := s.do(bob, post, "/api/v0/ical_key/user/bob", nil).is(201).body
	s.exec("update users set admin = true where name = 'viewer'")
	for _, path := range []string{"/v1/users/bob/calendar-feeds", "/api/v0/ical_key/requester/bob"} {
		a := s.do(viewer, get, path, nil).is(403)
		require.NotContains(t, a.body, key)
		s.do(viewer, del, path, nil).is(403)
		require.Contains(t, s.do(admin, get, path, nil).is(200).body, key)
	}
	require.NotContains(t, s.do(viewer, get, "/people/bob/reminders", nil).body, key)
	require.Contains(t, s.do(admin, get, "/people/bob/reminders", nil).is(200).body, key)
	for _, path := range []string{"/v1/calendar-feeds/", "/api/v0/ical_key/key/"} {
		s.do(viewer, del, path+url.PathEscape(key), nil).is(403)
	}
	s.do(anonymous, get, "/api/v0/ical/"+key, nil).is(200)
}

// The page of teams, /v1 and /api/v0 accept every time zone for a new team.
func TestANewTeamMayHaveAnyTimeZone(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.post(admin, "/reachability", "form", "create", "name", "vienna", "time_zone", "Europe/Vienna").is(303)
	s.do(bob, post, "/v1/teams", m{"name": "prague", "time_zone": "Europe/Prague"}).is(201)
	s.do(bob, post, "/api/v0/teams", m{"name": "oslo", "scheduling_timezone": "Europe/Oslo"}).is(201)
	s.post(admin, "/reachability", "form", "create", "name", "atlantis", "time_zone", "Europe/Atlantis").is(400)
	s.do(bob, post, "/v1/teams", m{"name": "atlantis", "time_zone": "Europe/Atlantis"}).problem(400, "time_zone")
}
