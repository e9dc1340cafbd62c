package pg_test

import (
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/auth"
	pgauth "github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/users"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

func TestUsers(t *testing.T) {
	t.Parallel()
	u := pgusers.NewUsers(pgtest.New(t))
	ctx := t.Context()
	ann, err := u.Create(ctx, pgusers.NewUser{
		Name: " Ann ", FullName: "Ann Example", TimeZone: "Europe/Berlin", Admin: true, PasswordHash: "hash",
		Contacts: map[users.Mode]string{users.Email: "Ann@example.com", users.SMS: "+4915112345678"},
	})
	require.NoError(t, err)
	require.Equal(t, "Ann", ann.Name)
	require.True(t, ann.Active && ann.Admin && !ann.ReadOnly)
	require.Positive(t, ann.TargetID)
	require.Positive(t, ann.OncallID)

	for _, name := range []string{"ANN", "ann", "Ann"} {
		got, err := u.ByName(ctx, name)
		require.NoError(t, err)
		require.Equal(t, ann, got)
	}
	got, err := u.ByID(ctx, ann.ID)
	require.NoError(t, err)
	require.Equal(t, ann, got)
	got, hash, err := u.Credentials(ctx, "ann")
	require.NoError(t, err)
	require.Equal(t, ann, got)
	require.Equal(t, "hash", hash)

	require.NoError(t, u.SetPassword(ctx, ann.ID, ""))
	_, hash, err = u.Credentials(ctx, "ann")
	require.NoError(t, err)
	require.Empty(t, hash)

	require.NoError(t, u.SetContact(ctx, ann.ID, users.Slack, "U1"))
	require.NoError(t, u.SetContact(ctx, ann.ID, users.Email, "new@example.com"))
	require.NoError(t, u.SetContact(ctx, ann.ID, users.SMS, " "))
	contacts, err := u.Contacts(ctx, ann.ID)
	require.NoError(t, err)
	require.Equal(t, map[users.Mode]string{users.Email: "new@example.com", users.Slack: "U1"}, contacts)

	ann.ReadOnly, ann.Active, ann.FullName = true, false, "A."
	require.NoError(t, u.Update(ctx, ann))
	got, err = u.ByName(ctx, "ann")
	require.NoError(t, err)
	require.Equal(t, 2, got.LoginEpoch, "another password, and switched off")
	ann.LoginEpoch = 2
	require.Equal(t, ann, got)
	require.NoError(t, u.SetMode(ctx, ann.ID, users.High, users.Call))
	require.NoError(t, u.SetMode(ctx, ann.ID, users.High, users.SMS))
}

func TestUsersRefuseWrongData(t *testing.T) {
	t.Parallel()
	u := pgusers.NewUsers(pgtest.New(t))
	ctx := t.Context()
	_, err := u.Create(ctx, pgusers.NewUser{Name: "ann"})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		n    pgusers.NewUser
		kind fault.Kind
	}{
		"same name":    {pgusers.NewUser{Name: "ANN"}, fault.Conflict},
		"no name":      {pgusers.NewUser{Name: "  "}, fault.Invalid},
		"long name":    {pgusers.NewUser{Name: strings.Repeat("x", 256)}, fault.Invalid},
		"control":      {pgusers.NewUser{Name: "a\nb"}, fault.Invalid},
		"nul":          {pgusers.NewUser{Name: "a\x00b"}, fault.Invalid},
		"not UTF-8":    {pgusers.NewUser{Name: "a\xffb"}, fault.Invalid},
		"no such zone": {pgusers.NewUser{Name: "bob", TimeZone: "Mars/Olympus"}, fault.Invalid},
		"unknown mode": {pgusers.NewUser{Name: "bob", Contacts: map[users.Mode]string{"pigeon": "x"}}, fault.Invalid},
		"nul in full":  {pgusers.NewUser{Name: "bob", FullName: "a\x00"}, fault.Invalid},
		"nul in number": {pgusers.NewUser{Name: "bob", Contacts: map[users.Mode]string{users.SMS: "1\x00"}},
			fault.Invalid},
	} {
		_, err := u.Create(ctx, c.n)
		require.Equal(t, c.kind, fault.KindOf(err), name)
	}
	_, err = u.ByName(ctx, "bob")
	require.Equal(t, fault.NotFound, fault.KindOf(err), "nothing half-written")
	for _, name := range []string{"nobody", "a\x00b", "a\xff", ""} {
		_, err = u.ByName(ctx, name)
		require.Equal(t, fault.NotFound, fault.KindOf(err))
		_, _, err = u.Credentials(ctx, name)
		require.Equal(t, fault.NotFound, fault.KindOf(err))
	}
	_, err = u.ByID(ctx, 999)
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	require.Equal(t, fault.NotFound, fault.KindOf(u.SetPassword(ctx, 999, "x")))
	require.Equal(t, fault.NotFound, fault.KindOf(u.Update(ctx, users.User{ID: 999, TimeZone: "UTC"})))
	require.Equal(t, fault.NotFound, fault.KindOf(u.SetContact(ctx, 999, users.Email, "a@b")))
}

