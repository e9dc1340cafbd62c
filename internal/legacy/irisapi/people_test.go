package irisapi_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// choices adds the categories news and ads to demo and news to other, and fills every field of the profile of ann.
const choices = `
insert into notification_categories (application_id, name, mode) select id, 'news', 'email' from applications where name = 'demo';
insert into notification_categories (application_id, name, mode) select id, 'ads', 'email' from applications where name = 'demo';
insert into notification_categories (application_id, name, mode) select id, 'news', 'sms' from applications where name = 'other';
`

const (
	notThisUser = `{"title":"This user is not allowed to access this resource","description":""}`
	appPower    = `{"title":"App must allow authentication as user for this action","description":""}`
	noHeader    = `{"title":"Authentication failure","description":"Malformed/missing HMAC authorization header"}`
)

func withPhones(d *parts) {
	d.Config.TimeZones = []string{"UTC", "US/Pacific", "Europe/Zurich"}
	d.Config.Mobile, d.Config.DeviceApplications = true, []string{"Power"}
	d.SlackID = func(_ context.Context, email string) (string, error) {
		switch email {
		case "ann@example.com":
			return "U0ANN0001", nil
		case "root@example.com":
			return "", fault.New(fault.Unavailable, "Slack cannot be asked")
		}
		return "", fault.New(fault.NotFound, "nobody")
	}
}

func newPeople(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, withPhones)
	f.exec(choices)
	return f
}

// annsOwn are routes that only ann, administrators and applications that act for people may use.
var annsOwn = []request{
	{get, "/v0/users/ann", ""},
	{get, "/v0/users/settings/ann", ""}, {put, "/v0/users/settings/ann", `{"timezone":"UTC"}`},
	{get, "/v0/users/modes/ann", ""}, {post, "/v0/users/modes/ann", `{"high":"sms"}`},
	{post, "/v0/users/overrides/ann", `{"template_overrides":{"sms":"enabled"}}`},
	{get, "/v0/users/reprioritization/ann", ""},
	{post, "/v0/users/reprioritization/ann", `{"src_mode":"sms","dst_mode":"email","count":1,"duration":60}`},
	{del, "/v0/users/reprioritization/ann/sms", ""},
	{get, "/v0/users/ann/categories", ""}, {get, "/v0/users/ann/categories/demo", ""},
	{post, "/v0/users/ann/categories/demo", `{"news":"sms"}`}, {del, "/v0/users/ann/categories/demo", ""},
}

func TestPermissionsOfRoutesAboutAPerson(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		as      caller
		refusal string // "" = may
	}{
		"nobody":                  {nobody, noHeader},
		"application":             {demo, appPower},
		"application with powers": {power, ""},
		"ann through it":          {asAnn, ""},
		"ANN through it":          {caller{app: "power", key: "power-key", user: "ANN"}, ""},
		"bob through it":          {caller{app: "power", key: "power-key", user: "bob"}, notThisUser},
		"a stranger through it":   {caller{app: "power", key: "power-key", user: "stranger"}, notThisUser},
		"admin through it":        {asRoot, ""},
		"session of ann":          {annHere, ""},
		"session of bob":          {caller{session: "bob"}, notThisUser},
		"session of an admin":     {caller{session: "root"}, ""},
		"session of a reader":     {viewer, notThisUser},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newPeople(t)
			for _, rq := range annsOwn {
				if tc.refusal != "" {
					f.want(401, tc.refusal, tc.as, rq.method, rq.path, rq.body)
					f.want(401, tc.refusal, tc.as, rq.method, strings.Replace(rq.path, "ann", "nobodys", 1), rq.body)
				} else {
					f.ok(tc.as, rq.method, rq.path, rq.body)
				}
			}
		})
	}
}

func TestReadOnlyPeopleChangeTheirOwnSettings(t *testing.T) {
	t.Parallel()
	f := newPeople(t)
	for _, rq := range annsOwn {
		f.ok(viewer, rq.method, strings.Replace(rq.path, "ann", "viewer", 1), rq.body)
	}
}

func TestPeopleWhoDoNotExist(t *testing.T) {
	t.Parallel()
	f := newPeople(t)
	for _, rq := range annsOwn {
		path := strings.Replace(rq.path, "ann", "nobodys", 1)
		if rq.method == post && strings.Contains(path, "categories") {
			f.want(400, title("Invalid user specified"), power, rq.method, path, rq.body)
			continue
		}
		f.want(404, "", power, rq.method, path, rq.body)
	}
	f.want(404, "", power, get, "/v0/users/999999", "")
	f.want(404, "", power, get, "/v0/users/99999999999999999999", "")
	f.want(404, "", power, get, "/v0/users/ops", "", "team", "no user")
	f.want(404, "", power, get, "/v0/users/%00%ff", "")
}

