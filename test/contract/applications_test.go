package contract

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestApplications(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	a := decode[m](s.do(demo, get, "/v0/applications/demo", nil).is(200))
	require.ElementsMatch(t, []string{"name", "context_template", "sample_context", "summary_template",
		"mobile_template", "variables", "required_variables",
		"title_variable", "default_modes", "supported_modes", "owners", "custom_sender_addresses", "categories"},
		keysOf(a))
	require.Equal(t, []any{"demo", []any{"host", "message"}, "host", []any{"ann"}},
		[]any{a["name"], a["variables"], a["title_variable"], a["owners"]})
	s.do(demo, get, "/v0/applications/nix", nil).refuses(400, "Application nix not found")
	var names []string
	for _, row := range decode[[]m](s.do(demo, get, "/v0/applications", nil).is(200)) {
		names = append(names, row["name"].(string))
	}
	require.Equal(t, []string{"demo", "iris", "other", "power"}, names)
	s.exec("update applications set auth_only = true where name = 'other'")
	require.NotContains(t, s.do(demo, get, "/v0/applications", nil).is(200).body, `"other"`)
	require.Equal(t, []m{{"name": "demo"}},
		decode[[]m](s.do(demo, get, "/v0/applications?name=DEMO&fields=name", nil).is(200)))

	s.do(admin, post, "/v0/applications", m{"name": "fresh"}).says(201, `{"id": `+idOf(s, "fresh")+`}`)
	require.Regexp(t, "^[0-9a-f]{64}$", decode[m](s.do(admin, get, "/v0/applications/fresh/key", nil).is(200))["key"])
	fresh := decode[m](s.do(demo, get, "/v0/applications/fresh", nil).is(200))
	require.NotContains(t, fresh["supported_modes"], "drop")
	s.do(admin, post, "/v0/applications", m{"name": "FRESH"}).refuses(400, "This app already exists")
	s.do(admin, post, "/v0/applications", m{}).refuses(400, "Missing app name")
	s.do(admin, post, "/v0/applications", "{").refuses(400, "Invalid json in post body")
	for _, stranger := range []caller{demo, power, owner, asBob, bob} {
		s.do(stranger, post, "/v0/applications", m{"name": "more"}).refuses(401, "Only admins can create apps")
	}
}

func keysOf(of m) []string {
	var out []string
	for k := range of {
		out = append(out, k)
	}
	return out
}

// idOf returns the number of an application; if there is no such application, the number that the next one gets.
func idOf(s *server, name string) string {
	var id string
	require.NoError(s, s.db.QueryRow(s.Context(),
		"select coalesce((select id from applications where name = $1), (select max(id) + 1 from applications))::text", name).Scan(&id))
	return id
}

