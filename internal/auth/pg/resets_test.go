package pg_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth/accounts"
	pgauth "github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/users/pg"
)

// withPasswords has ann and bob with a password and a verified contact. cat has no password, dan no verified contact,
// and eve is switched off.
const withPasswords = `insert into users (id, name, password_hash, active) overriding system value values
	(901, 'Ann', 'old', true), (902, 'bob', 'old', true), (903, 'cat', null, true), (904, 'dan', 'old', true), (905, 'eve', 'old', false);
	insert into user_contacts (user_id, mode, destination, verified_destination, recovery_destination) select id, 'email', lower(name) || '@example.com',
		case when name <> 'dan' then lower(name) || '@example.com' end, lower(name) || '@example.com' from users where id between 901 and 905`

func newResets(t *testing.T) (*pgauth.Resets, func(sql string), func(sql string) string) {
	t.Helper()
	return resetsOf(t, pgtest.New(t))
}

func resetsOf(t *testing.T, d *postgres.DB) (*pgauth.Resets, func(sql string), func(sql string) string) {
	t.Helper()
	exec := func(sql string) {
		t.Helper()
		_, err := d.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	text := func(sql string) (out string) {
		t.Helper()
		require.NoError(t, d.Pool().QueryRow(t.Context(), sql).Scan(&out))
		return out
	}
	exec(withPasswords)
	return pgauth.NewResets(d), exec, text
}

func TestWhoGetsALinkForAPassword(t *testing.T) {
	t.Parallel()
	s, exec, _ := newResets(t)
	for _, login := range []string{"cat", "dan", "eve", "nobody", "", "cat@example.com", "dan@example.com", "an%", "ann\x00"} {
		_, err := s.Add(t.Context(), login, []byte(login), time.Hour, "")
		require.True(t, fault.Is(err, fault.NotFound), "%q: %v", login, err)
	}
	for login, name := range map[string]string{"ANN ": "Ann", "Bob@Example.com": "bob"} {
		to, err := s.Add(t.Context(), login, []byte(login), time.Hour, "")
		require.NoError(t, err, login)
		require.Equal(t, name, to.User.Name)
		require.Equal(t, map[string]string{"Ann": "ann@example.com", "bob": "bob@example.com"}[name], to.Address)
	}
	exec(`update password_resets set created_at = created_at - interval '2 minutes';
		update user_contacts set destination = 'ann@example.com' where user_id = 902`)
	to, err := s.Add(t.Context(), "ann@example.com", []byte("again"), time.Hour, "")
	require.NoError(t, err)
	require.Equal(t, "Ann", to.User.Name, "an address that bob has not verified is not his")
}

func TestLinksForAPasswordAreLimited(t *testing.T) {
	t.Parallel()
	s, exec, text := newResets(t)
	sent := 0
	try := func() {
		if _, err := s.Add(t.Context(), "ann", []byte{byte(sent)}, time.Hour, ""); err == nil {
			sent++
		}
	}
	try()
	try()
	require.Equal(t, 1, sent, "one a minute")
	for range 5 {
		exec(`update password_resets set created_at = created_at - interval '2 minutes'`)
		try()
	}
	require.Equal(t, 3, sent, "three an hour")
	for range 15 {
		exec(`update password_resets set created_at = created_at - interval '61 minutes'`)
		try()
	}
	require.Equal(t, 10, sent, "ten a day")
	exec(`update password_resets set created_at = created_at - interval '3 days'`)
	try()
	require.Equal(t, 11, sent)
	require.Equal(t, "1", text(`select count(*)::text from password_resets`), "old ones are deleted")

	exec(`delete from password_resets`)
	var accepted atomic.Int64
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			if _, err := s.Add(context.WithoutCancel(t.Context()), "ann", []byte{100, byte(n)}, time.Hour, ""); err == nil {
				accepted.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, accepted.Load())
}

func TestALinkForAPasswordWorksOnce(t *testing.T) {
	t.Parallel()
	s, exec, text := newResets(t)
	hash := []byte("hash")
	add := func() {
		t.Helper()
		exec(`delete from password_resets`)
		_, err := s.Add(t.Context(), "ann", hash, time.Hour, "")
		require.NoError(t, err)
		_, err = s.Find(t.Context(), hash)
		require.NoError(t, err)
	}
	for name, void := range map[string]string{
		"expired":                    `update password_resets set expires_at = clock_timestamp()`,
		"another password since":     `update users set password_hash = 'other' where id = 901`,
		"another contact":            `update user_contacts set destination = 'x@example.com', verified_destination = 'x@example.com' where user_id = 901`,
		"a contact to verify again":  `update user_contacts set verified_destination = null where user_id = 901`,
		"switched off":               `update users set active = false where id = 901`,
		"the password was taken":     `update users set password_hash = null where id = 901`,
		"somebody else had the link": `update password_resets set hash = 'other'`,
	} {
		add()
		exec(void)
		_, err := s.Find(t.Context(), hash)
		require.ErrorIs(t, err, accounts.ErrLink, name)
		_, err = s.Use(t.Context(), hash, "new")
		require.ErrorIs(t, err, accounts.ErrLink, name)
		exec(`update users set active = true, password_hash = 'old' where id = 901; update user_contacts set destination = 'ann@example.com', verified_destination = 'ann@example.com' where user_id = 901`)
	}
	exec(`insert into personal_tokens (user_id, name, hash, scopes, expires_at) values (901, 't', 'h', '{read}', now() + interval '1 day')`)
	add()
	epoch := text(`select login_epoch::text from users where id = 901`)
	var accepted atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := s.Use(context.WithoutCancel(t.Context()), hash, "new"); err == nil {
				accepted.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, accepted.Load())
	require.Equal(t, "new", text(`select password_hash from users where id = 901`))
	require.NotEqual(t, epoch, text(`select login_epoch::text from users where id = 901`), "sessions end")
	require.Equal(t, "1", text(`select count(*)::text from personal_tokens`), "personal tokens stay")
	require.Equal(t, "Ann password reset user Ann",
		text(`select actor || ' ' || action || ' ' || object from audit_log`))
}

// An address that somebody else set is verified for paging, and recovers no account until the person proves it.
func TestAddressesThatOthersSetRecoverNoAccount(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	s, exec, text := resetsOf(t, d)
	contacts := pg.NewContacts(d, nil, nil)
	other := users.Contact{Mode: users.Email, Destination: "other@example.com"}
	add := func(by string) error {
		exec(`delete from password_resets`)
		_, err := s.Add(t.Context(), "ann", []byte("hash"), time.Hour, by)
		return err
	}
	for name, set := range map[string]func() error{
		"an application or an administrator": func() error {
			return pg.NewUsers(d).SetContact(t.Context(), 901,
				other.Mode, other.Destination)
		},
		"an administrator at a page": func() error {
			return contacts.Set(t.Context(), 901, other, true,
				"boss")
		},
		"an import": func() error {
			exec(`update user_contacts set destination = 'other@example.com', verified_destination = 'other@example.com' where user_id = 901`)
			return nil
		},
	} {
		require.NoError(t, add(""), name)
		require.NoError(t, set(), name)
		require.Equal(t, "other@example.com",
			text(`select verified_destination from user_contacts where user_id = 901`), "%s: pages are answered from it", name)
		require.True(t, fault.Is(add(""), fault.NotFound), name)
		require.NoError(t, add("boss"), "%s: an administrator can still send a link", name)
		require.NoError(t, pg.NewUsers(d).SetContact(t.Context(), 901, other.Mode, "Ann@example.com"))
	}
	require.NoError(t, add(""), "the address that the person proved is back")
	exec(`update user_contacts set destination = 'new@example.com' where user_id = 901`)
	require.NoError(t, contacts.Confirm(t.Context(), 901, users.Email))
	require.NoError(t, add(""), "proved")
}