func TestAPerson(t *testing.T) {
	t.Parallel()
	f := newPeople(t)
	f.ok(annHere, post, "/v0/users/modes/ann", `{"per_app_modes":{"demo":{"low":"slack"}},"high":"call"}`)
	f.ok(annHere, post, "/v0/users/overrides/ann", `{"template_overrides":{"sms":"enabled"}}`)
	f.ok(annHere, post, "/v0/users/ann/categories/demo", `{"news":"sms","ads":"drop"}`)
	_, err := f.db.Pool().Exec(t.Context(), "truncate audit_log")
	require.NoError(t, err)
	f.ok(power, post, "/v0/devices", `{"username":"ann","registration_id":"token","platform":"iOS"}`)
	f.golden("user", f.ok(annHere, get, "/v0/users/ann", ""))
	f.golden("user_bare", f.ok(asRoot, get, "/v0/users/LONE%20", ""))
	f.exec(`update users set active = false where name = 'lone'`)
	f.golden("user_bare", f.ok(asRoot, get, "/v0/users/lone", ""))
}

// The number of a target finds a user, but permissions compare the name in the path.
func TestAPersonByNumber(t *testing.T) {
	t.Parallel()
	f := newPeople(t)
	number := func(name string) string {
		var id string
		require.NoError(t, f.db.Pool().QueryRow(t.Context(), `select target_id::text from targets where name = $1`,
			name).Scan(&id))
		return id
	}
	path := "/v0/users/" + number("ann")
	require.Equal(t, f.ok(power, get, "/v0/users/ann", ""), f.ok(power, get, path, ""))
	f.ok(asRoot, get, path, "")
	f.want(401, notThisUser, annHere, get, path, "")
	f.want(401, appPower, demo, get, path, "")
	f.want(404, "", power, get, "/v0/users/"+number("ops"), "")
}

func TestSettings(t *testing.T) {
	t.Parallel()
	f := newPeople(t)
	f.want(200, `{"timezone":"UTC"}`, annHere, get, "/v0/users/settings/ann", "")
	rec := f.want(204, "", annHere, put, "/v0/users/settings/ann", `{"timezone":"us/pacific"}`)
	require.Equal(t, "application/json", rec.Header().Get("Content-Type"))
	f.want(200, `{"timezone":"US/Pacific"}`, annHere, get, "/v0/users/settings/ann", "")
	for _, ignored := range []string{`{"timezone":"Asia/Tokyo"}`, `{"timezone":"Mars"}`, `{"timezone":""}`, `{"timezone":null}`, `{}`} {
		f.want(204, "", annHere, put, "/v0/users/settings/ann", ignored)
	}
	f.want(200, `{"timezone":"US/Pacific"}`, annHere, get, "/v0/users/settings/ann", "")
	f.want(204, "", asRoot, put, "/v0/users/settings/bob", `{"timezone":"Europe/Zurich"}`)
	f.want(200, `{"timezone":"Europe/Zurich"}`, power, get, "/v0/users/settings/Bob", "")
	f.want(200, `{"timezone":"UTC"}`, asRoot, get, "/v0/users/settings/root", "")
	f.exec(`insert into user_settings select id, 'theme', 'dark' from users where name = 'bob'`)
	f.want(200, `{"timezone":"Europe/Zurich","theme":"dark"}`, power, get, "/v0/users/settings/bob", "")
	f.exec(`insert into user_settings select id, 'clock', '24' from users where name = 'ann'`)
	f.want(204, "", annHere, put, "/v0/users/settings/ann", `{"timezone":"Europe/Zurich"}`)
	require.Equal(t, 1, f.count("select count(*) from user_settings where name = 'clock'"), "the clock stays")
	f.want(400, title("timezone must be a string"), annHere, put, "/v0/users/settings/ann", `{"timezone":1}`)
	f.want(400, title("Invalid json in post body"), annHere, put, "/v0/users/settings/ann", `{`)
	f.want(405, "", annHere, post, "/v0/users/settings/ann", `{}`)
}

