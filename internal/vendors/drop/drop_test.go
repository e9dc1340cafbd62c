package drop_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors/drop"
)

func TestSend(t *testing.T) {
	t.Parallel()
	v, err := drop.New(drop.Config{})
	require.NoError(t, err)
	var _ messages.Vendor = v
	require.Equal(t, "drop", v.Name())
	require.Equal(t, "main", v.Account())
	require.Equal(t, []users.Mode{users.Drop}, v.Modes())
	require.Equal(t, messages.OutcomeSent, v.Send(t.Context(), messages.Outbound{}).Outcome)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, messages.OutcomeCancelled, v.Send(ctx, messages.Outbound{}).Outcome)
	require.Equal(t, messages.NotBegun(), v.Send(t.Context(),
		messages.Outbound{BeginBefore: time.Now().Add(-time.Millisecond)}))
	v.Close()
}