func TestChangeApplications(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const path = "/v0/applications/demo"
	good := m{"sample_context": `{"host": "db1"}`, "context_template": "c", "summary_template": "s",
		"mobile_template": "", "variables": []string{"host", "fresh"}}
	for _, may := range []caller{owner, admin} {
		s.do(may, put, path, good).says(200, `[]`)
	}
	for _, stranger := range []caller{demo, power, bob, asBob} {
		s.do(stranger, put, path, good).refuses(401, "Only admins and app owners can change this app's settings.")
	}
	a := decode[m](s.do(demo, get, path, nil).is(200))
	require.Equal(t, []any{[]any{"fresh", "host"}, nil, "c"},
		[]any{a["variables"], a["title_variable"],
			a["context_template"]}, "a title variable that is left out is cleared")
	for _, c := range []struct {
		change m
		says   []string
	}{
		{m{"sample_context": "{"}, []string{"sample_context must be valid json"}},
		{m{"context_template": nil}, []string{"context_template must be specified"}},
		{m{"summary_template": nil}, []string{"summary_template must be specified"}},
		{m{"mobile_template": nil}, []string{"mobile_template must be specified"}},
		{m{"variables": nil}, []string{"variables must be specified and be a list"}},
		{m{"variables": "x"}, []string{"variables must be specified and be a list"}},
		{m{"title_variable": "other"}, []string{"title variable is invalid"}},
		{m{"owners": "ann"}, []string{"To change owners, you must pass a list of strings"}},
		{m{"custom_sender_addresses": []string{}},
			[]string{"To change custom addresses, you must pass a dictionary of mode: address pairings"}},
		{m{"custom_sender_addresses": m{"sms": "1"}}, []string{"%s does not support custom sender addresses", "sms"}},
	} {
		s.do(owner, put, path, changed(good, c.change)).refuses(400, c.says[0], c.says[1:]...)
	}
	s.do(admin, put, path, changed(good, m{"supported_modes": "sms"})).refuses(400,
		"To change modes, you must pass a list of strings")
	s.do(admin, put, path, changed(good, m{"title_variable": "fresh", "supported_modes": []string{"email", "sms"},
		"default_modes":           m{"high": "sms", "low": "call"},
		"custom_sender_addresses": m{"email": "demo@example.com"}, "owners": []string{"ann", "bob", "zoe"}})).says(200,
		`[]`)
	a = decode[m](s.do(demo, get, path, nil).is(200))
	require.Equal(t, m{"high": "sms"}, a["default_modes"], "modes that are not supported are skipped")
	require.ElementsMatch(t, []any{"email", "sms"}, a["supported_modes"])
	require.Equal(t, m{"email": "demo@example.com"}, a["custom_sender_addresses"])
	require.Equal(t, []any{"ann", "bob"}, a["owners"])
	require.Equal(t, "fresh", a["title_variable"])
	s.do(owner, put, path, a).says(200, `[]`)
	require.Equal(t, a, decode[m](s.do(demo, get, path, nil).is(200)), "what GET answers can be sent back")
	s.do(owner, put, path, changed(a, m{"owners": []string{"bob"}, "supported_modes": []string{"email"}})).says(200,
		`[]`)
	after := decode[m](s.do(demo, get, path, nil).is(200))
	require.Equal(t, []any{"ann", "bob"}, after["owners"], "owners cannot remove themselves")
	require.Len(t, after["supported_modes"], 2, "only administrators change modes")
}

func TestKeysOfApplications(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const path = "/v0/applications/demo"
	for _, r := range []struct{ method, sub, loggedIn, owners string }{
		{get, "/key", "You must be a logged in user to view this app's key",
			"You don't have permissions to view this app's key."},
		{get, "/secondary", "You must be a logged in user to view this app's key",
			"You don't have permissions to view this app's key."},
		{post, "/secondary", "You must be a logged in user to app", "You don't have permissions to re-key this app."},
		{post, "/rekey", "You must be a logged in user to re-key this app",
			"You don't have permissions to re-key this app."},
	} {
		s.do(anonymous, r.method, path+r.sub, nil).is(401)
		s.do(demo, r.method, path+r.sub, nil).refuses(401, r.loggedIn)
		s.do(power, r.method, path+r.sub, nil).refuses(401, r.loggedIn)
		s.do(bob, r.method, path+r.sub, nil).refuses(403, r.owners)
		s.do(asBob, r.method, path+r.sub, nil).refuses(403, r.owners)
	}
	s.do(owner, get, path+"/key", nil).says(200, `{"key": "`+s.keys["demo"]+`"}`)
	s.do(admin, get, "/v0/applications/nix/key", nil).refuses(400, "Key for this application not found")
	s.do(owner, get, path+"/secondary", nil).says(200, `{"key": null}`)
	s.do(owner, post, path+"/rekey", nil).refuses(400,
		"Re-key failed; secondary key does not exist or invalid app name")
	s.do(owner, post, path+"/secondary", nil).says(200, `[]`)
	s.do(owner, post, path+"/secondary", nil).refuses(400, "Secondary key already exists, or app name incorrect")
	second := decode[m](s.do(owner, get, path+"/secondary", nil).is(200))["key"].(string)
	s.do(demo, get, "/v0/modes", nil).is(200)
	first := s.keys["demo"]
	s.keys["demo"] = second
	s.do(demo, get, "/v0/modes", nil).is(200)
	s.do(owner, post, path+"/rekey", nil).says(200, `[]`)
	s.do(owner, get, path+"/key", nil).says(200, `{"key": "`+second+`"}`)
	s.do(demo, get, "/v0/modes", nil).is(200)
	s.keys["demo"] = first
	s.do(demo, get, "/v0/modes", nil).refuses(401, "Authentication failure",
		"HMAC failed validation. Check API key/clock skew")
	s.keys["demo"] = "None"
	s.do(demo, get, "/v0/modes", nil).refuses(401, "Authentication failure",
		"HMAC failed validation. Check API key/clock skew")
	s.keys["nix"] = "x"
	s.do(caller{name: "an unknown application", app: "nix"}, get, "/v0/modes", nil).refuses(401,
		"Authentication failure", "HMAC failed validation. Check API key/clock skew")
}

