package intake_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake"
)

// inGroup is an event with a payload, as an alert of a group.
func inGroup(t *testing.T, key, title, severity string, labels map[string]string, payload string) incidents.GroupAlert {
	t.Helper()
	e := intake.Event{Status: intake.Firing, Key: key, Title: title, Severity: intake.Severity(severity), Labels: labels,
		Context: json.RawMessage(payload)}
	context, err := intake.ContextOf(e, "prod", e.Severity)
	require.NoError(t, err)
	return intake.InGroup(e, e.Severity, context)
}

func TestTheContextOfAGroupHasWhatAllItsEventsHaveInCommon(t *testing.T) {
	t.Parallel()
	one := inGroup(t, "a", "disk full", "warning", map[string]string{"cluster": "x", "host": "db1"}, `{"host": "db1", "site": "fra"}`)
	two := inGroup(t, "b", "no memory", "critical", map[string]string{"cluster": "x", "host": "db2"}, `{"host": "db2", "site": "fra"}`)
	context, err := one.Context()
	require.NoError(t, err)
	title := func() string { return incidents.Incident{Context: context}.Title() }
	require.Equal(t, "disk full", title())
	context, err = two.Join(context)
	require.NoError(t, err)
	require.Equal(t, "disk full (and 1 more)", title())
	context, err = two.Join(context)
	require.NoError(t, err)
	require.JSONEq(t, `{"site": "fra", "severity": "critical", "labels": {"cluster": "x"}, "integration": "prod", "commonLabels": {"cluster": "x"},
		"mixed_labels": ["host", "severity", "title"], "alerts": [
			{"status": "firing", "fingerprint": "a", "labels": {"cluster": "x", "host": "db1", "severity": "warning"}, "annotations": {"summary": "disk full"}},
			{"status": "firing", "fingerprint": "b", "labels": {"cluster": "x", "host": "db2", "severity": "critical"}, "annotations": {"summary": "no memory"}}
		]}`, string(context))
	ended := one.End(context)
	require.Equal(t, strings.Replace(string(context), `{"status":"firing","fingerprint":"a"`, `{"status":"resolved","fingerprint":"a"`, 1), string(ended))
	require.Equal(t, `{}`, string(one.End(json.RawMessage(`{}`))))
}

func TestManyMixedLabelsAreAll(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for k := range 500 {
		many[fmt.Sprint("a label with a long name ", k)] = "x"
	}
	context, err := inGroup(t, "a", "t", "error", many, `{}`).Context()
	require.NoError(t, err)
	for _, key := range []string{"b", "c"} {
		context, err = inGroup(t, key, "t", "error", nil, `{}`).Join(context)
		require.NoError(t, err)
		_, all := incidents.Mixed(context)
		require.True(t, all, key)
	}
}

func TestTheContextOfALargeGroupIsBounded(t *testing.T) {
	t.Parallel()
	context := json.RawMessage(`{}`)
	for k := range 200 {
		var err error
		context, err = inGroup(t, fmt.Sprint(k), strings.Repeat("x", 1000), "error", nil, `{}`).Join(context)
		require.NoError(t, err)
	}
	require.LessOrEqual(t, incidents.JSONSize(context), incidents.MaxContext)
	var c struct{ TruncatedAlerts int }
	require.NoError(t, json.Unmarshal(context, &c))
	require.Positive(t, c.TruncatedAlerts)
}
