package irisapi_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

const put = http.MethodPut

var (
	asBob    = caller{app: "power", key: "power-key", user: "bob"}
	rootHere = caller{session: "root"}
)

// owned is a fixture in which ann owns the application demo.
func owned(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	f.exec(`insert into application_owners select a.id, u.id from applications a, users u where a.name = 'demo' and u.name = 'ann'`)
	return f
}

func change(replace ...string) string {
	body := map[string]any{"sample_context": `{"host": "h"}`, "context_template": "C", "summary_template": nil,
		"mobile_template": "M",
		"variables":       []string{"host", "message", "more"}, "title_variable": "message", "owners": []string{"ann",
			"bob",
			"nobody"},
		"custom_sender_addresses": map[string]any{"email": "demo@example.com"}, "supported_modes": []string{"email",
			"sms"},
		"default_modes": map[string]string{"high": "sms", "low": "call"}}
	for i := 0; i+1 < len(replace); i += 2 {
		delete(body, replace[i])
		if replace[i+1] != "" {
			body[replace[i]] = json.RawMessage(replace[i+1])
		}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func TestApplicationsAreListedAndDescribed(t *testing.T) {
	t.Parallel()
	f := owned(t)
	f.exec(`insert into applications (name, auth_only) values ('Hidden', true); insert into applications (name) values ('Zebra'), ('alpha');
		update application_variables set required = true where name = 'message';
		insert into notification_categories (application_id, name, description, mode) select id, 'news', 'D', 'drop' from applications where name = 'demo'`)
	require.JSONEq(t, `[{"name":"alpha"},{"name":"demo"},{"name":"iris"},{"name":"other"},{"name":"power"},{"name":"Zebra"}]`,
		f.ok(demo, get, "/v0/applications?fields=name", ""))
	require.JSONEq(t, `[{"name":"alpha"},{"name":"Zebra"}]`,
		f.ok(demo, get, "/v0/applications?fields=name,key&limit=2", ""), "newest first")
	require.JSONEq(t, `[{"name":"demo"}]`, f.ok(demo, get, "/v0/applications?fields=name&owners=ANN&nonsense=1", ""))
	require.JSONEq(t, `[{"name":"demo"}]`, f.ok(demo, get,
		"/v0/applications?fields=name&variables__startswith=HO&name__in=Demo,other", ""))
	require.Equal(t, `[]`, f.ok(demo, get, "/v0/applications?required_variables=host&name__contains=%25", ""))
	f.golden("application", f.ok(demo, get, "/v0/applications/DEMO", ""))
	require.Equal(t, f.ok(demo, get, "/v0/applications/demo", ""), f.ok(demo, get, "/v0/applications/demo%20/", ""))
	require.Contains(t, f.ok(demo, get, "/v0/applications/hidden", ""), `"supported_modes":[]`)
	f.want(400, title("Application nope not found"), demo, get, "/v0/applications/nope", "")
	f.want(400, title("invalid filter operator near"), demo, get, "/v0/applications?name__near=1", "")
}

func TestApplicationsAreCreatedByAdministrators(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, as := range []caller{demo, power, asAnn, annHere} {
		f.want(401, title("Only admins can create apps"), as, post, "/v0/applications", `{"name":"new"}`)
	}
	for body, answer := range map[string]string{
		`{`:               title("Invalid json in post body"),
		`{}`:              title("Missing app name"),
		`{"name":" "}`:    title("Missing app name"),
		`{"name":"DEMO"}`: title("This app already exists"),
		`{"name":1}`:      title("name must be a string"),
		`{"name":"a:b"}`:  title("the name of an application must not hold a colon"),
	} {
		f.want(400, answer, asRoot, post, "/v0/applications", body)
	}
	var made struct{ ID int64 }
	rec := f.do(asRoot, post, "/v0/applications", `{"name":"new"}`)
	require.Equal(t, 201, rec.Code, rec.Body)
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &made))
	require.Equal(t, 1, f.count("select count(*) from applications where id = $1 and name = 'new'", made.ID))
	key := regexp.MustCompile(`^\{"key":"([0-9a-f]{64})"\}$`).FindStringSubmatch(f.ok(asRoot, get,
		"/v0/applications/new/key", ""))
	require.Len(t, key, 2)
	f.want(200, `[]`, caller{app: "new", key: key[1]}, get, "/v0/incidents?limit=1", "")
	require.Contains(t, f.ok(demo, get, "/v0/applications/new", ""),
		`"supported_modes":["email","sms","call","slack","push","webhook"]`)
	require.Equal(t, 1, f.count("select count(*) from audit_log where actor = 'root' and action = 'application added' and object = 'application new'"))
}

