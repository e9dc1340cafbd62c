package operator

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

func TestWhoIsOnCallNowByTheClockOfTheDatabase(t *testing.T) {
	t.Parallel()
	keys, err := auth.NewKeys(make([]byte, auth.SecretSize))
	require.NoError(t, err)
	db := pgtest.Skewed(t, time.Hour)
	o := New(db, keys)
	require.NoError(t, o.AddUser(t.Context(), NewUser{Name: "ann",
		Contacts: map[users.Mode]string{users.Email: "a@example.com"}}))
	require.NoError(t, o.AddCalendar(t.Context(), NewCalendar{Team: oncall.TeamSettings{Name: "ops", TimeZone: "UTC"},
		Admins: []string{"ann"}, Roster: "ops", Members: []string{"ann"}}))
	for at, ahead := range map[string]time.Duration{"": 0, "+90m": 90 * time.Minute} {
		found, err := NewOnCall(db, o.applications).Who(t.Context(),
			scheduling.Ask{Team: "ops", At: at, Ahead: time.Hour})
		require.NoError(t, err)
		now, err := db.Clock(t.Context())
		require.NoError(t, err)
		require.WithinDuration(t, now.Add(ahead), found[0].At, time.Minute)
	}
}
