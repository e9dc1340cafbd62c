package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	pgauth "github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/users/directory"
	"github.com/iris-oncall/iris/internal/users/pg"
)

func TestDirectorySyncStoresPeople(t *testing.T) {
	t.Parallel()
	ctx, d := t.Context(), pgtest.New(t)
	s := pg.NewDirectorySync(d, "directory sync")
	full, photo := "Ann Lee", "https://x/ann.png"
	given := map[users.Mode]string{users.Email: "ann@example.com", users.SMS: "+41791234567"}
	require.NoError(t, s.Apply(ctx, directory.Change{Kind: directory.Add, Name: "ann", Source: directory.LDAP,
		FullName: &full, PhotoURL: &photo, Contacts: given, Given: given}))
	err := s.Apply(ctx, directory.Change{Kind: directory.Add, Name: "ANN", Source: directory.LDAP})
	require.True(t, fault.Is(err, fault.Invalid), "%v", err)

	known, err := s.Known(ctx)
	require.NoError(t, err)
	require.Len(t, known, 1)
	ann := known[0]
	require.True(t, ann.Active)
	require.Equal(t, directory.Known{User: ann.User, PhotoURL: photo, Contacts: given, Source: directory.LDAP,
		Given: given}, ann)
	require.Equal(t, full, ann.FullName)

	require.NoError(t, s.Apply(ctx, directory.Change{Kind: directory.Update, ID: ann.ID, Name: "ann",
		Source: directory.LDAP,
		Contacts: map[users.Mode]string{users.SMS: "",
			users.Slack: "ann"}, Given: map[users.Mode]string{users.Slack: "ann"}}))
	as := func(stable, name string) directory.Known {
		t.Helper()
		found, err := s.KnownAs(ctx, directory.LDAP, stable, name)
		require.NoError(t, err)
		require.Len(t, found, 1)
		return found[0]
	}
	again := as("", "Ann ")
	require.Equal(t, map[users.Mode]string{users.Email: "ann@example.com", users.Slack: "ann"}, again.Contacts)
	require.Equal(t, map[users.Mode]string{users.Slack: "ann"}, again.Given)
	nobody, err := s.KnownAs(ctx, directory.LDAP, "x", "nobody\x00")
	require.NoError(t, err)
	require.Empty(t, nobody)

	off := directory.Change{Kind: directory.SwitchOff, ID: ann.ID, Name: "ann", Source: directory.LDAP}
	require.NoError(t, s.Apply(ctx, off))
	again = as("", "ann")
	require.False(t, again.Active)
	require.True(t, again.SwitchedOff)
	require.Greater(t, again.LoginEpoch, ann.LoginEpoch, "their sessions end")
	require.NotEmpty(t, again.Contacts, "and nothing is lost")
	off.Kind = directory.SwitchOn
	require.NoError(t, s.Apply(ctx, off))
	again = as("", "ann")
	require.True(t, again.Active && !again.SwitchedOff)
	off.Kind = directory.SwitchOff
	require.NoError(t, s.Apply(ctx, off))
	for what, byHand := range map[string]func() error{
		"iris user disable": func() error { return pg.NewUsers(d).SetActive(ctx, ann.ID, false) },
		"the on-call API": func() error {
			no := false
			return pg.NewOncallPeople(d).Update(ctx, ann.ID, oncall.PersonChange{Active: &no})
		},
		"deleting": func() error {
			err := pg.NewOncallPeople(d).Remove(ctx, ann.User, false, oncall.By{Owner: "x"})
			return err
		},
		"an update": func() error { return pg.NewUsers(d).Update(ctx, users.User{ID: ann.ID, TimeZone: "UTC"}) },
	} {
		_, err := d.Pool().Exec(ctx, `update directory_people set switched_off = true`)
		require.NoError(t, err)
		require.NoError(t, byHand(), what)
		again = as("", "ann")
		require.False(t, again.SwitchedOff || again.Active, "%s: whom somebody switched off stays off", what)
	}
	off.Kind, off.ID = directory.SwitchOn, 99
	require.True(t, fault.Is(s.Apply(ctx, off), fault.Invalid), "deleted meanwhile")

	log, err := pgauth.NewAudit(d).List(ctx, filters.Query{Limit: 10})
	require.NoError(t, err)
	var actions []string
	for _, r := range log {
		if r.Actor == "x" || r.Actor == "iris" {
			continue
		}
		require.Equal(t, "directory sync", r.Actor)
		require.NotContains(t, r.Detail, "+41", "numbers are nobody's business")
		actions = append(actions, string(r.Action))
	}
	require.Equal(t, []string{"user switched off", "user switched on", "user switched off", "user changed",
		"user created"}, actions)
}

// Only the process that owns the lease stores people.
func TestDirectorySyncIsFenced(t *testing.T) {
	t.Parallel()
	ctx, d := t.Context(), pgtest.New(t)
	_, err := d.Pool().Exec(ctx, `update bucket_leases set owner = 'me', epoch = 7 where bucket = 0`)
	require.NoError(t, err)
	s := pg.NewDirectorySync(d, "directory sync")
	for _, stale := range []*pg.DirectorySync{s.Fenced("me", buckets.Lease{Bucket: 0, Epoch: 6}), s.Fenced("other", buckets.Lease{Bucket: 0, Epoch: 7})} {
		require.True(t, fault.Is(stale.Apply(ctx, directory.Change{Kind: directory.Add, Name: "ann",
			Source: directory.LDAP}), fault.Conflict))
		require.True(t, fault.Is(stale.ApplyList(ctx, directory.ListChange{Kind: directory.Add, Name: "ops"}),
			fault.Conflict))
	}
	known, err := s.Known(ctx)
	require.NoError(t, err)
	require.Empty(t, known)
	require.NoError(t, s.Fenced("me", buckets.Lease{Bucket: 0, Epoch: 7}).Apply(ctx,
		directory.Change{Kind: directory.Add, Name: "ann", Source: directory.LDAP}))
}

