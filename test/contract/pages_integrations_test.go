package contract

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/intake/sources"
)

// integrationsPages are the rows of pages (see pages).
func integrationsPages() []right {
	const owners = "111113oo3" // forms of the owner of the application; without a session, 401 keeps the form
	has := (*server).integrations
	settings := formOf("name", "generic", "rate_per_minute", "60", "enabled", "true")
	return []right{
		{get, "/add-integration", nil, 200, people, nil},
		{get, "/add-integration?type=generic", nil, 200, people, nil},
		{get, "/heartbeats", nil, 200, people, has},
		{get, "/integrations/generic/settings", nil, 200, "lllll3oo3", has},
		{get, "/integrations/generic/rules", nil, 200, "lllll3oo3", has},
		{get, "/integrations/heartbeat/add-heartbeat", nil, 200, people, has},
		{get, "/integrations/heartbeat/heartbeats/default", nil, 200, people, has},
		{post, "/add-integration", formOf("type", "generic", "name", "added", "application", "demo"), 200, owners,
			func(s *server) { s.exec("delete from integrations where name = 'added'") }},
		{post, "/integrations/generic/settings", settings, 303, owners, has},
		{post, "/integrations/generic/rules", formOf("do", "save", "match.1", "a=b", "to.1", "plan", "plan.1",
			"pager"), 303, owners, has},
		{post, "/integrations/generic/token", formOf("now", "true"), 200, owners, has},
		{post, "/integrations/generic/token/revoke", formOf("x", ""), 303, owners, func(s *server) {
			has(s)
			s.exec("insert into integration_tokens (integration_id, hash) select id, sha256(random()::text::bytea) from integrations where name = 'generic'")
		}},
		{post, "/integrations/generic/secrets", formOf("secret", ""), 303, owners, has},
		{post, "/integrations/heartbeat/add-heartbeat", formOf("name", "spare", "every_seconds", "1h", "grace_seconds", "0", "enabled", "true"), 303, owners, func(s *server) {
			has(s)
			s.exec("delete from heartbeats where name = 'spare'")
		}},
		{post, "/integrations/heartbeat/heartbeats/default",
			formOf("every_seconds", "1h", "grace_seconds", "0", "enabled", "true"), 303, owners, has},
		{post, "/integrations/heartbeat/heartbeats/default/delete", formOf("x", ""), 303, owners, has},
		{post, "/integrations/generic/delete", formOf("x", ""), 303, owners, has},
		{post, "/silences/1/longer", formOf("for_seconds", "1h"), 303, owners, (*server).silence},
	}
}

// sends sends a form of a page.
func (s *server) sends(as caller, path string, pairs ...string) answer {
	s.Helper()
	return s.do(as, post, path, formOf(pairs...), "Content-Type", "application/x-www-form-urlencoded")
}

// shows requires texts in the page.
func (a answer) shows(texts ...string) answer {
	a.Helper()
	for _, text := range texts {
		require.Contains(a, html.UnescapeString(a.body), text, a.what)
	}
	return a
}

// comes waits until the page shows a text. Deliveries are recorded within seconds.
func (s *server) comes(path, text string) answer {
	s.Helper()
	var a answer
	require.Eventually(s, func() bool {
		a = s.do(owner, get, path, nil).is(200)
		return strings.Contains(html.UnescapeString(a.body), text)
	}, 20*time.Second, 100*time.Millisecond, "%s: %s", path, text)
	return a
}

// savesAgain sends a form with an old ETag: it is refused, and the form that comes back can be saved.
func (s *server) savesAgain(path string, pairs ...string) {
	s.Helper()
	refused := s.sends(owner, path, pairs...).is(412).shows("Somebody else has changed this")
	found := regexp.MustCompile(`name="etag" value="([^"]*)"`).FindStringSubmatch(refused.body)
	require.NotNil(s, found, refused.what)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] == "etag" {
			pairs[i+1] = html.UnescapeString(found[1])
		}
	}
	s.sends(owner, path, pairs...).is(303)
}

// wrong requires a refusal that marks the field.
func (a answer) wrong(field, text string) {
	a.Helper()
	a.is(400).shows(text)
	require.Regexp(a, `name="`+regexp.QuoteMeta(field)+`"[^>]*aria-invalid="true"`, a.body, a.what)
}

