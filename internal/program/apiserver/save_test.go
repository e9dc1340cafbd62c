package apiserver_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// places returns the JSON Pointers of an error answer.
func places(t *testing.T, rec *httptest.ResponseRecorder) (out []string) {
	t.Helper()
	var problem struct{ Errors []struct{ Pointer string } }
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &problem), rec.Body)
	for _, e := range problem.Errors {
		out = append(out, e.Pointer)
	}
	return out
}

// step returns a valid notification of a plan. change replaces a part of it.
func step(change ...string) string {
	return strings.NewReplacer(change...).Replace(`{"target":{"role":"user","name":"bob"},"priority":"high","template":"words","wait_seconds":60,"repeat":1}`)
}

func plan(head string, steps ...string) string {
	return `{` + head + `"steps":[[` + strings.Join(steps, "],[") + `]]}`
}

func TestPlansAreSavedInVersions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	whole := plan(`"name":"Disk","description":"d","flood":{"threshold_count":5,"threshold_window_seconds":60,"aggregation_window_seconds":30},
		"tracking":{"mode":"email","destination":"log@example.com","templates":{"demo":{"email_subject":"s","email_text":"t"}}},`, step(), step("high", "urgent"))
	rec := f.do("ann", "POST", "/v1/plans", whole)
	require.Equal(t, 201, rec.Code, rec.Body)
	require.Equal(t, "/v1/plans/Disk", rec.Header().Get("Location"))
	require.Contains(t, rec.Header().Get("X-Iris-Warning"), "bob has no contact")
	first := rec.Header().Get("ETag")
	shown := f.do("", "GET", "/v1/plans/disk", "")
	require.Equal(t, rec.Body.String(), shown.Body.String(), "the answer is the plan")
	for _, part := range []string{`"creator":"ann"`, `"threshold_count":5`, `"repeat":1`, `"destination":"log@example.com"`, `"priority":"urgent"`} {
		require.Contains(t, shown.Body.String(), part)
	}
	require.Equal(t, 409, f.do("ann", "POST", "/v1/plans", whole).Code, "there is one already")

	rec = f.do("ann", "PUT", "/v1/plans/disk", plan(`"description":"second",`, step()), "If-Match", first)
	require.Equal(t, 200, rec.Code, rec.Body)
	require.NotEqual(t, first, rec.Header().Get("ETag"))
	require.Contains(t, rec.Body.String(), `"name":"Disk"`)
	require.Equal(t, 412, f.do("ann", "PUT", "/v1/plans/disk", plan("", step()), "If-Match", first).Code,
		"somebody saved meanwhile")
	require.Equal(t, 200, f.do("ann", "PUT", "/v1/plans/disk", plan("", step()), "If-Match", "*").Code)
	require.Equal(t, 200, f.do("bob", "PUT", "/v1/plans/disk", plan("", step())).Code, "a teammate may")
	require.Equal(t, 404, f.do("ann", "PUT", "/v1/plans/none", plan("", step())).Code)
	require.Equal(t, 400, f.do("ann", "PUT", "/v1/plans/1", plan("", step())).Code, "a version cannot be changed")
	f.exec("delete from team_members")
	require.Equal(t, 403, f.do("ann", "PUT", "/v1/plans/disk", plan("", step())).Code, "the last version is bob's")
}

