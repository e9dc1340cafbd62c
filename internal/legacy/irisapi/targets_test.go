package irisapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
)

// withLists adds the mailing lists all (ann, bob), Staff (nobody) and a list with the name of a user.
const withLists = `
insert into mailing_lists (name, member_count) values ('zeta', 2), ('Staff', 0), ('ann', 0);
insert into mailing_list_members (list_id, user_id) select l.id, u.id from mailing_lists l, users u where l.name = 'zeta' and u.name in ('ann', 'bob');
insert into users (name) values ('A_under'), ('abc');
`

func newTargets(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, withPhones)
	f.exec(withLists)
	return f
}

func TestTargets(t *testing.T) {
	t.Parallel()
	f := newTargets(t)
	f.want(200, `["abc","ann","A_under","bob","empty","gone","lone","ops","root","Staff","viewer","zeta"]`, demo, get,
		"/v0/targets", "")
	f.want(200, `["abc","ann","A_under"]`, demo, get, "/v0/targets?startswith=A", "")
	f.want(200, `["A_under"]`, demo, get, "/v0/targets?startswith=a_", "")
	f.want(200, `[]`, demo, get, "/v0/targets?startswith=%25", "")
	f.want(200, `["ann","bob","root","viewer","lone","gone","A_under","abc"]`, demo, get, "/v0/targets/user", "")
	f.want(200, `["ops","empty"]`, demo, get, "/v0/targets/team", "")
	f.want(200, `["zeta","Staff","ann"]`, demo, get, "/v0/targets/mailing-list", "")
	f.want(200, `["gone"]`, demo, get, "/v0/targets/user?active=0", "")
	f.want(200, `["ann","A_under","abc"]`, demo, get, "/v0/targets/user?active=true&startswith=a", "")
	f.want(200, `["ann"]`, demo, get, "/v0/targets/user?name=ANN", "")
	f.want(200, `["ann","bob"]`, demo, get, "/v0/targets/user?name__in=bob,ann,none", "")
	f.want(200, `["A_under"]`, demo, get, "/v0/targets/user?name__contains=_", "")
	f.want(200, `["ops"]`, demo, get, "/v0/targets/Team?startswith=op&more=1", "")
	f.want(400, title("Target type list not found"), demo, get, "/v0/targets/list", "")
	f.want(400, describe("Invalid parameter",
		`The "active" parameter is invalid. The value of the parameter must be "true" or "false".`),
		demo, get, "/v0/targets/user?active=maybe", "")
	f.want(400, title("invalid filter operator like"), demo, get, "/v0/targets/user?name__like=a", "")
	f.want(400, describe("Invalid parameter", `The "startswith" parameter is invalid. The value must be UTF-8 text.`),
		demo, get, "/v0/targets?startswith=%ff", "")
	f.want(400, describe("Invalid parameter", `The "startswith" parameter is invalid. The value must be UTF-8 text.`),
		demo, get, "/v0/targets/user?startswith=%00", "")
	undecodable := describe("Invalid query string", "it must be pairs of name=value joined by &, percent-encoded")
	for _, path := range []string{"/v0/targets", "/v0/targets/user", "/v0/users/ann/in_lists"} {
		f.want(400, undecodable, demo, get, path+"?startswith=%zz", "")
	}
	for name, want := range map[string]string{"ann": "true", "ANN": "true", "gone": "true", "ops%20": "true", "zeta": "true", "none": "false", "%00": "false"} {
		f.want(200, `{"exists":`+want+`}`, demo, get, "/v0/targets/"+name+"/exists", "")
	}
}

func TestMembershipOfMailingLists(t *testing.T) {
	t.Parallel()
	f := newTargets(t)
	for query, want := range map[string]string{
		"list=zeta": "true", "list=ZETA": "true", "list=none,zeta": "true", "list=none&list=%20zeta": "true",
		"list=Staff": "false", "list=none": "false", "list=zeta,": "true",
	} {
		f.want(200, `{"is_member":`+want+`}`, demo, get, "/v0/users/Ann/in_lists?"+query, "")
	}
	f.want(200, `{"is_member":false}`, demo, get, "/v0/users/root/in_lists?list=zeta", "")
	f.want(200, `{"is_member":false}`, demo, get, "/v0/users/stranger/in_lists?list=zeta", "")
	missing := describe("Missing parameter", `The "list" parameter is required.`)
	f.want(400, missing, demo, get, "/v0/users/ann/in_lists", "")
	f.want(400, missing, demo, get, "/v0/users/ann/in_lists?list=", "")
}

