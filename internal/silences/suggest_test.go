package silences

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/kit/matchers"
)

func TestSuggestUsesLabelsAndElseTheTitle(t *testing.T) {
	t.Parallel()
	for context, want := range map[string]string{
		`{"commonLabels":{"team":"db","host":"h1","odd/name":"x","empty":""},"groupLabels":{"team":"db"},"title":"Disk"}`: `host="h1", "odd/name"="x", team="db"`,
		`{"labels":{"a":"say \"hi\", all"}}`: `a="say \"hi\", all"`,
		`{"title":"Disk full"}`:              `title="Disk full"`,
		`{"other":1}`:                        "", `[]`: "",
	} {
		require.Equal(t, want, Suggest(json.RawMessage(context)), context)
	}
	many := map[string]string{}
	for k := range 60 {
		many[fmt.Sprintf("label%02d", k)] = strings.Repeat("x", 40)
	}
	raw, err := json.Marshal(map[string]any{"labels": many})
	require.NoError(t, err)
	require.LessOrEqual(t, len(Suggest(raw)), maxMatch)
}

// The suggestion for an incident matches the incident.
func TestSuggestMatchesItsIncident(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.MapOf(rapid.StringMatching(`[a-z_.:/-]{1,8}`), rapid.String()).Draw(t, "labels")
		raw, err := json.Marshal(map[string]any{"labels": labels, "title": rapid.String().Draw(t, "title")})
		require.NoError(t, err)
		m, err := matchers.Parse(Suggest(raw))
		require.NoError(t, err)
		s := Subject{Context: raw}
		require.True(t, m.Match(s.label), Suggest(raw))
	})
}
