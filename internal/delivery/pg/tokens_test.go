package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
)

// A person who reads a copy of the database must not be able to acknowledge: stored texts contain no link tokens. This
// includes texts that an earlier release stored.
func TestStoredMessagesHoldNoLinkTokens(t *testing.T) {
	t.Parallel()
	const link = "see https://iris.example/ack/AQNhY2sCAgICAgICAgICAgICAg-_x and https://iris.example/ack/AQNhY2sDAwMDAwMDAwMDAwM"
	e := pgtest.NewEscalating(t)
	plan := e.Plan("pair", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour})
	e.Open(plan)
	e.Pass()
	queue := pg.New(e.DB)
	begun := pgtest.Starts(pgtest.TakeMessages(e, queue))
	require.Len(t, begun, 1)
	begun[0].Subject, begun[0].Body, begun[0].EmailHTML = "s", link, `<a href="`+link+`">x</a>`
	marked, err := queue.MarkSending(e.Ctx(), "me", begun)
	require.NoError(t, err)
	require.Len(t, marked, 1)
	var body, html string
	read := func() {
		require.NoError(t, e.DB.Pool().QueryRow(e.Ctx(), "select body, email_html from message_contents").Scan(&body,
			&html))
	}
	read()
	require.Equal(t, "see https://iris.example/ack/... and https://iris.example/ack/...", body)
	require.NotContains(t, html, "AQNhY2s")
	e.Exec("update message_contents set body = $1", link) // as an earlier release stores it
	e.Exec("update message_contents set body = without_link_tokens(body)")
	read()
	require.Equal(t, "see https://iris.example/ack/... and https://iris.example/ack/...", body)
}
