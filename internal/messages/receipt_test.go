package messages_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/messages"
)

func TestUndeliveredMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		outcome  messages.Outcome
		open     bool
		attempts int
		want     messages.Undelivered
	}{
		{messages.OutcomeUnavailable, true, 1, messages.Undelivered{Retry: 20 * time.Second}},
		{messages.OutcomeUnavailable, true, 2, messages.Undelivered{Retry: 20 * time.Second}},
		{messages.OutcomeUnavailable, true, 3, messages.Undelivered{}},
		{messages.OutcomeRejected, true, 1, messages.Undelivered{}},
		{messages.OutcomeUnavailable, false, 1, messages.Undelivered{Failed: true}},
		{messages.OutcomeRejected, false, 1, messages.Undelivered{Failed: true}},
	} {
		r := messages.Receipt{Outcome: c.outcome}
		require.True(t, r.NotDelivered())
		require.Equal(t, c.want, r.Undelivered(c.open, c.attempts), "%+v", c)
	}
	require.False(t, messages.Receipt{Outcome: messages.OutcomeSent}.NotDelivered())
}
