package pg_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/oncall"
	pgpeople "github.com/iris-oncall/iris/internal/users/pg"
)

// Two people edit different fields of a team or a person at the same time: both edits are kept.
func TestConcurrentEditsOfOtherFieldsAreKept(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	_, err := db.Pool().Exec(t.Context(),
		`insert into teams (name) values ('ops'); insert into users (name, photo_url) values ('ann', 'https://example.com/ann.png')`)
	require.NoError(t, err)
	teams, people, by := pgpeople.NewOncallTeams(db, nil), pgpeople.NewOncallPeople(db), oncall.By{Owner: "test"}
	ops, err := teams.ByName(t.Context(), "ops")
	require.NoError(t, err)
	second := make(chan error, 1)
	description, email := "they operate", "ops@example.com"
	go func() { second <- teams.Update(t.Context(), ops.ID, oncall.TeamPatch{Email: &email}, by) }()
	require.NoError(t, teams.Update(t.Context(), ops.ID, oncall.TeamPatch{Description: &description}, by))
	require.NoError(t, <-second)
	ops, err = teams.ByName(t.Context(), "ops")
	require.NoError(t, err)
	require.Equal(t, "they operate", ops.Description)
	require.Equal(t, "ops@example.com", ops.Email)

	ann, err := people.ByName(t.Context(), "ann")
	require.NoError(t, err)
	off, name, none := false, "Ann Lee", ""
	require.NoError(t, people.Update(t.Context(), ann.ID, oncall.PersonChange{Active: &off}))
	require.NoError(t, people.Update(t.Context(), ann.ID,
		oncall.PersonChange{FullName: &name})) // from a form that was loaded before
	shown, err := pgpeople.NewUsers(db).Shown(t.Context(), ann.ID)
	require.NoError(t, err)
	require.Equal(t, ann.PhotoURL, shown.PhotoURL)
	after, err := people.ByName(t.Context(), "ann")
	require.NoError(t, err)
	require.False(t, after.Active, "whoever was switched off stays so")
	require.Equal(t, "Ann Lee", after.FullName)
	require.Equal(t, "https://example.com/ann.png", after.PhotoURL)
	require.NoError(t, people.Update(t.Context(), ann.ID, oncall.PersonChange{PhotoURL: &none}))
	after, err = people.ByName(t.Context(), "ann")
	require.NoError(t, err)
	require.Empty(t, after.PhotoURL)
}
