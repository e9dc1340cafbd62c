package pages

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDeepContextsAreNotIndented(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"{", `  "a": [`, "    1", "  ]", "}"},
		strings.Split(indented(json.RawMessage(`{"a": [1]}`)), "\n"))
	brackets := json.RawMessage(`{"a": "` + strings.Repeat(`[{\"\\`, 1000) + `"}`)
	require.Equal(t, 1, depth(brackets), "those in texts nest nothing")
	require.Contains(t, indented(brackets), "\n  \"a\"")
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	require.Equal(t, deep, indented(json.RawMessage(deep)), "a page of 160 MB helps nobody")
	require.Equal(t, "no json", indented(json.RawMessage("no json")))
}