func TestApplicationSettingsAreReplaced(t *testing.T) {
	t.Parallel()
	f := owned(t)
	const path = "/v0/applications/demo"
	f.exec(`update application_variables set required = true where name = 'host'`)
	f.want(200, `[]`, asRoot, put, path, change())
	f.golden("application-changed", f.ok(demo, get, path, ""))
	f.want(200, `[]`, asRoot, put, path, f.ok(demo, get, path, ""))
	f.golden("application-changed", f.ok(demo, get, path, ""))

	f.want(200, `[]`, asAnn, put, path, change("owners", `["bob"]`, "supported_modes", `["call"]`, "title_variable",
		"", "variables", `["x"]`,
		"custom_sender_addresses", `{"email":null}`, "default_modes", ""))
	after := f.ok(demo, get, path, "")
	for _, part := range []string{`"owners":["ann","bob"]`, `"supported_modes":["email","sms"]`, `"title_variable":null`, `"variables":["x"]`,
		`"custom_sender_addresses":{}`, `"default_modes":{"high":"sms"}`} {
		require.Contains(t, after, part)
	}
	f.want(200, `[]`, asRoot, put, path, change("supported_modes", `["email"]`, "default_modes", "", "owners", ""))
	require.Contains(t, f.ok(demo, get, path, ""), `"default_modes":{}`, "a mode that is dropped is no default")
	f.want(200, `[]`, asRoot, put, "/v0/applications/other", f.ok(demo, get, "/v0/applications/other", ""), "X",
		"a new one, nulls and all")
}

func TestApplicationSettingsThatAreRefused(t *testing.T) {
	t.Parallel()
	f := owned(t)
	const path = "/v0/applications/demo"
	before := f.ok(demo, get, path, "")
	for _, as := range []caller{demo, power, asBob} {
		f.want(401, title("Only admins and app owners can change this app's settings."), as, put, path, change())
	}
	f.want(403, title("This user may only read"), viewer, put, path, change())
	f.want(400, title("Application nope not found"), asRoot, put, "/v0/applications/nope", change())
	for body, answer := range map[string]string{
		`{`:                                    title("Invalid json in post body"),
		change("sample_context", ""):           title("sample_context must be valid json"),
		change("sample_context", `"{"`):        title("sample_context must be valid json"),
		change("sample_context", `{}`):         title("sample_context must be valid json"),
		change("context_template", ""):         title("context_template must be specified"),
		change("summary_template", ""):         title("summary_template must be specified"),
		change("mobile_template", ""):          title("mobile_template must be specified"),
		change("mobile_template", `1`):         title("mobile_template must be a string"),
		change("variables", ""):                title("variables must be specified and be a list"),
		change("variables", `{}`):              title("variables must be specified and be a list"),
		change("variables", `[1]`):             title("variables must be specified and be a list"),
		change("title_variable", `"none"`):     title("title variable is invalid"),
		change("owners", `"ann"`):              title("To change owners, you must pass a list of strings"),
		change("supported_modes", `{"a":1}`):   title("To change modes, you must pass a list of strings"),
		change("supported_modes", `["bird"]`):  describe("Invalid mode", "bird"),
		change("default_modes", `{"x":"sms"}`): describe("Invalid priority", "x"),
		change("default_modes", `[]`):          title("default_modes must be an object of priority: mode pairings"),
		change("custom_sender_addresses",
			`[]`): title("To change custom addresses, you must pass a dictionary of mode: address pairings"),
		change("custom_sender_addresses",
			`{"sms":"a@example.com"}`): describe("%s does not support custom sender addresses", "sms"),
		change("custom_sender_addresses",
			`{"email":"a b"}`): title("The custom sender address of email must be an e-mail address"),
	} {
		f.want(400, answer, asRoot, put, path, body)
	}
	require.Equal(t, before, f.ok(demo, get, path, ""), "all or nothing")
}