func TestModesOfAPerson(t *testing.T) {
	t.Parallel()
	f := newPeople(t)
	const path = "/v0/users/modes/ann"
	none := `{"urgent":"default","high":"default","medium":"default","low":"default"}`
	f.want(200, none, annHere, get, path, "")
	f.want(200, `{"urgent":"call","high":"default","medium":"default","low":"drop"}`, annHere, post, path,
		`{"urgent":"call","LOW":"Drop"}`)
	f.want(200, `{"urgent":"default","high":"sms","medium":"default","low":"drop"}`, annHere, post, path,
		`{"urgent":"default","high":"sms"}`)
	f.want(200, none, annHere, get, path+"?application=demo", "")
	f.want(200, `{"urgent":"slack","high":"default","medium":"default","low":"default"}`, annHere, post, path,
		`{"application":"Demo ","urgent":"slack"}`)
	f.want(200, `{"urgent":"default","high":"sms","medium":"default","low":"drop"}`, annHere, get, path, "")
	f.want(200, `{"urgent":"call","high":"sms","medium":"default","low":"drop"}`, annHere, post, path,
		`{"per_app_modes":{"demo":{"urgent":"default","low":"email"},"other":{"high":"call"}},"urgent":"call","application":"x","whatever":[1]}`)
	f.want(200, `{"urgent":"default","high":"default","medium":"default","low":"email"}`, annHere, get, path+
		"?application=demo", "")
	f.want(200, `{"urgent":"default","high":"call","medium":"default","low":"default"}`, annHere, get, path+
		"?application=OTHER", "")
	f.want(200, none, asRoot, get, "/v0/users/modes/bob", "")

	for body, want := range map[string]string{
		`{"high":"smoke"}`:                           describe("Invalid mode", "smoke"),
		`{"hihg":"sms"}`:                             describe("Invalid priority", "hihg"),
		`{"high":null}`:                              title("the mode of priority high must be a string"),
		`{"high":1}`:                                 title("the mode of priority high must be a string"),
		`{"application":"none","high":"sms"}`:        title("Application none not found"),
		`{"application":1}`:                          title("application must be a string"),
		`{"application":null}`:                       title("application is required"),
		`{"application":" "}`:                        title("application must not be empty"),
		`{"per_app_modes":null}`:                     title("per_app_modes must be an object of applications, each an object of priorities and modes"),
		`{"per_app_modes":{"demo":1}}`:               title("per_app_modes must be an object of applications, each an object of priorities and modes"),
		`{"per_app_modes":{"demo":{"x":"sms"}}}`:     describe("Invalid priority", "x"),
		`{"per_app_modes":{"none":{"high":"sms"}}}`:  title("Application none not found"),
		`{"per_app_modes":{"":{"high":"sms"}}}`:      title("the name of an application in per_app_modes is empty"),
		`{"per_app_modes":{"demo":{}},"high":"nix"}`: describe("Invalid mode", "nix"),
		`[]`: describe("Invalid json in post body", "a JSON object is expected"),
		``:   title("Invalid json in post body"),
	} {
		f.want(400, want, annHere, post, path, body)
	}
	f.want(400, title("Application none not found"), annHere, get, path+"?application=none", "")
	f.want(400, describe("Invalid query string", "it must be pairs of name=value joined by &, percent-encoded"),
		annHere, get, path+"?application=%zz", "")
	f.want(400, describe("Invalid parameter", `The "application" parameter is invalid. The value must be UTF-8 text.`),
		annHere, get, path+"?application=%00", "")
	require.Zero(t, f.count(`select count(*) from user_modes where mode = 'nix'`))

	f.want(400, title("Application none not found"), annHere, post, path,
		`{"per_app_modes":{"demo":{"high":"slack"},"none":{"high":"slack"}}}`)
	require.Zero(t, f.count(`select count(*) from user_application_modes where mode = 'slack'`), "all or nothing")
}

