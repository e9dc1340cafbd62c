package fault

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	known := []string{"payments", "search", "ops"}
	for name, want := range map[string]string{
		"paymens": "; did you mean payments?", "PAYMENTS": "; did you mean payments?", "serach": "; did you mean search?", "op": "; did you mean ops?",
		"database": "", "": "", "xyz": "",
	} {
		require.Equal(t, want, DidYouMean(name, known), name)
	}
	require.Empty(t, DidYouMean("anything", nil))
}
