package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/legacy/imports"
	pglegacy "github.com/iris-oncall/iris/internal/legacy/pg"
	"github.com/iris-oncall/iris/internal/notifications/pg"
)

func (m moving) exec(sql string) {
	m.t.Helper()
	_, err := m.db.Pool().Exec(m.t.Context(), sql)
	require.NoError(m.t, err)
}

func TestImportAdoptsOnCallNumbers(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.exec("insert into users (oncall_id, name) values (1, 'ann'), (2, 'Bob'), (3, 'zoe'); insert into teams (oncall_id, name) values (4, 'ann')")
	wanted := []imports.Target{{Kind: "user", Name: "ANN", Number: 2}, {Kind: "user", Name: "bob", Number: 1},
		{Kind: "team", Name: "ann", Number: 3},
		{Kind: "user", Name: "new", Number: 3}, {Kind: "role", Name: "Primary", Number: 2}, {Kind: "role",
			Name: "custom", Number: 3}}
	adopt := func(s *pglegacy.Store) imports.Outcome {
		out, err := s.AdoptOnCall(t.Context(), wanted)
		require.NoError(t, err)
		return out
	}
	m.run(func(s *pglegacy.Store) {
		require.Equal(t, imports.Note, adopt(s).Reasons[0].Kind)
		require.NoError(t, s.Finish(t.Context(), ""))
	})
	require.Equal(t, []string{"1 Bob", "2 ann", "6 zoe"}, m.rows("select oncall_id, name from users order by 1"))
	require.Equal(t, []string{"3 ann"}, m.rows("select oncall_id, name from teams"))
	require.Equal(t, []string{"2 primary", "4 manager", "5 vacation", "6 unavailable", "8 secondary", "9 shadow"},
		m.rows("select id, name from oncall_roles order by 1"))

	// Later, people were added on both sides, and one person was renamed here.
	m.exec("insert into users (oncall_id, name) values (50, 'late'); update users set name = 'robert' where name = 'Bob'")
	wanted = append(wanted, imports.Target{Kind: "user", Name: "late", Number: 60},
		imports.Target{Kind: "user", Name: "zoe", Number: 2})
	m.run(func(s *pglegacy.Store) {
		require.Equal(t, []string{"note: existed here already and got another number (1) user late: 50 -> 60"},
			words(adopt(s)))
	})
	require.Equal(t, []string{"1 robert", "2 ann", "6 zoe", "60 late"},
		m.rows("select oncall_id, name from users order by 1"))

	bound := newMoving(t)
	bound.exec(`insert into teams (name) values ('db'); insert into rosters (team_id, name) select id, 'all' from teams;
insert into schedules (team_id, roster_id, role_id, algorithm) select r.team_id, r.id, 1, 'default' from rosters r`)
	bound.run(func(s *pglegacy.Store) {
		require.Equal(t, []string{"conflict: its number here differs from the source, and schedules or shifts here refer to it (1) role primary: 1 here"}, words(adopt(s)))
	})
	require.Equal(t, []string{"1"}, bound.rows("select id from oncall_roles where name = 'primary'"))
}

func TestImportGivesApplicationsAccessToTheOnCallAPI(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.exec("insert into applications (id, name) overriding system value values (50, 'watch'), (51, 'full')")
	allow := func(s *pglegacy.Store, name, key string) []string {
		out, err := s.AllowOnCall(t.Context(), []imports.ApplicationKeys{{Name: name, Primary: key}})
		require.NoError(t, err)
		return words(out)
	}
	const shared = "note: it existed here already and got this key as a second one: both keys now open both APIs (1) application "
	m.run(func(s *pglegacy.Store) {
		_, err := s.SealKeys(t.Context(), []imports.ApplicationKeys{{ID: 50, Name: "watch", Primary: "key-of-watch"},
			{ID: 51, Name: "full", Primary: "key-one", Secondary: "key-two"}})
		require.NoError(t, err)
		require.Empty(t, allow(s, "sync", "key-of-sync"))
		require.Equal(t, []string{shared + "WATCH"}, allow(s, "WATCH", "key-of-oncall"))
		require.Equal(t, []string{"not taken: it exists here already and has two other keys (1) application full"},
			allow(s, "full", "key-three"))
		require.Equal(t, []string{"note: it existed here already with this key: now it may use the on-call API too (1) application full"}, allow(s, "full", "key-two"))
		require.NoError(t, s.Finish(t.Context(), ""))
	})
	require.Equal(t, []string{"full true true", "iris false false", "sync true false", "watch true true"},
		m.rows("select name, allow_oncall, secondary_key_sealed is not null from applications order by 1"))
	m.run(func(s *pglegacy.Store) {
		require.Empty(t, allow(s, "sync", "key-of-sync"))
		require.Empty(t, allow(s, "watch", "key-of-oncall"))
		require.Equal(t, []string{"not taken: it has another key here, or it may not use the on-call API here: its settings here are kept (1) application sync"},
			allow(s, "sync", "rotated"), "no old key comes back after the first import")
		out, err := s.AllowOnCall(t.Context(), []imports.ApplicationKeys{{Name: "a", Primary: "x"},
			{Name: "A", Primary: "y"}})
		require.NoError(t, err)
		require.Equal(t, imports.Conflict, out.Reasons[0].Kind)
	})
}

