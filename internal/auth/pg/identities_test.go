package pg_test

import (
	"testing"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	pgauth "github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/users/pg"
)

type fixture struct {
	*testing.T
	db    *postgres.DB
	store *pgauth.Identities
	rows  *pg.Users
}

func setup(t *testing.T) fixture {
	t.Helper()
	t.Parallel()
	d := pgtest.New(t)
	return fixture{t, d, pgauth.New(d), pg.NewUsers(d)}
}

func (f fixture) exec(sql string) {
	f.Helper()
	_, err := f.db.Pool().Exec(f.Context(), sql)
	require.NoError(f, err)
}

// logIn decides and applies a log-in with the rules.
func (f fixture) logIn(id sso.Identity, rules sso.Rules) (users.User, sso.Decision) {
	f.Helper()
	facts, err := f.store.Facts(f.Context(), id)
	require.NoError(f, err)
	d := sso.Decide(id, facts, rules)
	if d.Kind == sso.Refuse {
		require.NoError(f, f.store.Refused(f.Context(), d))
		return users.User{}, d
	}
	u, err := f.store.Apply(f.Context(), d)
	require.NoError(f, err)
	return u, d
}

// members returns the members of team db, in order; managed ones have a star.
func (f fixture) members() (out []string) {
	f.Helper()
	require.NoError(f, f.db.Pool().QueryRow(f.Context(), `select array(select u.name || case when exists
		(select from managed_members x where x.team_id = m.team_id and x.user_id = m.user_id) then '*' else '' end
		from team_members m join users u on u.id = m.user_id join teams t on t.id = m.team_id where t.name = 'db' and m.member order by m.position)`).Scan(&out))
	return out
}

func ana() sso.Identity {
	return sso.Identity{Provider: "corp", Issuer: "https://idp", Subject: "1", Name: "ana", FullName: "Ana Ruiz",
		Email: "ana@example.com", EmailVerified: true}
}

func TestTheFirstLogInCreatesThePerson(t *testing.T) {
	f := setup(t)
	rules := sso.Rules{Import: true, TrustEmail: true}
	u, d := f.logIn(ana(), rules)
	require.Equal(t, sso.Create, d.Kind)
	require.Equal(t, "Ana Ruiz", u.FullName)
	contacts, err := f.rows.Contacts(t.Context(), u.ID)
	require.NoError(t, err)
	require.Equal(t, map[users.Mode]string{users.Email: "ana@example.com"}, contacts)

	renamed := ana()
	renamed.Name, renamed.Email = "other", "other@example.com"
	again, d := f.logIn(renamed, rules)
	require.Equal(t, sso.Use, d.Kind)
	require.Equal(t, u.ID, again.ID, "the subject counts, not the name")

	stranger := ana()
	stranger.Subject = "2"
	_, d = f.logIn(stranger, rules)
	require.Equal(t, sso.Refuse, d.Kind, "the same name and address")
	stranger.Name = "ＡNA"
	_, d = f.logIn(stranger, sso.Rules{Import: true})
	require.Equal(t, sso.Refuse, d.Kind, "another spelling of the name")

	refused, err := f.store.Refusals(t.Context(), 0, 10)
	require.NoError(t, err)
	require.Len(t, refused, 1)
	require.Equal(t, 2, refused[0].Attempts)
	require.NoError(t, f.store.Link(t.Context(), "root", sso.Linked{User: "ANA", Provider: "corp",
		Issuer: "https://idp", Subject: "2"}))
	linked, d := f.logIn(stranger, sso.Rules{})
	require.Equal(t, sso.Use, d.Kind)
	require.Equal(t, u.ID, linked.ID)
	refused, err = f.store.Refusals(t.Context(), 0, 10)
	require.NoError(t, err)
	require.Empty(t, refused, "a linked account is no longer listed")

	err = f.store.Link(t.Context(), "root", sso.Linked{User: "ana", Provider: "corp", Issuer: "https://idp",
		Subject: "2"})
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	err = f.store.Link(t.Context(), "root", sso.Linked{User: "nobody", Provider: "corp", Issuer: "https://idp",
		Subject: "3"})
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)

	list, err := f.store.List(t.Context(), "Ana", 0, 10)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.False(t, list[0].LastLoginAt.IsZero())
	require.NoError(t, f.store.Unlink(t.Context(), "root", list[0].ID))
	_, d = f.logIn(ana(), rules)
	require.Equal(t, sso.Refuse, d.Kind)
	require.True(t, fault.Is(f.store.Unlink(t.Context(), "root", list[0].ID), fault.NotFound))
}

func TestAVerifiedAddressLinksIfTrusted(t *testing.T) {
	f := setup(t)
	boss, err := f.rows.Create(t.Context(), pg.NewUser{Name: "boss",
		Contacts: map[users.Mode]string{users.Email: "Ana@Example.com"}})
	require.NoError(t, err)
	rules := sso.Rules{TrustEmail: true}
	_, d := f.logIn(ana(), rules)
	require.Equal(t, sso.Refuse, d.Kind, "nobody vouches for the address")
	f.exec("update user_contacts set verified_destination = destination")
	_, d = f.logIn(ana(), rules)
	require.Equal(t, sso.Refuse, d.Kind, "others verified the address")
	f.exec("insert into directory_contacts (user_id, mode, destination) select id, 'email', 'ana@old.example.com' from users where name = 'boss'")
	_, d = f.logIn(ana(), rules)
	require.Equal(t, sso.Refuse, d.Kind, "the directory gave another address")
	f.exec("update user_contacts set recovery_destination = destination, verified_destination = null")
	_, d = f.logIn(ana(), rules)
	require.Equal(t, sso.Refuse, d.Kind, "the proved address is no longer verified")
	f.exec("update user_contacts set verified_destination = destination")
	u, d := f.logIn(ana(), rules)
	require.Equal(t, sso.Link, d.Kind)
	require.Equal(t, boss.ID, u.ID)
}

