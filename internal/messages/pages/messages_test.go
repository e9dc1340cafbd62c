package pages

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/messages"
)

func TestASearchIsAFilter(t *testing.T) {
	t.Parallel()
	asked := func(query string) *http.Request {
		return httptest.NewRequest(http.MethodGet, "/messages?"+query, nil)
	}
	s, f, wrong := read(asked("target=+ann+&body=disk&incident_id=7&from=2026-11-22T09:30&other=x"))
	require.Empty(t, wrong)
	require.Equal(t, messages.Filter{Target: "ann", Text: "disk", IncidentID: 7,
		Period: operation.Period{CreatedAfter: time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC)}}, f)
	require.Equal(t, "body=disk&from=2026-11-22T09%3A30&incident_id=7&target=ann", s.own().Encode())
	for query, text := range map[string]string{
		"incident_id=x":     "incident_id must be a whole number",
		"notification_id=0": "notification_id must be at least 1",
		"to=noon":           "to must be a time, such as 2026-11-22T09:30.",
	} {
		_, _, wrong := read(asked(query))
		require.Equal(t, text, wrong.Text)
		require.Equal(t, http.StatusBadRequest, wrong.Status)
	}
}
