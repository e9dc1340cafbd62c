package irisapi

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTruthyIsAsInPython(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{"0": false, "0.0": false, "1": true, "-1": true, "true": true, "false": false, "null": false,
		`""`: false, `"0"`: true, "[]": false, "[0]": true, "{}": false, `{"a":0}`: true, "1e999": true} {
		require.Equal(t, want, Truthy(json.RawMessage(s)), s)
	}
}

func TestIntegersHaveSeveralForms(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int64{"7": 7, "7.0": 7, `"7"`: 7, `" 7 "`: 7, "1e2": 100, "true": 1, "false": 0} {
		n, ok := Integer(json.RawMessage(s))
		require.True(t, ok, s)
		require.Equal(t, want, n)
	}
	for _, s := range []string{"7.5", `"x"`, `""`, "null", "[]", "{}", "1e999", "99999999999999999999", `"NaN"`, `"Inf"`, `"0x10"`} {
		_, ok := Integer(json.RawMessage(s))
		require.False(t, ok, s)
	}
}