func TestApplicationsAreDeletedAndRenamed(t *testing.T) {
	t.Parallel()
	f := owned(t)
	f.exec(`insert into application_owners select a.id, u.id from applications a, users u where a.name = 'other' and u.name = 'ann'`)
	f.want(401, title("You must be a logged in user to delete this app"), power, del, "/v0/applications/other", "")
	f.want(403, title("You don't have permissions to delete this app."), asBob, del, "/v0/applications/other", "")
	f.want(403, title("You don't have permissions to delete this app."), asBob, del, "/v0/applications/nope", "")
	f.want(400, title("No rows changed; app name probably already deleted"), asRoot, del, "/v0/applications/nope", "")
	f.want(400, title("Cannot remove app. It has likely already in use."), asAnn, del, "/v0/applications/demo", "")
	f.want(400, title("Cannot remove app. It has likely already in use."), asRoot, del, "/v0/applications/iris", "")

	const path = "/v0/applications/other/rename"
	f.want(401, title("You must be a logged in user to rename this app"), power, put, path, `{"new_name":"x"}`)
	f.want(403, title("You don't have permissions to rename this app."), asBob, put, path, `{"new_name":"x"}`)
	f.want(400, title("No rows changed; old app name incorrect"), asRoot, put, "/v0/applications/nope/rename",
		`{"new_name":"x"}`)
	f.want(400, title("Invalid json in post body"), asAnn, put, path, ``)
	f.want(400, title("Missing new_name from post body"), asAnn, put, path, `{}`)
	f.want(400, title("New and old app name are identical"), asAnn, put, path, `{"new_name":"other"}`)
	f.want(400, title("Destination app name likely already exists"), asAnn, put, path, `{"new_name":"Demo"}`)
	f.want(400, title("The application iris cannot be renamed: logged-in people act through it"), asRoot, put,
		"/v0/applications/iris/rename", `{"new_name":"x"}`)
	f.want(200, `[]`, asAnn, put, path, `{"new_name":"another"}`)
	f.want(200, `[]`, caller{app: "another", key: "other-key"}, get, "/v0/incidents?limit=1", "")
	f.want(200, `[]`, asAnn, put, "/v0/applications/another/rename", `{"new_name":"Another"}`)

	f.want(200, `[]`, asAnn, del, "/v0/applications/another", "")
	f.want(400, title("Application another not found"), demo, get, "/v0/applications/another", "")
}