func TestDirectorySyncStoresLists(t *testing.T) {
	t.Parallel()
	ctx, d := t.Context(), pgtest.New(t)
	_, err := d.Pool().Exec(ctx, `insert into users (name) values ('ann'), ('bob'), ('cy'); insert into mailing_lists (name) values ('by hand')`)
	require.NoError(t, err)
	s := pg.NewDirectorySync(d, "directory sync")
	require.NoError(t, s.ApplyList(ctx, directory.ListChange{Kind: directory.Add, Name: "ops", Size: 5,
		Members: []string{"ANN", "bob", "nobody"}}))
	require.True(t, fault.Is(s.ApplyList(ctx, directory.ListChange{Kind: directory.Add, Name: "OPS"}), fault.Invalid))
	lists, err := s.KnownLists(ctx)
	require.NoError(t, err)
	ops := lists[1]
	require.Equal(t, []directory.KnownList{{ID: lists[0].ID, Name: "by hand", Active: true, Members: []string{}},
		{ID: ops.ID, Name: "ops", Active: true, Size: 5, Members: []string{"ann", "bob"}, Synced: true}}, lists)

	require.NoError(t, s.ApplyList(ctx, directory.ListChange{Kind: directory.SwitchOff, ID: ops.ID, Name: "ops"}))
	lists, err = s.KnownLists(ctx)
	require.NoError(t, err)
	require.False(t, lists[1].Active)
	require.Len(t, lists[1].Members, 2, "kept for when it comes back")
	require.NoError(t, s.ApplyList(ctx, directory.ListChange{Kind: directory.SwitchOn, ID: ops.ID, Name: "ops",
		Size: 2, Members: []string{"bob", "cy"}}))
	lists, err = s.KnownLists(ctx)
	require.NoError(t, err)
	require.Equal(t, directory.KnownList{ID: ops.ID, Name: "ops", Active: true, Size: 2,
		Members: []string{"bob", "cy"}, Synced: true}, lists[1])
	require.True(t, fault.Is(s.ApplyList(ctx, directory.ListChange{Kind: directory.Update, ID: 99, Name: "x"}),
		fault.Invalid))
}

func TestDirectorySyncIsDuePeriodically(t *testing.T) {
	t.Parallel()
	ctx, d := t.Context(), pgtest.New(t)
	s := pg.NewDirectorySync(d, "directory sync")
	due := func(every, again time.Duration) bool {
		t.Helper()
		is, err := s.Due(ctx, directory.LDAP, every, again)
		require.NoError(t, err)
		return is
	}
	require.True(t, due(time.Hour, time.Minute))
	require.NoError(t, s.Note(ctx, directory.LDAP, ""))
	require.False(t, due(time.Hour, 0))
	require.True(t, due(0, time.Hour))
	require.NoError(t, s.Note(ctx, directory.LDAP, "away"))
	require.False(t, due(time.Hour, time.Minute))
	require.True(t, due(time.Hour, 0), "sooner after a failure")
	var good, problem bool
	require.NoError(t, d.Pool().QueryRow(ctx,
		`select succeeded_at is not null, problem = 'away' from directory_syncs`).Scan(&good, &problem))
	require.True(t, good && problem, "when it last went well is remembered")
}

func TestDirectorySyncRenamesPeople(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	ctx := t.Context()
	s := pg.NewDirectorySync(d, "directory sync")
	for _, name := range []string{"ann", "bob"} {
		require.NoError(t, s.Apply(ctx, directory.Change{Kind: directory.Add, Name: name, Source: directory.LDAP,
			Stable: "id of " + name}))
	}
	known, err := s.Known(ctx)
	require.NoError(t, err)
	require.Equal(t, "id of ann", known[0].Stable)
	rename := directory.Change{Kind: directory.Update, ID: known[0].ID, Name: "ann", Source: directory.LDAP,
		Rename: "BOB"}
	err = s.Apply(ctx, rename)
	require.True(t, fault.Is(err, fault.Invalid), "the name is taken: %v", err)
	rename.Rename = "anna"
	require.NoError(t, s.Apply(ctx, rename))
	found, err := s.KnownAs(ctx, directory.LDAP, "id of ann", "bob")
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, known[0].ID, found[0].ID, "the same person")
	require.Equal(t, "anna", found[0].Name)
	require.Equal(t, "id of ann", found[0].Stable, "what is not said stays")
	found, err = s.KnownAs(ctx, directory.Slack, "id of ann", "nobody")
	require.NoError(t, err)
	require.Empty(t, found, "ids of one directory are nobody in another")
	require.NoError(t, s.Apply(ctx, directory.Change{Kind: directory.Adopt, ID: known[0].ID, Name: "anna",
		Source: directory.Slack}))
	known, err = s.Known(ctx)
	require.NoError(t, err)
	require.Empty(t, known[0].Stable)
	var detail string
	require.NoError(t, d.Pool().QueryRow(ctx,
		`select detail from audit_log where action = 'user changed' and detail <> ''`).Scan(&detail),
		"in the audit log")
}
