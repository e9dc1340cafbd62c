package jinja_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/jinja"
)

// golden is the output of the original Jinja2. test/jinja/regenerate.sh makes it.
type golden struct {
	Context string
	Cases   []goldenCase
}

type goldenCase struct {
	Name     string
	Template string
	Context  string
	Output   *string
	Error    *struct {
		Kind string
		Line int
	}
}

func loadGolden(t testing.TB) golden {
	t.Helper()
	data, err := os.ReadFile("../test/jinja/golden.json")
	require.NoError(t, err)
	var g golden
	require.NoError(t, json.Unmarshal(data, &g))
	require.Greater(t, len(g.Cases), 400)
	return g
}

func TestGolden(t *testing.T) {
	t.Parallel()
	g := loadGolden(t)
	for _, c := range g.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			context := c.Context
			if context == "" {
				context = g.Context
			}
			out, err := jinja.RenderString(c.Template, []byte(context))
			if c.Error == nil {
				require.NoError(t, err, c.Template)
				require.Equal(t, *c.Output, out, c.Template)
				return
			}
			var e *jinja.Error
			require.ErrorAs(t, err, &e, "%s gave %q instead of %v", c.Template, out, c.Error)
			got := *c.Error
			got.Kind, got.Line = e.Kind, e.Line
			require.Equal(t, *c.Error, got, c.Template)
		})
	}
}
