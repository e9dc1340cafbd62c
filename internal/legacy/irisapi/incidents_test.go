package irisapi_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
)

var oldest = regexp.MustCompile(`"oldest_seconds":[0-9.]+`)

const post, get, del = http.MethodPost, http.MethodGet, http.MethodDelete

func TestOpenIncident(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rec := f.want(201, "1", demo, post, "/v0/incidents/",
		`{"plan":"PAGER","context":{"message":"<b> & ü","host":"web1","extra":1}}`)
	require.Equal(t, "/incidents/1", rec.Header().Get("Location"))
	require.Equal(t, "application/json", rec.Header().Get("Content-Type"))
	require.Equal(t, "SAMEORIGIN", rec.Header().Get("X-Frame-Options"))
	require.True(t, f.woken.Has(1%buckets.Count))
	f.golden("incident", f.ok(demo, get, "/v0/incidents/1", ""))
	f.golden("incidents", f.ok(demo, get, "/v0/incidents?id=1", ""))
	f.want(200, `[{"id":1,"context":{"host":"web1","message":"<b> & ü"},"title_variable_name":"host","title":"web1"}]`,
		demo, get, "/v0/incidents?limit=1&fields=id,title_variable_name,context,zap", "")
	f.want(200, `[{"id":1}]`, demo, get, "/v0/incidents?resolved=0&fields=id", "")
}

func TestOpenIncidentKeepsExactlyTheDeclaredVariables(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ok(demo, post, "/v0/incidents", `{"plan":"pager","context":{"message":{"z":1,"a":[true,"\u0000"]}}}`)
	var kept string
	require.NoError(t, f.db.Pool().QueryRow(t.Context(), "select context::text from incident_contexts").Scan(&kept))
	require.JSONEq(t, `{"host":null,"message":{"z":1,"a":[true,"\ufffd"]}}`, kept)
	require.Contains(t, kept, `"z":1,"a":`, "bytes and order as they came")
}

func TestOpenIncidentRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset)
		select n, 1, 0, 0, 0, 0 from unnest(array['empty', 'dynamic']) n;
		insert into plan_active select name, id from plans where name in ('empty', 'dynamic');
		insert into plan_notifications (plan_id, step, position, priority, dynamic_index, template, wait_seconds, repeat)
		select id, 1, 0, 'high', 0, 'words', 0, 0 from plans where name = 'dynamic'`)
	big := strings.Repeat("x", 65536)
	slashes := strings.Repeat("/", 32768)
	for body, want := range map[string]struct {
		status int
		answer string
	}{
		``:                                 {400, title("Invalid json in post body")},
		`{"plan":`:                         {400, title("Invalid json in post body")},
		`[]`:                               {400, describe("Invalid json in post body", "a JSON object is expected")},
		`{"context":{}}`:                   {400, title("missing plan name attribute")},
		`{"plan":"","context":{}}`:         {400, title("missing plan name attribute")},
		`{"plan":1,"context":{}}`:          {400, title("plan must be a string")},
		`{"plan":"pager"}`:                 {400, title("context is required")},
		`{"plan":"pager","context":[]}`:    {400, title("context must be an object")},
		`{"plan":"pager","context":null}`:  {400, title("context must be an object")},
		`{"plan":"none","context":{}}`:     {404, ``},
		`{"plan":"pa\u0000","context":{}}`: {400, title("plan must not contain NUL characters")},
		`{"plan":"empty","context":{}}`:    {400, title("No plan template actions exist for this app")},
		`{"plan":"dynamic","context":{}}`:  {400, title("Invalid number of dynamic targets")},
		`{"plan":"pager","application":"other","context":{}}`: {403,
			title("This application demo does not allow creating incidents as other applications")},
		`{"plan":"dynamic","context":{},"dynamic_targets":[{"role":"user","target":"ops"}]}`: {400,
			describe("Invalid incident", "invalid role user for target ops")},
		`{"plan":"dynamic","context":{},"dynamic_targets":[{"role":"user"}]}`: {400,
			describe("Invalid incident", "target is required")},
		`{"plan":"dynamic","context":{},"dynamic_targets":{}}`: {400,
			title("dynamic_targets must be a list of objects with role and target")},
		`{"plan":"pager","context":{"host":"` + big + `"}}`: {400,
			title("Context too large. 65562 is larger than limit 65535")},
		`{"plan":"pager","context":{"host":"` + slashes + `"}}`: {400,
			title("Context too large. 65562 is larger than limit 65535")},
		`{"plan":"pager","context":{"drop":"` + strings.Repeat("x", 1<<20) + `"}}`: {413,
			title("Request body is larger than the limit of 1048576 bytes")},
	} {
		rec := f.do(demo, post, "/v0/incidents", body)
		require.Equal(t, want.answer, rec.Body.String(), "%.80s", body)
		require.Equal(t, want.status, rec.Code, "%.80s", body)
	}
	require.Zero(t, f.count("select count(*) from incidents"))
	f.want(201, "1", demo, post, "/v0/incidents",
		`{"plan":"dynamic","context":{},"dynamic_targets":[{"role":"oncall-primary","target":"OPS"}]}`)
	require.Equal(t, 1, f.count("select count(*) from incident_dynamic_targets where role = 'oncall-primary'"))
}

func TestOpenIncidentAsAnotherApplication(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.want(201, "1", power, post, "/v0/incidents", `{"plan":"pager","application":"DEMO","context":{"host":"x"}}`)
	f.want(200, `[{"application":"demo"}]`, power, get, "/v0/incidents?id=1&fields=application", "")
	f.want(400, title("Invalid application"), power, post, "/v0/incidents",
		`{"plan":"pager","application":"none","context":{}}`)
	f.want(400, title("No plan template actions exist for this app"), power, post, "/v0/incidents",
		`{"plan":"pager","context":{}}`)
	byAnn := func() (int, string) {
		rec := f.do(annHere, post, "/v0/incidents", `{"plan":"pager","application":"demo","context":{}}`)
		return rec.Code, rec.Body.String()
	}
	status, body := byAnn()
	require.Equal(t, 403, status, "a person who does not own it")
	require.Contains(t, body, "leave application out")
	f.exec("insert into application_owners select a.id, u.id from applications a, users u where a.name = 'demo' and u.name = 'ann'")
	status, _ = byAnn()
	require.Equal(t, 201, status)
	require.Equal(t, 1, f.count("select count(*) from timeline_entries where actor = 'ann'"))
}

func TestListIncidentsRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	broad := title("Incident query too broad, add filter or limit")
	f.want(400, broad, demo, get, "/v0/incidents", "")
	f.want(400, broad, demo, get, "/v0/incidents?unknown=1&limit=0", "")
	f.want(400, describe("invalid argument type", "id should be <class 'int'>"), demo, get, "/v0/incidents?id=x", "")
	f.want(400, title("invalid filter operator zap"), demo, get, "/v0/incidents?id__zap=1", "")
	f.want(400, describe("Invalid parameter", `The "limit" parameter is invalid. The value must be an integer.`), demo,
		get, "/v0/incidents?limit=x", "")
	f.want(400, title("Invalid incident id"), demo, get, "/v0/incidents/x", "")
	rec := f.want(404, "", demo, get, "/v0/incidents/1", "")
	require.Equal(t, "application/json", rec.Header().Get("Content-Type"))
	f.want(200, "[]", demo, get, "/v0/incidents?limit=5", "")
}

func TestEveryIncidentFilterWorks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ok(demo, post, "/v0/incidents", `{"plan":"pager","context":{"host":"web1"}}`)
	for query, n := range map[string]int{
		"id=1": 1, "id__in=1,%202": 1, "plan=PAGER": 1, "plan_id=1": 1, "active=1": 1, "active=0": 0, "updated__gt=1": 0,
		"application=demo": 1, "context__contains=WEB1": 1, "created__le=1": 0, "owner=ann": 0, "current_step=0": 1,
		"resolved=false": 1, "target=ann,bob": 0, "claimed=false": 1, "claimed=1": 0, "context__contains=%25": 0,
		"application__startswith=de": 1, "plan__ne=pager": 0,
	} {
		got := f.ok(demo, get, "/v0/incidents?fields=id&"+query, "")
		require.Equal(t, n, strings.Count(got, "id"), query)
	}
	f.ok(demo, post, "/v0/incidents/1/resolve", `{"resolved":true}`)
	require.Equal(t, 1, strings.Count(f.ok(demo, get, "/v0/incidents?fields=id&updated__gt=1", ""), "id"))
}

func TestUpdatedIsNullUntilAnIncidentChanges(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ok(demo, post, "/v0/incidents", `{"plan":"pager","context":{"host":"web1"}}`)
	require.Contains(t, f.ok(demo, get, "/v0/incidents/1", ""), `"updated":null`)
	require.Contains(t, f.ok(demo, get, "/v0/incidents?id=1", ""), `"updated":null`)
	f.ok(power, post, "/v0/incidents/1", `{"owner":"ann"}`)
	require.NotContains(t, f.ok(demo, get, "/v0/incidents/1", ""), `"updated":null`)
}

func TestClaim(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for range 2 {
		f.ok(demo, post, "/v0/incidents", `{"plan":"pager","context":{}}`)
	}
	f.want(200, `{"incident_id":1,"owner":"ann","active":false}`, power, post, "/v0/incidents/1",
		`{"owner":"ann","plan":"ignored"}`)
	f.want(200, `{"incident_id":1,"owner":null,"active":true}`, demo, post, "/v0/incidents/1", `{"owner":null}`)
	f.want(200, `{"incident_id":1,"owner":"bob","active":false}`, asRoot, post, "/v0/incidents/1", `{"owner":"bob"}`)
	f.want(200, `{"incident_id":1,"owner":"ann","active":false}`, asAnn, post, "/v0/incidents/1", `{"owner":"ann"}`)
	f.want(200, `{"owner":"ann","claimed":[1,2],"unclaimed":[]}`, annHere, post, "/v0/incidents/claim",
		`{"owner":"ann","incident_ids":[1,"2",2]}`)
	f.want(200, `{"owner":null,"claimed":[],"unclaimed":[1,2]}`, demo, post, "/v0/incidents/claim",
		`{"owner":null,"incident_ids":[1,2]}`)
	f.want(200, `{"owner":"ann","claimed":[],"unclaimed":[]}`, power, post, "/v0/incidents/claim",
		`{"owner":"ann","incident_ids":[]}`)

	claimer := title("Invalid claimer for this app/user")
	f.want(401, claimer, demo, post, "/v0/incidents/1", `{"owner":"ann"}`)
	f.want(401, claimer, asAnn, post, "/v0/incidents/1", `{"owner":"bob"}`)
	f.want(401, claimer, annHere, post, "/v0/incidents/claim", `{"owner":"bob","incident_ids":[1]}`)
	f.want(400, title("Invalid incident id"), power, post, "/v0/incidents/x", `{"owner":"ann"}`)
	f.want(400, title(`"owner" field required`), power, post, "/v0/incidents/1", `{}`)
	f.want(400, title("owner must be a string"), power, post, "/v0/incidents/1", `{"owner":7}`)
	f.want(400, title("Invalid json in post body"), power, post, "/v0/incidents/1", `{`)
	f.want(400, title("Invalid claim: no matching incident id"), power, post, "/v0/incidents/99", `{"owner":"ann"}`)
	f.want(400, title("Invalid claim: no matching incident id"), power, post, "/v0/incidents/99", `{"owner":null}`)
	f.want(400, title("Invalid claim: no matching owner"), power, post, "/v0/incidents/1", `{"owner":"none"}`)
	f.want(400, title("Invalid claim: no matching owner"), power, post, "/v0/incidents/1", `{"owner":"gone"}`)
	f.want(400, title("Missing owner or incident_ids fields"), power, post, "/v0/incidents/claim", `{"owner":"ann"}`)
	f.want(400, title("Missing owner or incident_ids fields"), power, post, "/v0/incidents/claim",
		`{"incident_ids":[1]}`)
	f.want(400, title("incident_ids must be a list of incident ids"), power, post, "/v0/incidents/claim",
		`{"owner":"ann","incident_ids":["x"]}`)
	f.want(400, title("Invalid claim: no matching incident id"), power, post, "/v0/incidents/claim",
		`{"owner":"ann","incident_ids":[1,99]}`)
	require.Equal(t, 2, f.count("select count(*) from incidents where active"), "a refused claim changes nothing")
	rec := f.want(405, "", demo, get, "/v0/incidents/claim", "")
	require.Equal(t, "POST", rec.Header().Get("Allow"))
}

func TestResolve(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ok(demo, post, "/v0/incidents", `{"plan":"pager","context":{}}`)
	f.want(200, `{"incident_id":"1","resolved":true}`, demo, post, "/v0/incidents/1/resolve", `{"resolved":true}`)
	f.want(200, `[{"active":0,"resolved":1}]`, demo, get, "/v0/incidents?id=1&fields=active,resolved", "")
	f.want(200, `{"incident_id":"1","resolved":""}`, demo, post, "/v0/incidents/1/resolve/", `{"resolved":""}`)
	f.want(200, `[{"active":0,"resolved":0}]`, demo, get, "/v0/incidents?id=1&fields=active,resolved", "")
	f.want(400, title("resolved field required"), demo, post, "/v0/incidents/1/resolve", `{}`)
	f.want(400, title("Invalid claim: no matching incident id"), demo, post, "/v0/incidents/9/resolve",
		`{"resolved":1}`)
	f.want(400, title("Invalid incident id"), demo, post, "/v0/incidents/x/resolve", `{"resolved":1}`)
}

func TestComments(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ok(demo, post, "/v0/incidents", `{"plan":"pager","context":{}}`)
	f.want(201, "1", annHere, post, "/v0/incidents/1/comments", `{"author":"Ann","content":"looking ✓"}`)
	f.want(201, "2", power, post, "/v0/incidents/1/comments", `{"author":"bob","content":"me too"}`)
	f.golden("comments", f.ok(demo, get, "/v0/incidents/1/comments", ""))
	f.want(200, "[]", demo, get, "/v0/incidents/9/comments", "")
	path := "/v0/incidents/1/comments"
	f.want(400, title("Empty comment"), power, post, path, `{"author":"ann","content":""}`)
	f.want(400, title("author is required"), power, post, path, `{"content":"x"}`)
	f.want(400, title("content is required"), power, post, path, `{"author":"ann"}`)
	f.want(403, title("Comment author must match logged in user"), annHere, post, path,
		`{"author":"bob","content":"x"}`)
	f.want(403, title("Comment author must match logged in user"), demo, post, path, `{"author":"ann","content":"x"}`)
	f.want(400, title("Failed to post comment"), power, post, path, `{"author":"none","content":"x"}`)
	f.want(400, title("Failed to post comment"), power, post, "/v0/incidents/9/comments",
		`{"author":"ann","content":"x"}`)
	f.want(400, title("content must not contain NUL characters"), power, post, path,
		`{"author":"ann","content":"\u0000"}`)
}

func TestIncidentShowsItsMessages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ok(demo, post, "/v0/incidents", `{"plan":"pager","context":{"host":"web1"}}`)
	f.exec(`insert into messages (bucket, incident_id, application_id, plan_id, step, recipient, user_id, target, priority, class, mode,
			template, state, settled_at, mode_changed, purpose, repeat)
		select 1, 1, a.id, 1, 1, 'user:' || u.id, u.id, u.name, 'high', 0, x.mode, 'words', x.state, x.at, x.mode <> 'sms', x.purpose, x.repeat
		from applications a, users u, (values ('sms', 'pending', null::timestamptz, 'primary', 0),
			('email', 'sent', to_timestamp(1000000100), 'fallback', 1)) x(mode, state, at, purpose, repeat)
		where a.name = 'demo' and u.name = 'ann';
		insert into message_contents (message_id, destination, subject, body)
		select id, 'ann@example.com', 'S web1', '' from messages where state = 'sent';
		insert into message_changes (message_id, change_type, old, new, description)
		select id, 'mode-change', 'sms', 'email', 'Changing mode due to original mode failure' from messages where state = 'sent'`)
	f.exec(`insert into message_history (id, created_at, bucket, incident_id, application_id, reopen_count, step, position, repeat, recipient, purpose,
			target, class, mode, state, attempt, mode_changed, settled_at, destination, subject, body, email_html, render_error, attempts)
		select 7000, created_at, 1, 1, application_id, 0, 1, 0, 9, recipient, 'primary', target, 0, '', 'cancelled', 0, false, created_at, '', '', '', '', '', '[]'
		from messages where state = 'sent';
		insert into message_changes (message_id, change_type, old, new, description) values (7000, 'sent-change', '', 'x', repeat('é', 300))`)
	require.Contains(t, f.ok(demo, get, "/v0/messages/7000/auditlog", ""), `"description":"`+strings.Repeat("é", 250)+
		`"`, "as long as clients know")
	// Imported messages without a mode are not shown.
	f.golden("incident_steps", f.ok(demo, get, "/v0/incidents/1", ""))
	f.golden("messages", f.ok(demo, get, "/v0/messages?incident_id=1", ""))
	id := f.count("select max(id) from messages")
	f.golden("message", f.ok(demo, get, fmt.Sprintf("/v0/messages/%d", id), ""))
	f.golden("auditlog", f.ok(demo, get, fmt.Sprintf("/v0/messages/%d/auditlog", id), ""))
	f.want(200, "[]", demo, get, "/v0/messages/9999/auditlog", "")
	f.want(404, "", demo, get, "/v0/messages/9999", "")
	f.want(400, title("Invalid message id"), demo, get, "/v0/messages/x", "")
	f.want(400, title("Invalid message id"), demo, get, "/v0/messages/x/auditlog", "")
	f.want(400, title("Message query too broad, add limit or filter"), demo, get, "/v0/messages", "")
	for _, query := range []string{"active=1", "target=ANN&mode=sms", "sent__gt=1000000200", "subject__contains=web1", "batch=x",
		"destination=ann@example.com", "priority=high", "body__ne=x", "limit=1", "application__in=demo,other"} {
		f.ok(demo, get, "/v0/messages?fields=id&"+query, "")
	}
	f.want(200, `[{"id":1}]`, demo, get, "/v0/messages?fields=id&active=true", "")
	require.Contains(t, f.ok(demo, get, "/v0/incidents?target=ANN", ""), `"id":1`)
	f.golden("queues", oldest.ReplaceAllString(f.ok(demo, get, "/v0/queues", ""), `"oldest_seconds":0`))
}

