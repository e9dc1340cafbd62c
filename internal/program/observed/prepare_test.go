package observed

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/messages"
)

// ready is a moody vendor that prepares its calls.
type ready struct {
	moody
	prepared int
}

func (r *ready) Connections() int { return 5 }

func (r *ready) Prepare(context.Context, messages.Outbound) (messages.Prepared, messages.Result, bool) {
	r.prepared++
	return unprepared{New(&r.moody, zap.NewNop())}, messages.Result{}, true
}

func TestPrepareReachesTheWrappedVendor(t *testing.T) {
	t.Parallel()
	v := &ready{moody: moody{messages.Result{Outcome: messages.OutcomeSent, Detail: "fine"}}}
	for _, w := range []*Vendor{New(v, zap.NewNop()), New(&v.moody, zap.NewNop())} {
		p, _, ok := w.Prepare(t.Context(), messages.Outbound{})
		require.True(t, ok)
		require.Equal(t, v.result, p.Send(t.Context(), messages.Outbound{}))
	}
	require.Equal(t, 1, v.prepared)
	require.Equal(t, 5, New(v, zap.NewNop()).Connections())
	require.Zero(t, New(&v.moody, zap.NewNop()).Connections())
}