func TestTeamsAndTargets(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	ctx := t.Context()
	u, teams, targets := pgusers.NewUsers(d), pgusers.NewTeams(d), pg.NewTargets(d)
	var ids []users.ID
	for _, name := range []string{"ann", "bob", "cy"} {
		created, err := u.Create(ctx, pgusers.NewUser{Name: name})
		require.NoError(t, err)
		ids = append(ids, created.ID)
	}
	ops, err := teams.Create(ctx, pgusers.NewTeam{Name: "Ops", ManagerID: ids[0], Members: ids[:2]})
	require.NoError(t, err)
	require.NoError(t, teams.AddMember(ctx, ops.ID, ids[2], true))
	require.NoError(t, teams.AddMember(ctx, ops.ID, ids[0], false), "again: keeps the place")
	got, err := teams.ByName(ctx, "OPS")
	require.NoError(t, err)
	require.Equal(t, ids, got.Members)
	require.Equal(t, ids[0], got.ManagerID)
	require.Zero(t, got.DirectorID)

	_, err = teams.Create(ctx, pgusers.NewTeam{Name: "OPS"})
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	_, err = teams.Create(ctx, pgusers.NewTeam{Name: "x", Members: []users.ID{999}})
	require.Equal(t, fault.Invalid, fault.KindOf(err))
	_, err = teams.ByName(ctx, "x")
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	require.Equal(t, fault.NotFound, fault.KindOf(teams.AddMember(ctx, 999, ids[0], false)))

	id, err := targets.Resolve(ctx, "oncall-primary", "ops")
	require.NoError(t, err)
	require.Equal(t, ops.TargetID, id)
	id, err = targets.Resolve(ctx, "user", "ANN")
	require.NoError(t, err)
	ann, err := u.ByName(ctx, "ann")
	require.NoError(t, err)
	require.Equal(t, ann.TargetID, id)
	for _, c := range []struct {
		role, target string
		err          error
	}{
		{"king", "ann", pg.ErrRoleNotFound},
		{"user", "nobody", pg.ErrTargetNotFound},
		{"user", "a\x00", pg.ErrTargetNotFound},
		{"user", "ops", pg.ErrRoleNotAppropriate},
		{"team", "ann", pg.ErrRoleNotAppropriate},
	} {
		_, err = targets.Resolve(ctx, c.role, c.target)
		require.ErrorIs(t, err, c.err)
		require.Equal(t, fault.Invalid, fault.KindOf(err))
	}
	ann.Active = false
	require.NoError(t, u.Update(ctx, ann))
	_, err = targets.Resolve(ctx, "user", "ann")
	require.ErrorIs(t, err, pg.ErrRoleNotAppropriate)
}

