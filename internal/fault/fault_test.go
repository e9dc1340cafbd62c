package fault_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/fault"
)

func TestPublicNeverShowsTheCause(t *testing.T) {
	t.Parallel()
	hidden := fault.Wrap(fault.Invalid, io.ErrUnexpectedEOF, "a value cannot be stored")
	require.ErrorContains(t, hidden, "unexpected EOF", "the log has it")
	require.Equal(t, "a value cannot be stored", fault.Public(hidden))
	require.Equal(t, "a value cannot be stored", fault.Public(fmt.Errorf("insert: %w", hidden)))
	require.Equal(t, "Invalid plan: Empty plan name", fault.Public(fault.Titled("Invalid plan", "Empty plan name")))
	require.Equal(t, "internal error", fault.Public(io.ErrUnexpectedEOF))
	require.Empty(t, fault.Public(nil))
}
