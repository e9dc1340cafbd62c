package pg_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/messages"
)

func TestSlackMessagesAreFoundByTheirTimeStamps(t *testing.T) {
	t.Parallel()
	c := pgtest.NewCatalog(t)
	_, err := c.Pool().Exec(t.Context(), `
		insert into attempts (message_id, attempt, mode, vendor, destination, process_id, outcome, vendor_message_id, in_doubt) values
			(1, 1, 'slack', 'slack', '#a', 'p', 'sent', '7.1', false), (2, 1, 'slack', 'slack', '#a', 'p', 'unknown', null, true),
			(3, 1, 'slack', 'slack', '#a', 'p', null, null, false), (4, 1, 'slack', 'slack', '#a', 'p', 'rejected', null, false),
			(5, 1, 'sms', 'twilio', '+1', 'p', 'sent', '7.1', false);
		insert into vendor_messages (vendor, vendor_message_id, message_id, attempt, created_at) values ('slack', '7.6', 6, 1, now())`)
	require.NoError(t, err)
	r := pgincidents.NewResponses(c.DB)
	for ts, want := range map[string][]messages.ID{"7.1": {1}, "7.6": {6}, "7.9": {}, "": {}, "\x00": {}} {
		got, err := r.SlackMessages(t.Context(), ts, 1)
		require.NoError(t, err)
		require.Equal(t, want, append([]messages.ID{}, got...), ts)
	}
	for id, want := range map[messages.ID]bool{1: false, 2: true, 3: true, 4: false, 5: false, 6: false, 99: false} {
		unknown, err := r.SlackUnknown(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, want, unknown, id)
	}
}

func TestContextsOfAnApplicationMayContainMarkup(t *testing.T) {
	t.Parallel()
	c, w, incident, request, _ := newWords(t)
	_, err := c.Pool().Exec(t.Context(), `update applications set markup = true where name = 'demo'`)
	require.NoError(t, err)
	found, err := w.Incidents(t.Context(), []incidents.ID{incidents.ID(incident)})
	require.NoError(t, err)
	require.True(t, found[incidents.ID(incident)].Markup)
	requests, err := w.Requests(t.Context(), []int64{request})
	require.NoError(t, err)
	require.True(t, requests[request].Markup)
}
