package pg_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	pgpeople "github.com/iris-oncall/iris/internal/users/pg"
)

// Two administrators who take each other's role away at the same time: one stays.
func TestTheLastAdministratorStays(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	_, err := db.Pool().Exec(t.Context(), `insert into users (name, admin) values ('ann', true), ('bob', true)`)
	require.NoError(t, err)
	people, no := pgpeople.NewUsers(db), false
	answers := make(chan error, 2)
	for _, name := range []string{"ann", "bob"} {
		u, err := people.ByName(t.Context(), name)
		require.NoError(t, err)
		go func() { answers <- people.Change(t.Context(), u.ID, users.AccountChange{Admin: &no}, "test") }()
	}
	refused := 0
	for range 2 {
		if err := <-answers; err != nil {
			require.True(t, fault.Is(err, fault.Conflict), err)
			refused++
		}
	}
	require.Equal(t, 1, refused)
	left, err := people.Page(t.Context(), users.AccountQuery{Active: true, Role: users.RoleAdmin, Most: 5})
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestDisplaySettings(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	_, err := db.Pool().Exec(t.Context(),
		`insert into users (name, photo_url) values ('ann', 'https://example.com/ann.png')`)
	require.NoError(t, err)
	settings := pgpeople.NewSettings(db)
	ann, err := pgpeople.NewUsers(db).ByName(t.Context(), "ann")
	require.NoError(t, err)
	for _, d := range []users.Display{{TimeZone: "Asia/Tokyo", Clock: "12"}, {TimeZone: "UTC", Clock: "24"}, {}} {
		require.NoError(t, settings.SetDisplay(t.Context(), ann, d, "test"))
		d.PhotoURL = "https://example.com/ann.png"
		found, err := settings.Display(t.Context(), ann.ID)
		require.NoError(t, err)
		require.Equal(t, d, found)
		others, err := settings.Others(t.Context(), ann.ID)
		require.NoError(t, err)
		require.Empty(t, others, "clients of Iris do not know the clock")
	}
}