// token returns the token that the page shows, and requires that it is shown.
func (a answer) token() string {
	a.Helper()
	found := regexp.MustCompile(`<pre[^>]*>(iris_in_[0-9a-f]+)</pre>`).FindStringSubmatch(a.body)
	require.NotNil(a, found, a.what)
	return found[1]
}

// deliver sends a delivery with a token and returns the status.
func (s *server) delivers(token, body string) answer {
	s.Helper()
	return s.do(anonymous, post, "/v1/hooks/generic", body, "Authorization", "Bearer "+token, "Content-Type",
		"application/json")
}

func TestAnIntegrationIsAddedOnAPage(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.do(owner, get, "/integrations", nil).is(200).shows("There is no integration.")
	s.do(owner, get, "/add-integration", nil).is(200).shows("Alertmanager", "Amazon SNS and CloudWatch", "E-mail")
	s.do(owner, get, "/add-integration?type=carrier-pigeon", nil).is(200).shows("There is no type carrier-pigeon")
	s.sends(owner, "/add-integration", "type", "generic", "application", "demo").wrong("name", "needs a name")
	s.sends(owner, "/add-integration", "type", "generic", "name", "ci <eu>", "application", "demo", "default_plan",
		"none").wrong("default_plan", "no active plan named none")
	s.sends(bob, "/add-integration", "type", "generic", "name", "ci <eu>", "application",
		"demo").is(403).shows("ci <eu>")
	made := s.sends(owner, "/add-integration", "type", "generic", "name", "ci <eu>", "application", "demo",
		"default_plan", "pager").is(200)
	token := made.token()
	made.shows("Authorization: Bearer "+token, s.url+"/v1/hooks/generic/"+token, "curl -fsS")
	s.sends(owner, "/add-integration", "type", "generic", "name", "CI <EU>", "application", "demo").wrong("name",
		"choose another name")

	at := "/integrations/" + url.PathEscape("ci <eu>")
	s.do(owner, get, at, nil).is(200).shows("nothing received yet", "never used")
	require.NotContains(t, s.do(owner, get, at, nil).body, token, "a token is shown once")
	s.delivers(token, `{"title": "<b>disk</b> full", "dedup_key": "d", "labels": {"team": "db"}}`).is(200)
	s.do(owner, get, "/integrations?text=DEMO", nil).is(200).shows("ci <eu>", "Generic JSON for")
	s.do(owner, get, "/integrations?text=none", nil).is(200).shows("No integration has this text.")
	s.comes(at+"?preview=1", "opened incident").shows("takes it; no rule runs")
	s.do(bob, get, at, nil).is(200).shows("Only administrators and owners")
	for _, body := range []string{s.do(owner, get, at, nil).body, s.do(bob, get, at, nil).body, s.do(viewer, get, at, nil).body} {
		require.NotContains(t, body, "<b>disk")
	}
	require.NotContains(t, s.do(viewer, get, at, nil).body, at+"/settings")

	s.sends(owner, at+"/settings", "name", "ci", "rate_per_minute", "many", "enabled", "true").wrong("rate_per_minute",
		"no whole number")
	s.sends(owner, at+"/settings", "name", "ci", "rate_per_minute", "60", "resolve_after_seconds",
		"soon").wrong("resolve_after_seconds", "no period")
	s.sends(owner, at+"/settings", "name", "ci", "rate_per_minute", "60", "settings.title",
		"{{").wrong("settings.title", "the expression is wrong")
	s.sends(owner, at+"/settings", "name", "ci", "rate_per_minute", "60", "settings.labels",
		"team").wrong("settings.labels", "write a name, = and an expression")
	s.savesAgain(at+"/settings", "name", "ci <eu>", "rate_per_minute", "60", "enabled", "true", "etag", `"old"`)
	s.sends(owner, at+"/settings", "do", "try", "name", "ci", "rate_per_minute", "60", "settings.title",
		"{{ check.name }}", "settings.labels", "team = {{ tags[0] }}",
		"payload", `{"check": {"name": "backup"}, "tags": ["db"]}`).is(200).shows("backup", "Label <bdi>team</bdi>", "db")
	s.sends(owner, at+"/settings", "name", "ci", "rate_per_minute", "60", "resolve_after_seconds", "2h",
		"close_after_seconds", "0", "settings.labels", "team = {{ tags[0] }}").is(303)
	changed := decode[map[string]any](s.do(owner, get, "/v1/integrations/ci", nil).is(200))
	require.EqualValues(t, 7200, changed["resolve_after_seconds"])
	require.EqualValues(t, 0, changed["close_after_seconds"])
	require.Equal(t, false, changed["enabled"], "a box that is not ticked")
	require.Equal(t, map[string]any{"labels": map[string]any{"team": "{{ tags[0] }}"}}, changed["settings"])
	s.do(owner, get, "/integrations/ci/settings", nil).is(200).shows(`value="2h"`, "team = {{ tags[0] }}")

	s.do(owner, get, "/integrations/ci", nil).is(200).shows("1 tokens, 0 rules and the stored deliveries are lost")
	s.sends(owner, "/integrations/ci/delete").is(303)
	s.do(owner, get, "/integrations/ci", nil).is(404)
}

