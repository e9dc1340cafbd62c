package operator

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/postgres/pgtest"
	"github.com/iris-oncall/iris/internal/users"
)

func TestOperatorChangesAreAudited(t *testing.T) {
	t.Parallel()
	keys, err := auth.NewKeys(make([]byte, auth.SecretSize))
	require.NoError(t, err)
	o := New(pgtest.New(t), keys)
	require.NoError(t, o.AddUser(t.Context(), NewUser{Name: "ann", Contacts: map[users.Mode]string{users.Email: "a@example.com"}}))
	_, err = o.AddApplication(t.Context(), NewApplication{Name: "watch", Key: "a-known-key", OpensForOthers: true, TitleVariable: "title"})
	require.NoError(t, err)
	app, err := o.applications.ByName(t.Context(), "watch")
	require.NoError(t, err)
	require.True(t, app.AllowOtherAppIncidents)
	require.False(t, app.AllowAuthenticatingUsers)
	require.Equal(t, []string{"a-known-key"}, app.Keys)
	rows, err := o.audit.Newest(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, rows, 2)
	require.Equal(t, "application added", rows[0].Action)
	require.Equal(t, operatorName, rows[0].Actor)
	require.True(t, fault.Is(o.AddCalendar(t.Context(), NewCalendar{}), fault.Invalid), "without administrators")
}
