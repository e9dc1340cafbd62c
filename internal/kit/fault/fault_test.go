package fault_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestPublicNeverShowsTheCause(t *testing.T) {
	t.Parallel()
	hidden := fault.Wrap(fault.Invalid, io.ErrUnexpectedEOF, "a value cannot be stored")
	require.ErrorContains(t, hidden, "unexpected EOF", "the log has it")
	require.Equal(t, "a value cannot be stored", fault.Public(hidden))
	require.Equal(t, "a value cannot be stored", fault.Public(fmt.Errorf("insert: %w", hidden)))
	require.Equal(t, "Invalid plan: Empty plan name", fault.Public(fault.Titled("Invalid plan", "Empty plan name")))
	require.Equal(t, "name is missing", fault.Public(fault.Titled("", "name is missing")), "no colon without a title")
	require.Equal(t, "internal error", fault.Public(io.ErrUnexpectedEOF))
	require.Empty(t, fault.Public(nil))
}

func TestRecoverTurnsAPanicIntoAnError(t *testing.T) {
	t.Parallel()
	do := func(v any) (err error) {
		defer fault.Recover(&err)
		if v != nil {
			panic(v)
		}
		return errors.New("its own")
	}
	require.EqualError(t, do(nil), "its own")
	err := do("boom")
	require.EqualError(t, err, "internal error: boom")
	require.Equal(t, fault.Internal, fault.KindOf(err))
	var p *fault.Panic
	require.ErrorAs(t, err, &p)
	require.Contains(t, fmt.Sprintf("%+v", err), "fault_test.go")
	require.NotContains(t, fmt.Sprint(err), "fault_test.go")
}
