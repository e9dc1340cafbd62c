//go:build browser

package browser

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// integrationsLayout adds hostile data with api and returns pages for TestLayout.
func integrationsLayout(c *client) []layoutPage {
	c.t.Helper()
	var made struct{ Token string }
	at := "/integrations/" + unbroken
	c.call(http.MethodPut, "/v1"+at+"/token", nil, &made)
	deliver(c.t, made.Token, object{"title": odd + " " + unbroken, "labels": object{"team": unbroken}})
	require.Eventually(c.t, func() bool {
		var latest struct{ Items []any }
		c.call(http.MethodGet, "/v1"+at+"/payloads", nil, &latest)
		return len(latest.Items) > 0
	}, 20*time.Second, 100*time.Millisecond, "the delivery is recorded")
	beat := odd + strings.Repeat("b", 60)
	c.call(http.MethodPut, "/v1/integrations/beats", object{"type": "heartbeat", "application": "demo",
		"default_plan": unbroken}, nil)
	c.call(http.MethodPut, "/v1/integrations/beats/heartbeats/"+url.PathEscape(beat),
		object{"every_seconds": 90061, "grace_seconds": 1, "description": unbroken}, nil)
	return []layoutPage{
		{"integration-types", "/add-integration", `td.title`}, {"integration-add",
			"/add-integration?type=generic&application=" + unbroken, `#integration`},
		{"integration-delivery", at + "?preview=1", `.payload[open] .facts`}, {"integration-settings", at +
			"/settings", `#settings`},
		{"integration-rules", at + "/rules?stored=1", `#test .facts`}, {"integration-beats", "/integrations/beats",
			`td.title`},
		{"heartbeats", "/heartbeats", `td.title`}, {"heartbeat", "/integrations/beats/heartbeats/" +
			url.PathEscape(beat), `#heartbeat`},
		{"heartbeat-add", "/integrations/beats/add-heartbeat", `#heartbeat`},
		{"silence-filled", "/silences/new?application=demo&plan=" + unbroken, `#silence`},
	}
}
