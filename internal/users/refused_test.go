package users_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
)

func TestPremiumAndEmergencyNumbersAreRefused(t *testing.T) {
	t.Parallel()
	refused := users.DefaultRefusedNumbers()
	for _, number := range []string{"911", "1-1-2", "+1 900 555 0100", "(900) 555-0100", "00 1 900 555 0100", "1 900 555 0100", "+44 909 879 0000", "+979 123456789", "+881612345678"} {
		require.True(t, users.RefusedNumber(number, refused), number)
	}
	for _, number := range []string{"+15550100001", "5550100001", "+44 20 7946 0958", "+49 151 12345678", "+447911123456", "+1 911 555 0100", "+33612345678", ""} {
		require.False(t, users.RefusedNumber(number, refused), number)
	}
	require.False(t, users.RefusedNumber("911", nil))
}
