package contract

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
)

func TestTargets(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	all := decode[[]string](s.do(demo, get, "/v0/targets", nil).is(200))
	require.Subset(t, all, []string{"all-ops", "ann", "bob", "ops"})
	s.do(demo, get, "/v0/targets?startswith=al", nil).says(200, `["all-ops"]`)
	s.do(demo, get, "/v0/targets/team", nil).says(200, `["ops"]`)
	s.do(demo, get, "/v0/targets/mailing-list", nil).says(200, `["all-ops"]`)
	s.do(demo, get, "/v0/targets/user?startswith=a", nil).says(200, `["ann"]`)
	s.do(demo, get, "/v0/targets/user?name=BOB", nil).says(200, `["bob"]`)
	s.do(demo, get, "/v0/targets/user?name__in=root,ann", nil).says(200, `["ann", "root"]`)
	s.do(demo, get, "/v0/targets/user?active=false", nil).says(200, `["gone"]`)
	require.Equal(t, []string{"ann", "bob", "root", "viewer", "gone"},
		decode[[]string](s.do(demo, get, "/v0/targets/user", nil).is(200)), "in the order of ids")
	s.do(demo, get, "/v0/targets/planet", nil).refuses(400, "Target type planet not found")
	s.do(demo, get, "/v0/targets/ann/exists", nil).says(200, `{"exists": true}`)
	s.do(demo, get, "/v0/targets/gone/exists", nil).says(200, `{"exists": true}`)
	s.do(demo, get, "/v0/targets/zoe/exists", nil).says(200, `{"exists": false}`)
	roles := decode[[]m](s.do(demo, get, "/v0/target_roles", nil).is(200))
	for _, want := range []m{{"name": "user", "type": "user"}, {"name": "manager", "type": "team"}, {"name": "team", "type": "team"}, {"name": "oncall-primary", "type": "team"},
		{"name": "oncall-secondary", "type": "team"}, {"name": "director", "type": "team"}, {"name": "mailing-list", "type": "mailing-list"}} {
		require.Contains(t, roles, want)
	}
	modes := decode[[]string](s.do(demo, get, "/v0/modes", nil).is(200))
	require.Subset(t, modes, []string{"call", "email", "slack", "sms"})
	require.NotContains(t, modes, "drop")
	s.do(demo, get, "/v0/priorities", nil).says(200,
		`[{"name": "urgent", "default_mode": "call"}, {"name": "high", "default_mode": "sms"},
		{"name": "medium", "default_mode": "email"}, {"name": "low", "default_mode": "email"}]`)
	require.Contains(t, decode[[]string](s.do(demo, get, "/v0/timezones", nil).is(200)), "UTC")
	for list, in := range map[string]bool{"all-ops": true, "none": false, "none,all-ops": true} {
		s.do(demo, get, "/v0/users/ann/in_lists?list="+list, nil).says(200, fmt.Sprintf(`{"is_member": %t}`, in))
	}
	s.do(demo, get, "/v0/users/root/in_lists?list=all-ops", nil).says(200, `{"is_member": false}`)
	s.do(demo, get, "/v0/users/ann/in_lists", nil).refuses(400, "Missing parameter",
		`The "list" parameter is required.`)
}

