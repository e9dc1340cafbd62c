package opening

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/iris-oncall/iris/internal/dev/golden" // defines -update
	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestContent(t *testing.T) {
	t.Parallel()
	n, err := Content{Title: "db1 is down", Summary: "no answer", Severity: "critical",
		Labels:  map[string]string{"team": "db"},
		Context: json.RawMessage(`{"host": "db1", "title": "posted"}`), DedupKey: "db1"}.New()
	require.NoError(t, err)
	require.JSONEq(t, `{"host":"db1","title":"posted","summary":"no answer","severity":"critical","labels":{"team":"db"}}`, string(n.Context))
	require.Equal(t, "critical", n.Severity)
	require.Equal(t, "db1", n.DedupKey)
	n, err = Content{Title: "t", DedupKey: strings.Repeat("あ", MaxKey)}.New()
	require.NoError(t, err, "the limit counts characters")
	require.Equal(t, strings.Repeat("あ", MaxKey), n.DedupKey)
	for field, c := range map[string]Content{
		"title":     {DedupKey: "k"},
		"severity":  {Title: "t", Severity: "loud"},
		"dedup_key": {Title: "t", DedupKey: strings.Repeat("あ", MaxKey+1)},
	} {
		_, err := c.New()
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		require.Equal(t, fault.Invalid, f.Kind)
		require.Equal(t, field, f.Field)
	}
}
