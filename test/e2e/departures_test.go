package e2e

import (
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// During an escalation, removes objects that the plan needs: contacts, the plan itself, shifts, a role, the team's
// name, people, the team, a vendor, and finally the plan's creator. A fallback is paged if there is one. The timeline
// says who was paged and why, or that nobody could be paged (promise P8).
func TestFallbackIsPagedWhenObjectsAreRemoved(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{})
	s.alarm()
	s.iris(s.env, password+"\n", "user", "add", "eve", "--admin", "--email", "eve@example.com")
	s.login("eve")
	s.edit("ann", http.MethodPost, "/api/v0/teams/ops/rosters", map[string]any{"name": "all"}, nil)
	for _, name := range []string{"ann", "bob"} {
		s.edit("ann", http.MethodPost, "/api/v0/teams/ops/rosters/all/users", map[string]any{"name": name}, nil)
	}
	first := []notification{notify("user", "ann", "low", 4)} // long enough to remove an object
	for name, second := range map[string]notification{
		"named": notify("user", "bob", "high", 0), "duty": notify("oncall-primary", "ops", "low",
			0), "expert": notify("oncall-expert", "ops", "low", 0),
		"phone": notify("user", "ann", "high", 0),
	} {
		if name == "expert" {
			s.edit("ann", http.MethodPost, "/api/v0/roles", map[string]any{"name": "expert"}, nil)
		}
		status, body := s.as("eve", http.MethodPost, "/v0/plans",
			map[string]any{"name": name, "creator": "eve", "description": "d", "threshold_window": 0,
				"threshold_count": 0, "aggregation_window": 0, "aggregation_reset": 0, "steps": [][]notification{first,
					{second}}})
		require.Equal(t, http.StatusCreated, status, body)
	}
	shift := func(user, role string) (path string) {
		var id int64
		now := time.Now().Unix()
		s.edit("ann", http.MethodPost, "/api/v0/events", map[string]any{"team": "ops", "user": user, "role": role,
			"start": now - 60, "end": now + 7200}, &id)
		return fmt.Sprintf("/api/v0/events/%d", id)
	}
	nothing := func() {}
	for _, departure := range []struct {
		what, plan    string
		before, after func() // run before the incident is opened, and after ann was paged
		reached       string // the person whom the second step pages; "" = nobody
		says          string // text of the timeline
	}{
		{"contacts", "named", nothing, func() {
			_, err := s.db.Exec(t.Context(),
				"delete from user_contacts where user_id = (select id from users where name = 'bob')") // deletes the row at once, as an import would
			require.NoError(t, err)
		}, "eve@example.com", "step 2: bob cannot be paged in any mode: there is no sms contact; paging eve by email because there is no sms contact instead (creator of plan named)"},
		{"nothing", "named", func() { s.iris(s.env, "", "contact", "set", "bob", "email", "bob@example.com") }, func() {
			status, body := s.as("eve", http.MethodDelete, "/v0/plans/named", nil)
			require.Equal(t, http.StatusBadRequest, status, "a plan with incidents stays: %s", body)
		}, "bob@example.com", "step 2: paging bob by email because there is no sms contact"},
		{"the only shift", "duty", nothing,
			func() { s.edit("ann", http.MethodDelete, shift("bob", "primary"), nil, nil) },
			"ann@example.com", "step 2: paging ann by email (low, primary of team ops: first in its fixed order)"},
		{"a role", "expert", nothing, func() {
			s.edit("ann", http.MethodDelete, shift("bob", "expert"), nil, nil)
			s.edit("ann", http.MethodDelete, "/api/v0/roles/expert", nil, nil)
		}, "ann@example.com", "step 2: paging ann by email (low, expert of team ops: first in its fixed order)"},
		{"the team's name", "duty", func() { shift("bob", "primary") }, func() {
			s.edit("ann", http.MethodPut, "/api/v0/teams/ops", map[string]any{"name": "platform"}, nil)
		}, "bob@example.com", "step 2: paging bob by email (low, primary of team platform: shift until"},
		{"who is on call", "duty", nothing, func() { s.edit("ann", http.MethodDelete, "/api/v0/users/bob", nil, nil) },
			"eve@example.com", "who is primary of team platform is not active; paging eve by email instead (creator of plan duty)"},
		{"the team", "duty", nothing, func() { s.edit("ann", http.MethodDelete, "/api/v0/teams/platform", nil, nil) },
			"eve@example.com", "team platform is not active; paging eve by email instead (creator of plan duty)"},
		{"a vendor", "phone", nothing, func() {
			s.processors[0].signal(syscall.SIGTERM)
			<-s.processors[0].done
			s.addProcessor("IRIS_TWILIO_ACCOUNT_SID=", "IRIS_TWILIO_AUTH_TOKEN=", "IRIS_TWILIO_FROM=",
				"IRIS_TWILIO_API_URL=")
		}, "ann@example.com", "No vendor for sms is configured. Trying email next."},
		{"everybody", "duty", nothing, func() { s.iris(s.env, "", "user", "disable", "eve", "--force") }, "",
			"this notification reaches NOBODY"},
	} {
		departure.before()
		s.aSecondLater()
		id := s.open(departure.plan, "without "+departure.what)
		s.expect(id, "email", "ann@example.com")
		departure.after()
		// A mode counts as unserved 30 seconds after the last heartbeat of a processor that served it.
		s.eventually(time.Minute, "the plan to end without "+departure.what,
			func() bool { return s.incident(id).Active == 0 })
		s.settled(10 * time.Second)
		var to []string
		for _, e := range s.vendors.Log().Accepted() {
			if e.IncidentID == id {
				to = append(to, e.To)
			}
		}
		want := []string{"ann@example.com"}
		if departure.reached != "" {
			want = append(want, departure.reached)
		}
		var timeline string
		require.NoError(t, s.db.QueryRow(t.Context(),
			"select string_agg(text, E'\n' order by id) from timeline_entries where incident_id = $1", id).Scan(&timeline))
		require.Equal(t, want, to, "without %s", departure.what)
		require.Contains(t, timeline, departure.says, "without %s", departure.what)
	}
}
