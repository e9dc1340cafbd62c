package irisapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
)

// planJSON builds a plan's body; replacements come as old, new.
func planJSON(replace ...string) string {
	body := `{"name":" new plan ","creator":"ann","description":"d","threshold_window":900,"threshold_count":"10",` +
		`"aggregation_window":300.0,"aggregation_reset":300,"isValid":true,"steps":[` +
		`[{"priority":"high","template":"words","wait":60,"repeat":1,"optional":0,"role":"user","target":"ann"},` +
		`{"priority":"low","template":"Words","wait":0,"repeat":0,"optional":1,"dynamic_index":0}],` +
		`[{"priority":"urgent","template":"words","wait":0,"repeat":0,"role":"team","target":"OPS"}]]}`
	for i := 0; i+1 < len(replace); i += 2 {
		if !strings.Contains(body, replace[i]) {
			panic("no " + replace[i])
		}
		body = strings.Replace(body, replace[i], replace[i+1], 1)
	}
	return body
}

func TestCreatePlan(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rec := f.want(201, "2", asAnn, post, "/v0/plans", planJSON())
	require.Equal(t, "/plans/2", rec.Header().Get("Location"))
	require.Empty(t, rec.Header().Values("X-Iris-Warning"))
	f.golden("plan", f.ok(demo, get, "/v0/plans/NEW%20plan", ""))
	f.golden("plans", f.ok(demo, get, "/v0/plans", ""))
	f.want(201, "3", annHere, post, "/v0/plans", planJSON())
	require.Equal(t, `[{"id":1},{"id":3}]`, f.ok(demo, get, "/v0/plans?active=1&fields=id", ""))
	require.Equal(t, `[{"id":3},{"id":2}]`, f.ok(demo, get, "/v0/plans?name__contains=EW&limit=2&fields=id", ""))
	require.Equal(t, `[{"id":1},{"id":2},{"id":3}]`, f.ok(demo, get, "/v0/plans?target=ops&fields=id", ""))
	require.Contains(t, f.ok(demo, get, "/v0/plans/2", ""), `"active":0`)
	f.want(201, "4", power, post, "/v0/plans", planJSON(`"steps":[`, `"steps":[],"x":[`))
	require.Contains(t, f.ok(demo, get, "/v0/plans/4", ""), `"steps":[]`)
}

func TestPlanWithATrackingNotification(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tracking := func(kind, key, template string) string {
		return planJSON(`"isValid":true`, fmt.Sprintf(`"tracking_type":%s,"tracking_key":%s,"tracking_template":%s`,
			kind, key, template))
	}
	f.want(201, "2", asAnn, post, "/v0/plans", tracking(`"email"`, `"a@example.com"`,
		`{"demo":{"email_subject":"S","email_text":"T","x":1}}`))
	require.Contains(t, f.ok(demo, get, "/v0/plans/2", ""),
		`"tracking_template":{"demo":{"email_subject":"S","email_text":"T"}}`)
	require.Contains(t, f.ok(demo, get, "/v0/plans?id=2", ""),
		`"tracking_template":"{\"demo\":{\"email_subject\":\"S\",\"email_text\":\"T\"}}"`)
	f.want(201, "3", asAnn, post, "/v0/plans", tracking(`"slack"`, `"#room"`, `{"demo":{"body":"B"}}`))
	f.want(201, "4", asAnn, post, "/v0/plans", tracking(`null`, `""`, `{}`))
	for body, description := range map[string]string{
		tracking(`"email"`, `null`, `{"demo":{"email_subject":"S","email_text":"T"}}`):      "Incomplete tracking setting",
		tracking(`null`, `null`, `{"demo":{"email_subject":"S","email_text":"T"}}`):         "Incomplete tracking setting",
		tracking(`"email"`, `"a@b"`, `"text"`):                                              "Template must be a dictionary",
		tracking(`"email"`, `"nowhere"`, `{"demo":{"email_subject":"S","email_text":"T"}}`): "Invalid email address",
		tracking(`"email"`, `"a@b"`, `{"demo":{}}`):                                         "No key for demo template",
		tracking(`"email"`, `"a@b"`, `{"demo":{"email_subject":"S"}}`):                      "Missing keys for demo template: {'email_text'}",
		tracking(`"slack"`, `"#x"`, `{"demo":{"email_subject":"S"}}`):                       "Missing keys for demo template: {'body'}",
		tracking(`"fax"`, `"1"`, `{"demo":{"body":"S"}}`):                                   "Unknown tracking type: fax",
		tracking(`"email"`, `"a@b"`, `{"demo":{"email_subject":1,"email_text":"T"}}`):       "email_subject for demo template must be a string",
		tracking(`"email"`, `"a@b"`, `{"demo":{"email_subject":"\u0000","email_text":""}}`): "NUL characters cannot be stored",
	} {
		f.want(400, describe("Invalid tracking template", description), asAnn, post, "/v0/plans", body)
	}
	for part, intro := range map[string]string{"email_subject": "subject", "email_text": "body", "email_html": "email html"} {
		words := map[string]string{"email_subject": "S", "email_text": "T", "email_html": "H"}
		words[part] = "{{"
		rec := f.do(asAnn, post, "/v0/plans", tracking(`"email"`, `"a@b"`, fmt.Sprintf(
			`{"demo":{"email_subject":%q,"email_text":%q,"email_html":%q}}`, words["email_subject"], words["email_text"], words["email_html"])))
		require.Equal(t, 400, rec.Code)
		require.Contains(t, rec.Body.String(), "Invalid jinja syntax in "+intro+": ")
	}
	rec := f.do(asAnn, post, "/v0/plans", tracking(`"slack"`, `"#x"`, `{"demo":{"body":"{% if %}"}}`))
	require.Contains(t, rec.Body.String(), "Invalid jinja syntax in incident tracking text: ")
}