func TestNamesThatRequestsMayUse(t *testing.T) {
	t.Parallel()
	f := newTargets(t)
	require.Contains(t, f.ok(demo, get, "/v0/target_roles", ""),
		`[{"name":"user","type":"user"},{"name":"manager","type":"team"},`+
			`{"name":"team","type":"team"},{"name":"oncall-primary","type":"team"},{"name":"oncall-secondary","type":"team"},`+
			`{"name":"director","type":"team"},{"name":"mailing-list","type":"mailing-list"}`)
	f.want(200, `["call","email","push","slack","sms","webhook"]`, demo, get, "/v0/modes", "")
	f.want(200, `[{"name":"urgent","default_mode":"call"},{"name":"high","default_mode":"sms"},`+
		`{"name":"medium","default_mode":"email"},{"name":"low","default_mode":"email"}]`, demo, get, "/v0/priorities/", "")
	f.exec(`update priorities set default_mode = 'push' where name = 'low'`)
	require.Contains(t, f.ok(demo, get, "/v0/priorities", ""), `{"name":"low","default_mode":"push"}`)
	require.Contains(t, f.ok(demo, get, "/v0/internal/priority_mode_map", ""), `"low":"push"`)
	f.want(200, `["UTC","US/Pacific","Europe/Zurich"]`, demo, get, "/v0/timezones", "")
	for _, path := range []string{"/v0/modes", "/v0/targets", "/v0/timezones", "/v0/targets/user"} {
		f.want(405, "", demo, post, path, "{}")
	}
}

func TestCategories(t *testing.T) {
	t.Parallel()
	f := newPeople(t)
	f.exec(`update notification_categories set description = 'what is new' where mode = 'sms'`)
	news := `{"id":1,"name":"news","application":"demo","description":"","mode":"email"}`
	ads := `{"id":2,"name":"ads","application":"demo","description":"","mode":"email"}`
	other := `{"id":3,"name":"news","application":"other","description":"what is new","mode":"sms"}`
	for path, want := range map[string]string{
		"/v0/categories":                       news + "," + ads + "," + other,
		"/v0/categories/demo":                  news + "," + ads,
		"/v0/categories/Other%20":              other,
		"/v0/categories/none":                  "",
		"/v0/categories/%00%ff":                "",
		"/v0/categories?name=NEWS":             news + "," + other,
		"/v0/categories?application=demo":      news + "," + ads,
		"/v0/categories?mode=sms":              other,
		"/v0/categories?id=2":                  ads,
		"/v0/categories?id__in=1,3":            news + "," + other,
		"/v0/categories?name__startswith=a":    ads,
		"/v0/categories/demo?application=none": "",
		"/v0/categories/demo?name__ne=ads":     news,
		"/v0/categories?unknown=1":             news + "," + ads + "," + other,
	} {
		f.want(200, "["+want+"]", demo, get, path, "")
	}
	f.want(400, title("invalid filter operator like"), demo, get, "/v0/categories?name__like=a", "")
}

func TestPermissionsOfLists(t *testing.T) {
	t.Parallel()
	open := []string{"/v0/target_roles", "/v0/timezones", "/v0/users/ann/slackid", "/v0/categories",
		"/v0/categories/demo"}
	any := []string{"/v0/targets", "/v0/targets/user", "/v0/targets/ann/exists", "/v0/modes", "/v0/priorities",
		"/v0/users/ann/in_lists?list=zeta"}
	f := newTargets(t)
	for _, path := range append(open, any...) {
		f.want(401, noHeader, nobody, get, path, "")
		for _, as := range []caller{demo, power, asAnn, annHere, viewer, {session: "root"}} {
			f.ok(as, get, path, "")
		}
	}
	f = newFixture(t, withPhones, func(d *parts) { d.Config.Openings = auth.Openings{AnonymousReads: true} })
	for _, path := range open {
		f.ok(nobody, get, path, "")
	}
	for _, path := range append(any, "/v0/users/ann", "/v0/users/settings/ann") {
		f.want(401, noHeader, nobody, get, path, "")
	}
}

