package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// An operator sees before an upgrade who loses what, also on the schema of the release before.
func TestCheckUpgradeListsWhoLosesWhat(t *testing.T) {
	t.Parallel()
	environ, db := installation(t)
	exec := func(sql string) {
		_, err := db.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`alter table incidents drop column opener`)
	code, out, errs := iris(t, environ, "", "check-upgrade")
	require.Zero(t, code, errs)
	require.Contains(t, out, "Nobody loses anything")

	exec(`insert into applications (name) values ('red');
		insert into teams (name) values ('crew');
		insert into users (name, read_only) values ('owen', false), ('mia', false), ('sid', false);
		insert into users (name, admin) values ('zoe', true);
		insert into users (name, read_only) values ('vic', true);
		insert into personal_tokens (user_id, name, hash, scopes, expires_at, last_used_at) select id, n, n::bytea, s::text[], now() + interval '1 day', at
			from users, (values ('board', '{read}', now()), ('unused', '{read}', null), ('laptop', '{read,incidents}', now())) k(n, s, at) where name = 'mia';
		insert into service_tokens (name, hash, scopes, created_by, expires_at, last_used_at) values ('wall', 'w', '{read}', 'zoe', now() + interval '1 day', now());
		update applications set team_id = (select id from teams where name = 'crew') where name = 'red';
		insert into application_owners select a.id, u.id from applications a, users u where a.name = 'red' and u.name = 'owen';
		insert into team_members (team_id, user_id, position) select t.id, u.id, 1 from teams t, users u where t.name = 'crew' and u.name = 'mia';
		insert into incidents (id, plan_id, application_id) select 900, p.id, a.id from plans p, applications a where a.name = 'red' limit 1;
		insert into timeline_entries (incident_id, kind, actor, text, at) values
			(900, 'opened', 'owen', 't', now()), (900, 'opened', 'mia', 't', now()), (900, 'opened', 'zoe', 't', now()), (900, 'opened', 'application red', 't', now()),
			(900, 'opened', 'service token job of team crew', 't', now()), (900, 'opened', 'service token job of the administrators', 't', now()),
			(900, 'opened', 'sid', 't', now()), (900, 'opened', 'sid', 't', now()), (900, 'opened', 'service token job of team others', 't', now()),
			(900, 'resolved', 'application red', 't', now()), (900, 'resolved', 'application blue', 't', now()), (900, 'resolved', 'application old', 't', now() - interval '31 days')`)
	code, out, errs = iris(t, environ, "", "check-upgrade", "--json")
	require.Zero(t, code, errs)
	var found []lossJSON
	require.NoError(t, json.Unmarshal([]byte(out), &found))
	got := map[string]int64{}
	for _, l := range found {
		got[l.Rule+": "+l.Who+" "+l.Application] = l.Times
	}
	require.Equal(t, map[string]int64{"reach: application blue red": 1, "open: sid red": 2,
		"open: service token job of team others red": 1,
		"contacts: vic ": 0, "contacts: mia with the token board ": 0, "contacts: service token wall of the administrators ": 0}, got)
	code, out, errs = iris(t, environ, "", "check-upgrade")
	require.Zero(t, code, errs)
	require.Regexp(t, `application blue +changed incidents of +red +1 +20`, out)
}
