package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
)

// Who was paged by e-mail gets an e-mail in the same thread when the source resolves the incident. Who was paged by
// text gets nothing. A resolve that is undone at once notifies nobody.
func TestAResolveAnswersTheMailThatPaged(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{})
	s.alarm()
	s.plan("am", []notification{notify("user", "ann", "low", 600), notify("user", "bob", "high", 600)})
	alert := func(name, status string) {
		payload := fmt.Sprintf(`{"version":"4","groupKey":%[1]q,"status":%[2]q,"receiver":"iris","groupLabels":{"alertname":%[1]q},
			"commonLabels":{"alertname":%[1]q,"iris_plan":"am"},"commonAnnotations":{"summary":"db1 is down"},"externalURL":"http://am","alerts":[
			{"status":%[2]q,"labels":{"alertname":%[1]q},"annotations":{},"startsAt":"2026-11-20T10:00:00Z","fingerprint":"abc"}]}`, name, status)
		resp, err := http.Post(s.apiURL+"/v0/webhooks/alertmanager?application=watch&key="+s.key, "application/json",
			strings.NewReader(payload))
		require.NoError(t, err)
		_ = resp.Body.Close()
		require.Equal(t, http.StatusCreated, resp.StatusCode)
	}
	paged := func(name string) (id int64, page pretend.Entry) {
		alert(name, "firing")
		require.NoError(t, s.db.QueryRow(t.Context(), "select max(id) from incidents").Scan(&id))
		page = s.expect(id, "email", "ann@example.com")
		s.expect(id, "sms", bobPhone)
		s.eventually(10*time.Second, "the outcomes to be recorded", func() bool {
			return s.count("select count(*) from messages where incident_id = $1 and state not in ('sent', 'delivered')", id) == 0
		})
		return id, page
	}
	notices := func() []pretend.Entry {
		return s.accepted(func(e pretend.Entry) bool { return strings.Contains(e.Subject+e.Body, "Resolved") })
	}

	undone, _ := paged("Undone")
	alert("Undone", "resolved")
	s.must(http.MethodPost, fmt.Sprintf("/v0/incidents/%d/resolve", undone),
		map[string]any{"resolved": false}) // within the grace time
	require.Equal(t, 1, s.count("select count(*) from messages where purpose = 'resolved-notice' and state = 'cancelled'"))
	s.must(http.MethodPost, fmt.Sprintf("/v0/incidents/%d/resolve", undone),
		map[string]any{"resolved": true}) // ann knows it
	id, page := paged("Down")
	alert("Down", "resolved")
	s.eventually(30*time.Second, "the notice", func() bool { return len(notices()) > 0 })
	n := notices()[0]
	require.Equal(t, "ann@example.com", n.To)
	require.Equal(t, "[watch] Resolved: ", n.Subject[:18])
	require.NotEmpty(t, page.Headers["References"])
	require.Equal(t, page.Headers["References"], n.Headers["References"], "the same thread")
	require.Equal(t, page.Headers["In-Reply-To"], n.Headers["In-Reply-To"])
	require.NotContains(t, n.Body, "/ack/", "there is nothing to acknowledge")
	s.settled(20 * time.Second)
	require.Len(t, notices(), 1)
	s.check([]int64{id, undone})
}
