package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/users"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	ctx := t.Context()
	exec := func(sql string) {
		t.Helper()
		_, err := d.Pool().Exec(ctx, sql)
		require.NoError(t, err)
	}
	exec(`insert into users (id, name) overriding system value values (901, 'Ann'), (902, 'bob')`)
	s, ann := pg.NewTokens(d), users.User{ID: 901, Name: "Ann"}
	create := func() (tokens.Token, []byte) {
		t.Helper()
		_, hash, err := tokens.Hash(tokens.Make(tokens.Personal))
		require.NoError(t, err)
		made, err := s.Create(ctx, ann, tokens.Content{Name: "laptop", Scopes: tokens.Scopes{tokens.Read},
			Life: time.Hour}, hash)
		require.NoError(t, err)
		return made, hash
	}
	list := func(of users.ID) []tokens.Token {
		t.Helper()
		found, err := s.Page(ctx, of, 0, 10)
		require.NoError(t, err)
		return found
	}
	made, hash := create()
	found, err := s.Use(ctx, hash)
	require.NoError(t, err)
	require.Equal(t, tokens.Token{ID: made.ID, User: 901, UserName: "Ann", Scopes: tokens.Scopes{tokens.Read}}, found)
	used := list(901)[0].LastUsedAt
	require.False(t, used.IsZero())
	_, err = s.Use(ctx, hash)
	require.NoError(t, err)
	require.Equal(t, used, list(0)[0].LastUsedAt, "a use is recorded once a minute")
	require.Empty(t, list(902))

	exec(`update users set active = false where id = 901`)
	_, err = s.Use(ctx, hash)
	require.ErrorIs(t, err, tokens.ErrInvalid)
	exec(`update users set active = true where id = 901`)
	_, err = s.Use(ctx, hash)
	require.ErrorIs(t, err, tokens.ErrInvalid, "switching a person off ends tokens for good")
	_, hash = create()
	exec(`update personal_tokens set expires_at = clock_timestamp()`)
	_, err = s.Use(ctx, hash)
	require.ErrorIs(t, err, tokens.ErrInvalid)

	next, hash := create()
	require.Len(t, list(901), 1, "expired tokens are deleted")
	require.True(t, fault.Is(s.Revoke(ctx, next.ID, 902, "bob"), fault.NotFound))
	require.NoError(t, s.Revoke(ctx, next.ID, 901, "Ann"))
	_, err = s.Use(ctx, hash)
	require.ErrorIs(t, err, tokens.ErrInvalid)

	records, err := pg.NewAudit(d).List(ctx, filters.Query{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, audit.TokenRevoked, records[0].Action)
	require.Equal(t, "laptop", records[0].Detail)

	exec(`insert into personal_tokens (user_id, name, hash, scopes, expires_at)
		select 901, 'x', int4send(i), '{read}', clock_timestamp() + interval '1 hour' from generate_series(1, 50) i`)
	_, err = s.Create(ctx, ann, tokens.Content{Name: "one more", Scopes: tokens.Scopes{tokens.Read}, Life: time.Hour},
		hash)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
}

// A number names one token of both kinds.
func TestPersonalAndServiceTokensShareOneNumbering(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	_, err := d.Pool().Exec(t.Context(), `insert into users (id, name) overriding system value values (901, 'ann')`)
	require.NoError(t, err)
	s := pg.NewTokens(d)
	var last tokens.ID
	for _, name := range []string{"a", "b", "c"} {
		p, err := s.Create(t.Context(), users.User{ID: 901, Name: "ann"},
			tokens.Content{Name: name, Scopes: tokens.Scopes{tokens.Read}, Life: time.Hour}, []byte("p"+name))
		require.NoError(t, err)
		require.Greater(t, p.ID, last)
		v, err := s.CreateService(t.Context(), tokens.Service{Name: name, Scopes: tokens.Scopes{tokens.Read},
			CreatedBy: "ann"}, time.Hour, []byte("s"+name))
		require.NoError(t, err)
		require.Greater(t, v.ID, p.ID)
		last = v.ID
	}
}

func TestAPersonEndsAllTokens(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	ctx := t.Context()
	_, err := d.Pool().Exec(ctx, `insert into users (id, name) overriding system value values (901, 'Ann'), (902, 'bob');
		insert into personal_tokens (user_id, name, hash, scopes, expires_at) select u.id, 'x', int8send(u.id * 10 + n), '{read}', now() + interval '1 day'
			from users u, generate_series(1, 2) n;
		insert into token_grants (hash, user_id, name, scopes, challenge, expires_at) values ('a', 901, 'a', '{read}', 'c', now() + interval '1 day')`)
	require.NoError(t, err)
	ended, err := pg.NewTokens(d).RevokeAll(ctx, users.User{ID: 901, Name: "Ann"})
	require.NoError(t, err)
	require.Equal(t, 2, ended)
	var left, codes, entries int
	require.NoError(t, d.Pool().QueryRow(ctx,
		`select (select count(*) from personal_tokens), (select count(*) from token_grants),
		(select count(*) from audit_log where action = 'token revoked' and actor = 'Ann')`).Scan(&left, &codes, &entries))
	require.Equal(t, []int{2, 0, 2}, []int{left, codes, entries}, "those of others stay")
}
