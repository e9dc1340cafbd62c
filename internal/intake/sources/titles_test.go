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
		found := titlesIn([]byte(body))
		require.Equal(t, want, cmp.Or(found.identity, found.title, found.texts), body)
	}
}

func decodeGeneric(t *testing.T, body string) intake.Event {
	t.Helper()
	none := func(string) string { return "" }
	found, err := Generic(builtin)(intake.Request{Header: none, Query: none, Body: []byte(body)})
	require.NoError(t, err)
	return found[0]
}

func TestARecoveryFindsTheIncidentByATitleInside(t *testing.T) {
	t.Parallel()
	decode := func(body string) intake.Event { return decodeGeneric(t, body) }
	fired, fixed := decode(`{"status":"failed","job":{"name":"nightly backup"}}`), decode(`{"status":"fixed","job":{"name":"nightly backup"}}`)
	require.Equal(t, "nightly backup", fired.Title)
	require.Equal(t, intake.Resolved, fixed.Status)
	require.NotEmpty(t, fired.Key)
	require.Equal(t, fired.Key, fixed.Key)
	require.Empty(t, decode(`{"a":"one","b":"two"}`).Key, "texts that may change identify nothing")
	require.Equal(t, "one, two", decode(`{"a":"one","b":"two"}`).Title)
}

// Two alerts that share the name of a repository or a person are two incidents.
func TestANameInsideThatIdentifiesNothingIsNoKey(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"repository":{"name":"shop"},"run":7}`, `{"user":{"name":"bob"},"kind":"quota"}`} {
		e := decodeGeneric(t, body)
		require.NotEmpty(t, e.Title, body)
		require.Empty(t, e.Key, body)
	}
}

func TestWhatIsOverMayHaveFailed(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]intake.Status{
		`{"title":"CI","action":"completed","workflow_run":{"conclusion":"failure"}}`: intake.Firing,
		`{"title":"CI","action":"completed","conclusion":"success"}`:                  intake.Resolved,
		`{"title":"CI","status":"completed","result":"failed"}`:                       intake.Firing,
		`{"title":"CI","status":"completed","result":"succeeded"}`:                    intake.Resolved,
		`{"title":"CI","status":"completed"}`:                                         intake.Resolved,
		`{"title":"CI","status":"completed","result":"strange"}`:                      intake.Firing,
	} {
		require.Equal(t, want, decodeGeneric(t, body).Status, body)
	}
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
