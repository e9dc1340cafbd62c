package e2e

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// asRole gives a processor its own database role, so that a story can revoke its access to single tables.
func asRole(t *testing.T, env []string, role string) []string {
	t.Helper()
	const name = "IRIS_DATABASE_URL="
	for _, v := range env {
		raw, ok := strings.CutPrefix(v, name)
		if !ok {
			continue
		}
		conn, err := pgx.Connect(t.Context(), raw)
		require.NoError(t, err)
		defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
		_, err = conn.Exec(t.Context(), `create role `+role+
			` login password 'secret'; grant all on all tables in schema public to `+role+`;
			grant all on all sequences in schema public to `+role)
		require.NoError(t, err)
		u, err := url.Parse(raw)
		require.NoError(t, err)
		u.User = url.UserPassword(role, "secret")
		return []string{name + u.String()}
	}
	require.Fail(t, "no database URL")
	return nil
}

// because returns the reason of a page in the timeline of an incident.
func (s *stage) because(incident int64) string {
	s.t.Helper()
	var all string
	require.NoError(s.t, s.db.QueryRow(s.t.Context(),
		"select coalesce(string_agg(text, '; ' order by id), '') from timeline_entries where incident_id = $1", incident).Scan(&all))
	return all
}

// A running processor can no longer read the table of shifts, but can read all other tables. It pages by the last
// calendar that it read, or by the order of the team, and writes this to the timeline. When it can read shifts again,
// it pages by the calendar.
func TestShiftsCannotBeRead(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{ownServer: true,
		each: func(_ int, env []string) []string { return asRole(t, env, "paging") }})
	s.alarm()
	s.iris(s.env, "", "team", "add", "dev", "--member", "bob")
	for _, team := range []string{"ops", "dev"} {
		s.edit("ann", http.MethodPost, "/api/v0/teams/"+team+"/rosters", map[string]any{"name": "all"}, nil)
		for _, name := range []string{"ann", "bob"} {
			s.edit("ann", http.MethodPost, "/api/v0/teams/"+team+"/rosters/all/users", map[string]any{"name": name},
				nil)
		}
	}
	now := time.Now().Unix()
	var running, other int64
	s.edit("ann", http.MethodPost, "/api/v0/events", map[string]any{"team": "ops", "user": "ann", "role": "primary",
		"start": now - 600, "end": now + 7200}, &running)
	s.edit("ann", http.MethodPost, "/api/v0/events", map[string]any{"team": "dev", "user": "ann", "role": "primary",
		"start": now - 600, "end": now + 7200}, &other)
	s.plan("duty", []notification{notify("oncall-primary", "ops", "low", 3600)})
	s.plan("unread", []notification{notify("oncall-primary", "dev", "low", 3600)})
	s.aSecondLater()
	var all []int64
	page := func(plan, address string) string {
		t.Helper()
		id := s.open(plan, "who is it")
		s.expect(id, "email", address)
		require.Equal(t, 1, s.messagesOf(id))
		all = append(all, id)
		return s.because(id)
	}
	require.NotContains(t, page("duty", "ann@example.com"), "cannot be read")

	// The processor cannot read the next change of the calendar.
	_, err := s.db.Exec(t.Context(), "revoke select on shifts from paging")
	require.NoError(t, err)
	s.edit("ann", http.MethodPost, "/api/v0/events/override",
		map[string]any{"event_ids": []int64{running}, "start": now - 1, "end": now + 3600, "user": "bob"}, nil)
	s.aSecondLater()
	require.Regexp(t, "by the calendar as it was at .*, because it cannot be read now", page("duty", "ann@example.com"))
	require.Contains(t, page("unread", "bob@example.com"), "its calendar cannot be read")

	_, err = s.db.Exec(t.Context(), "grant select on shifts to paging")
	require.NoError(t, err)
	s.aSecondLater()
	s.aSecondLater() // after a failure the processor does not read again for a second
	require.NotContains(t, page("duty", "bob@example.com"), "cannot be read")
	require.NotContains(t, page("unread", "ann@example.com"), "cannot be read")
	s.check(all)
}