// Only the person, administrators and applications that act for people may use the routes of a person.
func TestOwnRoutes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, r := range []struct {
		method, path string
		body         any
	}{
		{get, "/v0/users/bob", nil},
		{get, "/v0/users/settings/bob", nil},
		{put, "/v0/users/settings/bob", m{"timezone": "UTC"}},
		{get, "/v0/users/modes/bob", nil},
		{post, "/v0/users/modes/bob", m{"high": "default"}},
		{post, "/v0/users/overrides/bob", m{"template_overrides": m{"sms": "disabled"}}},
		{get, "/v0/users/reprioritization/bob", nil},
		{post, "/v0/users/reprioritization/bob", m{"src_mode": "call", "dst_mode": "email", "count": 3,
			"duration": 60}},
		{del, "/v0/users/reprioritization/bob/call", nil},
		{get, "/v0/users/bob/categories", nil},
		{get, "/v0/users/bob/categories/demo", nil},
		{post, "/v0/users/bob/categories/demo", m{}},
		{del, "/v0/users/bob/categories/demo", nil},
	} {
		s.do(anonymous, r.method, r.path, r.body).refuses(401, "Authentication failure",
			"Malformed/missing HMAC authorization header")
		s.do(demo, r.method, r.path, r.body).refuses(401, "App must allow authentication as user for this action", "")
		s.do(owner, r.method, r.path, r.body).refuses(401, "This user is not allowed to access this resource", "")
		for _, may := range []caller{power, asBob, bob, admin} {
			s.exec(`insert into user_reprioritizations select id, 'call', 'email', 3, 60 from users where name = 'bob' on conflict do nothing`)
			a := s.do(may, r.method, r.path, r.body)
			require.Less(t, a.status, 300, "%s: %s", a.what, a.body)
		}
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.do(bob, get, "/v0/users/bob", nil).says(200,
		`{"name": "bob", "admin": false, "template_overrides": [], "category_overrides": {}, "modes": {},
		"device": [], "per_app_modes": {}, "teams": ["ops"], "contacts": {"email": "bob@example.com"}}`)
	s.do(admin, get, fmt.Sprintf("/v0/users/%d", s.number("select target_id from users where name = 'bob'")),
		nil).is(200)
	s.do(admin, get, "/v0/users/zoe", nil).empty(404)
	s.do(admin, get, "/v0/users/999", nil).empty(404)

	s.do(bob, get, "/v0/users/settings/bob", nil).says(200, `{"timezone": "UTC"}`)
	s.do(bob, put, "/v0/users/settings/bob", m{"timezone": "Nowhere/Never"}).empty(204)
	s.do(bob, get, "/v0/users/settings/bob", nil).says(200, `{"timezone": "UTC"}`)
	zone := "US/Pacific"
	if zones := decode[[]string](s.do(demo, get, "/v0/timezones", nil).is(200)); len(zones) > 1 {
		zone = zones[1]
	}
	s.do(admin, put, "/v0/users/settings/bob", m{"timezone": zone}).empty(204)
	s.do(bob, get, "/v0/users/settings/bob", nil).says(200, fmt.Sprintf(`{"timezone": %q}`, zone))
	s.do(admin, get, "/v0/users/settings/root", nil).says(200, `{"timezone": "UTC"}`)

	all := `{"urgent": %q, "high": %q, "medium": "default", "low": "default"}`
	s.do(bob, get, "/v0/users/modes/bob", nil).says(200, fmt.Sprintf(all, "default", "default"))
	s.do(bob, post, "/v0/users/modes/bob", m{"urgent": "sms"}).says(200, fmt.Sprintf(all, "sms", "default"))
	s.do(bob, post, "/v0/users/modes/bob", m{"application": "demo", "high": "email"}).says(200,
		fmt.Sprintf(all, "default", "email"))
	s.do(bob, get, "/v0/users/modes/bob?application=demo", nil).says(200, fmt.Sprintf(all, "default", "email"))
	s.do(bob, post, "/v0/users/modes/bob", m{"per_app_modes": m{"demo": m{"high": "default"}}, "urgent": "call",
		"nonsense": 1}).says(200, fmt.Sprintf(all, "call", "default"))
	s.do(bob, get, "/v0/users/modes/bob?application=demo", nil).says(200, fmt.Sprintf(all, "default", "default"))
	for _, bad := range []m{{"urgent": "fax"}, {"loud": "sms"}, {"application": "nix", "high": "sms"}, {"urgent": 7}} {
		s.do(bob, post, "/v0/users/modes/bob", bad).is(400)
	}

	s.do(bob, post, "/v0/users/overrides/bob", m{"template_overrides": m{"sms": "enabled"}}).empty(204)
	require.Equal(t, []any{"sms"}, decode[m](s.do(bob, get, "/v0/users/bob", nil).is(200))["template_overrides"])
	s.do(bob, post, "/v0/users/overrides/bob", m{"template_overrides": []int{}}).refuses(400,
		"Invalid json in post body: template_overrides parameter is not a dict")
	s.do(bob, post, "/v0/users/overrides/bob", m{"template_overrides": m{}}).refuses(400,
		"No valid mode override values in post body")
	s.do(bob, post, "/v0/users/overrides/bob", m{"template_overrides": m{"sms": "maybe"}}).refuses(400,
		"Invalid sms override setting value: maybe")
	s.do(bob, post, "/v0/users/overrides/bob", m{"template_overrides": m{"sms": "disabled"}}).empty(204)
	require.Equal(t, []any{}, decode[m](s.do(bob, get, "/v0/users/bob", nil).is(200))["template_overrides"])
}