func TestKeysOfApplications(t *testing.T) {
	t.Parallel()
	f := owned(t)
	const key, second, rekey = "/v0/applications/demo/key", "/v0/applications/demo/secondary", "/v0/applications/demo/rekey"
	for _, rq := range []struct{ method, path, nobody, stranger, unknown string }{
		{get, "key", "You must be a logged in user to view this app's key",
			"You don't have permissions to view this app's key.", "Key for this application not found"},
		{get, "secondary", "You must be a logged in user to view this app's key",
			"You don't have permissions to view this app's key.", "Key for this application not found"},
		{post, "secondary", "You must be a logged in user to app", "You don't have permissions to re-key this app.",
			"Secondary key already exists, or app name incorrect"},
		{post, "rekey", "You must be a logged in user to re-key this app",
			"You don't have permissions to re-key this app.", "Re-key failed; secondary key does not exist or invalid app name"},
	} {
		f.want(401, title(rq.nobody), demo, rq.method, "/v0/applications/demo/"+rq.path, "")
		f.want(401, title(rq.nobody), power, rq.method, "/v0/applications/demo/"+rq.path, "")
		f.want(403, title(rq.stranger), asBob, rq.method, "/v0/applications/demo/"+rq.path, "")
		f.want(403, title(rq.stranger), asAnn, rq.method, "/v0/applications/nope/"+rq.path, "")
		f.want(400, title(rq.unknown), asRoot, rq.method, "/v0/applications/nope/"+rq.path, "")
		require.Equal(t, 403, f.do(viewer, rq.method, "/v0/applications/demo/"+rq.path, "").Code)
		require.Equal(t, 401, f.do(nobody, rq.method, "/v0/applications/demo/"+rq.path, "").Code)
	}
	f.want(200, `{"key":"demo-key"}`, asAnn, get, key, "")
	f.want(200, `{"key":"demo-key"}`, rootHere, get, key, "")
	f.want(400, title("Key for this application not found"), asRoot, get, "/v0/applications/iris/key", "")
	f.want(200, `{"key":null}`, asAnn, get, second, "")
	f.want(400, title("Re-key failed; secondary key does not exist or invalid app name"), asAnn, post, rekey, "")
	f.want(200, `[]`, asAnn, post, second, "")
	f.want(400, title("Secondary key already exists, or app name incorrect"), asAnn, post, second, "")
	var made struct{ Key string }
	require.NoError(t, json.Unmarshal([]byte(f.ok(asAnn, get, second, "")), &made))
	require.Regexp(t, `^[0-9a-f]{64}$`, made.Key)
	fresh := caller{app: "demo", key: made.Key}
	f.want(200, `[]`, fresh, get, "/v0/incidents?limit=1", "")
	require.Equal(t, 0, f.count("select count(*) from applications where position(convert_to($1, 'UTF8') in secondary_key_sealed) > 0", made.Key))
	f.want(200, `[]`, rootHere, post, rekey, "")
	f.want(200, `[]`, fresh, get, "/v0/incidents?limit=1", "")
	f.want(200, `{"key":null}`, asAnn, get, second, "")
	require.Equal(t, 401, f.do(demo, get, "/v0/incidents?limit=1", "").Code, "the old key")
	require.Equal(t, 1, f.count("select count(*) from audit_log where action = 'application secondary key made the primary one' and actor = 'root'"))
}

