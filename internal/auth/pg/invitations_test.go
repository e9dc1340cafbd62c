package pg_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth/accounts"
	"github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestInvitations(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	ctx := t.Context()
	exec := func(sql string) {
		t.Helper()
		_, err := d.Pool().Exec(ctx, sql)
		require.NoError(t, err)
	}
	text := func(sql string) (out string) {
		t.Helper()
		require.NoError(t, d.Pool().QueryRow(ctx, sql).Scan(&out))
		return out
	}
	exec(`insert into users (id, name, canonical_name) overriding system value values (901, 'Ann', 'ann');
		insert into teams (name, time_zone) values ('Ops', 'UTC'), ('db', 'UTC')`)
	s := pg.NewInvitations(d)
	zoe := accounts.Invitation{Name: "zoe", FullName: "Zoe Q", Email: "zoe@example.com", Role: "read_only",
		Teams: []string{"ops", "DB"}, InvitedBy: "Ann"}
	for name, wrong := range map[string]func(*accounts.Invitation){
		"of a person":       func(i *accounts.Invitation) { i.Name = "ANN" },
		"to a team unknown": func(i *accounts.Invitation) { i.Teams = []string{"nix"} },
	} {
		i := zoe
		wrong(&i)
		_, err := s.Add(ctx, i, []byte("x"), time.Hour)
		require.True(t, fault.Is(err, fault.Conflict) || fault.Is(err, fault.Invalid), "%s: %v", name, err)
	}
	made, err := s.Add(ctx, zoe, []byte("first"), time.Hour)
	require.NoError(t, err)
	require.Equal(t, []string{"Ops", "db"}, made.Teams)
	_, err = s.Add(ctx, zoe, []byte("x"), time.Hour)
	require.True(t, fault.Is(err, fault.Conflict), err)
	_, err = s.Renew(ctx, made.ID, []byte("second"), time.Hour, "Ann")
	require.NoError(t, err)
	_, err = s.Renew(ctx, made.ID+1, []byte("x"), time.Hour, "Ann")
	require.True(t, fault.Is(err, fault.NotFound))
	_, err = s.Find(ctx, []byte("first"))
	require.ErrorIs(t, err, accounts.ErrLink)
	found, err := s.Page(ctx, 0, 10)
	require.NoError(t, err)
	require.Len(t, found, 1)
	exec(`update invitations set expires_at = clock_timestamp()`)
	_, err = s.Find(ctx, []byte("second"))
	require.ErrorIs(t, err, accounts.ErrLink, "expired")
	_, err = s.Accept(ctx, []byte("second"), "hash")
	require.ErrorIs(t, err, accounts.ErrLink, "expired")
	exec(`update invitations set expires_at = clock_timestamp() + interval '1 hour'`)

	var accepted atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := s.Accept(context.WithoutCancel(ctx), []byte("second"), "hash"); err == nil {
				accepted.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, accepted.Load())
	require.Equal(t, "zoe Zoe Q false true hash zoe@example.com zoe@example.com",
		text(`select concat_ws(' ', u.name, u.full_name, case when admin then 'true' else 'false' end,
		case when read_only then 'true' else 'false' end, password_hash, c.destination, c.verified_destination) from users u join user_contacts c on c.user_id = u.id where u.name = 'zoe'`))
	require.Equal(t, "Ops db", text(`select string_agg(t.name, ' ' order by t.id) from team_members m join teams t on t.id = m.team_id join users u on u.id = m.user_id where u.name = 'zoe' and m.member`))

	zoe.Name, zoe.Role = "yan", "admin"
	made, err = s.Add(ctx, zoe, []byte("third"), time.Hour)
	require.NoError(t, err)
	require.NoError(t, s.Revoke(ctx, made.ID, "Ann"))
	require.True(t, fault.Is(s.Revoke(ctx, made.ID, "Ann"), fault.NotFound))
	_, err = s.Accept(ctx, []byte("third"), "hash")
	require.ErrorIs(t, err, accounts.ErrLink)
	require.Equal(t, "Ann: invitation added, Ann: invitation sent again, zoe: user created, zoe: invitation accepted, Ann: invitation added, Ann: invitation revoked",
		text(`select string_agg(actor || ': ' || action, ', ' order by id) from audit_log`))
}