func TestAnAddressOfADirectoryLinksIfTrusted(t *testing.T) {
	f := setup(t)
	boss, err := f.rows.Create(t.Context(), pg.NewUser{Name: "boss",
		Contacts: map[users.Mode]string{users.Email: "Ana@Example.com"}})
	require.NoError(t, err)
	f.exec(`update user_contacts set verified_destination = destination;
		insert into directory_contacts (user_id, mode, destination) select user_id, mode, destination from user_contacts where mode = 'email'`)
	u, d := f.logIn(ana(), sso.Rules{TrustEmail: true})
	require.Equal(t, sso.Link, d.Kind)
	require.Equal(t, boss.ID, u.ID)
}

func TestGroupsGiveRolesAndTeams(t *testing.T) {
	f := setup(t)
	f.exec(`insert into users (name, admin) values ('root', true); insert into teams (name) values ('db');
		insert into users (name) values ('hand'); insert into team_members (team_id, user_id, position) select t.id, u.id, 1 from teams t, users u where u.name = 'hand'`)
	rules := sso.Rules{Import: true, Admins: []string{"admins"},
		Teams: []sso.TeamRule{{Group: "dba", Team: "DB"}, {Group: "dba", Team: "unknown"}}}
	id := ana()
	id.HasGroups, id.Groups = true, []string{"admins", "dba"}
	u, _ := f.logIn(id, rules)
	require.True(t, u.Admin)
	require.Equal(t, []string{"hand", "ana*"}, f.members())

	teams := pg.NewOncallTeams(f.db, nil)
	db, err := teams.ByName(t.Context(), "db")
	require.NoError(t, err)
	err = teams.RemoveMember(t.Context(), db, oncall.Person{User: u}, oncall.By{})
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)

	silent := id
	silent.HasGroups, silent.Groups = false, nil
	u, _ = f.logIn(silent, rules)
	require.False(t, u.Admin)
	require.Equal(t, []string{"hand", "ana*"}, f.members(), "no list is not an empty list")
	u, _ = f.logIn(id, rules)
	require.True(t, u.Admin)

	hand := sso.Identity{Provider: "corp", Issuer: "https://idp", Subject: "9", HasGroups: true,
		Groups: []string{"dba"}}
	require.NoError(t, f.store.Link(t.Context(), "root", sso.Linked{User: "hand", Provider: "corp",
		Issuer: "https://idp", Subject: "9"}))
	f.logIn(hand, rules)
	hand.Groups = nil
	f.logIn(hand, rules)
	require.Equal(t, []string{"hand", "ana*"}, f.members(), "a membership by hand stays")

	f.exec(`update users set admin = false where name = 'root'`)
	id.Groups = []string{}
	u, _ = f.logIn(id, rules)
	require.True(t, u.Admin, "the last administrator stays one")
	require.Equal(t, []string{"hand"}, f.members())
	f.exec(`update users set admin = true where name = 'root'`)
	u, _ = f.logIn(id, rules)
	require.False(t, u.Admin, "the role that groups gave is taken back later")

	var notes int
	require.NoError(t, f.db.Pool().QueryRow(t.Context(),
		`select count(*) from audit_log where actor = 'single sign-on: corp'`).Scan(&notes))
	require.Positive(t, notes)
}

func TestSessionsOfAnAccount(t *testing.T) {
	f := setup(t)
	keys, err := auth.NewKeys(make([]byte, auth.SecretSize))
	require.NoError(t, err)
	sessions, web := pgauth.NewProviderSessions(f.db, keys), pgauth.NewSessions(f.db)
	data, err := scs.GobCodec{}.Encode(time.Now().Add(time.Hour), nil)
	require.NoError(t, err)
	begin := func(token, subject, sid string) {
		t.Helper()
		require.NoError(t, web.CommitCtx(t.Context(), token, data, time.Now().Add(time.Hour)))
		require.NoError(t, sessions.Began(t.Context(), token,
			sso.Session{Issuer: "https://idp", Subject: subject, Sid: sid, IDToken: "jwt"}))
	}
	begin("a", "1", "s1")
	begin("b", "1", "s2")
	begin("c", "2", "s3")
	of, err := sessions.Of(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, sso.Session{Issuer: "https://idp", Subject: "1", Sid: "s1", IDToken: "jwt"}, of)
	of, err = sessions.Of(t.Context(), "none")
	require.NoError(t, err)
	require.Zero(t, of)
	var plain int
	require.NoError(t, f.db.Pool().QueryRow(t.Context(),
		`select count(*) from session_identities where position('jwt'::bytea in id_token) > 0`).Scan(&plain))
	require.Zero(t, plain)

	end := func(issuer, subject, sid string, want int) {
		t.Helper()
		n, err := sessions.End(t.Context(), issuer, subject, sid)
		require.NoError(t, err)
		require.EqualValues(t, want, n)
	}
	end("https://other", "1", "s1", 0)
	end("https://idp", "2", "s1", 0)
	end("https://idp", "", "s1", 1)
	_, found, err := web.FindCtx(t.Context(), "a")
	require.NoError(t, err)
	require.False(t, found)
	end("https://idp", "1", "", 1)
	end("https://idp", "1", "", 0)

	first, err := sessions.Use(t.Context(), "v", time.Hour)
	require.NoError(t, err)
	require.True(t, first)
	first, err = sessions.Use(t.Context(), "v", time.Hour)
	require.NoError(t, err)
	require.False(t, first)
}
