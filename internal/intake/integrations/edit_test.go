package integrations

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/routing"
)

func TestAnEditChangesOnlyWhatItNames(t *testing.T) {
	t.Parallel()
	before := Content{Name: "am", Type: Generic, DefaultPlan: "day", DefaultSeverity: intake.Error, Rules: []routing.Rule{{Plan: "night"}},
		Settings: json.RawMessage(`{"title":"x"}`), RatePerMinute: 600, Enabled: true, Ends: Ends{ResolveAfter: time.Hour}}
	same := before
	Edit{}.Apply(&same)
	require.Equal(t, before, same)

	plan, severity, rate, resolve, closing, enabled := "", "info", 5, time.Duration(0), 2*time.Hour, false
	after := before
	Edit{DefaultPlan: &plan, Severity: &severity, RatePerMinute: &rate, ResolveAfter: &resolve, CloseAfter: &closing, Enabled: &enabled,
		Rules: []routing.Rule{}, Settings: json.RawMessage(`{}`)}.Apply(&after)
	require.Equal(t, Content{Name: "am", Type: Generic, DefaultSeverity: intake.Info, Rules: []routing.Rule{}, Settings: json.RawMessage(`{}`), RatePerMinute: 5,
		Ends: Ends{CloseAfter: &closing}}, after)
}
