package routing_test

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/operation"
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

// An operation that was defined, but got no function, would panic at the first request.
func TestAnOperationWithoutItsFunctionIsMissing(t *testing.T) {
	t.Parallel()
	type wing struct {
		Get, Put operation.Op[operation.None, operation.None]
	}
	type deps struct {
		Search operation.Op[operation.None, operation.None]
		Wing   *wing
	}
	op := operation.Define[operation.None, operation.None](operation.Doc{}).
		By(func(_ context.Context, _ operation.Actor, none operation.None) (operation.None, error) {
			return none, nil
		})
	require.Empty(t, routing.Missing(deps{op, &wing{op, op}}))
	require.Equal(t, "Search", routing.Missing(deps{Wing: &wing{op, op}}))
	require.Equal(t, "Wing.Put", routing.Missing(deps{op, &wing{Get: op}}))
}
