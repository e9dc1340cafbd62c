package routing_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/web/routing"
)

func TestMissing(t *testing.T) {
	t.Parallel()
	type inner struct{ Out io.Writer }
	type deps struct {
		inner
		Inner inner
		Log   *int
		Call  func() `optional:"true"`
		Limit int
	}
	n := 1
	whole := deps{Inner: inner{io.Discard}, Log: &n}
	require.Empty(t, routing.Missing(whole))
	require.Equal(t, "Log", routing.Missing(deps{Inner: inner{io.Discard}}))
	require.Equal(t, "Inner.Out", routing.Missing(deps{Log: &n}))
}
