package jobs

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

func TestQueuesAreExported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Bool
		reg := prometheus.NewRegistry()
		g := NewQueueGauges(func(context.Context) ([]messages.QueueDepth, error) {
			if away.Load() {
				return nil, errors.New("away")
			}
			return []messages.QueueDepth{
				{Mode: users.SMS, Application: "shop", Class: messages.ClassUrgent, Waiting: 3, InFlight: 1,
					OldestAge: 90 * time.Second},
				{Mode: users.SMS, Application: "shop", Class: messages.ClassRoutine, Waiting: 2,
					OldestAge: time.Second},
			}, nil
		}, reg)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- g.Run(ctx) }()
		synctest.Wait()
		require.NoError(t, testutil.GatherAndCompare(reg, strings.NewReader(`
# HELP iris_app_queue_messages Messages of the whole cluster that wait for delivery.
# TYPE iris_app_queue_messages gauge
iris_app_queue_messages{application="shop",mode="sms"} 5
# HELP iris_app_queue_oldest_seconds Age of the oldest message of the whole cluster that waits for delivery.
# TYPE iris_app_queue_oldest_seconds gauge
iris_app_queue_oldest_seconds{application="shop",mode="sms"} 90
`)))
		away.Store(true)
		<-time.After(queuesEvery)
		synctest.Wait()
		require.Zero(t, testutil.CollectAndCount(g.waiting), "what is not known is not exported")
		stop()
		require.NoError(t, <-ended)
	})
}
