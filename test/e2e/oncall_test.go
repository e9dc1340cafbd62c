package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// csrfToken finds the session's CSRF token in the pages of the calendar.
var csrfToken = regexp.MustCompile(`<meta name="csrf-token" content="([^"]+)">`)

// edit sends a change of the calendar in a person's session, as the pages do, and decodes the answer.
func (s *stage) edit(user, method, path string, in, out any) {
	s.t.Helper()
	status, page := s.as(user, http.MethodGet, "/me", nil)
	require.Equal(s.t, http.StatusOK, status)
	token := csrfToken.FindStringSubmatch(page)
	require.NotNil(s.t, token, page)
	raw, err := json.Marshal(in)
	require.NoError(s.t, err)
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.apiURL+path, bytes.NewReader(raw))
	require.NoError(s.t, err)
	req.Header.Set("X-CSRF-TOKEN", token[1])
	resp, err := s.people[user].Do(req)
	require.NoError(s.t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	require.Less(s.t, resp.StatusCode, 300, "%s %s: %s", method, path, body)
	if out != nil {
		require.NoError(s.t, json.Unmarshal(body, out), string(body))
	}
}

// aSecondLater waits until the caches of calendars have expired, which takes a second.
func (s *stage) aSecondLater() {
	s.t.Helper()
	at := time.Now().Add(1100 * time.Millisecond)
	s.eventually(5*time.Second, "a second to pass", func() bool { return time.Now().After(at) })
}

// foretold returns the first person that a simulation of the plan pages, from the API.
func (s *stage) foretold(plan string) (target, mode string) {
	s.t.Helper()
	status, body := s.as("ann", http.MethodGet, "/v1/plans/"+plan+"/simulation?application=watch", nil)
	require.Equal(s.t, http.StatusOK, status, body)
	var sim struct {
		Pages []struct{ Target, Mode string }
	}
	require.NoError(s.t, json.Unmarshal([]byte(body), &sim))
	require.NotEmpty(s.t, sim.Pages, body)
	return sim.Pages[0].Target, sim.Pages[0].Mode
}

// Pages go to the person of the shift, of an override that began a second ago, and of a swap. A person without a phone
// is skipped, and the timeline says so. The simulation gives the same answers.
func TestPagesFollowTheCalendar(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{})
	s.alarm()
	s.iris(s.env, "", "user", "add", "mute", "--no-password")
	s.edit("ann", http.MethodPost, "/api/v0/teams/ops/rosters", map[string]any{"name": "all"}, nil)
	for _, name := range []string{"ann", "bob", "mute"} {
		s.edit("ann", http.MethodPost, "/api/v0/teams/ops/rosters/all/users", map[string]any{"name": name}, nil)
	}
	now := time.Now().Unix()
	shift := func(user, role string, start, end int64) (id int64) {
		s.edit("ann", http.MethodPost, "/api/v0/events", map[string]any{"team": "ops", "user": user, "role": role,
			"start": start, "end": end}, &id)
		return id
	}
	running := shift("ann", "primary", now-600, now+7200)
	later := shift("bob", "primary", now+7200, now+9000)
	shift("mute", "secondary", now-600, now+7200)
	s.plan("duty", []notification{notify("oncall-primary", "ops", "low", 60)})
	s.plan("second", []notification{notify("oncall-secondary", "ops", "urgent", 60)})
	s.aSecondLater()

	var all []int64
	paged := func(name, address string) {
		t.Helper()
		target, mode := s.foretold("duty")
		require.Equal(t, []string{name, "email"}, []string{target, mode})
		id := s.open("duty", "who is it")
		s.expect(id, "email", address)
		require.Equal(t, 1, s.messagesOf(id))
		all = append(all, id)
	}
	paged("ann", "ann@example.com")

	s.edit("ann", http.MethodPost, "/api/v0/events/override",
		map[string]any{"event_ids": []int64{running}, "start": now - 1, "end": now + 3600, "user": "bob"}, nil)
	s.aSecondLater()
	paged("bob", "bob@example.com")
	require.Contains(t, s.iris(s.env, "", "oncall", "ops", "-o", "plain", "--role", "primary"), "\tbob\n")

	// Swaps the rest of the running shift, which begins in an hour, with the later shift; and the override with a new
	// shift.
	var events []struct {
		ID    int64
		User  string
		Role  string
		Start int64
	}
	s.edit("ann", http.MethodGet, "/api/v0/events?team=ops&role=primary", nil, &events)
	var override int64
	for _, e := range events {
		if e.User == "bob" && e.ID != later && e.Start < now+60 {
			override = e.ID
		}
	}
	require.NotZero(t, override, fmt.Sprint(events))
	anns := shift("ann", "primary", now+9000, now+9600)
	s.edit("ann", http.MethodPost, "/api/v0/events/swap",
		map[string]any{"events": []map[string]any{{"id": override, "linked": false},
			{"id": anns, "linked": false}}}, nil)
	s.aSecondLater()
	paged("ann", "ann@example.com")

	target, mode := s.foretold("second")
	require.Equal(t, []string{"ann", "call"}, []string{target, mode})
	id := s.open("second", "nobody answers")
	s.expect(id, "call", annPhone)
	var text string
	require.NoError(t, s.db.QueryRow(t.Context(),
		"select text from timeline_entries where incident_id = $1 and kind = 'fallback'", id).Scan(&text))
	require.Equal(t, "step 1: mute cannot be paged in any mode: there is no call contact; paging ann by call instead (creator of plan second)", text)
	s.check(append(all, id))
}
