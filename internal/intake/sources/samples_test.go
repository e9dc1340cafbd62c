package sources

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestSampleContexts(t *testing.T) {
	t.Parallel()
	for _, source := range Samples() {
		context, err := Sample(source)
		require.NoError(t, err, source)
		require.Contains(t, string(context), `"title"`, source)
	}
	require.Len(t, Samples(), len(All(builtin))-1, "each source but email has a sample")
	_, err := Sample("email")
	require.True(t, fault.Is(err, fault.NotFound))
}