func TestApplications(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	ctx := t.Context()
	a := pg.NewApplications(d, pgtest.Installation(t, d).Keys)
	id, key, err := a.Create(ctx, "Demo")
	require.NoError(t, err)
	require.Regexp(t, "^[0-9a-f]{64}$", key)

	app, err := a.ByName(ctx, "DEMO")
	require.NoError(t, err)
	require.Positive(t, app.Version)
	require.Equal(t, auth.Application{ID: id, Name: "Demo", PendingCap: 50000, Variables: []string{},
		Version:    app.Version,
		LateWithin: 2 * time.Minute, LateHold: 6 * time.Minute, Keys: []string{key}}, app)

	var stored []byte
	require.NoError(t, d.Pool().QueryRow(ctx, "select key_sealed from applications where id = $1", id).Scan(&stored))
	require.NotContains(t, string(stored), key)

	require.Equal(t, fault.Conflict, fault.KindOf(a.Rekey(ctx, id, "root")))
	_, err = a.AddSecondary(ctx, id, "root")
	require.NoError(t, err)
	_, err = a.AddSecondary(ctx, id, "root")
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	_, second, err := a.Key(ctx, id)
	require.NoError(t, err)
	app, err = a.ByName(ctx, "demo")
	require.NoError(t, err)
	require.Equal(t, []string{key, second}, app.Keys)
	primary, secondary, err := a.Key(ctx, id)
	require.NoError(t, err)
	require.Equal(t, []string{key, second}, []string{primary, secondary})
	require.NoError(t, a.Rekey(ctx, id, "root"))
	app, err = a.ByName(ctx, "demo")
	require.NoError(t, err)
	require.Equal(t, []string{second}, app.Keys)
	_, err = a.AddSecondary(ctx, id, "root")
	require.NoError(t, err)
	require.NoError(t, a.ReplaceKeys(ctx, id, "another-key"))
	app, err = a.ByName(ctx, "demo")
	require.NoError(t, err)
	require.Equal(t, []string{"another-key"}, app.Keys, "every other key has ended")
	require.NoError(t, a.SetKey(ctx, id, "demo-key"))
	require.Equal(t, fault.Invalid, fault.KindOf(a.SetKey(ctx, id, "short")))

	app.AllowOncall, app.AllowAuthenticatingUsers, app.PendingCap, app.Paused = true, true, 7, true
	require.NoError(t, a.SetFlags(ctx, app))
	app.Keys = []string{"demo-key"}
	got, err := a.ByName(ctx, "demo")
	require.NoError(t, err)
	require.NotEqual(t, app.Version, got.Version)
	app.Version = got.Version
	require.Equal(t, app, got)

	iris, err := a.ByName(ctx, auth.SessionApplication)
	require.NoError(t, err)
	require.Empty(t, iris.Keys)
	require.True(t, iris.AllowAuthenticatingUsers)

	_, _, err = a.Create(ctx, "demo")
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	_, _, err = a.Create(ctx, "a:b")
	require.Equal(t, fault.Invalid, fault.KindOf(err))
	_, err = a.ByName(ctx, "nope")
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	names, err := a.Names(ctx, false)
	require.NoError(t, err)
	require.Equal(t, []string{"Demo", "iris"}, names)

	// A sealed key that was copied to another row cannot be unsealed.
	other, _, err := a.Create(ctx, "other")
	require.NoError(t, err)
	_, err = d.Pool().Exec(ctx, "update applications set key_sealed = (select key_sealed from applications where id = $1) where id = $2", id, other)
	require.NoError(t, err)
	_, err = a.ByName(ctx, "other")
	require.ErrorIs(t, err, auth.ErrSealed)
}

