package irisapi_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents/load"
)

const incident = `{"plan":"pager","application":"demo","context":{"host":"h"}}`

func TestTotalsInsteadOfRows(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for range 3 {
		f.ok(power, post, "/v0/incidents", incident)
	}
	f.ok(annHere, post, "/v0/incidents/2", `{"owner":"ann"}`)
	f.want(200, `{"field_counts":{"active":{"0":1,"1":2},"owner":{"ann":1,"null":2}},"total_count":3}`, demo, get,
		"/v0/incidents?counts=true&fields=active,owner&application=demo", "")
	f.want(200, `{"field_counts":{"owner":{"ann":1}},"total_count":1}`, demo, get,
		"/v0/incidents?counts=True&fields=owner&claimed=1", "")
	f.want(200, `{"field_counts":{"active":{"0":1,"1":1}},"total_count":2}`, demo, get,
		"/v0/incidents?counts=1&fields=active&limit=2", "")
	f.want(200, `{"field_counts":{"owner":{}},"total_count":0}`, demo, get,
		"/v0/incidents?counts=true&fields=owner&id=77", "")
	f.golden("counts-incidents", f.ok(demo, get, "/v0/incidents?counts=true&id__gt=0", ""))
	f.golden("counts-plans", f.ok(demo, get, "/v0/plans?counts=true", ""))
	f.golden("counts-templates", f.ok(demo, get, "/v0/templates?counts=true&active=1", ""))
	require.Contains(t, f.ok(demo, get, "/v0/plans?counts=false&fields=id", ""), `[{"id":1}]`)
	for path, answer := range map[string]string{
		"/v0/incidents?id=1&counts=true&fields=id,owner,context,created,updated": describe("These fields cannot be counted", "id, context, created, updated"),
		"/v0/plans?counts=true&fields=id,created,description,tracking_template":  describe("These fields cannot be counted", "id, created, description, tracking_template"),
		"/v0/templates?counts=true&fields=created":                               describe("These fields cannot be counted", "created"),
		"/v0/incidents?counts=true":                                              title("Incident query too broad, add filter or limit"),
		"/v0/plans?counts=maybe": describe("Invalid parameter",
			`The "counts" parameter is invalid. The value of the parameter must be "true" or "false".`),
	} {
		f.want(400, answer, demo, get, path, "")
	}
}

func TestClaimedIncidents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ok(power, post, "/v0/incidents", incident)
	f.ok(power, post, "/v0/incidents", incident)
	f.ok(annHere, post, "/v0/incidents/2", `{"owner":"ann"}`)
	f.want(200, `[{"id":2}]`, demo, get, "/v0/incidents?claimed=true&fields=id", "")
	f.want(200, `[{"id":1}]`, demo, get, "/v0/incidents?claimed=no&fields=id", "")
	f.want(400, describe("Invalid parameter",
		`The "claimed" parameter is invalid. The value of the parameter must be "true" or "false".`),
		demo, get, "/v0/incidents?claimed=2", "")
}

// tagging is a fixture in which the tags zone and team_name are allowed, and demo is an internal application.
func tagging(t *testing.T) *fixture {
	t.Helper()
	return newFixture(t, func(d *parts) {
		d.Config.Tags = []string{"zone", "team_name"}
		d.Config.InternalApplications = []string{"Demo"}
	})
}

func TestTags(t *testing.T) {
	t.Parallel()
	f := tagging(t)
	f.ok(power, post, "/v0/incidents", incident)
	f.ok(power, post, "/v0/incidents", incident)
	f.want(200, `["zone","team_name"]`, demo, get, "/v0/allowed_metadata_tags", "")
	f.want(201, `[]`, demo, put, "/v0/internal/incident_tag", `{"id":1,"name":"zone","values":["West","east","East"]}`)
	f.want(201, `[]`, demo, put, "/v0/internal/incident_tag", `{"id":"2","name":"team_name","values":["100%"]}`)
	f.want(200, `[{"id":1,"tags":{"zone":["East","east","West"]}},{"id":2,"tags":{"team_name":["100%"]}}]`, demo, get,
		"/v0/incidents?fields=id,tags&id__gt=0", "")
	f.want(200, `[{"tags":{"team_name":["100%"]}}]`, demo, get, "/v0/incidents?fields=tags&id=2", "")
	require.Contains(t, f.ok(demo, get, "/v0/incidents?id=1", ""), `"tags":{"zone":["East","east","West"]}`)
	require.Contains(t, f.ok(demo, get, "/v0/incidents/1", ""), `"tags":{"zone":["East","east","West"]}`)
	for query, ids := range map[string]string{
		"tag_zone=WEST": `[{"id":1}]`, "tag_zone__startswith=ea": `[{"id":1}]`, "tag_zone__in=north,west": `[{"id":1}]`, "tag_zone=north": `[]`,
		"tag_team_name__contains=0%25": `[{"id":2}]`, "tag_team_name__contains=1%25": `[]`, "tag_else=1&limit=9": `[{"id":2},{"id":1}]`,
	} {
		f.want(200, ids, demo, get, "/v0/incidents?fields=id&"+query, "")
	}
	f.want(400, title("invalid filter operator near"), demo, get, "/v0/incidents?tag_zone__near=1", "")
	f.want(200, `{"field_counts":{"active":{"1":1}},"total_count":1}`, demo, get,
		"/v0/incidents?counts=1&fields=active&tag_zone=west", "")
	f.want(400, describe("These fields cannot be counted", "tags"), demo, get,
		"/v0/incidents?counts=1&fields=tags&id=1", "")
	f.want(201, `[]`, demo, put, "/v0/internal/incident_tag", `{"id":1,"name":"zone","values":[]}`)
	f.want(200, `[{"tags":{}}]`, demo, get, "/v0/incidents?fields=tags&id=1", "")

	app := f.count("select id from applications where name = 'demo'")
	f.exec(`insert into tags values ('application', $1, 'zone', 'a'), ('plan', 1, 'zone', 'p'), ('template', 1, 'zone', 't'), ('plan', 1, 'old', 'x')`, app)
	f.want(200, `[{"name":"demo","tags":{"zone":["a"]}}]`, demo, get, "/v0/applications?fields=name,tags&tag_zone=A",
		"")
	require.Contains(t, f.ok(demo, get, "/v0/applications/demo", ""), `"tags":{"zone":["a"]}`)
	f.want(200, `[{"id":1,"tags":{"zone":["p"]}}]`, demo, get, "/v0/plans?fields=id,tags&tag_zone=p", "")
	require.Contains(t, f.ok(demo, get, "/v0/plans/1", ""), `"tags":{"zone":["p"]}`)
	f.want(200, `[{"id":1,"tags":{"zone":["t"]}}]`, demo, get, "/v0/templates?fields=id,tags&tag_zone=t", "")

	off := newFixture(t)
	off.want(200, `[]`, demo, get, "/v0/allowed_metadata_tags", "")
	off.want(200, `[{"id":1}]`, demo, get, "/v0/plans?fields=id,tags&tag_zone=nowhere", "")
}