// Each command that tests an integration is accepted, and opens an incident.
func TestTheCommandsOfIntegrationsWork(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	command := regexp.MustCompile(`curl -fsS(?: -H "(Authorization): ([^"]*)")? -H "Content-Type: application/json" (\S+) -d '(.*)'`)
	tested := 0
	for _, kind := range sources.Types() {
		page := html.UnescapeString(s.sends(owner, "/add-integration", "type", kind, "name", kind, "application",
			"demo", "default_plan", "pager").is(200).body)
		m := command.FindStringSubmatch(page)
		if m == nil {
			continue
		}
		tested++
		header := []string{"Content-Type", "application/json"}
		if m[1] != "" {
			header = append(header, m[1], m[2])
		}
		a := s.do(anonymous, post, strings.TrimPrefix(m[3], s.url), m[4], header...)
		require.Less(t, a.status, 300, "%s: %s", kind, a.body)
		s.comes("/integrations/"+kind, "opened incident")
	}
	require.GreaterOrEqual(t, tested, 9, "sources whose page has a command that tests the integration")
}

// The rules are tried and stored in the typed order, and the first that matches wins.
func TestRulesAreEditedOnAPage(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	token := s.sends(owner, "/add-integration", "type", "generic", "name", "ci", "application", "demo", "default_plan",
		"pager").is(200).token()
	const at = "/integrations/ci/rules"
	row := func(n int, match, to, plan string, more ...string) []string {
		i := fmt.Sprint(".", n)
		return append([]string{"match" + i, match, "to" + i, to, "plan" + i, plan}, more...)
	}
	both := append(row(1, `team="db"`, "record", ""), row(2, `severity="critical"`, "plan", "pager", "times.2",
		"mon tue 18:00-8:00 Europe/Berlin\nsat, sun", "targets.2", "")...)
	send := func(do string, more ...string) answer {
		return s.sends(owner, at, append(append([]string{"do", do}, more...), both...)...)
	}
	s.do(owner, get, at, nil).is(200).shows("There are no rules", "Add a rule")
	send("add").is(200).shows("These rules are not stored yet.", "Rule 3")
	moved := send("up.2").is(200)
	require.Less(t, strings.Index(moved.body, "severity="), strings.Index(moved.body, "team="),
		"rule 2 is the first now")
	require.NotContains(t, send("remove.1").is(200).body, `team=&#34;db&#34;"`+" dir")
	require.Equal(t, "[]", fmt.Sprint(decode[map[string]any](s.do(owner, get, "/v1/integrations/ci", nil))["rules"]),
		"steps store nothing")

	send("test", "source", "labels", "labels", "team=db\nseverity=critical").is(200).shows("rule 1 matches",
		"it is only recorded")
	send("test", "source", "labels", "labels", "team=web").is(200).shows("none of 2 rules matches",
		"plan <bdi>pager</bdi>, that of the integration")
	send("test", "source", "labels", "labels", "team").wrong("labels", "write name=value")
	send("test", "source", "payload", "payload",
		`{"title": "t", "labels": {"team": "db"}}`).is(200).shows("rule 1 matches")
	send("test", "source", "payload", "payload", "").is(200).shows("It would be refused")

	save := func(typed ...string) answer { return s.sends(owner, at, append([]string{"do", "save"}, typed...)...) }
	save(row(1, "team=", "plan", "none")...).wrong("plan.1", "no active plan named none")
	save(row(1, "?", "plan", "pager")...).wrong("match.1", "rule 1: match")
	save(row(1, "", "plan", "")...).wrong("plan.1", "needs either a plan or record_only")
	save(row(1, "", "plan", "pager", "times.1", "someday")...).wrong("times.1", "no day, span or time zone")
	save(row(1, "", "plan", "pager", "targets.1", "team ops")...).wrong("targets.1", "no dynamic steps")
	s.sends(bob, at, append([]string{"do", "save"}, both...)...).is(403)

	etag := s.do(owner, get, "/v1/integrations/ci", nil).header.Get("ETag")
	save(append([]string{"etag", etag}, both...)...).is(303)
	s.savesAgain(at, append([]string{"do", "save", "etag", etag}, both...)...)
	for _, broken := range []string{"do=save&%", "do=save&x=" + strings.Repeat("x", 5<<20)} {
		a := s.do(owner, post, at, broken, "Content-Type",
			"application/x-www-form-urlencoded").shows("Nothing was changed")
		require.Contains(t, []int{400, 413}, a.status, "a form that cannot be read stores nothing")
	}
	s.sends(owner, at).is(400)
	s.do(owner, get, "/integrations/ci", nil).is(200).shows(`team="db"`, "only mon, tue 18:00 to 08:00 Europe/Berlin")
	s.do(owner, get, at, nil).is(200).shows("mon tue 18:00-08:00 Europe/Berlin\nsat sun")

	s.delivers(token, `{"title": "t", "labels": {"team": "db"}}`).is(200).shows("recorded")
	s.comes("/integrations/ci", "Which rule matches?")
	s.do(owner, get, at+"?stored=1", nil).is(200).shows("rule 1 matches", ">matches</span>")
}

