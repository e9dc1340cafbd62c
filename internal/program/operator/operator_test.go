package operator

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/users"
)

func TestOperatorChangesAreAudited(t *testing.T) {
	t.Parallel()
	keys, err := auth.NewKeys(make([]byte, auth.SecretSize))
	require.NoError(t, err)
	db := pgtest.New(t)
	o := New(db, keys)
	ctx := audit.With(t.Context(), audit.Origin{Kind: audit.Operator, Actor: operatorName})
	require.NoError(t, o.AddUser(ctx, NewUser{Name: "ann",
		Contacts: map[users.Mode]string{users.Email: "a@example.com"}}))
	_, err = o.AddApplication(ctx, NewApplication{Name: "watch", Key: "a-known-key", OpensForOthers: true,
		TitleVariable: "title"})
	require.NoError(t, err)
	app, err := o.applications.ByName(t.Context(), "watch")
	require.NoError(t, err)
	require.True(t, app.AllowOtherAppIncidents)
	require.False(t, app.AllowAuthenticatingUsers)
	require.Equal(t, []string{"a-known-key"}, app.Keys)
	rows, err := pg.NewAudit(db).List(t.Context(), filters.Query{Limit: 10})
	require.NoError(t, err)
	var actions []audit.Action
	for _, r := range rows {
		require.Equal(t, operatorName, r.Actor)
		require.Equal(t, audit.Operator, r.From.Kind)
		actions = append(actions, r.Action)
	}
	require.Equal(t, []audit.Action{audit.ApplicationSettingsChanged, audit.ApplicationSettingsChanged,
		audit.ApplicationKeysReplaced, audit.ApplicationAdded,
		audit.UserCreated}, actions)
	require.True(t, fault.Is(o.AddCalendar(t.Context(), NewCalendar{}), fault.Invalid), "without administrators")
}