func TestTagsThatAreRefused(t *testing.T) {
	t.Parallel()
	f := tagging(t)
	for _, kind := range []string{"incident", "application", "plan", "template", "target"} {
		path := "/v0/internal/" + kind + "_tag"
		f.want(400, title("there is no "+kind+" with the number 99"), demo, put, path,
			`{"id":99,"name":"zone","values":["x"]}`)
		for _, as := range []caller{power, asRoot, annHere, {app: "other", key: "other-key"}} {
			f.want(403, title("App not allowed to use internal routes"), as, put, path,
				`{"id":1,"name":"zone","values":["x"]}`)
		}
	}
	for body, answer := range map[string]string{
		`[]`:                                   describe("Invalid json in post body", "a JSON object is expected"),
		`{"name":"zone","values":[]}`:          title("id is required"),
		`{"id":1,"values":[]}`:                 title("name is required"),
		`{"id":1,"name":"else","values":[]}`:   title("The tag else is not one of those that are allowed"),
		`{"id":1,"name":"zone"}`:               title("values must be a list of at most 100 texts of 1 to 255 bytes"),
		`{"id":1,"name":"zone","values":"x"}`:  title("values must be a list of at most 100 texts of 1 to 255 bytes"),
		`{"id":1,"name":"zone","values":[""]}`: title("values must be a list of at most 100 texts of 1 to 255 bytes"),
	} {
		f.want(400, answer, demo, put, "/v0/internal/plan_tag", body)
	}
	target := f.count("select target_id from users where name = 'ann'")
	require.Equal(t, 201, f.do(demo, put, "/v0/internal/target_tag", `{"id":`+itoa(target)+
		`,"name":"zone","values":["x"]}`).Code)
	f.want(200, `["ann"]`, demo, get, "/v0/targets/user?tag_zone=X", "")
}

func TestTooManyIncidents(t *testing.T) {
	t.Parallel()
	limited := func(active, recent int) *fixture {
		return newFixture(t, func(d *parts) {
			d.Rates = load.NewRates(d.Counts, active, recent, 5*time.Minute, []string{"POWER"})
		})
	}
	const body = `{"plan":"pager","context":{}}`
	f := limited(2, 100)
	f.ok(demo, post, "/v0/incidents", body)
	f.ok(demo, post, "/v0/incidents", body)
	rec := f.want(429, title("Incident creation rate limit exceeded. Surpassed maximum of 2 active incidents for a given plan"), demo, post,
		"/v0/incidents", body)
	require.Equal(t, "60", rec.Header().Get("Retry-After"))
	f.ok(power, post, "/v0/incidents/1/resolve", `{"resolved":1}`)
	f.ok(demo, post, "/v0/incidents", body)
	f.exec(`insert into template_contents select 1, id, 'email', 's', 'b' from applications where name in ('power', 'other')`)
	f.ok(caller{app: "other", key: "other-key"}, post, "/v0/incidents", body)
	for range 4 {
		f.ok(power, post, "/v0/incidents", body)
	}

	f = limited(100, 1)
	f.ok(demo, post, "/v0/incidents", body)
	f.want(429, title("Incident creation rate limit exceeded. Surpassed maximum of 1 incidents created in the last 300 seconds"), demo, post,
		"/v0/incidents", body)
	f.exec(`update incidents set created_at = now() - interval '6 minutes'`)
	f.ok(demo, post, "/v0/incidents", body)
}
