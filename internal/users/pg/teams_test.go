package pg_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
	pgpeople "github.com/iris-oncall/iris/internal/users/pg"
)

// A deleted role in the default reminders does not keep people from making and joining teams.
func TestTeamsAreCreatedAfterARoleWasDeleted(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	ann, err := pgpeople.NewUsers(d).Create(t.Context(), pgpeople.NewUser{Name: "ann"})
	require.NoError(t, err)
	_, err = d.Pool().Exec(t.Context(), "delete from oncall_roles where name in ('primary', 'shadow')")
	require.NoError(t, err)
	teams := pgpeople.NewOncallTeams(d, []oncall.NoticeSetting{
		{Mode: users.Email, Type: string(oncall.ShiftCreated), Roles: []string{"primary", "Secondary"}},
		{Mode: users.Email, Type: string(oncall.ShiftCreated), Roles: []string{"shadow"}},
	})
	_, err = teams.Create(t.Context(), oncall.TeamSettings{Name: "db", TimeZone: "UTC"}, ann.ID, oncall.By{})
	require.NoError(t, err)
	settings, err := pg.NewNotices(d, nil).ByUser(t.Context(), ann.ID)
	require.NoError(t, err)
	require.Len(t, settings, 1)
	require.Equal(t, []string{"secondary"}, settings[0].Roles)
}