func TestConditionsAndSettingsOfPlans(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	with := plan(`"name":"Disk","conditions":[{"step":2,"windows":[{"days":["mon"],"from":"09:00"}],"zone":"Europe/Berlin"}],`, step(), step())
	require.Equal(t, 201, f.do("ann", "POST", "/v1/plans", with).Code)
	condition := `"conditions":[{"step":2,"windows":[{"days":["mon"],"from":"09:00","to":"24:00"}],"team":null,"zone":"Europe/Berlin"}]`
	require.Contains(t, f.do("ann", "GET", "/v1/plans/disk", "").Body.String(), condition)

	const path = "/v1/plans/disk/settings"
	standard := `{"repeat":0,"delay_seconds":0,"wait_for_on_call":false,"repage_after_seconds":3600,"acknowledgement_timeout_seconds":0,"notify_owner":"","resolved_notice":{}}`
	read := f.do("", "GET", path, "")
	require.JSONEq(t, standard, read.Body.String())
	first := read.Header().Get("ETag")
	require.NotEmpty(t, first)
	changed := `{"repeat":2,"delay_seconds":60,"wait_for_on_call":true,"repage_after_seconds":0,"acknowledgement_timeout_seconds":1800,"notify_owner":"email","resolved_notice":{"sms":true}}`
	rec := f.do("ann", "PUT", path, changed, "If-Match", first)
	require.Equal(t, 200, rec.Code, rec.Body)
	require.JSONEq(t, changed, rec.Body.String())
	require.Equal(t, 412, f.do("ann", "PUT", path, `{"repeat":3}`, "If-Match", first).Code, "another person changed them")
	require.JSONEq(t, changed, f.do("", "GET", path, "").Body.String())
	require.Equal(t, 200, f.do("ann", "PUT", path, changed, "If-Match", rec.Header().Get("ETag")).Code)
	require.Equal(t, 200, f.do("ann", "PUT", "/v1/plans/disk", plan("", step(), step())).Code)
	require.JSONEq(t, changed, f.do("", "GET", path, "").Body.String(), "a new version keeps the settings")
	require.Contains(t, f.do("ann", "GET", "/v1/plans/disk", "").Body.String(), `"conditions":[]`,
		"the content is replaced")
	require.JSONEq(t, standard, f.do("ann", "PUT", path, `{}`).Body.String())
	for body, want := range map[string]string{`{"repeat":11}`: "#/repeat", `{"repeat":-1}`: "#/repeat", `{"repeat":"x"}`: "#/repeat", `{"delay_seconds":86401}`: "#/delay_seconds",
		`{"acknowledgement_timeout_seconds":59}`: "#/acknowledgement_timeout_seconds", `{"notify_owner":"fax"}`: "#/notify_owner", `{"resolved_notice":{"drop":true}}`: "#/resolved_notice",
		`{"resolved_notice":[]}`: "#/resolved_notice", `{"repeats":1}`: "#/repeats"} {
		rec := f.do("ann", "PUT", path, body)
		require.Equal(t, 400, rec.Code, "%s: %s", body, rec.Body)
		require.Equal(t, []string{want}, places(t, rec), "%s: %s", body, rec.Body)
	}
	require.JSONEq(t, standard, f.do("", "GET", path, "").Body.String())
	f.exec("delete from team_members")
	require.Equal(t, 403, f.do("bob", "PUT", path, `{}`).Code)
	require.Equal(t, 404, f.do("ann", "PUT", "/v1/plans/none/settings", `{}`).Code)
}

func TestInvalidPlansAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for body, want := range map[string]string{
		plan("", step()):                                           "#/name",
		plan(`"name":"12",`, step()):                               "#/name",
		`{"name":"x"}`:                                             "#/steps",
		`{"name":"x","steps":{}}`:                                  "#/steps",
		`{"name":"x","steps":[{}]}`:                                "#/steps/0",
		`{"name":"x","steps":[[]]}`:                                "#/steps/0",
		plan(`"name":"x","stepps":1,`, step()):                     "#/stepps",
		plan(`"name":"x","description":1,`, step()):                "#/description",
		plan(`"name":"x","flood":{"threshold_count":-1},`, step()): "#/flood/threshold_count",
		plan(`"name":"x","tracking":{"mode":"fax","destination":"d","templates":{}},`, step()): "#/tracking/mode",
		plan(`"name":"x",`, step(), step("high", "loud")):                                      "#/steps/1/0/priority",
		plan(`"name":"x",`, step("bob", "none")):                                               "#/steps/0/0/target/name",
		plan(`"name":"x",`, step("user",
			"none")): "#/steps/0/0/target/role",
		plan(`"name":"x",`, step("user",
			"team")): "#/steps/0/0/target/role",
		plan(`"name":"x",`, step("words", "none")):                                       "#/steps/0/0/template",
		plan(`"name":"x",`, step("60", "-1")):                                            "#/steps/0/0/wait_seconds",
		plan(`"name":"x",`, step(`"repeat"`, `"dynamic_index":0,"repeat"`)):              "#/steps/0/0/target",
		plan(`"name":"x","conditions":[{"step":2,"windows":[{}]}],`, step()):             "#/conditions/0/step",
		plan(`"name":"x","conditions":[{"step":1,"windows":[]}],`, step()):               "#/conditions",
		plan(`"name":"x","conditions":[{"step":1,"windows":[{"days":["x"]}]}],`, step()): "#/conditions",
		plan(`"name":"x","conditions":[{"step":1,"team":"no","windows":[{}]}],`, step()): "#/conditions",
		plan(`"name":"x",`, step("60", "90000")):                                         "#/steps",
	} {
		rec := f.do("ann", "POST", "/v1/plans", body)
		require.Equal(t, 400, rec.Code, "%s: %s", body, rec.Body)
		require.Equal(t, []string{want}, places(t, rec), "%s: %s", body, rec.Body)
	}
	require.Equal(t, []string{"#/creator"}, places(t, f.do("", "POST", "/v1/plans", plan(`"name":"x",`, step()))),
		"an application is no person")
	require.Equal(t, 201, f.do("", "POST", "/v1/plans", plan(`"name":"x","creator":"bob",`, step())).Code)
	require.Equal(t, 401, f.do("ann", "POST", "/v1/plans", plan(`"name":"y","creator":"bob",`, step())).Code,
		"not in the name of others")
}