func TestApplicationSettings(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	ctx := t.Context()
	a, u := pg.NewApplications(d, pgtest.Installation(t, d).Keys), pgusers.NewUsers(d)
	id, _, err := a.Create(ctx, "demo")
	require.NoError(t, err)
	_, err = u.Create(ctx, pgusers.NewUser{Name: "ann"})
	require.NoError(t, err)

	s, err := a.Settings(ctx, id)
	require.NoError(t, err)
	require.Equal(t, []users.Mode{users.Email, users.SMS, users.Call, users.Slack, users.Push, users.Webhook}, s.Modes)

	s.Variables, s.RequiredVariables = []string{"b", "a"}, []string{"z"}
	s.TitleVariable, s.SampleContext = "a", `{"a":1}`
	s.Modes = []users.Mode{users.Email, users.SMS}
	s.DefaultModes = map[users.Priority]users.Mode{users.High: users.SMS, users.Low: users.Call}
	s.Owners = []string{"ANN", "nobody"}
	s.FallbackRole, s.FallbackTarget = "user", "ann"
	require.NoError(t, a.SetSettings(ctx, id, s))
	got, err := a.Settings(ctx, id)
	require.NoError(t, err)
	require.Equal(t, []string{"z", "a", "b"}, got.Variables)
	require.Equal(t, []string{"z"}, got.RequiredVariables)
	require.Equal(t, map[users.Priority]users.Mode{users.High: users.SMS}, got.DefaultModes)
	require.Equal(t, []string{"ann"}, got.Owners)
	require.Equal(t, "ann", got.FallbackTarget)
	require.Equal(t, s.Modes, got.Modes)
	app, err := a.ByName(ctx, "demo")
	require.NoError(t, err)
	require.Equal(t, got.Variables, app.Variables)

	s.FallbackTarget = "nobody"
	require.ErrorIs(t, a.SetSettings(ctx, id, s), pg.ErrTargetNotFound)
	require.Equal(t, fault.NotFound, fault.KindOf(a.SetSettings(ctx, 999, pg.ApplicationSettings{})))
	s.FallbackTarget, s.Modes = "ann", []users.Mode{"pigeon"}
	require.Equal(t, fault.Invalid, fault.KindOf(a.SetSettings(ctx, id, s)))
	again, err := a.Settings(ctx, id)
	require.NoError(t, err)
	require.Equal(t, got, again, "all or nothing")
}

func TestInstallationSecretIsWrapped(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	ctx := t.Context()
	core, logs := observer.New(zap.WarnLevel)
	plain, err := pgauth.LoadInstallation(ctx, d, "", zap.New(core))
	require.NoError(t, err)
	require.False(t, plain.Wrapped)
	require.Regexp(t, "^iris-[0-9a-f]{8}$", plain.Name)
	require.Equal(t, 1, logs.FilterMessageSnippet("unencrypted").Len())

	key := strings.Repeat("k", auth.MinSecretKey)
	_, err = pgauth.LoadInstallation(ctx, d, "short", nil)
	require.Equal(t, fault.Invalid, fault.KindOf(err))
	wrapped, err := pgauth.LoadInstallation(ctx, d, key, zap.New(core))
	require.NoError(t, err)
	require.True(t, wrapped.Wrapped)
	require.Equal(t, plain.Keys.Gossip(), wrapped.Keys.Gossip(), "the secret stays the same")
	require.Equal(t, 1, logs.Len())

	_, err = pgauth.LoadInstallation(ctx, d, "", nil)
	require.ErrorContains(t, err, "IRIS_SECRET_KEY")
	_, err = pgauth.LoadInstallation(ctx, d, key+"x", nil)
	require.ErrorContains(t, err, "IRIS_SECRET_KEY")

	_, err = d.Pool().Exec(ctx, "delete from installation")
	require.NoError(t, err)
	_, err = pgauth.LoadInstallation(ctx, d, "", nil)
	require.ErrorContains(t, err, "iris migrate")
}

