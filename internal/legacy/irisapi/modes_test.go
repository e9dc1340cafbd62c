package irisapi

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// FuzzModeBody parses any body as choices of modes. A body is refused, or every choice can be stored.
func FuzzModeBody(f *testing.F) {
	for _, seed := range []string{
		`{"high":"sms","LOW":"Default"}`, `{"application":"demo","urgent":"call"}`, `{"per_app_modes":{"demo":{"high":"drop"}},"low":"sms","x":1}`,
		`{"per_app_modes":null}`, `{"application":null}`, `{"high":null}`, `{"per_app_modes":{"":{}}}`, `[]`, `{"\u0000":"sms"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := ParseBody(raw, "")
		if err != nil {
			return
		}
		application, choices, err := parseModeBody(b)
		if err != nil {
			require.True(t, fault.Is(err, fault.Invalid))
			require.NotEmpty(t, fault.Public(err))
			return
		}
		for _, c := range choices {
			require.Contains(t, users.Priorities, c.Priority)
			if c.Mode != "" {
				require.Contains(t, users.Modes, c.Mode)
			}
			if application != "" {
				require.Equal(t, application, c.Application)
			}
		}
	})
}

// TestTheFormsOfModeBodiesAgree: the same choices in each of the three forms of the body give the same result.
func TestTheFormsOfModeBodiesAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		modes := []string{noChoice}
		for _, m := range users.Modes {
			modes = append(modes, string(m))
		}
		chosen := rapid.MapOf(rapid.SampledFrom(users.Priorities), rapid.SampledFrom(modes)).Draw(t, "chosen")
		parse := func(members map[string]any) (string, []users.ModeChoice) {
			raw, err := json.Marshal(members)
			require.NoError(t, err)
			b, err := ParseBody(raw, "")
			require.NoError(t, err)
			application, choices, err := parseModeBody(b)
			require.NoError(t, err)
			return application, choices
		}
		own, one := map[string]any{}, map[string]any{"application": "demo"}
		for p, m := range chosen {
			own[string(p)], one[string(p)] = m, m
		}
		_, global := parse(own)
		application, forOne := parse(one)
		_, forMany := parse(map[string]any{"per_app_modes": map[string]any{"demo": own}})
		require.Equal(t, "demo", application)
		require.Equal(t, forOne, forMany)
		require.Len(t, global, len(chosen))
		for i := range global {
			global[i].Application = "demo"
		}
		require.Equal(t, forOne, append([]users.ModeChoice(nil), global...))
	})
}