func TestOverrides(t *testing.T) {
	t.Parallel()
	f := newPeople(t)
	const path = "/v0/users/overrides/ann"
	on := func() int { return f.count(`select count(*) from user_template_overrides where mode = 'sms'`) }
	for _, value := range []string{"enabled", "enabled"} {
		f.want(204, "", annHere, post, path, `{"template_overrides":{"sms":"`+value+`"}}`)
		require.Equal(t, 1, on())
	}
	f.want(204, "", annHere, post, path, `{"template_overrides":{"sms":"disabled","call":"x"}}`)
	require.Zero(t, on())
	f.want(204, "", asRoot, post, "/v0/users/overrides/bob", `{"template_overrides":{"sms":"enabled"}}`)
	require.Equal(t, 1, f.count(`select count(*) from user_template_overrides o join users u on u.id = o.user_id where u.name = 'bob'`))
	notDict := title("Invalid json in post body: template_overrides parameter is not a dict")
	for body, want := range map[string]string{
		`{}`:                                       notDict,
		`{"template_overrides":null}`:              notDict,
		`{"template_overrides":["sms"]}`:           notDict,
		`{"template_overrides":{}}`:                title("No valid mode override values in post body"),
		`{"template_overrides":{"call":"x"}}`:      title("No valid mode override values in post body"),
		`{"template_overrides":{"sms":"perhaps"}}`: title("Invalid sms override setting value: perhaps"),
		`{"template_overrides":{"sms":true}}`:      title("Invalid sms override setting value: true"),
		`nonsense`:                                 title("Invalid json in post body"),
	} {
		f.want(400, want, annHere, post, path, body)
	}
}

func TestReprioritisations(t *testing.T) {
	t.Parallel()
	f := newPeople(t)
	const path = "/v0/users/reprioritization/ann"
	f.want(200, `[]`, annHere, get, path, "")
	f.want(200, `[]`, annHere, post, path, `{"src_mode":"call","dst_mode":"sms","count":"10","duration":"60"}`)
	f.want(200, `[]`, annHere, post, path, `{"src_mode":"sms","dst_mode":"email","count":255,"duration":3600,"more":1}`)
	f.want(200, `[]`, annHere, post, path, `{"src_mode":"CALL","dst_mode":"email","count":1,"duration":61}`)
	f.want(200, `[{"target":"ann","src_mode":"sms","dst_mode":"email","count":255,"duration":3600},`+
		`{"target":"ann","src_mode":"call","dst_mode":"email","count":1,"duration":61}]`, annHere, get, path, "")
	f.want(200, `[]`, asRoot, get, "/v0/users/reprioritization/bob", "")
	for body, want := range map[string]string{
		`{}`:                         describe("Missing argument", "missing arg: duration"),
		`{"duration":60}`:            describe("Missing argument", "missing arg: count"),
		`{"duration":"x","count":1}`: describe("Missing argument", "missing arg: src_mode"),
		`{"duration":60,"count":1,"src_mode":"sms","dst_mode":null}`: describe("Missing argument",
			"missing arg: dst_mode"),
		`{"duration":"x","count":0,"src_mode":"x","dst_mode":"x"}`: describe("Invalid duration",
			"duration must be an integer"),
		`{"duration":90.5,"count":0,"src_mode":"x","dst_mode":"x"}`: describe("Invalid duration",
			"duration must be an integer"),
		`{"duration":59,"count":0,"src_mode":"x","dst_mode":"x"}`: describe("Invalid duration",
			"duration must be greater than 1 minute"),
		`{"duration":3601,"count":0,"src_mode":"x","dst_mode":"x"}`: describe("Invalid duration",
			"duration must be at most 3600 seconds"),
		`{"duration":60,"count":"many","src_mode":"x","dst_mode":"x"}`: describe("Invalid count",
			"count must be an integer"),
		`{"duration":60,"count":0,"src_mode":"x","dst_mode":"x"}`: describe("Invalid count",
			"count must be greater than 0"),
		`{"duration":60,"count":256,"src_mode":"x","dst_mode":"x"}`: describe("Invalid count",
			"count must be under 255"),
		`{"duration":60,"count":1,"src_mode":"x","dst_mode":"x"}`: describe("Invalid source mode.",
			"Invalid source mode."),
		`{"duration":60,"count":1,"src_mode":1,"dst_mode":"x"}`: describe("Invalid source mode.",
			"Invalid source mode."),
		`{"duration":60,"count":1,"src_mode":"sms","dst_mode":"carrier"}`: describe("Invalid destination mode.",
			"Invalid destination mode."),
	} {
		f.want(400, want, annHere, post, path, body)
	}
	f.want(200, `[]`, annHere, del, path+"/SMS", "")
	f.want(404, "", annHere, del, path+"/sms", "")
	f.want(404, "", annHere, del, path+"/pigeon", "")
	f.want(200, `[{"target":"ann","src_mode":"call","dst_mode":"email","count":1,"duration":61}]`, annHere, get, path,
		"")
}