func TestSessions(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	ctx := t.Context()
	s := pgauth.NewSessions(d)
	one, err := scs.GobCodec{}.Encode(time.Now(), map[string]any{"n": 1})
	require.NoError(t, err)
	two, err := scs.GobCodec{}.Encode(time.Now(), map[string]any{"n": 2})
	require.NoError(t, err)
	require.NoError(t, s.CommitCtx(ctx, "token", one, time.Now().Add(time.Hour)))
	require.NoError(t, s.CommitCtx(ctx, "token", two, time.Now().Add(time.Hour)))
	require.NoError(t, s.CommitCtx(ctx, "old", one, time.Now().Add(-time.Hour)))
	data, found, err := s.FindCtx(ctx, "token")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, two, data)
	_, found, err = s.FindCtx(ctx, "old")
	require.NoError(t, err)
	require.False(t, found)
	var stored int
	require.NoError(t, d.Pool().QueryRow(ctx, "select count(*) from sessions where token like '%token%'").Scan(&stored))
	require.Zero(t, stored)
	n, err := s.DeleteExpired(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	require.NoError(t, s.DeleteCtx(ctx, "token"))
	require.NoError(t, s.DeleteCtx(ctx, "token"))
	_, found, err = s.FindCtx(ctx, "token")
	require.NoError(t, err)
	require.False(t, found)

	m := scs.New()
	m.Store = s
	loaded, err := m.Load(ctx, "")
	require.NoError(t, err)
	m.Put(loaded, "user", 7)
	token, _, err := m.Commit(loaded)
	require.NoError(t, err)
	loaded, err = m.Load(ctx, token)
	require.NoError(t, err)
	require.Equal(t, 7, m.GetInt(loaded, "user"))
}

func TestTwoPoolsDoNotShareARegistry(t *testing.T) {
	t.Parallel()
	url, r := pgtest.URL(t), prometheus.NewRegistry()
	pgtest.Open(t, url, postgres.Config{Registerer: r})
	_, err := postgres.Open(t.Context(), postgres.Config{URL: url, Registerer: r})
	require.Error(t, err)
}

func TestChangesThatEndSessionsRaiseTheEpoch(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	u := pgusers.NewUsers(d)
	ctx := t.Context()
	ann, err := u.Create(ctx, pgusers.NewUser{Name: "ann", PasswordHash: "one"})
	require.NoError(t, err)
	epoch := func() int {
		now, err := u.ByName(ctx, "ann")
		require.NoError(t, err)
		return now.LoginEpoch
	}
	before := epoch()
	ann.FullName, ann.Admin = "Ann", true
	require.NoError(t, u.Update(ctx, ann))
	require.Equal(t, before, epoch(), "settings end nothing")
	require.NoError(t, u.SetPassword(ctx, ann.ID, "two"))
	require.Equal(t, before+1, epoch())
	ann.Active = false
	require.NoError(t, u.Update(ctx, ann))
	ann.Active = true
	require.NoError(t, u.Update(ctx, ann))
	require.Equal(t, before+2, epoch(), "being switched on again revives no session")

	exec := func(query string) {
		_, err := d.Pool().Exec(ctx, query, int64(ann.ID))
		require.NoError(t, err)
	}
	kept := func() (n int) {
		require.NoError(t, d.Pool().QueryRow(ctx,
			"select (select count(*) from personal_tokens) + (select count(*) from token_grants)").Scan(&n))
		return n
	}
	exec("insert into personal_tokens (user_id, name, hash, scopes, expires_at) values ($1, 'a', 'a', '{read}', now() + interval '1 day')")
	exec("insert into token_grants (hash, user_id, name, scopes, challenge, expires_at) values ('a', $1, 'a', '{read}', 'c', now() + interval '1 day')")
	require.NoError(t, u.SetPassword(ctx, ann.ID, "two"))
	require.Equal(t, 2, kept(), "a new password leaves tokens")
	ann.Active = false
	require.NoError(t, u.Update(ctx, ann))
	require.Zero(t, kept())
	ann.Active = true
	require.NoError(t, u.Update(ctx, ann))
	require.Zero(t, kept(), "being switched on again revives no token")
	_, hash, err := u.Credentials(ctx, "ann")
	require.NoError(t, err)
	require.Equal(t, "two", hash)
}
