package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// silence adds a silence in ann's session. It has begun when silence returns.
func (s *stage) silence(match string, d time.Duration) (id int64, until time.Time) {
	s.t.Helper()
	status, body := s.as("ann", http.MethodPost, "/v1/silences",
		map[string]any{"match": match, "for_seconds": int(d.Seconds()), "comment": "upgrade of the disks"})
	require.Equal(s.t, http.StatusCreated, status, body)
	var made struct {
		ID int64     `json:"id"`
		To time.Time `json:"to"`
	}
	require.NoError(s.t, json.Unmarshal([]byte(body), &made))
	return made.ID, made.To
}

// hides reports whether the API says that a silence hides an incident.
func (s *stage) hides(silence, incident int64) bool {
	status, body := s.as("ann", http.MethodGet, fmt.Sprintf("/v1/silences/%d/incidents", silence), nil)
	require.Equal(s.t, http.StatusOK, status, body)
	return strings.Contains(body, fmt.Sprintf(`{"id":%d}`, incident))
}

// Alerts of the service db arrive under a silence: nobody is paged. When the silence ends, those that still fire page;
// the one that its source resolved does not.
func TestASilenceHidesAlertsUntilItEnds(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{processors: 2})
	s.alarm()
	s.plan("jobs", []notification{notify("user", "ann", "low", 300)})
	_, token, _ := strings.Cut(s.iris(s.env, "", "integration", "add", "jobs", "--type", "generic", "--application",
		"watch", "--plan", "jobs"), "token: ")
	token, _, _ = strings.Cut(token, "\n")
	post := func(key, service, status string) int64 {
		body := fmt.Sprintf(`{"id":%q,"title":%q,"status":%q,"labels":{"service":%q}}`, key, key, status, service)
		resp, err := http.Post(s.apiURL+"/v1/hooks/generic/"+token, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		_ = resp.Body.Close()
		require.Less(t, resp.StatusCode, 300)
		return int64(s.count("select coalesce(max(incident_id), 0) from incident_contexts where context->>'title' = $1", key))
	}
	silence, until := s.silence(`service="db"`, 12*time.Second)
	var firing []int64
	for k := range 9 {
		firing = append(firing, post(fmt.Sprintf("disk %d full", k), "db", "firing"))
	}
	healed, other := post("slow query", "db", "firing"), post("site down", "web", "firing")
	s.expect(other, "email", "ann@example.com")
	require.True(t, s.hides(silence, firing[0]))
	require.True(t, s.hides(silence, healed))
	require.False(t, s.hides(silence, other))
	require.Contains(t, s.iris(s.env, "", "silence", "show", fmt.Sprint(silence)),
		fmt.Sprintf("hides: incident %d", firing[0]))
	post("disk 0 full", "db", "firing")
	post("slow query", "db", "ok")
	s.silentUntil(until, firing[0])
	paged := func() (ids []int64) {
		for _, id := range firing {
			if s.messagesOf(id) > 0 {
				ids = append(ids, id)
			}
		}
		return ids
	}
	require.Empty(t, paged())

	// They page spread over two minutes. The story waits for the first one.
	s.eventually(40*time.Second, "the first page", func() bool { return len(paged()) > 0 })
	first := paged()[0]
	require.Equal(t, 2, s.count("select count(*) from timeline_entries where incident_id = $1 and kind = 'silenced'",
		first))
	require.Less(t, len(paged()), len(firing))
	require.Zero(t, s.messagesOf(healed))
	require.Equal(t, 1, s.incident(healed).Resolved)
}

// An incident is about to page the second person when somebody silences it.
func TestASilenceStopsARunningIncident(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{})
	s.alarm()
	s.plan("two", []notification{notify("user", "ann", "low", 5)}, []notification{notify("user", "bob", "low", 5)})
	id := s.open("two", "disk full")
	s.expect(id, "email", "ann@example.com")
	made := s.iris(s.env, "", "silence", "add", "--application", "watch", "--match", `title="disk full"`, "--for",
		"1h", "--comment", "we know")
	answered := time.Now()
	s.silentUntil(answered.Add(8*time.Second), id)
	require.Contains(t, s.iris(s.env, "", "silence", "list"), "we know")
	number := strings.TrimSpace(made)
	s.iris(s.env, "", "silence", "set", number, "--for", "2h", "--comment", "still the disks")
	shown := s.iris(s.env, "", "silence", "show", number)
	require.Contains(t, shown, "comment: still the disks")
	require.Contains(t, shown, `application watch`)
	require.Contains(t, shown, fmt.Sprintf("hides: incident %d", id))
	s.iris(s.env, "", "silence", "end", number)
	require.Contains(t, s.iris(s.env, "", "silence", "list", "--over"), "over")
	require.NotContains(t, s.iris(s.env, "", "silence", "list"), "still the disks")
}
