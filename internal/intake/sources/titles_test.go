package sources

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/intake"
)

func TestAPayloadWithoutATitleHasOne(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"data":{"essentials":{"alertRule":"cpu","severity":"Sev1"},"alert_name":"CPU is high"}}`: "CPU is high",
		`{"id":"0f8fad5b-d9cb-469f-a165-70867728950e","check":{"Display-Name":"Disk of db-1"}}`:    "Disk of db-1",
		`{"events":[{"kind":"quota"},{"subject":"Quota is used up"}]}`:                             "Quota is used up",
		`{"at":"2026-11-29T10:00:00Z","host":"db-1","problem_class":["disk"],"n":5,"ok":false}`:    "db-1, disk",
		`{"value":12}`:              "",
		`{"a":{"b":[[{"c":"x"}]]}}`: "x",
	} {
		title, first := titleOf([]byte(body))
		require.Equal(t, want, cmp.Or(title, first), body)
	}
}

func TestARecoveryFindsTheIncidentByATitleInside(t *testing.T) {
	t.Parallel()
	decode := func(body string) intake.Event {
		found, err := Generic(intake.Request{Header: func(string) string { return "" }, Query: func(string) string { return "" },
			Body: []byte(body)})
		require.NoError(t, err)
		return found[0]
	}
	fired, fixed := decode(`{"status":"failed","job":{"name":"nightly backup"}}`), decode(`{"status":"fixed","job":{"name":"nightly backup"}}`)
	require.Equal(t, "nightly backup", fired.Title)
	require.Equal(t, intake.Resolved, fixed.Status)
	require.NotEmpty(t, fired.Key)
	require.Equal(t, fired.Key, fixed.Key)
	require.Empty(t, decode(`{"a":"one","b":"two"}`).Key, "texts that may change identify nothing")
	require.Equal(t, "one, two", decode(`{"a":"one","b":"two"}`).Title)
}

func TestSubjectsOfMailsSayTheState(t *testing.T) {
	t.Parallel()
	for subject, want := range map[string]struct {
		status intake.Status
		bare   string
	}{
		"DOWN | nightly":              {intake.Firing, "nightly"},
		"UP | nightly":                {intake.Resolved, "nightly"},
		"Re: [Cleared] disk is full":  {intake.Resolved, "disk is full"},
		"Solved: disk is full":        {intake.Resolved, "disk is full"},
		"CRITICAL - db-1/disk":        {intake.Firing, "db-1/disk"},
		"Up to date packages failed":  {intake.Firing, "Up to date packages failed"},
		"Resolved or not, nobody saw": {intake.Firing, "Resolved or not, nobody saw"},
	} {
		status, bare := subjectStatus(subject)
		require.Equal(t, want.status, status, subject)
		require.Equal(t, want.bare, bare, subject)
	}
}