// Plans may name the roles of teams that /v0/target_roles does not list.
func TestPlansNameRolesThatTheListLeavesOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, role := range []string{"round-robin", "next-on-call"} {
		f.ok(asAnn, post, "/v0/plans", planJSON(`" new plan "`, `"`+role+`"`, `"role":"team"`, `"role":"`+role+`"`))
		require.Contains(t, f.ok(demo, get, "/v0/plans/"+role, ""), `"role":"`+role+`"`)
	}
}

func TestCreatePlanRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *parts) { d.Config.MaxPlanLength = 24 * time.Hour })
	for body, want := range map[string]string{
		`{}`:                             describe("Invalid plan", "name is required"),
		planJSON(`" new plan "`, `"  "`): describe("Invalid plan", "Empty plan name"),
		planJSON(`" new plan "`, `"42"`): describe("Invalid plan", "Plan name cannot be a number"),
		planJSON(`" new plan "`, `42`):   describe("Invalid plan", "name must be a string"),
		planJSON(`" new plan "`, `"`+strings.Repeat("n", 256)+`"`): describe("Invalid plan",
			"Plan name cannot be longer than 255 characters"),
		planJSON(`"creator":"ann",`, ``): describe("Invalid plan",
			"Plan must specify a creator"),
		planJSON(`"ann"`, `""`): describe("Invalid plan",
			"Plan must specify a creator"),
		planJSON(`"description":"d",`, ``): describe("Invalid plan",
			"description is required"),
		planJSON(`"threshold_window":900,`, ``): describe("Invalid plan",
			"threshold_window is required"),
		planJSON(`"threshold_count":"10"`, `"threshold_count":"ten"`): describe("Invalid plan",
			"threshold_count must be an integer"),
		planJSON(`300.0`, `1.5`): describe("Invalid plan",
			"aggregation_window must be an integer"),
		planJSON(`"aggregation_reset":300`, `"aggregation_reset":-1`): describe("Invalid plan",
			"aggregation_reset must be between 0 and 2147483647"),
		planJSON(`"steps":[`, `"stairs":[`): describe("Invalid plan",
			"steps must be a list of lists of notifications"),
		planJSON(`"steps":[`, `"steps":[7,`): describe("Invalid plan",
			"Step 1 must be a list of notifications"),
		planJSON(`"steps":[`, `"steps":[[null],`): describe("Invalid plan",
			"Step 1 must be a list of notifications"),
		planJSON(`"wait":60,`, ``): describe("Invalid plan",
			"wait is required in step 1"),
		planJSON(`"repeat":1,`, ``): describe("Invalid plan",
			"repeat is required in step 1"),
		planJSON(`"repeat":1,`, `"repeat":100000,`): describe("Invalid plan",
			"repeat must be between 0 and 10000 in step 1"),
		planJSON(`"template":"words",`, ``): describe("Invalid plan",
			"template is required in step 1"),
		planJSON(`,"target":"ann"`, ``): describe("Invalid plan",
			"target is required in step 1"),
		planJSON(`"optional":1`, `"optional":2`): describe("Invalid plan",
			"optional must be between 0 and 1 in step 1"),
		planJSON(`"dynamic_index":0`, `"dynamic_index":1`): describe("Invalid plan",
			"Dynamic target numbers must span 0..n without gaps"),
		planJSON(`"wait":60,"repeat":1`, `"wait":50000,"repeat":1`): describe("Invalid plan",
			"Plan length exceeds the 24 hour maximum"),
		planJSON(`"priority":"high"`, `"priority":"loud"`): describe("Invalid plan",
			"Priority not found for step 1"),
		planJSON(`"priority":"high",`, ``): describe("Invalid plan",
			"Priority not found for step 1"),
		planJSON(`"role":"team"`, `"role":"king"`): describe("Invalid plan",
			"Role not found for step 2"),
		planJSON(`"role":"user",`, ``): describe("Invalid plan",
			"Role not found for step 1"),
		planJSON(`"target":"OPS"`, `"target":"none"`): describe("Invalid plan",
			"Target none not found for step 2"),
		planJSON(`"role":"team"`, `"role":"user"`): describe("Invalid role",
			"Role user is not appropriate for target OPS in step 2"),
		planJSON(`"template":"words"`, `"template":"none"`): describe("Invalid plan",
			"Invalid data for step 1"),
		planJSON(`"optional":0`, `"optional":true`): describe("Invalid plan",
			"You must have at least one non-optional notification per step. Step 1 has none."),
		planJSON(`"steps":[`, `"steps":[[],`): describe("Invalid plan",
			"You must have at least one non-optional notification per step. Step 1 has none."),
		`nope`: title("Invalid json in post body"),
	} {
		f.want(400, want, asAnn, post, "/v0/plans", body)
	}
	f.want(400, describe("Invalid plan", "Creator none not found"), power, post, "/v0/plans",
		planJSON(`"creator":"ann"`, `"creator":"none"`))
	creator := title("Invalid plan creator for authenticated app/user")
	f.want(401, creator, demo, post, "/v0/plans", planJSON())
	f.want(401, creator, annHere, post, "/v0/plans", planJSON(`"creator":"ann"`, `"creator":"bob"`))
	f.want(401, creator, asAnn, post, "/v0/plans", planJSON(`"creator":"ann"`, `"creator":"bob"`))
	require.Equal(t, 1, f.count("select count(*) from plans"), "a refused plan leaves nothing behind")
}