// While a token is replaced, both are accepted.
func TestATokenIsRotatedOnAPage(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	first := s.sends(owner, "/add-integration", "type", "generic", "name", "ci", "application", "demo", "default_plan",
		"pager").is(200).token()
	second := s.sends(owner, "/integrations/ci/token").is(200).shows("Then revoke the older token").token()
	for _, token := range []string{first, second} {
		s.delivers(token, `{"title": "t"}`).is(200)
	}
	s.do(owner, get, "/integrations/ci", nil).is(200).shows("Both are valid.")
	s.sends(bob, "/integrations/ci/token/revoke").is(403)
	s.sends(owner, "/integrations/ci/token/revoke").is(303)
	s.delivers(first, `{"title": "t"}`).is(401)
	s.delivers(second, `{"title": "t"}`).is(200)
	third := s.sends(owner, "/integrations/ci/token", "now", "true").is(200).token()
	s.delivers(second, `{"title": "t"}`).is(401)
	s.delivers(third, `{"title": "t"}`).is(200)

	s.sends(owner, "/add-integration", "type", "grafana", "name", "gr", "application", "demo", "default_plan",
		"pager").is(200)
	s.do(owner, get, "/integrations/gr/settings", nil).is(200).shows("Secrets that sign deliveries",
		"Header of the signature")
	s.sends(owner, "/integrations/gr/secrets", "secret", "short").is(400).shows("8 to 1024 bytes")
	s.sends(owner, "/integrations/gr/secrets", "secret", "a long secret", "second", "another one").is(303)
	page := s.do(owner, get, "/integrations/gr/settings", nil).is(200).shows("2 stored")
	require.NotContains(t, page.body, "a long secret")
}

