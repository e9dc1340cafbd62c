// Package v0test has helpers for the tests of the routes of /v0.
package v0test

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Mistake fails the test unless err is nil or an Invalid fault with a text for the client.
func Mistake(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	require.True(t, fault.Is(err, fault.Invalid), "%v", err)
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.NotEmpty(t, f.Message)
	require.True(t, utf8.ValidString(f.Message+f.Detail))
}
