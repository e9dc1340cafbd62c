package wire_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/wire"
)

func TestFreshReadsOnceForManyAndNeverAnswersFromBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var stored, reads atomic.Int64
		f := wire.NewFresh(func(_ context.Context, _ string) (int64, error) {
			reads.Add(1)
			v := stored.Load()
			<-time.After(10 * time.Millisecond)
			return v, nil
		})
		var wg sync.WaitGroup
		for i := range 300 {
			wg.Go(func() {
				<-time.After(time.Duration(i) * time.Millisecond / 3)
				before := stored.Add(1)
				got, err := f.Get(t.Context(), "k")
				require.NoError(t, err)
				require.GreaterOrEqual(t, got, before, "what was stored before the question is in the answer")
			})
		}
		wg.Wait()
		require.LessOrEqual(t, reads.Load(), int64(13))
		got, err := f.Get(t.Context(), "k")
		require.NoError(t, err)
		require.EqualValues(t, 300, got)
	})
}
