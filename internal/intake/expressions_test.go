package intake

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/iris-oncall/iris/internal/dev/golden" // defines -update
	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestFind(t *testing.T) {
	t.Parallel()
	x, err := Parse([]byte(`{"key":"{{ check.id }}","title":"{{ check.name }} on {{ node }}","summary":"{{ absent }}","status":"{{ 'ok' if check.passed else 'firing' }}",
		"severity":"{{ absent.level }}","link":"{{ check.none }}","labels":{"team":"{{ tags[0] }}","none":"{{ tags[9] }}"}}`))
	require.NoError(t, err)
	require.True(t, x.Given())
	found := x.Find([]byte(`{"node":"db7","check":{"id":7,"name":"disk","passed":true,"none":null},"tags":["db"]}`))
	failures := found.Failures
	found.Failures = nil
	require.Equal(t, Facts{Key: "7", Title: "disk on db7", Status: "ok", Labels: map[string]string{"team": "db"}},
		found, "what fails or is empty keeps its default")
	require.Len(t, failures, 4)
	require.Equal(t, Failure{Field: "summary", Reason: "it renders to nothing", Empty: true}, failures[0])
	require.Equal(t, "severity", failures[1].Field)
	require.Contains(t, failures[1].Reason, "absent")
	require.Regexp(t, "^the expression of severity failed, its default was used: [^;]+$",
		Event{Failures: failures}.FailureText())
	require.Equal(t, Facts{}, x.Find([]byte(`[`)))
}

func TestParseNamesTheWrongExpression(t *testing.T) {
	t.Parallel()
	for settings, field := range map[string]string{
		`[]`: "settings", `{"titel":"x"}`: "settings.titel", `{"title":7}`: "settings", `{"labels":{"a":"{% if %}"}}`: "settings.labels.a", `{"key":"{{"}`: "settings.key",
	} {
		_, err := Parse(json.RawMessage(settings))
		var f *fault.Error
		require.ErrorAs(t, err, &f, settings)
		require.Equal(t, fault.Invalid, f.Kind, settings)
		require.Equal(t, field, f.Field, settings)
	}
	for _, none := range []string{``, `{}`, `null`, `{"labels":{}}`} {
		x, err := Parse(json.RawMessage(none))
		require.NoError(t, err, none)
		require.False(t, x.Given(), none)
	}
}
