package wire

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// While the database is unavailable, the first failed request is logged and further ones are counted.
func TestRequestsThatFailForTheSameReasonAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		e := NewErrors(zap.New(core))
		fail := func(err error, times int) {
			for range times {
				e.Write(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v0/incidents", nil), err)
			}
		}
		fail(fault.New(fault.Unavailable, "the database cannot be reached"), 500)
		require.Equal(t, 1, logs.Len())
		fail(fault.New(fault.Unavailable, "too many requests wait"), 1)
		fail(fault.New(fault.Internal, "a defect"), 2)
		require.Equal(t, 4, logs.Len(), "other reasons, and each defect")
		logs.TakeAll()
		<-time.After(repeatsEvery + time.Second)
		all := logs.TakeAll()
		require.Len(t, all, 1)
		require.EqualValues(t, 499, all[0].ContextMap()["requests"])
		<-time.After(2 * repeatsEvery)
		require.Empty(t, logs.TakeAll())
		fail(fault.New(fault.Unavailable, "the database cannot be reached"), 1)
		require.Equal(t, "request failed", logs.TakeAll()[0].Message)
		<-time.After(2 * repeatsEvery)
	})
}