func TestCategoriesOfAPerson(t *testing.T) {
	t.Parallel()
	f := newPeople(t)
	const path = "/v0/users/ann/categories"
	f.want(200, `[]`, annHere, get, path, "")
	f.want(201, `{}`, annHere, post, path+"/demo", `{"news":"sms","ads":"drop"}`)
	f.want(201, `{}`, annHere, post, path+"/OTHER", `{"News":"call"}`)
	f.want(201, `{}`, annHere, post, path+"/demo", `{}`)
	f.want(200, `[{"mode":"sms","category":"news","application":"demo"},{"mode":"drop","category":"ads","application":"demo"},`+
		`{"mode":"call","category":"news","application":"other"}]`, annHere, get, path, "")
	f.want(200, `[{"mode":"call","category":"news","application":"other"}]`, annHere, get, path+"/Other", "")
	f.want(201, `{}`, annHere, post, path+"/demo", `{"news":null,"ads":"email"}`)
	f.want(200, `[{"mode":"email","category":"ads","application":"demo"}]`, annHere, get, path+"/demo", "")
	f.want(200, `[]`, annHere, get, path+"/none", "")
	f.want(200, `[]`, asRoot, get, "/v0/users/bob/categories", "")
	f.want(400, title("Invalid category specified"), annHere, post, path+"/demo", `{"ads":"sms","nonsense":"sms"}`)
	f.want(400, title("Invalid category specified"), annHere, post, path+"/none", `{"news":"sms"}`)
	f.want(400, describe("Invalid mode", `"smoke"`), annHere, post, path+"/demo", `{"ads":"smoke"}`)
	f.want(400, describe("Invalid mode", `1`), annHere, post, path+"/demo", `{"ads":1}`)
	f.want(400, title("Invalid json in post body"), annHere, post, path+"/demo", `?`)
	f.want(200, `[{"mode":"email","category":"ads","application":"demo"}]`, annHere, get, path+"/demo", "")
	f.want(204, "", annHere, del, path+"/Demo", "")
	f.want(204, "", annHere, del, path+"/none", "")
	f.want(200, `[{"mode":"call","category":"news","application":"other"}]`, annHere, get, path, "")
	f.want(405, "", annHere, post, path, `{}`)
}

func TestSlackID(t *testing.T) {
	t.Parallel()
	f := newPeople(t)
	for _, as := range []caller{demo, asAnn, annHere, viewer, power} {
		f.want(201, `{"slack_id":"U0ANN0001"}`, as, get, "/v0/users/ann/slackid", "")
	}
	f.want(401, noHeader, nobody, get, "/v0/users/ann/slackid", "")
	f.want(404, "", demo, get, "/v0/users/bob/slackid", "")
	f.want(404, "", demo, get, "/v0/users/stranger/slackid", "")
	f.want(400, title("User has no email contact to be found in Slack by"), demo, get, "/v0/users/lone/slackid", "")
	f.want(503, title("Slack cannot be asked"), demo, get, "/v0/users/root/slackid", "")
	f.exec(`insert into user_contacts select id, 'slack', 'ann@example.com' from users where name in ('bob', 'lone')`)
	f.want(201, `{"slack_id":"U0ANN0001"}`, demo, get, "/v0/users/bob/slackid", "")
	f.want(201, `{"slack_id":"U0ANN0001"}`, demo, get, "/v0/users/lone/slackid", "")
	f.exec(`update user_contacts set destination = '@ann' where mode = 'slack'`)
	f.want(404, "", demo, get, "/v0/users/bob/slackid", "")

	without := newFixture(t)
	rec := without.want(404, "Slack integration is not configured", demo, get, "/v0/users/ann/slackid", "")
	require.Equal(t, "application/json", rec.Header().Get("Content-Type"), "as Iris labels it")
}

