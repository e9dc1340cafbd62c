package integrations

import (
	"encoding/json"
	"time"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/routing"
)

// Edit changes the settings of an integration; nil = unchanged.
type Edit struct {
	DefaultPlan, Severity    *string
	RatePerMinute            *int
	ResolveAfter, CloseAfter *time.Duration
	Enabled                  *bool
	Rules                    []routing.Rule
	Settings                 json.RawMessage
}

// Apply changes the content.
func (e Edit) Apply(c *Content) {
	set(&c.DefaultPlan, e.DefaultPlan)
	set(&c.RatePerMinute, e.RatePerMinute)
	set(&c.Ends.ResolveAfter, e.ResolveAfter)
	set(&c.Enabled, e.Enabled)
	if e.Severity != nil {
		c.DefaultSeverity = intake.Severity(*e.Severity)
	}
	if e.CloseAfter != nil {
		c.Ends.CloseAfter = e.CloseAfter
	}
	if e.Rules != nil {
		c.Rules = e.Rules
	}
	if e.Settings != nil {
		c.Settings = e.Settings
	}
}

func set[T any](into *T, to *T) {
	if to != nil {
		*into = *to
	}
}