func TestPlansThatReachNobodyAreSavedWithWarnings(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into templates (name, creator_id) select 'blänk', 1; insert into template_active select 'blänk', max(id) from templates`)
	for target, warning := range map[string]string{
		`"role":"user","target":"lone"`:  "step 2: the user lone has no contact in any mode",
		`"role":"user","target":"gone"`:  "step 2: the user gone is not active",
		`"role":"team","target":"empty"`: "step 2: the team empty has no active members",
	} {
		rec := f.do(asAnn, post, "/v0/plans", planJSON(`"role":"team","target":"OPS"`, target))
		require.Equal(t, 201, rec.Code)
		require.Equal(t, []string{warning}, rec.Header().Values("X-Iris-Warning"))
	}
	rec := f.do(asAnn, post, "/v0/plans", planJSON(`"template":"words"`, `"template":"blänk"`))
	require.Equal(t, 201, rec.Code)
	require.Equal(t, []string{`step 1: the template bl\u00e4nk has no text for any application`},
		rec.Header().Values("X-Iris-Warning"))
}

func TestActivateAndDeletePlans(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ok(asAnn, post, "/v0/plans", planJSON())
	f.ok(asAnn, post, "/v0/plans", planJSON())
	f.want(200, "1", asAnn, post, "/v0/plans/2", `{"active":1}`)
	require.Contains(t, f.ok(demo, get, "/v0/plans/new%20plan", ""), `"id":2`)
	f.want(200, "0", power, post, "/v0/plans/2", `{"active":0}`)
	f.want(404, "", demo, get, "/v0/plans/new%20plan", "")
	f.want(200, "0", asRoot, post, "/v0/plans/3", `{"active":0}`)
	f.want(404, "", asAnn, post, "/v0/plans/99", `{"active":0}`)
	f.want(404, "", asAnn, post, "/v0/plans/99", `{"active":1}`)
	f.want(404, "", asAnn, post, "/v0/plans/new", `{"active":1}`)
	f.want(400, title(`"active" field required`), asAnn, post, "/v0/plans/2", `{}`)
	f.want(400, title("Invalid active field"), asAnn, post, "/v0/plans/2", `{"active":"x"}`)
	f.want(403, title("Only ann or an admin may change the plan new plan"), demo, post, "/v0/plans/2", `{"active":1}`)
	f.want(403, title("Only ann or an admin may delete the plan new plan"), demo, del, "/v0/plans/2", "")
	f.want(403, title("Only ann or an admin may delete the plan new plan"), demo, del, "/v0/plans/new%20plan", "")
	f.want(200, "[]", annHere, del, "/v0/plans/NEW%20plan", "")
	require.Equal(t, 1, f.count("select count(*) from plans"))
	f.want(400, title("No plan matched"), asAnn, del, "/v0/plans/2", "")
	f.want(400, title("No plan matched"), asAnn, del, "/v0/plans/none", "")
	f.want(400, title("No plan matched"), asAnn, del, "/v0/plans/a%00b", "")
	f.ok(demo, post, "/v0/incidents", `{"plan":"pager","context":{}}`)
	f.want(400, title("Cannot delete this plan as 1 incidents have been created using it"), asAnn, del,
		"/v0/plans/pager", "")
	for _, path := range []string{"/v0/plans/99999999999999999999", "/v0/plans/a%00b", "/v0/plans/%ff", "/v0/plans/a%2Fb"} {
		f.want(404, "", demo, get, path, "")
	}
}

func TestActiveIsSetByNameOfAPlan(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ok(asAnn, post, "/v0/plans", planJSON())
	f.ok(asAnn, post, "/v0/plans", planJSON())
	const byName = "/v0/plans/NEW%20plan"
	active := func() string { return f.ok(demo, get, "/v0/plans?active=1&name=new%20plan&fields=id", "") }
	f.ok(asAnn, post, "/v0/plans/2", `{"active":1}`)
	f.want(403, title("Only ann or an admin may change the plan new plan"), demo, post, byName, `{"active":0}`)
	f.want(403, title("Only ann or an admin may change the plan new plan"), demo, post, byName, `{"active":1}`)
	require.Equal(t, `[{"id":2}]`, active())
	f.want(200, "0", asAnn, post, byName, `{"active":0}`)
	require.Equal(t, `[]`, active(), "the version that was active, not the newest one")
	f.want(200, "0", asAnn, post, byName, `{"active":0}`)
	f.want(200, "1", asAnn, post, byName, `{"active":1}`)
	require.Equal(t, `[{"id":3}]`, active(), "the newest version")
	f.ok(asAnn, post, "/v0/plans/2", `{"active":1}`)
	f.want(200, "1", asAnn, post, byName, `{"active":1}`)
	require.Equal(t, `[{"id":3}]`, active(), "the newest version, though another one was active")
	f.want(400, title(`"active" field required`), asAnn, post, byName, `{}`)
	for _, unknown := range []string{"none", "a%00b", "%ff"} {
		for _, flag := range []string{`{"active":0}`, `{"active":1}`} {
			f.want(404, "", asAnn, post, "/v0/plans/"+unknown, flag)
		}
	}
}

func TestASwitchLetsAnyApplicationChangePlans(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *parts) { d.Config.Openings = auth.Openings{ChangeAnyPlan: true} })
	f.want(200, "0", demo, post, "/v0/plans/1", `{"active":0}`)
	f.want(200, "[]", demo, del, "/v0/plans/1", "")
}

const templateBody = `{"name":"new","creator":"ann","content":{"demo":{"email":{"subject":"S","body":"B","email_html":"<b>"},"sms":{"subject":"","body":"T"}},` +
	`"OTHER":{"email":{"subject":"S","body":"B"}}}}`

func TestTemplates(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rec := f.want(201, "2", asAnn, post, "/v0/templates", templateBody)
	require.Equal(t, "/templates/2", rec.Header().Get("Location"))
	f.golden("template", f.ok(demo, get, "/v0/templates/NEW", ""))
	f.golden("templates", f.ok(demo, get, "/v0/templates", ""))
	require.Contains(t, f.ok(demo, get, "/v0/templates/words", ""), `"plans":[{"id":1,"name":"pager"}]`)
	f.want(201, "3", asAnn, post, "/v0/templates", templateBody)
	require.Equal(t, `[{"id":1},{"id":3}]`, f.ok(demo, get, "/v0/templates?active=true&fields=id", ""))
	f.want(200, "1", asAnn, post, "/v0/templates/2", `{"active":1}`)
	require.Contains(t, f.ok(demo, get, "/v0/templates/new", ""), `"id":2`)
	f.want(200, "0", power, post, "/v0/templates/2", `{"active":0}`)
	f.want(404, "", demo, get, "/v0/templates/new", "")
	f.want(404, "", demo, get, "/v0/templates/99", "")
	f.want(404, "", asAnn, post, "/v0/templates/99", `{"active":0}`)
	f.want(404, "", asAnn, post, "/v0/templates/none", `{"active":0}`)
	f.want(400, title("Missing active argument"), asAnn, post, "/v0/templates/2", `{}`)
	f.want(400, describe("Invalid active argument", "active must be an int"), asAnn, post, "/v0/templates/2",
		`{"active":null}`)
	f.want(403, title("Only ann or an admin may change the template new"), demo, post, "/v0/templates/2",
		`{"active":1}`)
	f.want(201, "4", asAnn, post, "/v0/templates", `{"name":"empty","creator":"ann","content":{}}`)
	f.want(404, "", demo, get, "/v0/templates/empty", "")

	// A plan keeps its template when the template is deactivated and activated again.
	f.ok(asAnn, post, "/v0/templates/1", `{"active":0}`)
	require.Contains(t, f.ok(demo, get, "/v0/plans/1", ""), `"template":null`)
	f.ok(asAnn, post, "/v0/templates/1", `{"active":1}`)
	require.Contains(t, f.ok(demo, get, "/v0/plans/1", ""), `"template":"words"`)
}

func TestCreateTemplateRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	content := func(c string) string { return `{"name":"new","creator":"ann","content":` + c + `}` }
	for body, want := range map[string]string{
		`{"name":"n","creator":"ann"}`:              title("content argument missing"),
		`{"content":{},"creator":"ann"}`:            title("name argument missing"),
		`{"content":{},"name":" ","creator":"ann"}`: title("name argument missing"),
		`{"content":{},"name":"n"}`:                 title("creator argument missing"),
		content(`[]`): describe("Invalid template",
			"content must be an object of applications"),
		content(`{"demo":[]}`): describe("Invalid template",
			"content of demo must be an object of modes"),
		content(`{"demo":{"email":1}}`): describe("Invalid template",
			"email of demo must be an object with subject and body"),
		content(`{"demo":{"fax":{}}}`): describe("Invalid template",
			`mode "fax" of demo is not known`),
		content(`{"demo":{"email":{"subject":"S"}}}`): describe("Invalid template",
			"body is required for demo email"),
		content(`{"demo":{"email":{"body":"S"}}}`): describe("Invalid template",
			"subject is required for demo email"),
		content(`{"demo":{},"Demo":{}}`): describe("Invalid template",
			`content names the application "demo" twice, or cannot be stored`),
		content(`{"none":{"email":{"subject":"S","body":"B"}}}`): describe("Invalid template",
			"Application none not found"),
		content(`{"demo":{"email":{"subject":"S","body":"\u0000"}}}`): describe("Invalid template",
			"body must not contain NUL characters for demo email"),
	} {
		f.want(400, want, asAnn, post, "/v0/templates", body)
	}
	rec := f.do(asAnn, post, "/v0/templates", content(`{"demo":{"email":{"subject":"{{ x","body":"B"}}}`))
	require.Equal(t, 400, rec.Code)
	require.Contains(t, rec.Body.String(), `{"title":"Invalid jinja template","description":"`)
	f.want(401, title("Invalid plan creator for authenticated app/user"), demo, post, "/v0/templates", templateBody)
	require.Equal(t, 1, f.count("select count(*) from templates"))
}

func TestActiveIsSetByNameOfATemplate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ok(asAnn, post, "/v0/templates", templateBody)
	f.ok(asAnn, post, "/v0/templates", templateBody)
	const byName = "/v0/templates/NEW"
	active := func() string { return f.ok(demo, get, "/v0/templates?active=1&name=new&fields=id", "") }
	f.ok(asAnn, post, "/v0/templates/2", `{"active":1}`)
	f.want(403, title("Only ann or an admin may change the template new"), demo, post, byName, `{"active":0}`)
	f.want(403, title("Only ann or an admin may change the template new"), demo, post, byName, `{"active":1}`)
	require.Equal(t, `[{"id":2}]`, active())
	f.want(200, "0", asAnn, post, byName, `{"active":0}`)
	require.Equal(t, `[]`, active(), "the version that was active, not the newest one")
	f.want(200, "0", asAnn, post, byName, `{"active":0}`)
	f.want(200, "1", asAnn, post, byName, `{"active":1}`)
	require.Equal(t, `[{"id":3}]`, active(), "the newest version")
	f.want(400, title("Missing active argument"), asAnn, post, byName, `{}`)
	for _, unknown := range []string{"none", "a%00b", "%ff"} {
		for _, flag := range []string{`{"active":0}`, `{"active":1}`} {
			f.want(404, "", asAnn, post, "/v0/templates/"+unknown, flag)
		}
	}
}
