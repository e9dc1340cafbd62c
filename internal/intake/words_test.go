package intake_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/intake"
)

func TestWordsOfStates(t *testing.T) {
	t.Parallel()
	for status, words := range map[intake.Status]string{
		intake.Resolved: "cleared healthy passed passing fixed inactive completed succeeded done online available solved " +
			"deactivated normal_resolve Normal-Resolve OK UP Resolved",
		intake.Acknowledged: "ack ACKNOWLEDGED acknowledge",
		intake.Firing:       "firing ALARM in_alarm triggered down CRITICAL no-data problem unhealthy offline unavailable",
	} {
		for word := range strings.FieldsSeq(words) {
			got, known := intake.StatusOf(word)
			require.True(t, known, word)
			require.Equal(t, status, got, word)
		}
	}
	for word, known := range map[string]bool{"": true, "  ": true, "gelöst": false, "not ok": false, "unresolved": false, "503": false} {
		got, is := intake.StatusOf(word)
		require.Equal(t, intake.Firing, got, "a state in doubt fires: %q", word)
		require.Equal(t, known, is, word)
	}
}

func TestWordsOfSeverities(t *testing.T) {
	t.Parallel()
	for severity, words := range map[intake.Severity]string{
		intake.Critical: "P0 p1 Sev0 emerg alert urgent blocker highest CRITICAL",
		intake.Error:    "high severe Sev1 P2 major",
		intake.Warning:  "moderate Sev2 P3 medium",
		intake.Info:     "informational Sev3 Sev4 P4 P5 low",
	} {
		for word := range strings.FieldsSeq(words) {
			got, known := intake.SeverityOf(word)
			require.True(t, known, word)
			require.Equal(t, severity, got, word)
		}
	}
	got, known := intake.SeverityOf("catastrophic")
	require.Empty(t, got)
	require.False(t, known)
}

func TestUnknownWordsAreShown(t *testing.T) {
	t.Parallel()
	var e intake.Event
	e.SayStatus("gelöst")
	e.SaySeverity("catastrophic" + strings.Repeat("!", 1000))
	require.Equal(t, intake.Firing, e.Status)
	require.Empty(t, e.Severity)
	require.Contains(t, e.FailureText(), `the status "gelöst" is unknown: the alert is taken as firing`)
	require.Contains(t, e.FailureText(), `the severity "catastrophic`)
	require.Less(t, len(e.FailureText()), 300, "a sender cannot fill the timeline")
	e = intake.Event{}
	e.SayStatus("")
	e.SaySeverity("")
	require.Empty(t, e.FailureText())
}
