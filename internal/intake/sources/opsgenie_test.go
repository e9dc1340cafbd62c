package sources

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestOpsgenieEdits(t *testing.T) {
	t.Parallel()
	e := only(t, Opsgenie, `{"message":"Disk","tags":["env:prod",7],"details":{"host":"db7"},"title":"never shown"}`)
	context, err := intake.ContextOf(e, "og", e.Severity)
	require.NoError(t, err)
	payload := OpsgeniePayload(context)
	require.NotContains(t, payload, "labels")
	for what, c := range map[string]struct {
		edit OpsgenieEdit
		text string
		want OpsgenieFacts
	}{
		"nothing":     {OpsgenieEdit{}, "", OpsgenieFacts{}},
		"known tag":   {OpsgenieEdit{AddTags: []string{"env:prod"}}, "", OpsgenieFacts{}},
		"same text":   {OpsgenieEdit{Field: "message", Value: "Disk"}, "", OpsgenieFacts{}},
		"no such tag": {OpsgenieEdit{DropTags: []string{"none"}}, "", OpsgenieFacts{}},
		"tags": {OpsgenieEdit{AddTags: []string{"b", "b"}, DropTags: []string{"7"}}, "tags removed: 7; tags added: b",
			OpsgenieFacts{Message: "Disk", Priority: "P3", Tags: []string{"env:prod", "b"},
				Details: map[string]string{"host": "db7"}}},
		"details": {OpsgenieEdit{SetDetails: map[string]string{"host": "db8", "disk": "sda"}},
			"details set: disk, host",
			OpsgenieFacts{Message: "Disk", Priority: "P3", Tags: []string{"env:prod", "7"},
				Details: map[string]string{"host": "db8", "disk": "sda"}}},
		"priority": {OpsgenieEdit{Field: "priority", Value: "P1"}, "priority changed from P3 to P1",
			OpsgenieFacts{Message: "Disk", Priority: "P1", Tags: []string{"env:prod", "7"},
				Details: map[string]string{"host": "db7"}}},
	} {
		after, text, err := c.edit.Apply(payload)
		require.NoError(t, err, what)
		require.Equal(t, c.text, text, what)
		if text != "" {
			require.Equal(t, c.want, OpsgenieFactsOf(OpsgeniePayload(after)), what)
		}
	}
	_, _, err = OpsgenieEdit{AddTags: strings.Split(strings.Repeat("ab ", maxTags)+"c d", " ")}.Apply(payload)
	require.NoError(t, err, "each tag counts once")
	many := make([]string, maxTags+1)
	for k := range many {
		many[k] = strings.Repeat("x", k+1)
	}
	_, _, err = OpsgenieEdit{AddTags: many}.Apply(payload)
	require.Equal(t, "tags", fault.FieldOf(err))
}

// FuzzOpsgenieEdit checks that an edited alert is an alert again, and that a second edit of the same kind changes
// nothing.
func FuzzOpsgenieEdit(f *testing.F) {
	for _, body := range samples(f) {
		f.Add(body, "team:db", "message")
	}
	f.Add([]byte(`{"message":"m","tags":{},"details":[]}`), "", "x")
	f.Fuzz(func(t *testing.T, body []byte, tag, value string) {
		events, err := Opsgenie(request(string(body)))
		if err != nil || tag == "" || strings.TrimSpace(tag) != tag || strings.ContainsRune(tag, 0) || !json.Valid(body) {
			return
		}
		context, err := intake.ContextOf(events[0], "og", events[0].Severity)
		if err != nil {
			return
		}
		edit := OpsgenieEdit{AddTags: []string{tag}, SetDetails: map[string]string{"k": value}}
		after, _, err := edit.Apply(OpsgeniePayload(context))
		if err != nil {
			require.True(t, fault.Is(err, fault.Invalid))
			return
		}
		again, err := Opsgenie(request(string(after)))
		require.NoError(t, err)
		require.Equal(t, events[0].Title, again[0].Title)
		require.Contains(t, OpsgenieFactsOf(OpsgeniePayload(after)).Tags, strings.ToValidUTF8(tag, "\uFFFD"))
	})
}