func TestPlansWarnOfMailingListsThatAreTooLarge(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *parts) { d.Config.ListLimit = 2 })
	f.exec(withLists)
	named := func(list string) []string {
		rec := f.do(asAnn, post, "/v0/plans", planJSON(`"role":"user","target":"ann"`,
			`"role":"mailing-list","target":"`+list+`"`))
		require.Equal(t, 201, rec.Code, rec.Body)
		return rec.Header().Values("X-Iris-Warning")
	}
	require.Equal(t, []string{"step 1: the mailing list zeta is too large: it has 2 members, and lists of 2 or more are not paged"}, named("zeta"))
	require.Equal(t, []string{"step 1: the mailing-list Staff has no active members"}, named("Staff"))
	f.exec(`update mailing_lists set member_count = 100 where name = 'ann'; insert into mailing_list_members
		select l.id, u.id from mailing_lists l, users u where l.name = 'ann' and u.name = 'ann'`)
	require.Contains(t, named("ann")[0], "it has 100 members")
	f.exec(`update mailing_lists set member_count = 0 where name = 'ann'`)
	require.Empty(t, named("ann"))
}

// Plans, incidents and notifications may have mailing lists as targets.
func TestMailingListsAreTargets(t *testing.T) {
	t.Parallel()
	f := newTargets(t)
	f.ok(asAnn, post, "/v0/plans", planJSON(`"role":"user","target":"ann"`, `"role":"mailing-list","target":"zeta"`))
	f.want(400, describe("Invalid plan", "Target huge not found for step 1"), asAnn, post, "/v0/plans",
		planJSON(`"role":"user","target":"ann"`, `"role":"mailing-list","target":"huge"`))
	dynamic := `{"plan":"new plan","context":{},"dynamic_targets":[{"role":"mailing-list","target":"%s"}]}`
	f.ok(demo, post, "/v0/incidents", strings.Replace(dynamic, "%s", "ZETA ", 1))
	require.Equal(t, 1, f.count(`select count(*) from incident_dynamic_targets where role = 'mailing-list'`))
	f.want(400, describe("Invalid incident", "invalid role mailing-list for target ops"), demo, post, "/v0/incidents",
		strings.Replace(dynamic, "%s", "ops", 1))
	f.want(200, `[]`, demo, post, "/v0/notifications",
		`{"role":"mailing-list","target":"Zeta","subject":"s","mode":"email","body":"b"}`)
	require.Equal(t, 2, f.count(`select count(*) from messages where target in ('ann', 'bob')`))
	f.want(200, `[]`, demo, post, "/v0/notifications",
		`{"target_list":[{"role":"mailing-list","target":"zeta"},{"role":"user","target":"root"},{"role":"mailing-list","target":"Staff"}],"subject":"s","mode":"email","body":"b"}`)
	require.Equal(t, 5, f.count(`select count(*) from messages`))
	f.want(400, describe("Request rejected by sender", "INVALID role:target"), demo, post, "/v0/notifications",
		`{"role":"mailing-list","target":"Staff","subject":"s","mode":"email","body":"b"}`)
	f.want(400, describe("Request rejected by sender", "INVALID role:target"), demo, post, "/v0/notifications",
		`{"role":"mailing-list","target":"ops","subject":"s","mode":"email","body":"b"}`)
}

// The database of Iris ignored case and trailing spaces of names, and clients rely on that.
func TestNamesIgnoreCaseAndTrailingSpaces(t *testing.T) {
	t.Parallel()
	f := newTargets(t)
	f.ok(power, post, "/v0/incidents", `{"plan":"PAGER ","application":"Demo ","context":{},"dedup_key":"`+
		strings.Repeat("あ", 255)+`"}`)
	f.want(400, `{"title":"dedup_key must not be longer than 255 characters"}`, power, post, "/v0/incidents",
		`{"plan":"PAGER ","application":"Demo ","context":{},"dedup_key":"`+strings.Repeat("あ", 256)+`"}`)
	f.ok(power, post, "/v0/incidents/1", `{"owner":"ANN "}`)
	require.Equal(t, 1, f.count(`select count(*) from incidents i join users u on u.id = i.owner_id where u.name = 'ann'`))
	f.ok(caller{app: "power", key: "power-key", user: "Ann"}, get, "/v0/users/ANN%20%20", "")
	f.ok(asAnn, post, "/v0/plans", planJSON(`"creator":"ann"`, `"creator":"Ann "`, `"target":"ann"`, `"target":"ANN "`))
	f.want(200, `[]`, demo, post, "/v0/notifications",
		`{"role":"user","target":"ann ","subject":"s","mode":"email","body":"b"}`)
	f.want(401, notThisUser, asAnn, get, "/v0/users/%20ann", "")
}