func TestQuotaOfAnApplication(t *testing.T) {
	t.Parallel()
	f := owned(t)
	const path = "/v0/applications/demo/quota"
	quota := func(replace ...string) string {
		body := map[string]any{"hard_quota_threshold": 10, "soft_quota_threshold": "5", "hard_quota_duration": 60,
			"soft_quota_duration": 120,
			"plan_name":           "PAGER", "wait_time": 3600, "target_name": "ops"}
		for i := 0; i+1 < len(replace); i += 2 {
			delete(body, replace[i])
			if replace[i+1] != "" {
				body[replace[i]] = json.RawMessage(replace[i+1])
			}
		}
		raw, err := json.Marshal(body)
		require.NoError(t, err)
		return string(raw)
	}
	f.want(200, `{}`, demo, get, path, "")
	f.want(200, `{}`, demo, get, "/v0/applications/nope/quota", "")
	for _, as := range []caller{demo, power, asBob} {
		f.want(401, title("You don't have permissions to update this app's quota."), as, post, path, quota())
		f.want(401, title("You don't have permissions to update this app's quota."), as, del, path, "")
	}
	f.want(400, title("No ID found for that application"), asRoot, post, "/v0/applications/nope/quota", quota())
	for body, answer := range map[string]string{
		`[`:                                 "Invalid json in post body",
		quota("wait_time", ""):              "Missing required keys in post body",
		quota("more", `1`):                  "Missing required keys in post body",
		quota("hard_quota_duration", `"x"`): "Some int keys are not integers",
		quota("hard_quota_duration", `1.5`): "Some int keys are not integers",
		quota("wait_time", `0`):             "All int keys must be over 0",
		quota("soft_quota_threshold", `-1`): "All int keys must be over 0",
		quota("soft_quota_threshold", `10`): "Hard threshold must be bigger than soft threshold",
		quota("plan_name", `"nope"`):        "No active ID found for that plan",
		quota("plan_name", `null`):          "No active ID found for that plan",
		quota("target_name", `"nope"`):      "No ID found for that target",
	} {
		f.want(400, title(answer), asAnn, post, path, body)
	}
	f.want(201, `[]`, asAnn, post, path, quota())
	f.want(200, `{"application":"demo","hard_quota_threshold":10,"soft_quota_threshold":5,"hard_quota_duration":60,"soft_quota_duration":120,`+
		`"target_name":"ops","target_role":"team","plan_name":"pager","wait_time":3600}`, demo, get, path, "")
	f.want(201, `[]`, rootHere, post, path, quota("target_name", `"ann"`))
	require.Contains(t, f.ok(demo, get, path, ""), `"target_name":"ann","target_role":"user"`)
	f.want(400, title("Cannot delete this plan as the application demo is using it for quota"), asAnn, del,
		"/v0/plans/pager", "")
	f.want(200, `0`, asAnn, post, "/v0/plans/1", `{"active":0}`)
	require.Contains(t, f.ok(demo, get, path, ""), `"plan_name":null`)
	f.want(204, ``, asAnn, del, path, "")
	f.want(204, ``, asAnn, del, path, "")
	f.want(200, `{}`, demo, get, path, "")
}

func TestAddressesThatOpenIncidents(t *testing.T) {
	t.Parallel()
	f := owned(t)
	const path = "/v0/applications/demo/incident_emails"
	const stranger = "You don't have permissions to change this application's email incident settings."
	f.want(200, `{}`, demo, get, path, "")
	f.want(200, `{}`, demo, get, "/v0/applications/nope/incident_emails", "")
	require.Equal(t, 401, f.do(nobody, get, path, "").Code)
	f.want(401, title("You must be a logged in user to change this application's email incident settings"), power, put,
		path, `{}`)
	f.want(403, title(stranger), asBob, put, path, `{}`)
	f.want(400, title("Application nope not found"), asRoot, put, "/v0/applications/nope/incident_emails", `{}`)
	f.exec(`insert into incident_emails select 'taken@example.com', id, 'pager' from applications where name = 'other'`)
	f.exec(`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset)
		values ('empty', 1, 0, 0, 0, 0); insert into plan_active select 'empty', id from plans where name = 'empty'`)
	for body, answer := range map[string]string{
		`{`: "Invalid json in post body",
		`{"BOB@example.com":"pager","ann@example.com":"pager","x@example.com":"pager"}`: "These email addresses are also user's email addresses which is not allowed: ann@example.com, bob@example.com",
		`{"Taken@example.com":"pager"}`:                     "These email addresses are already in use by another app: taken@example.com",
		`{"x@example.com":"nope"}`:                          "Failed adding x@example.com -> nope combination. Is your plan name correct?",
		`{"x@example.com":"empty"}`:                         "Failed adding x@example.com -> empty combination. This plan does not have any templates which support this app.",
		`{"x@example.com":1}`:                               "The plan of x@example.com must be a string",
		`{"x":"pager"}`:                                     "x is not an e-mail address",
		`{"x@example.com":"pager","X@example.com":"pager"}`: "The address x@example.com is given twice",
	} {
		f.want(400, title(answer), asAnn, put, path, body)
	}
	f.want(200, `{}`, demo, get, path, "")
	f.want(200, `[]`, asAnn, put, path, `{"x@example.com":"Pager","y@example.com":"pager"}`)
	f.want(200, `{"x@example.com":"pager","y@example.com":"pager"}`, demo, get, path, "")
	f.exec(`update user_contacts set verified_destination = destination where mode = 'email' and destination like 'ann@%'`)
	for _, contact := range []string{"ann@example.com", "bob@example.com"} { // verified and not
		f.want(400, title("These email addresses are also user's email addresses which is not allowed: "+contact),
			asAnn, put, path, `{"`+contact+`":"pager"}`)
	}
	f.want(200, `[]`, asAnn, put, path, `{"z@example.com":"pager"}`)
	f.want(200, `{"z@example.com":"pager"}`, demo, get, path, "")
	f.want(200, `0`, asAnn, post, "/v0/plans/1", `{"active":0}`)
	f.want(200, `1`, asAnn, post, "/v0/plans/1", `{"active":1}`)
	f.want(200, `{}`, demo, get, path, "")
	f.want(200, `[]`, asRoot, put, path, `{}`)
}

