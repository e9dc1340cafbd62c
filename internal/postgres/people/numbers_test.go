package people_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
)

func TestStoredNumbersAreRewrittenOnce(t *testing.T) {
	t.Parallel()
	f := newContacts(t)
	ann, ben, eve := f.add("ann"), f.add("ben"), f.add("eve")
	require.NoError(t, f.users.SetContact(t.Context(), ann.ID, users.SMS, "+44 (0)20 7946 0958"))
	require.NoError(t, f.users.SetContact(t.Context(), ann.ID, users.Call, "+15551234567"))
	require.NoError(t, f.users.SetContact(t.Context(), ben.ID, users.SMS, "079 123 45 67"))
	require.NoError(t, f.users.SetContact(t.Context(), eve.ID, users.Call, "ask Ben"))

	changed, unreadable, err := f.contacts.RewriteNumbers(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, 1, changed)
	require.Equal(t, []string{"ben", "eve"}, unreadable, "no region is configured")
	f.is("ann", users.SMS, "+442079460958")

	changed, unreadable, err = f.contacts.RewriteNumbers(t.Context(), "CH")
	require.NoError(t, err)
	require.Equal(t, 1, changed)
	require.Equal(t, []string{"eve"}, unreadable)
	f.is("ben", users.SMS, "+41791234567")

	changed, unreadable, err = f.contacts.RewriteNumbers(t.Context(), "CH")
	require.NoError(t, err)
	require.Zero(t, changed)
	require.Equal(t, []string{"eve"}, unreadable)
}
