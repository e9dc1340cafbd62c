package contract

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatIsReadCanBeWrittenBack reads an object of each kind and writes what it has read: nothing may be refused, and
// nothing may change. Files and scripts live from it.
func TestWhatIsReadCanBeWrittenBack(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.integrations()
	s.roster()
	s.exec("update teams set time_zone = 'Europe/Zurich' where name = 'ops'")
	hours := []m{{"days": []string{"sat", "sun"}, "from": "09:00", "to": "17:00"}, {}}
	page := func(changes ...m) m {
		return changed(m{"target": m{"role": "user", "name": "ann"}, "priority": "high", "template": "words",
			"wait_seconds": 60, "repeat": 1}, changes...)
	}
	made := func(as caller, method, path string, body m) {
		a := s.do(as, method, path, body)
		require.Contains(t, []int{200, 201}, a.status, "%s %s: %s", method, path, a.body)
	}
	made(bob, post, "/v1/plans", m{"name": "full", "description": "d", "steps": [][]m{
		{page(), page(m{"target": m{"role": "team", "name": "ops"}, "optional": true, "template": nil})},
		{page()}, {page()}, {page(m{"target": nil, "dynamic_index": 0})},
	}, "conditions": []m{{"step": 1, "windows": hours, "team": "ops"}, {"step": 2, "windows": hours, "zone": "Asia/Tokyo"},
		{"step": 3, "windows": hours}}, "flood": m{"threshold_count": 5, "threshold_window_seconds": 60}})
	made(bob, put, "/v1/plans/full/fallback", m{"role": "user", "target": "ann"})
	made(owner, post, "/v1/teams/ops/rotations", m{"name": "daily", "role": "primary", "roster": "r", "layers": []m{
		{"start": "2036-11-30T09:00", "every": 1, "unit": "days", "members": []m{{"user": "ann"}, {"user": "bob"}}}},
		"auto_populate_threshold": 14})
	for _, one := range []struct {
		as       caller
		path     string
		readOnly string // members of the answer that Iris sets, or that have a route of their own
	}{
		{bob, "/v1/plans/full", "id name created_at creator may_edit paused team active fallback"},
		{bob, "/v1/plans/full/settings", ""},
		{bob, "/v1/plans/full/fallback", ""},
		{bob, "/v1/plans/full/owner", ""},
		{owner, "/v1/templates/words", "id name created_at creator may_edit team active plans"},
		{owner, "/v1/applications/demo", "id name created_at may_edit team has_second_key"},
		{admin, "/v1/applications/demo", "id name created_at may_edit team has_second_key"},
		{owner, "/v1/applications/demo/owner", ""},
		{owner, "/v1/integrations/generic", "id name created_at created_by may_edit team address secrets tokens activity"},
		{owner, "/v1/integrations/heartbeat", "id name created_at created_by may_edit team address secrets tokens activity"},
		{owner, "/v1/integrations/heartbeat/heartbeats/default",
			"id name integration created_at created_by state last_ping_at deadline missed_at failure incident_id running_since last_run_seconds"},
		{owner, "/v1/rotations/1", "id team timezone"},
		{owner, "/v1/teams/ops", "members managed_members admins"},
		{owner, "/v1/teams/ops/rosters/r", "id team"},
		{owner, "/v1/users/ann/settings", ""},
		{owner, "/v1/users/ann/quiet-limits", ""},
		{owner, "/v1/users/ann/notification-rules", ""},
		{admin, "/v1/users/ann", "name modes managed_by last_login_at teams time_zone"},
	} {
		read := s.do(one.as, get, one.path, nil)
		require.Equal(t, http.StatusOK, read.status, "%s: %s", one.path, read.body)
		var object m
		require.NoError(t, json.Unmarshal([]byte(read.body), &object))
		var state []string
		if tag := read.header.Get("ETag"); tag != "" {
			state = []string{"If-Match", tag}
		}
		written := s.do(one.as, put, one.path, without(object, strings.Fields(one.readOnly)...), state...)
		if !assert.Equal(t, http.StatusOK, written.status, "%s: %s\n%s", one.path, written.body, read.body) {
			continue
		}
		again := s.do(one.as, get, one.path, nil)
		var after m
		require.NoError(t, json.Unmarshal([]byte(again.body), &after))
		assert.Equal(t, without(object, "id", "created_at", "created_by", "version"),
			without(after, "id", "created_at", "created_by", "version"), one.path)
	}
}

func without(object m, members ...string) m {
	out := m{}
	for k, v := range object {
		out[k] = v
	}
	for _, k := range members {
		delete(out, k)
	}
	return out
}