func TestContextWithoutDeclaredVariablesStaysAsPosted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into template_contents (template_id, application_id, mode, body)
		select t.id, a.id, 'email', 'B' from templates t, applications a where a.name = 'other'`)
	as := caller{app: "other", key: "other-key"}
	const posted = `{"z": 1.50, "a": {"y": [1e2, "\u0000"], "b": null}, "host": "ü/"}`
	id := f.ok(as, post, "/v0/incidents", `{"plan":"pager","context":`+posted+`}`)
	var kept string
	require.NoError(t, f.db.Pool().QueryRow(t.Context(),
		"select context::text from incident_contexts where incident_id = $1::text::bigint", id).Scan(&kept))
	want := strings.NewReplacer(": ", ":", ", ", ",", "0000", "fffd").Replace(posted)
	require.Equal(t, want, kept)
	big := strings.Repeat("x", 65536)
	f.want(400, title("Context too large. 65544 is larger than limit 65535"), as, post, "/v0/incidents",
		`{"plan":"pager","context":{"z":"`+big+`"}}`)

	// An application that declares a variable gets only that variable.
	f.exec(`insert into application_variables (application_id, name) select id, 'z' from applications where name = 'other'`)
	id = f.ok(as, post, "/v0/incidents", `{"plan":"pager","context":`+posted+`}`)
	require.NoError(t, f.db.Pool().QueryRow(t.Context(),
		"select context::text from incident_contexts where incident_id = $1::text::bigint", id).Scan(&kept))
	require.Equal(t, `{"z":1.50}`, kept)
}
