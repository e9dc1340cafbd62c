package intake

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestAllWrongFieldsOfAnIntegrationAreNamed(t *testing.T) {
	t.Parallel()
	after := time.Second
	c := Content{Name: "a/b", Type: "fax", DefaultSeverity: "loud", RatePerMinute: -1,
		Rules: []Rule{{Match: "x"}}, Ends: Ends{ResolveAfter: after, CloseAfter: &after}}
	var wrong *fault.Error
	require.ErrorAs(t, c.Check([]string{Generic}, []string{"apprise"}), &wrong)
	fields := []string{wrong.Field}
	for _, other := range wrong.Others {
		fields = append(fields, other.Name)
	}
	require.Equal(t, []string{"name", "type", "default_severity", "rate_per_minute", "resolve_after_seconds",
		"close_after_seconds", "rules"}, fields)
}
