package pg_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
)

func TestGrants(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	ctx := t.Context()
	exec := func(sql string) {
		t.Helper()
		_, err := d.Pool().Exec(ctx, sql)
		require.NoError(t, err)
	}
	exec(`insert into users (id, name) overriding system value values (901, 'Ann')`)
	s := pg.NewGrants(d)
	want := tokens.Grant{User: 901, UserName: "Ann", Name: "laptop",
		Scopes: tokens.Scopes{tokens.Incidents, tokens.Read}, Challenge: "c"}
	add := func(code string) []byte {
		t.Helper()
		require.NoError(t, s.Add(ctx, tokens.HashCode(code), want))
		return tokens.HashCode(code)
	}
	hash := add("one")
	got, err := s.Take(ctx, hash)
	require.NoError(t, err)
	require.Equal(t, want, got)
	for name, change := range map[string]string{
		"used":       `select 1`,
		"expired":    `update token_grants set expires_at = clock_timestamp()`,
		"not active": `update users set active = false`,
	} {
		if name != "used" {
			hash = add(name)
		}
		exec(change)
		_, err = s.Take(ctx, hash)
		require.ErrorIs(t, err, tokens.ErrGrant, name)
		exec(`update users set active = true`)
	}

	add("old")
	var soon bool
	require.NoError(t, d.Pool().QueryRow(ctx,
		`select expires_at between clock_timestamp() + interval '50 s' and clock_timestamp() + interval '60 s' from token_grants`).Scan(&soon))
	require.True(t, soon, "a code is valid for 60 seconds")
	exec(`update token_grants set expires_at = clock_timestamp()`)
	add("new")
	var kept int
	require.NoError(t, d.Pool().QueryRow(ctx, `select count(*) from token_grants`).Scan(&kept))
	require.Equal(t, 1, kept, "expired grants are deleted")
}
