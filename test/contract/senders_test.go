package contract

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// Senders authenticate with the token of their integration.
func TestSendersReadAndPing(t *testing.T) {
	t.Parallel()
	s := newForRights(t)
	s.integrations()
	for _, method := range []string{get, post, put} {
		s.do(anonymous, method, "/v1/hooks/heartbeat", nil, "Authorization", "Bearer heartbeat-token").is(http.StatusOK)
	}
	s.do(anonymous, post, "/v2/alerts", m{"message": "disk", "alias": "disk"}, "Authorization",
		"GenieKey opsgenie-token").is(http.StatusAccepted)
	for _, part := range []string{"notes", "logs", "recipients"} {
		s.do(anonymous, get, "/v2/alerts/disk/"+part+"?identifierType=alias", nil, "Authorization",
			"GenieKey opsgenie-token").is(200)
	}
	a := s.do(anonymous, get, "/v2/alerts/disk?identifierType=alias", nil, "Authorization",
		"GenieKey opsgenie-token").is(http.StatusOK)
	require.Contains(t, a.body, `"alias":"disk"`)
}
