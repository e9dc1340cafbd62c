package apiserver_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIntegrationsAreCreatedChangedAndDeleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into users (name, admin) values ('root', true)`)
	require.Equal(t, 201, f.do("ann", "POST", "/v1/plans", plan(`"name":"Disk",`, step())).Code)
	const path = "/v1/integrations/pd"
	body := `{"type":"pagerduty","application":"demo","default_plan":"Disk","rules":[{"match":"team=db","record_only":true}]}`
	require.Equal(t, 403, f.do("bob", "PUT", path, body).Code, "only owners of the application and administrators")
	rec := f.do("root", "PUT", path, body)
	require.Equal(t, 201, rec.Code, rec.Body)
	require.Equal(t, path, rec.Header().Get("Location"))
	var made struct {
		Token   string
		Address string
		Enabled bool
		Rate    int `json:"rate_per_minute"`
	}
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &made))
	require.Regexp(t, "^[0-9a-f]{32}$", made.Token)
	require.Equal(t, "/v2/enqueue", made.Address)
	require.True(t, made.Enabled)
	require.Equal(t, 600, made.Rate)

	first := f.do("", "GET", path, "")
	require.NotContains(t, first.Body.String(), made.Token, "a token is shown once")
	require.Equal(t, 1, strings.Count(f.do("", "GET", "/v1/integrations", "").Body.String(), `"name":"pd"`))
	rec = f.do("root", "PUT", path, strings.Replace(body, "pagerduty", "generic", 1))
	require.Equal(t, 400, rec.Code, "the type never changes")
	require.Equal(t, []string{"#/type"}, places(t, rec))
	rec = f.do("root", "PUT", path, `{"default_plan":"Disk","enabled":false}`, "If-Match", first.Header().Get("ETag"))
	require.Equal(t, 200, rec.Code, rec.Body)
	require.Contains(t, rec.Body.String(), `"enabled":false`)
	require.Equal(t, 412, f.do("root", "PUT", path, body, "If-Match", first.Header().Get("ETag")).Code,
		"somebody saved meanwhile")

	rec = f.do("root", "PUT", path+"/token", "")
	require.Equal(t, 201, rec.Code, rec.Body)
	require.Equal(t, 2, strings.Count(rec.Body.String(), `"last_used_at"`))
	require.Equal(t, 204, f.do("root", "DELETE", path+"/token", "").Code)
	require.Equal(t, 1, strings.Count(f.do("", "GET", path, "").Body.String(), `"last_used_at"`))
	require.JSONEq(t, `{"items": [], "next": null}`,
		strings.TrimSpace(f.do("root", "GET", path+"/payloads", "").Body.String()))
	require.Equal(t, 403, f.do("bob", "GET", path+"/payloads", "").Code)

	require.Equal(t, 200, f.do("root", "PUT", path, body).Code)
	for event, want := range map[string]string{`{"labels":{"team":"db"}}`: `"record_only":true`, `{"at":"2026-11-22T09:00:00+01:00","rules":[{"plan":"disk","times":[{"days":["sun"],"from":"08:00","to":"08:30"}]}]}`: `"plan_of":"rule"`,
		`{"labels":{"team":"web"}}`: `"plan":"Disk","plan_of":"integration"`} {
		rec = f.do("bob", "POST", path+"/route-test", event)
		require.Equal(t, 200, rec.Code, rec.Body)
		require.Contains(t, rec.Body.String(), want)
	}
	audit := f.do("root", "GET", "/v1/audit", "").Body.String()
	for _, action := range []string{"integration added", "integration changed", "integration token added", "old integration token removed"} {
		require.Contains(t, audit, action)
	}
	require.NotContains(t, audit, made.Token)
	require.Equal(t, 204, f.do("root", "DELETE", path, "").Code)
	require.Equal(t, 404, f.do("", "GET", path, "").Code)
}

func TestSecretsOfAnIntegrationAreNeverShown(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into users (name, admin) values ('root', true)`)
	const path, secret = "/v1/integrations/gr", "a secret of Grafana"
	require.Equal(t, 201, f.do("root", "PUT", path,
		`{"type":"grafana","application":"demo","settings":{"timestamp_header":"X-Time"}}`).Code)
	require.Equal(t, 403, f.do("bob", "PUT", path+"/secrets", `{"secrets":["`+secret+`"]}`).Code)
	rec := f.do("root", "PUT", path+"/secrets", `{"secrets":["`+secret+`","the next one"]}`)
	require.Equal(t, 200, rec.Code, rec.Body)
	require.Equal(t, 2, strings.Count(rec.Body.String()[strings.Index(rec.Body.String(), `"secrets"`):],
		`"created_at"`)-strings.Count(rec.Body.String()[strings.Index(rec.Body.String(),
		`"activity"`):], `"created_at"`))
	for _, shown := range []string{rec.Body.String(), f.do("root", "GET", path, "").Body.String(), f.do("root", "GET", "/v1/audit", "").Body.String()} {
		require.NotContains(t, shown, secret)
	}
	require.Contains(t, f.do("root", "GET", "/v1/audit", "").Body.String(), "secrets: 0 -> 2")
	for body, want := range map[string]string{`{}`: "#/secrets", `{"secrets":"x"}`: "#/secrets", `{"secrets":["short"]}`: "#/secrets", `{"secrets":["long enough 1","long enough 2","long enough 3"]}`: "#/secrets"} {
		rec := f.do("root", "PUT", path+"/secrets", body)
		require.Equal(t, 400, rec.Code, body)
		require.Equal(t, []string{want}, places(t, rec), body)
	}
	require.Equal(t, 201, f.do("root", "PUT", "/v1/integrations/ge", `{"type":"generic","application":"demo"}`).Code)
	require.Equal(t, 400, f.do("root", "PUT", "/v1/integrations/ge/secrets", `{"secrets":["long enough 1"]}`).Code,
		"generic deliveries have no signature")
	rec = f.do("root", "PUT", path+"/secrets", `{"secrets":[]}`)
	require.Equal(t, 200, rec.Code, rec.Body)
	require.Contains(t, rec.Body.String(), `"secrets":[]`)
}

func TestInvalidIntegrationsAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into users (name, admin) values ('root', true)`)
	for body, want := range map[string]string{
		`{"application":"demo"}`:                                                            "#/type",
		`{"type":"fax","application":"demo"}`:                                               "#/type",
		`{"type":"generic"}`:                                                                "#/application",
		`{"type":"generic","application":"none"}`:                                           "#/application",
		`{"type":"generic","application":"demo","default_severity":"loud"}`:                 "#/default_severity",
		`{"type":"generic","application":"demo","rate_per_minute":-1}`:                      "#/rate_per_minute",
		`{"type":"generic","application":"demo","rules":{}}`:                                "#/rules",
		`{"type":"generic","application":"demo","rules":[{"match":"x"}]}`:                   "#/rules",
		`{"type":"generic","application":"demo","settings":{"a":1}}`:                        "#/settings/a",
		`{"type":"grafana","application":"demo","settings":{"unsigned":true}}`:              "#/settings",
		`{"type":"grafana","application":"demo","settings":{"signature_header":"a b"}}`:     "#/settings",
		`{"type":"grafana","application":"demo","settings":{"header":"a"}}`:                 "#/settings",
		`{"type":"generic","application":"demo","default_plan":"none"}`:                     "#/default_plan",
		`{"type":"generic","application":"demo","ruless":[]}`:                               "#/ruless",
		`{"type":"generic","application":"demo","name":"` + strings.Repeat("x", 300) + `"}`: "#/name",
	} {
		rec := f.do("root", "PUT", "/v1/integrations/x", body)
		require.Equal(t, 400, rec.Code, body)
		require.Equal(t, []string{want}, places(t, rec), body)
	}
}

func TestPreviewsSayWhatAPayloadWouldDo(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into users (name, admin) values ('root', true)`)
	require.Equal(t, 201, f.do("ann", "POST", "/v1/plans", plan(`"name":"Disk",`, step())).Code)
	const path = "/v1/integrations/any"
	body := `{"type":"generic","application":"demo","rules":[{"match":"team=db","plan":"Disk"}],"settings":{"title":"{{ name }}","severity":"{{ absent.level }}","labels":{"team":"{{ team }}"}}}`
	require.Equal(t, 201, f.do("root", "PUT", path, body).Code)
	for request, want := range map[string]string{
		`{"payload":{"name":"full","team":"db","id":"7"}}`: `[{"status":"firing","dedup_key":"7","title":"full","summary":"","severity":"error","labels":{"team":"db"},"annotations":null,"links":[],
			"images":[],"starts_at":null,"ends_at":null,"alerts":0,"failures":[{"field":"severity","reason":"FAILURE"}],"incident":null,
			"route":{"plan":"Disk","plan_of":"rule","rule":1,"record_only":false,"reason":"rule 1 matches: team=db"}}]`,
		`{"payload":"{\"name\":\"x\",\"status\":\"ok\"}","settings":{}}`: `[{"status":"resolved","dedup_key":"KEY","title":"x","summary":"","severity":"error","labels":{},"annotations":null,"links":[],
			"images":[],"starts_at":null,"ends_at":null,"alerts":0,"failures":[],"incident":null,"route":null}]`,
		`{"payload":{"name":"x"},"settings":{},"rules":[]}`: `[{"status":"firing","dedup_key":"KEY","title":"x","summary":"","severity":"error","labels":{},"annotations":null,"links":[],
			"images":[],"starts_at":null,"ends_at":null,"alerts":0,"failures":[],"incident":null,"route":{"record_only":false,"reason":"none of 0 rules matches",
			"refusal":"no plan can take this event: no rule matches, and neither the integration, its application nor the installation has a default plan"}}]`,
	} {
		rec := f.do("root", "POST", path+"/preview", request)
		require.Equal(t, 200, rec.Code, rec.Body)
		got := regexp.MustCompile(`"dedup_key":"[0-9a-f]{20,}"`).ReplaceAllString(rec.Body.String(),
			`"dedup_key":"KEY"`)
		got = regexp.MustCompile(`"reason":"[^"]*absent[^"]*"`).ReplaceAllString(got, `"reason":"FAILURE"`)
		require.JSONEq(t, `{"items":`+want+`,"next":null}`, got, request)
	}
	for request, want := range map[string]string{`{}`: "#/stored", `{"stored":21}`: "#/stored", `{"payload":{},"settings":{"title":"{{"}}`: "#/settings/title",
		`{"payload":{},"rules":{}}`: "#/rules", `{"payload":{},"at":"x"}`: "#/at", `{"text":1}`: "#/text"} {
		rec := f.do("root", "POST", path+"/preview", request)
		require.Equal(t, 400, rec.Code, "%s: %s", request, rec.Body)
		require.Equal(t, []string{want}, places(t, rec), "%s: %s", request, rec.Body)
	}
	require.Equal(t, 400, f.do("root", "POST", path+"/preview", `{"payload":""}`).Code, "what the decoder refuses")
	require.Equal(t, 403, f.do("bob", "POST", path+"/preview", `{"payload":{}}`).Code)
	f.exec(`insert into integration_payloads (integration_id, at, outcome, body, content_type) select id, now(), 'x', 'title=form', 'application/x-www-form-urlencoded' from integrations`)
	require.Contains(t, f.do("root", "POST", path+"/preview", `{"settings":{}}`).Body.String(), `"title":"form"`,
		"the latest stored one, in its format")
}
