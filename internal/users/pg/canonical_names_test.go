package pg_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	pgpeople "github.com/iris-oncall/iris/internal/users/pg"
)

func TestNamesWithTheCanonicalFormOfAnotherAreRefused(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	people, onCall := pgpeople.NewUsers(d), pgpeople.NewOncallPeople(d)
	_, err := people.Create(t.Context(), pgpeople.NewUser{Name: "sysadm"})
	require.NoError(t, err)
	for _, name := range []string{"ſyſadm", "ｓｙｓａｄｍ", "sуsadm", "sys\u200badm"} {
		_, err = people.Create(t.Context(), pgpeople.NewUser{Name: name})
		require.Equal(t, fault.Invalid, fault.KindOf(err), name)
		require.Equal(t, fault.Invalid, fault.KindOf(onCall.Create(t.Context(), name, oncall.By{})), name)
	}
	require.Equal(t, fault.Conflict, fault.KindOf(onCall.Create(t.Context(), "SysAdm", oncall.By{})))
	require.NoError(t, onCall.Create(t.Context(), "carol", oncall.By{}))
	carol, err := onCall.ByName(t.Context(), "carol")
	require.NoError(t, err)
	evil := "ſyſadm"
	require.Equal(t, fault.Invalid, fault.KindOf(onCall.Update(t.Context(), carol.ID, oncall.PersonChange{Name: &evil})))
	_, err = people.ByName(t.Context(), evil)
	require.Equal(t, fault.NotFound, fault.KindOf(err), "a look-up does not lead to another name either")
}

// TestCanonicalNamesOfTheReleaseBefore writes users as the previous release does, which does not know the column
// canonical_name.
func TestCanonicalNamesOfTheReleaseBefore(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	people := pgpeople.NewUsers(d)
	ctx := t.Context()
	_, err := people.Create(ctx, pgpeople.NewUser{Name: "Sysadm"})
	require.NoError(t, err)
	_, err = d.Pool().Exec(ctx, "insert into users (name) values ('ſyſadm'), ('Bob'), ('ann')")
	require.NoError(t, err)
	filled, conflicts, err := people.FillCanonicalNames(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 2, filled)
	require.Equal(t, []string{"ſyſadm"}, conflicts)
	u, err := people.ByName(ctx, "ſyſadm")
	require.NoError(t, err, "a stored name stays valid")
	require.Equal(t, "ſyſadm", u.Name)

	_, err = d.Pool().Exec(ctx, "update users set name = 'zoe' where name = 'Bob'")
	require.NoError(t, err)
	_, err = people.Create(ctx, pgpeople.NewUser{Name: "bob"})
	require.NoError(t, err, "the old name is free")
	filled, _, err = people.FillCanonicalNames(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 1, filled)
	_, err = people.Create(ctx, pgpeople.NewUser{Name: "ZOE"})
	require.Equal(t, fault.Conflict, fault.KindOf(err))
}
