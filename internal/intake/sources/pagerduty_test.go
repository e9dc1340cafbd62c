package sources

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/intake"
)

// The list of Alertmanager 0.30 and the text of older releases and of Grafana say the same.
func TestAlertsInTheDetailsOfPagerDuty(t *testing.T) {
	t.Parallel()
	event := func(details string) intake.Event {
		events, err := PagerDuty(request(`{"event_action":"trigger","dedup_key":"k","payload":{"summary":"s","custom_details":` + details + `}}`))
		require.NoError(t, err)
		return events[0]
	}
	list := event(`{"firing":[{"status":"firing","labels":{"alertname":"Disk","instance":"db7"},"annotations":{"summary":"95 %"},"fingerprint":"6f85a8943c77b069"},
		{"status":"firing","labels":{"alertname":"Disk","instance":"db8"},"fingerprint":"6f9da8943c8c424a"}],"num_firing":2,"resolved":[{"labels":{"alertname":"Disk","instance":"db9"},"fingerprint":"6f99a8943c885973"}]}`)
	require.Len(t, list.Alerts, 3)
	require.False(t, list.Alerts[2].Firing)
	for name, details := range map[string]string{
		"Alertmanager": `{"firing":"Labels:\n - alertname = Disk\n - instance = db7\nAnnotations:\n - summary = 95 %\nSource: https://p.example/\nLabels:\n - alertname = Disk\n - instance = db8\nAnnotations:\nSource: \n",
			"resolved":"Labels:\n - alertname = Disk\n - instance = db9\nAnnotations:\nSource: \n"}`,
		"Grafana": `{"firing":"\nValue: A=1\nLabels:\n - alertname = Disk\n - instance = db7\nAnnotations:\n - summary = 95 %\nSource: https://g.example/\nSilence: https://g.example/s\n\nValue: A=2\nLabels:\n - alertname = Disk\n - instance = db8\nAnnotations:\n",
			"resolved":"\r\nValue: A=0\r\nLabels:\r\n - alertname = Disk\r\n - instance = db9\r\nAnnotations:\r\n"}`,
	} {
		text := event(details)
		require.Equal(t, list.Alerts, text.Alerts, name)
		require.Equal(t, list.Labels, text.Labels, name)
	}
	for name, text := range map[string]string{
		"a sentence": "two disks", "no labels": "Labels:\nAnnotations:\nSource: x", "only pairs": " - a = b", "annotations first": "Annotations:\n - a = b\nSource: x",
	} {
		require.Empty(t, textAlerts(text, "firing"), name)
	}
	require.Len(t, textAlerts(strings.Repeat("Labels:\n - a = b\n", 2*maxTextAlerts), "firing"), maxTextAlerts)
}