func TestDevices(t *testing.T) {
	t.Parallel()
	f := newPeople(t)
	body := `{"username":"ann","registration_id":"token","platform":"iOS"}`
	for _, as := range []caller{power, asAnn, asRoot, power} {
		rec := f.want(201, "", as, post, "/v0/devices", body)
		require.Equal(t, "application/json", rec.Header().Get("Content-Type"))
	}
	require.Equal(t, 1, f.count(`select count(*) from devices`))
	f.want(201, "", power, post, "/v0/devices", strings.Replace(body, "ann", "Bob ", 1))
	require.Equal(t, 1, f.count(`select count(*) from devices d join users u on u.id = d.user_id where u.name = 'bob' and d.active`))
	f.exec(`update devices set active = false`)
	f.want(201, "", power, post, "/v0/devices", body)
	require.Equal(t, 1, f.count(`select count(*) from devices d join users u on u.id = d.user_id where u.name = 'ann' and d.active`),
		"a phone that was taken for dead is back")

	f.want(401, noHeader, nobody, post, "/v0/devices", body)
	for _, as := range []caller{demo, annHere, viewer} {
		f.want(403, title("App not allowed to register devices"), as, post, "/v0/devices", body)
	}
	bob := caller{app: "power", key: "power-key", user: "bob"}
	f.want(401, notThisUser, bob, post, "/v0/devices", body)
	missing := title("Missing parameters for adding device")
	for body, want := range map[string]string{
		`{}`: missing,
		`{"username":"ann","registration_id":"token"}`:                       missing,
		`{"username":"ann","platform":"iOS"}`:                                missing,
		`{"registration_id":"token","platform":"iOS"}`:                       missing,
		`{"username":"ann","registration_id":"","platform":"iOS"}`:           missing,
		`{"username":"ann","registration_id":1,"platform":"iOS"}`:            title("registration_id must be a string"),
		`{"username":"stranger","registration_id":"token","platform":"iOS"}`: title("User stranger not found"),
		`{"username":"ann","registration_id":"` + random(2001) +
			`","platform":"iOS"}`: title("registration_id can have 2000 bytes, platform 100"),
		`x`: title("Invalid json in post body"),
	} {
		f.want(400, want, power, post, "/v0/devices", body)
	}
	off := newFixture(t)
	off.want(404, "", power, post, "/v0/devices", body)
}

// With authentication switched off, the name in the header identifies a person. A name is still required.
func TestPeopleWithoutCredentials(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withPhones, withoutCredentials)
	f.exec(choices)
	for _, rq := range annsOwn {
		f.want(401, `{"title":"Username must be specified for this action","description":""}`, nobody, rq.method,
			rq.path, rq.body)
		rec := f.do(nobody, rq.method, rq.path, rq.body, "X-IRIS-USERNAME", "ann")
		require.Less(t, rec.Code, 300, "%s %s: %s", rq.method, rq.path, rec.Body)
		f.want(401, notThisUser, nobody, rq.method, rq.path, rq.body, "X-IRIS-USERNAME", "bob")
		f.want(401, appPower, nobody, rq.method, rq.path, rq.body, "Authorization", "hmac demo:nonsense")
	}
	f.ok(nobody, get, "/v0/targets", "")
	f.want(403, title("App not allowed to register devices"), nobody, post, "/v0/devices", `{}`, "X-IRIS-USERNAME",
		"ann")
}

func TestChangesOfSettingsAreInTheAuditLog(t *testing.T) {
	t.Parallel()
	f := newPeople(t)
	for i, as := range []caller{annHere, asRoot, power} {
		for _, rq := range annsOwn {
			if rq.method != get {
				f.ok(as, rq.method, rq.path, rq.body)
			}
		}
		require.Equal(t, 7*(i+1), f.count(`select count(*) from audit_log where object = 'user ann' and action not in ('logged in', 'user created', 'contact set')`))
	}
	_, err := f.db.Pool().Exec(t.Context(), "truncate audit_log")
	require.NoError(t, err)
	f.ok(power, post, "/v0/devices", `{"username":"ann","registration_id":"token","platform":"iOS"}`)
	f.ok(asRoot, post, "/v0/users/modes/ann", `{"per_app_modes":{"demo":{"low":"default"}},"high":"call"}`)
	f.want(404, "", annHere, del, "/v0/users/reprioritization/ann/call", "")
	f.ok(annHere, post, "/v0/users/modes/ann", `{}`)
	f.ok(annHere, post, "/v0/users/ann/categories/demo", `{}`)
	f.want(400, title("Invalid category specified"), annHere, post, "/v0/users/ann/categories/demo", `{"none":"sms"}`)
	var lines []string
	rows, err := f.db.Pool().Query(t.Context(),
		`select actor || ': ' || action || ': ' || coalesce(changes::text, '') from audit_log where action <> 'logged in' order by id`)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var line string
		require.NoError(t, rows.Scan(&line))
		lines = append(lines, line)
	}
	require.Equal(t, []string{
		`application power: device registered: [{"after": "iOS", "field": "devices.device 1"}]`,
		`root: modes set: [{"after": "call", "field": "modes.high", "before": "sms"}]`,
	}, lines)
}

func withoutCredentials(d *parts) {
	d.Authenticator = d.Authenticator.WithoutVerification()
	d.Config.Openings.NoCredentials = true
}