func TestPlansOfAnApplication(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	require.Equal(t, f.ok(demo, get, "/v0/plans", ""), f.ok(demo, get, "/v0/applications/DEMO/plans", ""))
	f.want(200, `[]`, demo, get, "/v0/applications/other/plans", "")
	f.want(200, `[]`, demo, get, "/v0/applications/nope/plans", "")
	f.want(200, `[{"id":1}]`, demo, get, "/v0/applications/demo/plans?fields=id&name=pager&active=0&limit=0", "")
	f.want(200, `[]`, demo, get, "/v0/applications/demo/plans?name=else", "")
	f.exec(`delete from template_active`)
	f.want(200, `[]`, demo, get, "/v0/applications/demo/plans", "")
}

func TestCategoriesAreReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	f := owned(t)
	const path = "/v0/categories/demo"
	const refused = "You don't have permissions to create this category"
	for _, as := range []caller{power, asBob, {app: "other", key: "other-key"}} {
		f.want(401, title(refused), as, post, path, `[]`)
	}
	f.want(404, ``, asRoot, post, "/v0/categories/nope", `[]`)
	for body, answer := range map[string]string{
		`[`: title("Invalid json in post body"),
		`{}`: describe("Invalid json in post body",
			"a list of objects with name, description and mode is expected"),
		`[{"name":"a","mode":"email"}]`:                                                           title("Missing required attributes"),
		`[{"name":" ","description":"","mode":"email"}]`:                                          title("Missing required attributes"),
		`[{"name":"a","description":"","mode":"pigeon"}]`:                                         describe("Invalid mode", "pigeon"),
		`[{"name":"a","description":"","mode":"sms"},{"name":"A","description":"","mode":"sms"}]`: title("The category A is given twice"),
	} {
		f.want(400, answer, demo, post, path, body)
	}
	f.exec(`insert into notification_categories (application_id, name, mode) select id, 'a', 'call' from applications where name = 'other'`)
	f.want(200, `{}`, demo, post, path, `[{"name":"a","description":"A","mode":"email"},{"name":"b","description":"","mode":"drop"}]`)
	first := f.count("select id from notification_categories where name = 'a' and description = 'A'")
	f.exec(`insert into category_overrides select u.id, c.id, 'sms' from users u, notification_categories c where u.name = 'bob' and c.name = 'a'`)
	f.want(200, `{}`, asAnn, post, path,
		`[{"name":"A","description":"AA","mode":"sms"},{"name":"c","description":"","mode":"call"}]`)
	f.want(200, `{}`, asRoot, post, path,
		`[{"name":"A","description":"AA","mode":"sms"},{"name":"c","description":"","mode":"call"}]`)
	require.Equal(t, first, f.count("select id from notification_categories where name = 'A' and description = 'AA' and mode = 'sms'"))
	require.Equal(t, 2, f.count("select count(*) from category_overrides"), "what people chose stays")
	require.Equal(t, 2, f.count("select count(*) from notification_categories c join applications a on a.id = c.application_id where a.name = 'demo'"))
	require.Equal(t, 1, f.count("select count(*) from notification_categories c join applications a on a.id = c.application_id where a.name = 'other'"))
}
