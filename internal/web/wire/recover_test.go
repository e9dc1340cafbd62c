package wire

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

func TestPanicsAreAnsweredAndLogged(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zapcore.InfoLevel)
	e := NewErrors(zap.New(core))
	rec := httptest.NewRecorder()
	e.Recover(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("defect") })).
		ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v0/plans", nil))
	require.Equal(t, http.StatusInternalServerError, rec.Code)
	require.NotContains(t, rec.Body.String(), "defect", "that is for the log")
	told := logs.FilterMessage("request panicked").All()
	require.Len(t, told, 1)
	require.Equal(t, "defect", told[0].ContextMap()["panic"])
	require.Contains(t, told[0].ContextMap()["stack"], "TestPanicsAreAnsweredAndLogged")

	require.PanicsWithError(t, http.ErrAbortHandler.Error(), func() {
		e.Recover(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })).
			ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v0/plans",
				nil))
	})
}