func TestRenameAndDeleteApplications(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const path = "/v0/applications/demo/rename"
	s.do(demo, put, path, m{"new_name": "x"}).refuses(401, "You must be a logged in user to rename this app")
	s.do(bob, put, path, m{"new_name": "x"}).refuses(403, "You don't have permissions to rename this app.")
	s.do(owner, put, path, "{").refuses(400, "Invalid json in post body")
	s.do(owner, put, path, m{}).refuses(400, "Missing new_name from post body")
	s.do(owner, put, path, m{"new_name": "demo"}).refuses(400, "New and old app name are identical")
	s.do(owner, put, path, m{"new_name": "other"}).refuses(400, "Destination app name likely already exists")
	s.do(admin, put, "/v0/applications/nix/rename", m{"new_name": "x"}).refuses(400,
		"No rows changed; old app name incorrect")
	s.do(admin, put, "/v0/applications/nix/rename", "[").refuses(400, "Invalid json in post body")
	s.do(admin, put, "/v0/applications/nix/rename", m{}).refuses(400, "Missing new_name from post body")
	s.do(admin, put, "/v0/applications/nix/rename", m{"new_name": "nix"}).refuses(400,
		"New and old app name are identical")
	s.do(owner, put, path, m{"new_name": "renamed"}).says(200, `[]`)
	s.do(power, get, "/v0/applications/demo", nil).refuses(400, "Application demo not found")
	s.do(owner, get, "/v0/applications/renamed/key", nil).says(200, `{"key": "`+s.keys["demo"]+`"}`)

	s.do(power, del, "/v0/applications/renamed", nil).refuses(401, "You must be a logged in user to delete this app")
	s.do(bob, del, "/v0/applications/renamed", nil).refuses(403, "You don't have permissions to delete this app.")
	s.do(owner, del, "/v0/applications/renamed", nil).refuses(400, "Cannot remove app. It has likely already in use.")
	s.do(admin, del, "/v0/applications/nix", nil).refuses(400, "No rows changed; app name probably already deleted")
	s.do(admin, del, "/v0/applications/other", nil).says(200, `[]`)
	s.do(power, get, "/v0/applications/other", nil).refuses(400, "Application other not found")
}

func TestQuotas(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const path = "/v0/applications/demo/quota"
	good := m{"hard_quota_threshold": 10, "soft_quota_threshold": 5, "hard_quota_duration": 60,
		"soft_quota_duration": 60, "plan_name": "pager", "wait_time": 60, "target_name": "ann"}
	s.do(demo, get, path, nil).says(200, `{}`)
	for _, stranger := range []caller{demo, power, bob, asBob} {
		s.do(stranger, post, path, good).refuses(401, "You don't have permissions to update this app's quota.")
		s.do(stranger, del, path, nil).is(401)
	}
	for _, may := range []caller{owner, admin} {
		s.do(may, post, path, good).says(201, `[]`)
	}
	s.do(demo, get, path, nil).says(200,
		`{"application": "demo", "hard_quota_threshold": 10, "soft_quota_threshold": 5, "hard_quota_duration": 60,
		"soft_quota_duration": 60, "target_name": "ann", "target_role": "user", "plan_name": "pager", "wait_time": 60}`)
	for _, c := range []struct {
		change m
		title  string
	}{
		{m{"wait_time": nil}, "Missing required keys in post body"},
		{m{"extra": 1}, "Missing required keys in post body"},
		{m{"wait_time": "x"}, "Some int keys are not integers"},
		{m{"wait_time": 0}, "All int keys must be over 0"},
		{m{"hard_quota_duration": -1}, "All int keys must be over 0"},
		{m{"hard_quota_threshold": 5}, "Hard threshold must be bigger than soft threshold"},
		{m{"plan_name": "none"}, "No active ID found for that plan"},
		{m{"target_name": "none"}, "No ID found for that target"},
	} {
		s.do(owner, post, path, changed(good, c.change)).refuses(400, c.title)
	}
	s.do(owner, post, path, "[").refuses(400, "Invalid json in post body")
	s.do(admin, post, "/v0/applications/nix/quota", good).refuses(400, "No ID found for that application")
	s.do(admin, post, "/v0/applications/nix/quota", m{}).refuses(400, "Missing required keys in post body")
	s.do(owner, del, "/v0/plans/pager", nil).refuses(400,
		"Cannot delete this plan as the application demo is using it for quota")
	s.do(owner, del, path, nil).empty(204)
	s.do(demo, get, path, nil).says(200, `{}`)
}