func TestHeartbeatsAreKeptOnPages(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.do(owner, get, "/heartbeats", nil).is(200).shows("There is no heartbeat.")
	token := s.sends(owner, "/add-integration", "type", "heartbeat", "name", "jobs", "application", "demo",
		"default_plan", "pager").is(200).shows("Add a heartbeat").token()
	const add = "/integrations/jobs/add-heartbeat"
	s.sends(owner, add, "every_seconds", "24h", "grace_seconds", "1h").wrong("name", "needs a name")
	s.sends(owner, add, "name", "night ly", "every_seconds", "daily", "grace_seconds", "1h").wrong("every_seconds",
		"no period")
	s.sends(owner, add, "name", "night ly", "every_seconds", "24h", "grace_seconds", "1h", "plan",
		"none").wrong("plan", "no active plan named none")
	s.sends(bob, add, "name", "night ly", "every_seconds", "24h", "grace_seconds", "1h").is(403)
	s.sends(owner, add, "name", "night ly", "every_seconds", "24h", "grace_seconds", "1h", "enabled", "true",
		"description", "<i>call</i> ann").is(303)
	s.sends(owner, add, "name", "night ly", "every_seconds", "1h", "grace_seconds", "1h").wrong("name",
		"choose another name")
	const one = "/integrations/jobs/heartbeats/night%20ly"
	page := s.do(owner, get, one, nil).is(200).shows("never seen", "curl -fsS --retry 5 "+s.url+
		"/v1/hooks/heartbeat/TOKEN/night%20ly")
	require.NotContains(t, page.body, "<i>")
	s.do(anonymous, post, "/v1/hooks/heartbeat/"+token+"/night%20ly", nil).is(200)
	s.do(viewer, get, "/heartbeats", nil).is(200).shows("on time", "every 24h, grace 1h", "night ly")
	s.do(anonymous, post, "/v1/hooks/heartbeat/"+token+"/night%20ly/start?rid=r1", nil).is(200)
	s.do(anonymous, post, "/v1/hooks/heartbeat/"+token+"/night%20ly/3?rid=r1", "disk <b>full</b>").is(200)
	s.do(viewer, get, "/heartbeats", nil).is(200).shows("failed")
	page = s.do(owner, get, one, nil).is(200).shows("exit code 3", "Last runs", "r1", "Last text", "disk <b>full</b>", "/start")
	require.NotContains(t, page.body, "<b>full")
	require.NotContains(t, s.do(bob, get, one, nil).is(200).shows("Last runs").body, "full")
	s.exec("update heartbeats set missed_at = clock_timestamp(), failure = null")
	s.do(owner, get, "/integrations/jobs", nil).is(200).shows("late")
	s.sends(owner, one, "every_seconds", "0", "grace_seconds", "1h").wrong("every_seconds", "must be 1 to")
	s.savesAgain(one, "every_seconds", "12h30m", "grace_seconds", "0", "etag", `"old"`)
	s.do(owner, get, one, nil).is(200).shows(`value="12h30m"`, "switched off")
	s.sends(bob, one+"/delete").is(403)
	s.sends(owner, one+"/delete").is(303)
	s.do(owner, get, one, nil).is(404)
}

// The database searches and pages the list, and a test of a route may have other rules.
func TestIntegrationsAreSearchedInTheAPI(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, name := range []string{"beta", "Alpha", "gamma %_", "délta"} {
		s.do(owner, put, "/v1/integrations/"+url.PathEscape(name),
			m{"type": "generic", "application": "demo", "default_plan": "pager"}).is(201)
	}
	s.do(admin, put, "/v1/integrations/zabbix", m{"type": "zabbix", "application": "other"}).is(201)
	type list struct {
		Items []struct{ Name string }
		Next  string
	}
	var seen []string
	at := "/v1/integrations?limit=2"
	for next := at; next != ""; {
		found := decode[list](s.do(viewer, get, next, nil).is(200))
		for _, i := range found.Items {
			seen = append(seen, i.Name)
		}
		if next = ""; found.Next != "" {
			next = at + "&cursor=" + found.Next
		}
	}
	require.Equal(t, []string{"Alpha", "beta", "délta", "gamma %_", "zabbix"}, seen)
	for text, want := range map[string]int{"ALP": 1, "%": 1, "_": 1, "other": 1, "demo": 4, "generic": 4, "gener": 0, "DÉL": 1, "none": 0} {
		require.Len(t, decode[list](s.do(viewer, get, "/v1/integrations?text="+url.QueryEscape(text),
			nil).is(200)).Items, want, text)
	}
	s.exec("insert into integration_activity (integration_id, refused) select id, 1 from integrations where name in ('beta', 'zabbix')")
	for query, want := range map[string]int{"application=DEMO": 4, "application=none": 0, "refused=true": 2, "refused=false": 5, "refused=true&application=demo": 1} {
		require.Len(t, decode[list](s.do(viewer, get, "/v1/integrations?"+query, nil).is(200)).Items, want, query)
	}
	for _, path := range []string{"/v1/integrations/beta", "/v1/applications/demo", "/v1/plans/pager"} {
		for as, want := range map[caller]bool{owner: true, admin: true, bob: false, viewer: false} {
			require.Equal(t, want, decode[m](s.do(as, get, path, nil).is(200))["may_edit"], path)
		}
	}
	found := decode[m](s.do(bob, post, "/v1/integrations/beta/route-test",
		m{"labels": m{"a": "b"}, "rules": []m{{"match": "a=b", "record_only": true}}}).is(200))
	require.Equal(t, true, found["record_only"])
	s.do(bob, post, "/v1/integrations/beta/route-test", m{"rules": []m{{"match": "a=b"}}}).is(400)
	s.do(anonymous, post, "/integrations/beta/rules", formOf("do", "add"), "Content-Type",
		"application/x-www-form-urlencoded", "HX-Request", "true").is(401)
}