func TestReprioritisation(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const path = "/v0/users/reprioritization/bob"
	good := m{"src_mode": "call", "dst_mode": "sms", "count": "5", "duration": 300}
	s.do(bob, post, path, good).says(200, `[]`)
	s.do(bob, post, path, changed(good, m{"count": 6})).says(200, `[]`)
	s.do(bob, get, path, nil).says(200, `[{"target": "bob", "src_mode": "call", "dst_mode": "sms", "count": 6, "duration": 300}]`)
	for _, c := range []struct {
		change             m
		title, description string
	}{
		{m{"duration": nil}, "Missing argument", "missing arg: duration"},
		{m{"count": nil}, "Missing argument", "missing arg: count"},
		{m{"src_mode": nil}, "Missing argument", "missing arg: src_mode"},
		{m{"dst_mode": nil}, "Missing argument", "missing arg: dst_mode"},
		{m{"duration": "x"}, "Invalid duration", "duration must be an integer"},
		{m{"duration": 59}, "Invalid duration", "duration must be greater than 1 minute"},
		{m{"duration": 3601}, "Invalid duration", "duration must be at most 3600 seconds"},
		{m{"count": "x"}, "Invalid count", "count must be an integer"},
		{m{"count": 0}, "Invalid count", "count must be greater than 0"},
		{m{"count": 256}, "Invalid count", "count must be under 255"},
		{m{"src_mode": "fax"}, "Invalid source mode.", "Invalid source mode."},
		{m{"dst_mode": "fax"}, "Invalid destination mode.", "Invalid destination mode."},
	} {
		s.do(bob, post, path, changed(good, c.change)).refuses(400, c.title, c.description)
	}
	s.do(bob, del, path+"/call", nil).says(200, `[]`)
	s.do(bob, del, path+"/call", nil).empty(404)
}

func TestCategories(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	list := []m{{"name": "news", "description": "d", "mode": "email"},
		{"name": "alarms", "description": "e", "mode": "sms"}}
	s.do(bob, post, "/v0/categories/demo", list).refuses(401, "You don't have permissions to create this category")
	s.do(power, post, "/v0/categories/demo", list).refuses(401, "You don't have permissions to create this category")
	for _, may := range []caller{demo, owner, admin} {
		s.do(may, post, "/v0/categories/demo", list).says(200, `{}`)
	}
	found := decode[[]m](s.do(demo, get, "/v0/categories/demo", nil).is(200))
	require.Len(t, found, 2)
	require.Equal(t, []any{"news", "demo", "d", "email"}, []any{found[0]["name"], found[0]["application"],
		found[0]["description"], found[0]["mode"]})
	require.Len(t, decode[[]m](s.do(demo, get, "/v0/categories?name=news", nil).is(200)), 1)
	require.Empty(t, decode[[]m](s.do(demo, get, "/v0/categories/other", nil).is(200)))
	s.do(demo, get, "/v0/categories?nonsense=1", nil).is(200)
	s.do(demo, post, "/v0/categories/demo", []m{{"name": "x"}}).refuses(400, "Missing required attributes")
	s.do(admin, post, "/v0/categories/nix", list).empty(404)
	s.do(demo, post, "/v0/categories/demo", []m{{"name": "x", "description": "", "mode": "fax"}}).is(400)

	s.do(bob, post, "/v0/users/bob/categories/demo", m{"news": "drop"}).says(201, `{}`)
	s.do(bob, get, "/v0/users/bob/categories", nil).says(200,
		`[{"mode": "drop", "category": "news", "application": "demo"}]`)
	s.do(bob, get, "/v0/users/bob/categories/demo", nil).says(200,
		`[{"mode": "drop", "category": "news", "application": "demo"}]`)
	require.Equal(t, m{"demo": m{"application_name": "demo", "mode": "drop", "category": "news"}},
		decode[m](s.do(bob, get, "/v0/users/bob", nil).is(200))["category_overrides"])
	s.do(bob, post, "/v0/users/bob/categories/demo", m{"nonsense": "sms"}).refuses(400, "Invalid category specified")
	s.do(power, post, "/v0/users/zoe/categories/demo", m{"news": "sms"}).refuses(400, "Invalid user specified")
	s.do(bob, post, "/v0/users/bob/categories/demo", m{"news": "fax"}).is(400)
	s.do(bob, post, "/v0/users/bob/categories/demo", m{"news": nil}).says(201, `{}`)
	s.do(bob, get, "/v0/users/bob/categories", nil).says(200, `[]`)
	s.do(bob, del, "/v0/users/bob/categories/demo", nil).empty(204)

	// The list replaces all categories: a category that is not in it is deleted, with the choices of people.
	s.do(bob, post, "/v0/users/bob/categories/demo", m{"alarms": "email"}).is(201)
	s.do(demo, post, "/v0/categories/demo", list[:1]).says(200, `{}`)
	s.do(bob, get, "/v0/users/bob/categories", nil).says(200, `[]`)
	require.Equal(t, []any{found[0]["id"]},
		[]any{decode[[]m](s.do(demo, get, "/v0/categories/demo", nil).is(200))[0]["id"]}, "what stays keeps its id")

	// A notification of a category is sent in the mode that the person chose.
	s.do(bob, post, "/v0/users/bob/categories/demo", m{"news": "drop"}).is(201)
	s.do(demo, post, "/v0/notifications", m{"role": "user", "target": "ann", "subject": "s", "category": "news",
		"body": "b"}).says(200, `[]`)
}