func TestTemplatesAreSavedInVersions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	text := func(change ...string) string {
		return strings.NewReplacer(change...).Replace(`{"application":"demo","mode":"email","subject":"{{ title }}","body":"b"}`)
	}
	rec := f.do("ann", "POST", "/v1/templates", `{"name":"short","content":[`+text()+`,`+text("email", "sms")+`]}`)
	require.Equal(t, 201, rec.Code, rec.Body)
	first := rec.Header().Get("ETag")
	require.Equal(t, rec.Body.String(), f.do("", "GET", "/v1/templates/short", "").Body.String())
	require.Equal(t, 409, f.do("ann", "POST", "/v1/templates", `{"name":"short","content":[]}`).Code)
	put := func(want int, tag string) {
		t.Helper()
		rec := f.do("ann", "PUT", "/v1/templates/SHORT", `{"content":[`+text()+`]}`, "If-Match", tag)
		require.Equal(t, want, rec.Code, rec.Body)
	}
	put(200, first)
	put(412, first)
	require.Equal(t, 404, f.do("ann", "PUT", "/v1/templates/none", `{"content":[]}`).Code)
	for body, want := range map[string]string{
		`{"name":"x"}`:               "#/content",
		`{"name":" ","content":[]}`:  "#/name",
		`{"name":"x","content":[1]}`: "#/content/0",
		`{"name":"x","content":[` + text("email", "fax") + `]}`:        "#/content/0/mode",
		`{"name":"x","content":[` + text() + `,` + text() + `]}`:       "#/content/1/mode",
		`{"name":"x","content":[` + text("title }}", "title }") + `]}`: "#/content/0/subject",
		`{"name":"x","content":[` + text("demo", "none") + `]}`:        "#/content",
	} {
		rec := f.do("ann", "POST", "/v1/templates", body)
		require.Equal(t, 400, rec.Code, "%s: %s", body, rec.Body)
		require.Equal(t, []string{want}, places(t, rec), "%s: %s", body, rec.Body)
	}
}

func TestApplicationsAreChanged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec("update users set admin = true where name = 'ann'")
	require.Equal(t, 403, f.do("bob", "POST", "/v1/applications", `{"name":"new"}`).Code)
	rec := f.do("ann", "POST", "/v1/applications", `{"name":"new"}`)
	require.Equal(t, 201, rec.Code, rec.Body)
	require.Equal(t, "/v1/applications/new", rec.Header().Get("Location"))
	require.Equal(t, 409, f.do("ann", "POST", "/v1/applications", `{"name":"NEW"}`).Code)
	tag := rec.Header().Get("ETag")
	require.Equal(t, tag, f.do("", "GET", "/v1/applications/new", "").Header().Get("ETag"))

	settings := `{"variables":["host"],"title_variable":"host","modes":["email","sms"],"default_modes":{"high":"sms"},"owners":["bob"],"sender_email":"iris@example.com"}`
	require.Equal(t, 403, f.do("bob", "PUT", "/v1/applications/new", settings).Code)
	rec = f.do("ann", "PUT", "/v1/applications/new", settings, "If-Match", tag)
	require.Equal(t, 200, rec.Code, rec.Body)
	for _, part := range []string{`"title_variable":"host"`, `"modes":["email","sms"]`, `"default_modes":{"high":"sms"}`, `"owners":["bob"]`, `"sender_email":"iris@example.com"`} {
		require.Contains(t, rec.Body.String(), part)
	}
	require.Equal(t, 412, f.do("ann", "PUT", "/v1/applications/new", settings, "If-Match", tag).Code)
	rec = f.do("bob", "PUT", "/v1/applications/new", `{"modes":["sms","email"],"owners":[]}`, "If-Match",
		rec.Header().Get("ETag"))
	require.Equal(t, 200, rec.Code, rec.Body)
	require.Contains(t, rec.Body.String(), `"owners":["bob"]`, "an owner stays one")
	require.Equal(t, 403, f.do("bob", "PUT", "/v1/applications/new", `{"modes":["call"]}`).Code,
		"administrators choose the modes")
	for body, want := range map[string]string{
		`{"variables":[""]}`:                "#/variables/0",
		`{"title_variable":"x"}`:            "#/title_variable",
		`{"owners":["bob","none"]}`:         "#/owners/1",
		`{"modes":["fax"]}`:                 "#/modes/0",
		`{"default_modes":{"high":"call"}}`: "#/default_modes/high",
		`{"default_modes":{"loud":"sms"}}`:  "#/default_modes/loud",
		`{"sender_email":"x"}`:              "#/sender_email",
	} {
		rec := f.do("ann", "PUT", "/v1/applications/new", body)
		require.Equal(t, 400, rec.Code, "%s: %s", body, rec.Body)
		require.Equal(t, []string{want}, places(t, rec), body)
	}
	f.exec(`insert into application_variables (application_id, name, required) select id, 'v', false from applications where name = 'demo'`)
	require.Equal(t, 409, f.do("ann", "DELETE", "/v1/applications/demo", "").Code, "it is in use")
	require.Equal(t, 404, f.do("ann", "DELETE", "/v1/applications/none", "").Code)
	require.Equal(t, 204, f.do("bob", "DELETE", "/v1/applications/new", "").Code)
}

