package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIncidentsAreChangedByHand(t *testing.T) {
	t.Parallel()
	environ, db := installation(t)
	_, err := db.Pool().Exec(t.Context(), `insert into incidents (id, plan_id, application_id, due_at)
		select n, p.id, a.id, now() + interval '1 hour' from plans p, applications a, generate_series(1, 3) n where p.name = 'night' and a.name = 'shop'`)
	require.NoError(t, err)
	does := func(want string, args ...string) {
		t.Helper()
		code, out, errs := iris(t, environ, "", append([]string{"incident"}, args...)...)
		require.Zero(t, code, errs)
		require.Equal(t, want, out)
	}
	refuses := func(wantCode int, want string, args ...string) {
		t.Helper()
		code, _, errs := iris(t, environ, "", append([]string{"incident"}, args...)...)
		require.Equal(t, wantCode, code, errs)
		require.Contains(t, errs, want)
	}
	does("incident 1 pages ann, db\n", "page", "1", "--user", "ann", "--oncall", "db", "--priority", "urgent")
	var targets, actor string
	require.NoError(t, db.Pool().QueryRow(t.Context(),
		`select targets::text, actor from added_pages where incident_id = 1`).Scan(&targets, &actor))
	require.Contains(t, targets, "oncall-primary")
	require.Equal(t, "iris command", actor)
	refuses(2, "name at least one --user, --team or --oncall", "page", "1")
	refuses(2, "there is no such target", "page", "1", "--user", "nobody")
	refuses(2, "there is no priority", "page", "1", "--user", "ann", "--priority", "loud")
	refuses(1, "no such incident", "page", "9", "--user", "ann")

	refuses(1, "nobody has acknowledged the incident", "reassign", "1", "ann")
	_, err = db.Pool().Exec(t.Context(),
		`update incidents set active = false, owner_id = (select id from users where name = 'bob') where id = 1`)
	require.NoError(t, err)
	does("incident 1 belongs to ann\n", "reassign", "1", "ann")
	refuses(2, `there is no active user "nobody"`, "reassign", "1", "nobody")

	does("incident 2 is merged into incident 1\nincident 3 is merged into incident 1\n", "merge", "2", "3", "--into",
		"1", "--comment", "same disk")
	refuses(2, "incident 2 is merged into incident 1: merge into that one", "merge", "1", "--into", "2")
	does("incident 3 is no longer merged\n", "unmerge", "3")
	refuses(1, "the incident is not merged into another one", "unmerge", "3")
	refuses(1, "no such incident", "unmerge", "9")
	refuses(1, "the incident is merged into another one", "snooze", "2", "--for", "1h")

	refuses(2, "owner is required: the caller is no person", "acknowledge", "3")
	does("incident 3 is acknowledged by ann\n", "acknowledge", "3", "--owner", "ann")
	does("incident 3 is resolved\n", "resolve", "3")
	code, out, errs := iris(t, environ, "", "incident", "list")
	require.Zero(t, code, errs)
	require.Regexp(t, `^NUMBER +STATE +SEVERITY +PLAN +APPLICATION +OWNER +OPENED +TITLE\n2 +merged +night +shop +20\S+Z *\n1 +acknowledged +night +shop +ann +20\S+Z *\n$`, out)
	code, out, errs = iris(t, environ, "", "incident", "list", "--state", "resolved", "--most", "1")
	require.Zero(t, code, errs)
	require.Regexp(t, `\n3 +resolved `, out)
	code, out, errs = iris(t, environ, "", "incident", "show", "2")
	require.Zero(t, code, errs)
	require.Regexp(t, `(?s)^incident: +2\nstate: +merged\nplan: +night, step 0\napplication: +shop\nopened: +\S+\nmerged into: +1\ncontext: .*merged into incident 1.* \(iris command\)\n`, out)
	refuses(2, "state", "list", "--state", "lost")
	refuses(2, "--most must be more than 0", "list", "--most", "0")
	refuses(1, "no such incident", "show", "9")
}
func TestIncidentOpen(t *testing.T) {
	t.Parallel()
	environ, db := installation(t)
	open := []string{"incident", "open", "--plan", "night", "--application", "shop", "--title", "db1 is down",
		"--severity", "critical",
		"--label", "team=db", "--target", "user:ann", "--context", `{"host":"db1"}`, "--dedup-key", "db1"}
	code, first, errs := iris(t, environ, "", open...)
	require.Zero(t, code, errs)
	var stored string
	require.NoError(t, db.Pool().QueryRow(t.Context(),
		`select c.context::text from incidents i join incident_contexts c on c.incident_id = i.id
		where i.id::text = $1 and i.active`, strings.TrimSpace(first)).Scan(&stored))
	require.JSONEq(t, `{"host":"db1","title":"db1 is down","severity":"critical","labels":{"team":"db"}}`, stored)
	code, again, errs := iris(t, environ, "", open...)
	require.Zero(t, code, errs)
	require.Equal(t, first, again, "an incident is open with the key")
	require.Contains(t, errs, "none was opened")

	for option, value := range map[string]string{"--severity": "loud", "--application": "none", "--context": "[]", "--target": "team"} {
		code, out, errs := iris(t, environ, "", append(open, option, value)...)
		require.Equal(t, 2, code, option)
		require.Empty(t, out)
		require.Contains(t, strings.ToLower(errs), strings.TrimPrefix(option, "--"), option)
	}
	code, _, errs = iris(t, environ, "", append(open, "--plan", "none")...)
	require.Equal(t, 2, code)
	require.Contains(t, errs, `there is no active plan "none"`)
}