// The code is stored sealed, so the test reads it from the message.
func TestOwnContactsAreVerifiedByCode(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const number = "+15557770001"
	s.do(bob, put, "/api/v0/users/bob", m{"contacts": m{"sms": number}}).is(204)
	s.do(bob, post, "/v1/users/bob/contacts/sms/code", nil).empty(202)
	var secret []byte
	require.NoError(t, s.db.QueryRow(t.Context(), "select secret from installation").Scan(&secret))
	keys, err := auth.NewKeys(secret)
	require.NoError(t, err)
	stored := s.text("select body from notification_requests order by id desc limit 1")
	code := regexp.MustCompile("[0-9]{8}").FindString(keys.RevealTo(stored, number))
	require.NotEmpty(t, code)
	require.NotContains(t, stored, " "+code+".")
	s.do(bob, post, "/v1/users/bob/contacts/sms/verify", m{"code": code}).empty(200)
	require.EqualValues(t, 1, s.number("select count(*) from user_contacts where destination = $1 and verified_destination = destination", number))
}

// An administrator vouches for contacts of other people, at every door. An administrator's own contact needs a code.
func TestNobodyVouchesForTheirOwnContact(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	doors := map[string]func(by caller, owner, number string){
		"/v1": func(by caller, owner, number string) {
			s.do(by, put, "/v1/users/"+owner+"/contacts/sms", m{"destination": number}).is(204)
		},
		"/api/v0": func(by caller, owner, number string) {
			s.do(by, put, "/api/v0/users/"+owner, m{"contacts": m{"sms": number}}).is(204)
		},
		"pages": func(by caller, owner, number string) {
			s.post(by, "/people/"+owner+"/contacts", "mode", "sms", "change", "true", "destination", number).is(303)
		},
	}
	for name, set := range doors {
		for _, c := range []struct {
			by    caller
			owner string
			want  int64
		}{{admin, "root", 0}, {bob, "bob", 0}, {admin, "bob", 1}} {
			s.exec("delete from user_contacts where mode = 'sms'")
			set(c.by, c.owner, "+15557770002")
			require.Equal(t, c.want, s.number("select count(*) from user_contacts where mode = 'sms' and verified_destination = destination"),
				"%s: %s sets the number of %s", name, c.by.name, c.owner)
		}
	}
	s.post(admin, "/people/root/contacts", "mode", "phone", "destination", "+15557770003").is(303)
	require.Contains(t, s.do(admin, get, "/people/root", nil).is(200).body, "/people/root/contacts/call/code")
}
