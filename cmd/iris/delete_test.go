package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUserDisableNeedsForceForAUserInUse(t *testing.T) {
	t.Parallel()
	environ, db := installation(t)
	active := func() (on bool) {
		require.NoError(t, db.Pool().QueryRow(t.Context(), "select active from users where name = 'ann'").Scan(&on))
		return on
	}
	code, _, errs := iris(t, environ, "", "user", "disable", "ann")
	require.NotZero(t, code)
	require.Contains(t, errs, "user ann is in use by: ")
	require.Contains(t, errs, "plan night as its creator")
	require.Contains(t, errs, "--force")
	require.True(t, active())
	code, _, errs = iris(t, environ, "", "user", "disable", "ann", "--force")
	require.Zero(t, code, errs)
	require.False(t, active())
	code, _, errs = iris(t, environ, "", "user", "disable", "ann")
	require.Zero(t, code, errs)
	require.Contains(t, errs, "ann is switched off already")
}

func TestDeleteNeedsForceForObjectsInUse(t *testing.T) {
	t.Parallel()
	environ, db := installation(t)
	exec := func(sql string) {
		t.Helper()
		_, err := db.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`insert into incidents (plan_id, application_id, due_at) select p.id, a.id, now() + interval '1 hour' from plans p, applications a where p.name = 'night' and a.name = 'shop'`)
	exec(`insert into templates (name, creator_id) select template, u.id from plan_notifications, users u where u.name = 'ann' group by template, u.id`)
	exec(`insert into template_active (name_key, template_id) select lower(name), max(id) from templates group by lower(name) on conflict do nothing`)
	exec(`update applications set default_plan = 'Night' where name = 'shop'`)
	settings := "--config=" + filepath.Join(t.TempDir(), "iris.yaml")
	require.NoError(t, os.WriteFile(strings.TrimPrefix(settings, "--config="),
		[]byte("intake: {catch_all_plan: Night}\n"), 0o600))
	var template string
	require.NoError(t, db.Pool().QueryRow(t.Context(),
		`select template from plan_notifications limit 1`).Scan(&template))
	for _, c := range []struct{ kind, name, says string }{
		{"template", template, "template " + template + " is in use by: plan night"},
		{"user", "ann", "user ann is in use by: "},
		{"team", "db", "team db is in use by: 1 escalating incidents, plan night"},
		{"plan", "night", "plan night is in use by: 1 escalating incidents, default plan of application shop, the setting intake.catch_all_plan"},
	} {
		code, _, errs := iris(t, environ, "", settings, c.kind, "delete", c.name)
		require.NotZero(t, code, c.kind)
		require.Contains(t, errs, c.says)
		require.Contains(t, errs, "--force")
		code, _, errs = iris(t, environ, "", settings, c.kind, "delete", c.name, "--force")
		require.Zero(t, code, errs)
		code, _, errs = iris(t, environ, "", settings, c.kind, "delete", c.name)
		require.NotZero(t, code)
		require.Contains(t, errs, "there is no active "+c.kind+" "+c.name)
	}
	var told, shown string
	require.NoError(t, db.Pool().QueryRow(t.Context(),
		`select string_agg(text, '|' order by id) from timeline_entries where kind = 'operator'`).Scan(&told))
	require.Contains(t, told, "team db was deleted; steps that name it page the fallback instead")
	require.NoError(t, db.Pool().QueryRow(t.Context(),
		`select string_agg(distinct t.name, ',') from plan_notifications n
		join named_targets t on t.target_id = n.target_id where n.role like 'oncall-%'`).Scan(&shown))
	require.Equal(t, "db", shown, "plans show the old name")
}

// A person without a roster or a shift is paged all the same: as a member of a team or of a mailing list.
func TestUserDeleteNamesWhatPagesTheUser(t *testing.T) {
	t.Parallel()
	environ, db := installation(t)
	exec := func(sql string) {
		t.Helper()
		_, err := db.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`insert into users (name) values ('cy'), ('dot'), ('eve')`)
	exec(`insert into team_members (team_id, user_id, position, admin, member) select t.id, u.id, 10 + u.id, u.name = 'dot', u.name <> 'dot'
		from teams t, users u where t.name = 'db' and u.name in ('cy', 'dot')`)
	exec(`insert into mailing_lists (name, member_count) values ('all', 1)`)
	exec(`insert into mailing_list_members select l.id, u.id from mailing_lists l, users u where u.name = 'cy'`)
	exec(`update plans set fallback_target_id = (select target_id from mailing_lists) where name = 'night'`)
	exec(`insert into application_owners select a.id, u.id from applications a, users u where a.name = 'shop' and u.name = 'dot'`)
	for name, uses := range map[string]string{
		"cy":  "mailing list all, plan night by mailing list all, plan night by team db, team db as a member",
		"dot": "application shop as its owner, team db as its administrator",
	} {
		code, _, errs := iris(t, environ, "", "user", "delete", name)
		require.NotZero(t, code, name)
		require.Contains(t, errs, "user "+name+" is in use by: "+uses+". Change these first, or use force (--force)")
		code, _, errs = iris(t, environ, "", "user", "delete", name, "--force")
		require.Zero(t, code, errs)
	}
	code, _, errs := iris(t, environ, "", "user", "delete", "eve")
	require.Zero(t, code, "nothing uses eve: %s", errs)
}