func TestIncidentEmails(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const path = "/v0/applications/demo/incident_emails"
	s.do(demo, get, path, nil).says(200, `{}`)
	s.do(demo, put, path, m{}).refuses(401,
		"You must be a logged in user to change this application's email incident settings")
	s.do(bob, put, path, m{}).refuses(403,
		"You don't have permissions to change this application's email incident settings.")
	s.do(owner, put, path, m{"in@example.com": "pager"}).says(200, `[]`)
	s.do(demo, get, path, nil).says(200, `{"in@example.com": "pager"}`)
	s.do(owner, put, path, m{"ann@example.com": "pager"}).refuses(400,
		"These email addresses are also user's email addresses which is not allowed: ann@example.com")
	s.do(owner, put, path, m{"new@example.com": "none"}).refuses(400,
		"Failed adding new@example.com -> none combination. Is your plan name correct?")
	s.do(admin, put, "/v0/applications/other/incident_emails", m{"IN@example.com": "pager"}).is(400)
	s.do(admin, put, "/v0/applications/other/incident_emails", m{"o@example.com": "pager"}).
		refuses(400, "Failed adding o@example.com -> pager combination. This plan does not have any templates which support this app.")
	s.do(demo, get, path, nil).says(200, `{"in@example.com": "pager"}`)
	s.do(owner, put, path, m{}).says(200, `[]`)
	s.do(demo, get, path, nil).says(200, `{}`)
}

func TestPlansOfApplications(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	rows := decode[[]m](s.do(demo, get, "/v0/applications/demo/plans?fields=name", nil).is(200))
	require.Equal(t, []m{{"name": "pager"}}, rows)
	s.do(demo, get, "/v0/applications/other/plans", nil).says(200, `[]`)
	s.do(demo, get, "/v0/applications/nix/plans", nil).says(200, `[]`)
}

func TestStatistics(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.open()
	s.exec("update incidents set created_at = clock_timestamp() - interval '2 hours' where id = $1", id)
	all := decode[map[string][]map[string]any](s.do(demo, get, "/v0/stats", nil).is(200))
	for _, name := range []string{"total_plans", "total_incidents", "total_messages_sent", "total_incidents_last_week", "total_messages_sent_last_week", "total_active_users",
		"pct_incidents_claimed_last_week", "median_seconds_to_claim_last_week", "total_applications", "total_high_priority_incidents_last_week"} {
		require.Len(t, all[name], 7, name)
	}
	for _, v := range all["total_incidents"][0] {
		require.EqualValues(t, 1, v)
	}
	some := decode[m](s.do(demo, get, "/v0/stats?fields=total_plans", nil).is(200))
	require.Equal(t, []string{"total_plans"}, keysOf(some))
	one := decode[map[string][]m](s.do(demo, get, "/v0/applications/demo/stats", nil).is(200))
	require.Contains(t, one, "pct_sms_success_last_week")
	require.Contains(t, one, "total_email_sent_last_week")
	s.do(demo, get, "/v0/applications/nix/stats", nil).refuses(400, "Application nix not found")
	for _, name := range []string{"total_incidents", "total_messages_sent", "total_incidents_last_week", "total_messages_sent_last_week", "pct_incidents_claimed_last_week",
		"total_call_retry_last_week", "high_priority_incidents_last_week"} {
		s.do(demo, get, "/v0/singlestats/"+name, nil).is(200)
	}
	s.do(demo, get, "/v0/singlestats/nonsense", nil).refuses(400, "Stat nonsense not found")
}