func TestIntegrationsAreFilteredByHealth(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for k := range 60 {
		s.do(owner, put, fmt.Sprintf("/v1/integrations/a%02d", k),
			m{"type": "generic", "application": "demo", "default_plan": "pager"}).is(201)
	}
	s.do(owner, put, "/v1/integrations/off", m{"type": "generic", "application": "demo", "default_plan": "pager",
		"enabled": false}).is(201)
	page := s.html(viewer, "/integrations?health=attention")
	require.Contains(t, page, `href="/integrations/off"`, "it is found after the first page of the API")
	require.NotContains(t, page, `href="/integrations/a00"`)
	require.Contains(t, page, `<option value="attention" selected>`)
	require.Contains(t, s.html(viewer, "/integrations?health=silent"), "/integrations?after=", "the next rows")
	require.Contains(t, s.html(viewer, "/integrations?health=works"), "No integration has this health.")
}

func TestSilencesEndAndLastLongerInTheList(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	filled := s.html(owner, "/silences/new?plan=pager&application=demo")
	require.Regexp(t, `name="plan"[^>]* value="pager"`, filled)
	require.Regexp(t, `name="application"[^>]* value="demo"`, filled)
	s.sends(owner, "/silences", "application", "demo", "for_seconds", "1h", "comment", "c").is(303)
	require.NotContains(t, s.html(viewer, "/silences"), "/silences/1/end")
	require.Contains(t, s.html(owner, "/silences"), `action="/silences/1/end"`)
	_, page := s.press(owner, "/silences/1/longer", "for_seconds", "1h", "back", "active")
	require.Contains(t, page, "Silence 1 lasts longer now.")
	require.Contains(t, page, `action="/silences/1/longer"`, "the list")
	require.EqualValues(t, 1, s.number("select count(*) from silences where ends_at > clock_timestamp() + interval '115 minutes'"))
	_, page = s.press(owner, "/silences/1/end", "back", "active")
	require.Contains(t, page, "No silence is in force")
	require.NotContains(t, s.html(owner, "/silences?show=over"), "/silences/1/end")
}

func TestASilenceIsPreviewed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	token := s.sends(owner, "/add-integration", "type", "generic", "name", "ci", "application", "demo", "default_plan",
		"pager").is(200).token()
	s.delivers(token, `{"title": "disk of db1 is full", "labels": {"team": "db"}}`).is(200)
	s.delivers(token, `{"title": "web is slow", "labels": {"team": "web"}}`).is(200)
	found := decode[map[string]any](s.do(bob, post, "/v1/silences/preview",
		m{"application": "demo", "match": `team="db"`}).is(200))
	require.Len(t, found["escalating"], 1)
	require.EqualValues(t, 1, found["recent"])
	require.Equal(t, false, found["partial"])
	s.do(bob, post, "/v1/silences/preview", m{}).is(400).shows("say which incidents")
	s.do(bob, post, "/v1/silences/preview", m{"team": "none"}).is(400).shows("there is no team")
	require.Len(t, decode[map[string]any](s.do(bob, post, "/v1/silences/preview",
		m{"plan": "PAGER"}).is(200))["escalating"], 2)

	form := []string{"do", "preview", "application", "demo", "match", `team="db"`, "for_seconds", "1h"}
	s.sends(owner, "/silences", form...).is(200).shows("It would hide 1 incident that escalates now.",
		"disk of db1 is full", "1 of the incidents of the last 7 days matches")
	s.sends(owner, "/silences", append(form, "recurrence", "FREQ=DAILY")...).is(200).shows("It would be in force:")
	s.sends(owner, "/silences", "do", "preview", "for_seconds", "1h").is(200).shows("say which incidents")
	require.NotContains(t, s.do(owner, get, "/v1/silences", nil).is(200).body, `"id"`, "a preview stores nothing")
	s.do(owner, get, "/silences/new?application=demo&plan=pager",
		nil).is(200).shows(`name="application" type="text" value="demo"`, `name="plan" type="text" value="pager"`)
	s.sends(owner, "/silences", "application", "demo", "for_seconds", "1h", "comment", "c", "recurrence",
		"often").wrong("recurrence", "no RRULE")
	s.sends(owner, "/silences", "application", "demo", "to", "2020-01-01T00:00", "comment", "c").wrong("to",
		"must be after from")
}
