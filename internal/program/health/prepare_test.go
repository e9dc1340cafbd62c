package health

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/messages"
)

// vendorsReady is a moody vendor that prepares its calls.
type vendorsReady struct {
	moody
	prepared int
}

func (r *vendorsReady) Connections() int { return 5 }

func (r *vendorsReady) Prepare(context.Context, messages.Outbound) (messages.Prepared, messages.Result, bool) {
	r.prepared++
	return unprepared{Observe(&r.moody, zap.NewNop())}, messages.Result{}, true
}

func TestPrepareReachesTheWrappedVendor(t *testing.T) {
	t.Parallel()
	v := &vendorsReady{moody: moody{messages.Result{Outcome: messages.OutcomeSent, Detail: "fine"}}}
	for _, w := range []*Vendor{Observe(v, zap.NewNop()), Observe(&v.moody, zap.NewNop())} {
		p, _, ok := w.Prepare(t.Context(), messages.Outbound{})
		require.True(t, ok)
		require.Equal(t, v.result, p.Send(t.Context(), messages.Outbound{}))
	}
	require.Equal(t, 1, v.prepared)
	require.Equal(t, 5, Observe(v, zap.NewNop()).Connections())
	require.Zero(t, Observe(&v.moody, zap.NewNop()).Connections())
}
