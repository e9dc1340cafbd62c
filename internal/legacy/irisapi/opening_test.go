package irisapi

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/legacy/irisapi/v0test"
)

func FuzzIncidentBody(f *testing.F) {
	f.Add([]byte(`{"plan":"p","context":{"host":"\u0000\ud83d\ude00/","message":{"a":[1e999,{}]}},"dynamic_targets":[{"role":"user","target":"ann"}]}`))
	f.Add([]byte(`{"plan":null,"context":[]}`))
	f.Add([]byte(`{"plan":"p","context":{"host":"\\u0000"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, _ := ParseBody(raw, "")
		n, err := parseIncident(b)
		v0test.Mistake(t, err)
		if err != nil {
			return
		}
		require.NotEmpty(t, n.Plan)
		out, err := openingContextOf(n.raw, n.context, []string{"host", "message"})
		v0test.Mistake(t, err)
		if err != nil {
			return
		}
		var kept map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(out, &kept))
		require.Len(t, kept, 2)
		var host string
		if json.Unmarshal(kept["host"], &host) == nil {
			require.NotContains(t, host, "\x00")
			require.GreaterOrEqual(t, incidents.JSONSize(out), utf8.RuneCountInString(host))
		}
	})
}
