package e2e

import (
	"context"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A program pings, stops, and pings again: one incident, one page, resolved. Two processors run; the one that reported
// the miss may be gone.
func TestAHeartbeatThatStopsOpensAnIncident(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{processors: 2})
	s.alarm()
	s.plan("jobs", []notification{notify("user", "ann", "low", 60)})
	added := s.iris(s.env, "", "integration", "add", "jobs", "--type", "heartbeat", "--application", "watch", "--plan",
		"jobs", "--severity", "critical")
	_, token, found := strings.Cut(added, "token: ")
	require.True(t, found, added)
	token, _, _ = strings.Cut(token, "\n")
	require.Contains(t, s.iris(s.env, "", "heartbeat", "add", "jobs", "backup", "--every", "3s", "--grace", "1s"),
		"/v1/hooks/heartbeat/backup")
	ping := func() {
		t.Helper()
		resp, err := http.Get(s.apiURL + "/v1/hooks/heartbeat/" + token + "/backup")
		require.NoError(t, err)
		_ = resp.Body.Close()
		require.Equal(t, http.StatusOK, resp.StatusCode)
	}
	// It lives for longer than its interval.
	alive, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()
	for alive.Err() == nil {
		ping()
		select {
		case <-alive.Done():
		case <-time.After(time.Second):
		}
	}
	require.Zero(t, s.count("select count(*) from incidents"))
	require.Contains(t, s.iris(s.env, "", "heartbeat", "list", "jobs"), "alive")

	// No API server can receive pings for three intervals. Then the heartbeat has its whole interval again. The checks
	// above may have taken long, so the interval begins anew first.
	ping()
	s.api.signal(syscall.SIGSTOP)
	require.Never(t, func() bool { return s.count("select count(*) from incidents") > 0 }, 12*time.Second,
		200*time.Millisecond)
	s.api.signal(syscall.SIGCONT)
	resumed := time.Now()
	ping()

	// It stops.
	s.eventually(15*time.Second, "an incident", func() bool { return s.count("select count(*) from incidents") == 1 })
	require.Greater(t, time.Since(resumed), 4*time.Second)
	id := int64(s.count("select id from incidents"))
	mail := s.expect(id, "email", "ann@example.com")
	require.Contains(t, mail.Subject, "Heartbeat backup missed")
	s.eventually(5*time.Second, "the heartbeat to be missed", func() bool {
		return strings.Contains(s.iris(s.env, "", "heartbeat", "list"), "missed")
	})

	// It is seen again, after the death of a processor.
	s.processors[0].signal(syscall.SIGKILL)
	s.eventually(20*time.Second, "the incident to be resolved", func() bool {
		ping()
		return s.incident(id).Resolved == 1
	})
	require.Equal(t, 1, s.count("select count(*) from incidents"))
	require.Equal(t, 1, s.messagesOf(id))
	require.Equal(t, 1, s.count("select count(*) from timeline_entries where incident_id = $1 and kind = 'resolved' and actor = 'integration jobs'", id))
}