// Applications that came from Oncall get new numbers after Iris's applications are imported.
func TestImportRenumbersOnCallApplications(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	allow := func(s *pglegacy.Store) {
		_, err := s.AllowOnCall(t.Context(), []imports.ApplicationKeys{{Name: "iris", Primary: "key-a-of-oncall"},
			{Name: "relay", Primary: "key-b-of-oncall"}, {Name: "sync", Primary: "key-c"}})
		require.NoError(t, err)
	}
	m.run(allow)
	m.run(func(s *pglegacy.Store) {
		table := imports.Table{Name: "applications", Key: []string{"id"}, Unique: []string{"lower(@name)"},
			Columns: []imports.Column{{Name: "id", Type: "bigint"}, {Name: "name", Type: "text"}}}
		require.Empty(t, m.load(s, table, []any{90, "Relay"}).Reasons)
		out, err := s.SealKeys(t.Context(), []imports.ApplicationKeys{{ID: 90, Name: "Relay", Primary: "key-of-iris"}})
		require.NoError(t, err)
		require.Equal(t, imports.Note, out.Reasons[0].Kind)
		require.NoError(t, s.Finish(t.Context(), ""))
	})
	require.Equal(t, []string{"Relay 90 true true false 0", "iris 91 true false true 6", "sync 92 true false false 0"},
		m.rows("select name, id, allow_oncall, secondary_key_sealed is not null, allow_authenticating_users, (select count(*) from application_modes x where x.application_id = a.id) from applications a order by name"))
}

func TestImportKeepsExistingValues(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.exec("insert into users (oncall_id, name, full_name) values (1, 'ann', 'Ann Here'), (2, 'bob', '')")
	table := imports.Table{Name: "users", Key: []string{"oncall_id"}, Columns: []imports.Column{
		{Name: "oncall_id", Type: "bigint"}, {Name: "name", Type: "text"}, {Name: "full_name", Type: "text",
			Empty: "t.full_name = ''", Keep: true},
	}}
	m.run(func(s *pglegacy.Store) {
		out := m.load(s, table, []any{1, "ann", "Ann There"}, []any{2, "bob", "Bob There"})
		require.Equal(t, []string{"not taken: its full_name differs here, and the value here is kept (1) row 1; Ann There in the source, Ann Here here",
			"note: it existed here already, and its empty values were filled in (1) row 2"}, words(out))
		require.Equal(t, int64(2), out.Same)
	})
	require.Equal(t, []string{"Ann Here", "Bob There"}, m.rows("select full_name from users order by oncall_id"))
}

func TestImportSeesItsOwnCalendar(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m.run(func(s *pglegacy.Store) {
		to := func(table, match string) *imports.Ref { return &imports.Ref{Table: table, Match: match, Take: "id"} }
		m.load(s, imports.Table{Name: "users", Key: []string{"oncall_id"},
			Columns: []imports.Column{{Name: "oncall_id", Type: "bigint"}, {Name: "name", Type: "text"}}},
			[]any{500, "ann"})
		m.load(s, imports.Table{Name: "teams", Key: []string{"oncall_id"},
			Columns: []imports.Column{{Name: "oncall_id", Type: "bigint"}, {Name: "name", Type: "text"}}},
			[]any{700, "db"})
		m.load(s, imports.Table{Name: "shifts", Key: []string{"id"}, Columns: []imports.Column{
			{Name: "id", Type: "bigint"}, {Name: "team_id", Type: "bigint",
				Ref: to("teams", "oncall_id")}, {Name: "role_id", Type: "bigint"},
			{Name: "user_id", Type: "bigint", Ref: to("users", "oncall_id")}, {Name: "starts_at",
				Type: "timestamptz"}, {Name: "ends_at", Type: "timestamptz"},
		}}, []any{9000, 700, 1, 500, at, at.Add(time.Hour)})
		here, err := s.OnCall(t.Context(), at.Add(-time.Hour), at.Add(2*time.Hour))
		require.NoError(t, err)
		shifts := here.Teams[700].OnCall("primary", at)
		require.Len(t, shifts, 1)
		require.Equal(t, int64(500), here.People[shifts[0].User])
		require.Empty(t, here.Teams[700].OnCall("primary", at.Add(time.Hour)), "not at its end")
	})
}

// TestImportSealsFeedKeys checks that no feed key is stored in plain text, and that a second import finds the keys that
// exist.
func TestImportSealsFeedKeys(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.exec("insert into users (oncall_id, name) values (1, 'ann'), (2, 'bob')")
	m.exec("insert into ical_keys (key, requester_id, user_id) select 'key-of-bob', id, id from users where name = 'bob'") // in plain text, as by the previous release
	user := &imports.Ref{Table: "users", Match: "oncall_id", Take: "id"}
	table := imports.Table{Name: "ical_keys", Key: []string{"key"}, Columns: []imports.Column{
		{Name: "key", Type: "text", Hidden: true}, {Name: "requester_id", Type: "bigint", Ref: user}, {Name: "user_id",
			Type: "bigint", Ref: user},
	}}
	load := func() (out imports.Outcome) {
		m.run(func(s *pglegacy.Store) {
			out = m.load(s, table, []any{"key-of-ann", 1, 1}, []any{"key-of-bob", 2, 2})
			require.NoError(t, s.Finish(t.Context(), ""))
		})
		return out
	}
	out := load()
	require.Empty(t, out.Reasons)
	require.Equal(t, []int64{1, 1}, []int64{out.Taken, out.Same})
	require.Equal(t, []string{"ann true true", "bob true true"},
		m.rows("select name, key like 'sealed:%', key_sealed is not null from ical_keys k join users u on u.id = k.user_id order by name"))
	keys, err := auth.NewKeys(make([]byte, auth.SecretSize))
	require.NoError(t, err)
	for name, key := range map[string]string{"ann": "key-of-ann", "bob": "key-of-bob"} {
		found, err := pg.NewNotices(m.db, keys).Key(t.Context(), key)
		require.NoError(t, err)
		require.Equal(t, []string{name, key}, []string{found.Requester, found.Key})
	}
	out = load()
	require.Empty(t, out.Reasons)
	require.Equal(t, []int64{0, 2}, []int64{out.Taken, out.Same})
}
