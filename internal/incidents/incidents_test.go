package incidents

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestNextStep(t *testing.T) {
	t.Parallel()
	for current, want := range []int{1, 2, 3} {
		next, err := NextStep(current, 3)
		require.NoError(t, err)
		require.Equal(t, want, next)
	}
	_, err := NextStep(3, 3)
	require.True(t, fault.Is(err, fault.Conflict))
	require.EqualError(t, err, "step 3 is the last one of the plan: use restart to begin the plan again")
}