func TestNotificationsAreSent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into user_contacts (user_id, mode, destination) select id, 'email', name || '@example.com' from users;
		insert into application_modes (application_id, mode) select id, 'email' from applications where name = 'demo'`)
	rec := f.do("", "POST", "/v1/notifications",
		`{"targets":[{"role":"team","name":"ops"},{"role":"literal_target","name":"x@example.com","hidden":true}],
		"subject":"s","body":"b","mode":"email"}`)
	require.Equal(t, 201, rec.Code, rec.Body)
	at := rec.Header().Get("Location")
	require.Equal(t, rec.Body.String(), f.do("", "GET", at, "").Body.String())
	found := ok[struct {
		Items []struct{ Target, Mode string }
	}](f, 200, "", "GET", "/v1/messages?notification_id="+strings.TrimPrefix(at, "/v1/notifications/"), "")
	require.Len(t, found.Items, 3)
	for range 2 {
		rec := f.do("", "POST", "/v1/notifications",
			`{"targets":[{"role":"user","name":"ann"}],"subject":"once","body":"b","priority":"high"}`, "Idempotency-Key", "k")
		require.Equal(t, 201, rec.Code, rec.Body)
	}
	require.Len(t, ok[struct{ Items []any }](f, 200, "", "GET", "/v1/notifications", "").Items, 2)
	const some = `"targets":[{"role":"user","name":"ann"}],"subject":"s",`
	for body, want := range map[string]string{
		`{"subject":"s","body":"b","mode":"email"}`:                                                     "#/targets",
		`{"targets":[],"subject":"s","body":"b","mode":"email"}`:                                        "#/targets",
		`{"targets":[{"role":"user"}],"subject":"s","body":"b","mode":"email"}`:                         "#/targets/0/name",
		`{"targets":[{"role":"none","name":"ann"}],"subject":"s","body":"b","mode":"email"}`:            "#/targets/0/role",
		`{"targets":[{"role":"user","name":"none"}],"subject":"s","body":"b","mode":"email"}`:           "#/targets/0/name",
		`{"targets":[{"role":"team","name":"ann"}],"subject":"s","body":"b","mode":"email"}`:            "#/targets/0",
		`{"targets":[{"role":"literal_target","name":"x"}],"subject":"s","body":"b","priority":"high"}`: "#/mode",
		`{` + some + `"mode":"email"}`:                                                                  "#/body",
		`{` + some + `"body":"b"}`:                                                                      "#/mode",
		`{` + some + `"body":"b","mode":"fax"}`:                                                         "#/mode",
		`{` + some + `"body":"b","priority":"loud"}`:                                                    "#/priority",
		`{` + some + `"body":"b","category":"none"}`:                                                    "#/category",
		`{` + some + `"template":"words","context":1,"mode":"email"}`:                                   "#/context",
	} {
		rec := f.do("", "POST", "/v1/notifications", body)
		require.Equal(t, 400, rec.Code, "%s: %s", body, rec.Body)
		require.Equal(t, []string{want}, places(t, rec), "%s: %s", body, rec.Body)
	}
}
