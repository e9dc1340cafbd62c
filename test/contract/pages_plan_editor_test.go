package contract

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// typedPlan returns the fields of the editor for a plan of two steps, with changes as pairs of name and value.
func typedPlan(changes ...string) url.Values {
	v := url.Values{"name": {"night"}, "description": {"by hand"}, "repage_after_seconds": {"1h"}}
	for place, name := range map[string]string{"steps[0][0]": "ann", "steps[1][0]": "bob"} {
		v.Set(place, "notification")
		for field, value := range map[string]string{"target.role": "user", "target.name": name, "priority": "high", "template": "words", "wait_seconds": "5m", "repeat": "1"} {
			v.Set(place+"."+field, value)
		}
	}
	for i := 0; i+1 < len(changes); i += 2 {
		v.Set(changes[i], changes[i+1])
	}
	return v
}

// form sends a form of a page.
func (s *server) form(as caller, path string, v url.Values, header ...string) answer {
	s.Helper()
	return s.do(as, post, path, v.Encode(), append([]string{"Content-Type", form}, header...)...)
}

func do(v url.Values, what string) url.Values {
	v.Set("do", what)
	return v
}

var draftPage = regexp.MustCompile(`<li><div class="mark"><strong>[^<]*</strong></div>`)

func TestPlanIsMadeInTheEditor(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	page := s.do(bob, get, "/plans/new", nil).is(200).body
	require.Contains(t, page, `name="steps[0][0].target.name"`)
	require.Regexp(t, `<select name="team"[^>]*>\s*<option value="" selected>no team: only you</option>\s*<option value="ops">ops</option>\s*</select>`, page, "the teams of the reader")
	require.Contains(t, s.do(admin, get, "/plans/new", nil).is(200).body, `name="team" type="text"`,
		"an administrator may choose any team")
	// The form without JavaScript: each button answers with the whole page and keeps what was typed.
	page = s.form(bob, "/plans/new", do(typedPlan(), "add-step")).is(200).body
	require.Contains(t, page, `name="steps[2][0].priority"`)
	require.Contains(t, page, "<!doctype html>")
	page = s.form(bob, "/plans/new", do(typedPlan(), "down:0"), "HX-Request", "true").is(200).body
	require.NotContains(t, page, "<!doctype html>", "the script gets the form only")
	require.Less(t, strings.Index(page, `value="bob"`), strings.Index(page, `value="ann"`), "step 1 is now the second")
	page = s.form(bob, "/plans/new", do(typedPlan(), "remove:1")).is(200).body
	require.NotContains(t, page, `name="steps[1]`)
	page = s.form(bob, "/plans/new", do(typedPlan(), "add-window:1")).is(200).body
	require.Contains(t, page, `name="steps[1].windows[0].days"`)

	// What is wrong is shown at its field and its step, and nothing is stored.
	for field, wrong := range map[string]string{"steps[1][0].target.name": "nobody-of-that-name", "steps[1][0].template": "no-such-template", "steps[1][0].wait_seconds": "soon",
		"delay_seconds": "48h", "fallback.name": "nobody-of-that-name", "name": "pager"} {
		typed := do(typedPlan(field, wrong), "check")
		if field == "fallback.name" {
			typed.Set("fallback.role", "user")
		}
		page = s.form(bob, "/plans/new", typed, "HX-Request", "true").is(200).body
		require.Contains(t, page, `data-field="`+field+`"`, page)
		require.Contains(t, page, `role="alert"`, field)
		require.Equal(t, strings.HasPrefix(field, "steps[1]"), strings.Contains(page, `data-step="2"`), field)
		a := s.form(bob, "/plans/new", do(typed, "save"))
		require.Contains(t, []int{400, 409}, a.status, field)
		require.Contains(t, a.body, `value="`+wrong+`"`, "the typed value stays")
		require.Contains(t, a.body, `aria-invalid="true"`, field)
	}
	require.EqualValues(t, 1, s.number("select count(*) from plans"))

	// The preview of what is typed is what the saved plan does.
	asked := "2026-12-01T03:00"
	typed := typedPlan("repeat", "1", "delay_seconds", "2m", "at", asked, "assume", "no-ack", "fallback.role", "user",
		"fallback.name", "bob",
		"steps[1].when", "hours", "steps[1].windows[0].from", "00:00", "steps[1].windows[0].to", "24:00", "steps[1].windows[0].days", "tue")
	draft := s.form(bob, "/plans/new", do(typed, "check"), "HX-Request", "true").is(200).body
	require.Len(t, draftPage.FindAllString(draft, -1), 8+1,
		"two rounds of two steps, each paged twice, and the fallback: %s", draft)
	a := s.form(bob, "/plans/new", do(typed, "save")).is(303)
	p := decode[m](s.do(bob, get, "/v1/plans/night", nil).is(200))
	require.Equal(t, "/plans/"+s.text("select max(id)::text from plans"), a.header.Get("Location"))
	require.Equal(t, m{"role": "user", "name": "bob"}, p["fallback"])
	require.Equal(t, []any{"tue"}, p["conditions"].([]any)[0].(m)["windows"].([]any)[0].(m)["days"])
	require.EqualValues(t, 120, decode[m](s.do(bob, get, "/v1/plans/night/settings", nil).is(200))["delay_seconds"])
	saved := s.do(bob, get, "/plans/night?at="+asked+"&assume=no-ack", nil).is(200).body
	require.Contains(t, saved, foreseen(draft), "the table of the preview is that of the saved plan")
	body := m{"plan": "night", "at": "2026-12-01T03:00:00Z", "steps": p["steps"],
		"conditions": []m{{"step": 2, "windows": []m{{"days": []string{"tue"}}}}}}
	for _, step := range p["steps"].([]any) {
		for _, n := range step.([]any) {
			delete(n.(m), "dynamic_index")
		}
	}
	preview := decode[m](s.do(bob, post, "/v1/plans/preview", body).is(200))["simulation"].(m)
	simulation := decode[m](s.do(bob, get, "/v1/plans/night/simulation?at=2026-12-01T03:00:00Z", nil).is(200))
	require.Equal(t, simulation["pages"], preview["pages"])
	require.Equal(t, simulation["timeline"], preview["timeline"])
}

// foreseen returns the table of a preview.
func foreseen(page string) string {
	_, page, _ = strings.Cut(page, "<details><summary>Table</summary>")
	page, _, _ = strings.Cut(page, "</table>")
	return page
}

func TestPlanIsChangedInTheEditor(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.form(bob, "/plans/new", do(typedPlan(), "save")).is(303)
	first := s.text("select max(id)::text from plans")
	page := s.do(bob, get, "/plans/night/edit", nil).is(200).body
	require.Contains(t, page, `name="base" value="`+first+`"`)
	require.Contains(t, page, `name="steps[1][0].wait_seconds" type="text" value="5m"`)
	s.form(bob, "/plans/night/edit", do(typedPlan("base", first, "steps[1][0].wait_seconds", "10m"), "save")).is(303)
	second := s.text("select max(id)::text from plans")
	require.Zero(t, s.number("select count(*) from audit_log where action in ('plan settings changed', 'plan fallback changed')"), "what did not change is not stored")

	// Somebody saved in between: the form says so, keeps what was typed, and the next save replaces that version.
	stale := s.form(bob, "/plans/night/edit", do(typedPlan("base", first, "description", "mine"), "save")).is(412).body
	require.Contains(t, stale, "Somebody else saved a version of this plan since you opened it.")
	require.Contains(t, stale, "mine")
	require.Contains(t, stale, `name="base" value="`+second+`"`)

	versions := s.do(bob, get, "/plans/night/versions?from="+first+"&to="+second, nil).is(200).body
	require.Contains(t, versions, `<div class="del" dir="auto">  page user bob, priority high, template words, again after 5 min, once, then wait 5 min</div>`)
	require.Contains(t, versions, `<div class="add" dir="auto">  page user bob, priority high, template words, again after 10 min, once, then wait 10 min</div>`)
	require.Contains(t, versions, `<div class="same" dir="auto">step 1</div>`)
	s.do(bob, get, "/plans/night/versions?from="+s.text("select min(id)::text from plans"), nil).is(404)

	s.form(bob, "/plans/"+first+"/activate", url.Values{}).is(303)
	require.Equal(t, first, s.text("select plan_id::text from plan_active where name_key = 'night'"))
	require.Contains(t, s.do(bob, get, "/plans/"+second, nil).is(200).body, "This is not the active version.")

	require.Contains(t, s.do(viewer, get, "/plans/night/edit", nil).is(200).body, "You may only read")
	s.form(viewer, "/plans/night/edit", do(typedPlan("base", first), "save")).is(403)
	require.Contains(t, s.do(bob, get, "/plans/new?from=night", nil).is(200).body, `value="copy of night"`)
}

var openedField = regexp.MustCompile(`name="opened" value="([^"]*)"`)

func TestSettingsThatOthersChangedStay(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.form(bob, "/plans/new", do(typedPlan("repeat", "1"), "save")).is(303)
	opened := html.UnescapeString(openedField.FindStringSubmatch(s.do(bob, get, "/plans/night/edit",
		nil).is(200).body)[1])
	set := decode[m](s.do(bob, get, "/v1/plans/night/settings", nil).is(200))
	set["delay_seconds"], set["repeat"] = 120, 3
	s.do(bob, put, "/v1/plans/night/settings", set).is(200)
	s.do(bob, put, "/v1/plans/night/fallback", m{"role": "user", "target": "bob"}).is(200)
	s.form(bob, "/plans/night/edit", do(typedPlan("opened", opened, "repeat", "2"), "save")).is(303)
	now := decode[m](s.do(bob, get, "/v1/plans/night/settings", nil).is(200))
	require.EqualValues(t, 120, now["delay_seconds"], "somebody else set it, and the form did not change it")
	require.EqualValues(t, 2, now["repeat"], "the form changed it")
	require.Equal(t, m{"role": "user", "name": "bob"},
		decode[m](s.do(bob, get, "/v1/plans/night", nil).is(200))["fallback"])
}

func TestPlanThatIsStoredInPartIsSavedAgain(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	// The person of the fallback is switched off between the check and the last request.
	s.exec(`create function switch_off() returns trigger language plpgsql as $$ begin update users set active = false where name = 'root'; return null; end $$;
		create trigger switch_off after insert on plans execute function switch_off()`)
	typed := typedPlan("repeat", "7", "fallback.role", "user", "fallback.name", "root")
	page := s.form(bob, "/plans/new", do(typed, "save")).is(400).body
	first := s.text("select max(id)::text from plans")
	require.Contains(t, page, "The steps are stored, as version "+first+". Not stored: the fallback.")
	require.Contains(t, page, `action="/plans/night/edit"`, "the form continues with the stored plan")
	require.Contains(t, page, `name="base" value="`+first+`"`)
	require.EqualValues(t, 7, decode[m](s.do(bob, get, "/v1/plans/night/settings", nil).is(200))["repeat"])
	s.exec("drop trigger switch_off on plans; update users set active = true where name = 'root'")
	typed.Set("base", first)
	s.form(bob, "/plans/night/edit", do(typed, "save")).is(303)
	require.Equal(t, m{"role": "user", "name": "root"},
		decode[m](s.do(bob, get, "/v1/plans/night", nil).is(200))["fallback"])
}

func TestPlanIsPausedTestedAndRetired(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.form(bob, "/plans/new", do(typedPlan("steps[0][0].priority", "low"), "save")).is(303)
	s.form(bob, "/plans/night/paused", url.Values{"paused": {"true"}}).is(303)
	require.Equal(t, true, decode[m](s.do(bob, get, "/v1/plans/night", nil).is(200))["paused"])
	s.form(bob, "/plans/night/edit", do(typedPlan(), "save")).is(303)
	require.Equal(t, true, decode[m](s.do(bob, get, "/v1/plans/night", nil).is(200))["paused"],
		"a new version stays paused")
	require.Contains(t, s.do(bob, get, "/plans", nil).is(200).body, "paused: nobody is paged")
	s.do(bob, put, "/v1/plans/night/paused", m{"paused": false}).is(200)
	s.do(bob, put, "/v1/plans/night/paused", m{}).problem(400, "paused")
	require.EqualValues(t, 1, s.number("select count(*) from audit_log where action = 'plan paused' and object = 'plan night' and actor = 'bob'"))
	require.EqualValues(t, 1, s.number("select count(*) from audit_log where action = 'plan resumed'"))

	// A test goes to the reader only, and opens no incident. With an application it has the text of the template.
	s.exec("delete from messages; delete from notification_requests")
	require.Contains(t, s.do(viewer, get, "/plans/night/test", nil).is(200).body, "nobody else is paged")
	s.form(bob, "/plans/night/test", url.Values{}).is(303)
	require.Equal(t, "bob TEST of plan night, priority high",
		s.text("select string_agg(m.target || ' ' || r.subject, ';') from messages m join notification_requests r on r.id = m.request_id"))
	require.Contains(t, s.do(bob, get, "/plans/night/test", nil).is(200).body, `<option value="demo"`)
	s.do(admin, put, "/v1/applications/demo", m{"variables": []string{"host"}, "sample_context": m{"host": "db1"},
		"modes": []string{"email", "sms", "call"}}).is(200)
	s.do(admin, put, "/v1/templates/words",
		m{"content": []m{{"application": "demo", "mode": "email", "subject": "{{ host }} is down",
			"body": "look at {{ host }}"}}}).is(200)
	s.exec("delete from messages; delete from notification_requests")
	s.form(bob, "/plans/night/test", url.Values{"application": {"demo"}}).is(303)
	require.Regexp(t, "^TEST of plan night, priority high: db1 is down$",
		s.text("select subject from notification_requests"))
	require.Contains(t, s.text("select body from notification_requests"), "look at db1")
	require.NotContains(t, s.text("select body from notification_requests"), "/a/preview",
		"an answer to the test would acknowledge an incident")
	s.form(bob, "/plans/night/test", url.Values{"application": {"none"}}).is(400)
	require.Zero(t, s.number("select count(*) from incidents"))

	// The page gives the plan to a team, and has links to related pages.
	page := s.do(bob, get, "/plans/night", nil).is(200).body
	require.Contains(t, page, `href="/silences/new?plan=night"`)
	require.NotContains(t, page, "/audit-log?", "administrators read it")
	require.Contains(t, s.do(admin, get, "/plans/night", nil).is(200).body, `href="/audit-log?object=plan+night"`)
	refused := s.form(bob, "/plans/night/owner", url.Values{"team": {"no such team"}}).is(400).body
	require.Contains(t, refused, `value="no such team"`)
	s.form(bob, "/plans/night/owner", url.Values{"team": {"ops"}}).is(303)
	require.Equal(t, "ops", decode[m](s.do(bob, get, "/v1/plans/night", nil).is(200))["team"])

	// What is wrong with plans, and what uses them.
	s.exec("delete from template_active where name_key = 'words'")
	uses := decode[m](s.do(bob, get, "/v1/plans/night/uses", nil).is(200))
	require.Contains(t, uses["warnings"], "no such template: words")
	require.Nil(t, uses["last_used_at"])
	s.exec("update applications set default_plan = 'night' where name = 'demo'")
	require.Equal(t, []any{"default plan of application demo"},
		decode[m](s.do(bob, get, "/v1/plans/night/uses", nil).is(200))["used_by"])
	require.Contains(t, s.do(bob, get, "/plans/night", nil).is(200).body, "default plan of application demo")
	s.do(bob, get, "/v1/plan-uses", nil).problem(400, "id")
	s.do(bob, get, "/v1/plan-uses?id=x", nil).problem(400, "id")
	require.Empty(t, decode[m](s.do(bob, get, "/v1/plan-uses?id=999999", nil).is(200))["items"])

	s.form(bob, "/plans/night/retire", url.Values{}).is(409)
	s.form(bob, "/plans/night/retire", url.Values{"force": {"true"}}).is(303)
	s.do(bob, get, "/v1/plans/night", nil).is(404)
	require.Contains(t, s.do(bob, get, "/plans/night", nil).is(200).body, "This plan is retired")
}

func TestListOfPlans(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	names := func(as caller, query string) (out []string) {
		t.Helper()
		for _, p := range decode[m](s.do(as, get, "/v1/plans"+query, nil).is(200))["items"].([]any) {
			out = append(out, p.(m)["name"].(string))
		}
		slices.Sort(out)
		return out
	}
	s.form(bob, "/plans/new", do(typedPlan("name", "bobs"), "save")).is(303)
	s.form(caller{name: "ann", session: "ann"}, "/plans/new",
		do(typedPlan("name", "of the team <b>", "team", "ops"), "save")).is(303)
	require.Contains(t, names(bob, "?member=bob"), "of the team <b>")
	require.Contains(t, names(bob, "?member=bob"), "bobs")
	require.NotContains(t, names(bob, "?member=ann"), "bobs")
	require.Equal(t, []string{"of the team <b>"}, names(bob, "?search=TEAM"))
	page := s.do(bob, get, "/plans", nil).is(200).body
	require.Contains(t, page, "of the team &lt;b&gt;")
	require.Contains(t, s.do(bob, get, "/plans?show=all&name=no-such-plan", nil).is(200).body, "No plan matches.")
	require.Contains(t, s.do(viewer, get, "/plans?show=mine", nil).is(200).body, "You and your teams own no plan.")
	require.Contains(t, s.do(viewer, get, "/plans", nil).is(200).body, "bobs", "all plans, because the reader has none")
}

func TestLargePlansAreEdited(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	large := func(name string, steps, notifications int) {
		all := make([][]m, steps)
		for i := range all {
			for range notifications {
				all[i] = append(all[i], m{"target": m{"role": "user", "name": "ann"}, "priority": "high",
					"template": "words", "wait_seconds": 1, "repeat": 0})
			}
		}
		s.do(bob, post, "/v1/plans", m{"name": name, "steps": all}).is(201)
	}
	large("long", 300, 1)
	page := s.do(bob, get, "/plans/long/edit", nil).is(200).body
	typed := url.Values{}
	for _, found := range regexp.MustCompile(`<(?:input|option|textarea)[^>]*>`).FindAllString(page, -1) {
		if m := regexp.MustCompile(`name="(steps[^"]*)"[^>]*value="([^"]*)"`).FindStringSubmatch(found); m != nil && !strings.Contains(found, "checkbox") {
			typed.Set(m[1], m[2])
		}
	}
	for i := range 300 {
		place := fmt.Sprintf("steps[%d][0].", i)
		typed.Set(place+"target.role", "user")
		typed.Set(place+"priority", "low")
	}
	typed.Set("base", s.text("select max(id)::text from plans"))
	s.form(bob, "/plans/long/edit", do(typed, "save")).is(303)
	steps := decode[m](s.do(bob, get, "/v1/plans/long", nil).is(200))["steps"].([]any)
	require.Len(t, steps, 300, "no step is lost")
	require.Equal(t, "low", steps[299].([]any)[0].(m)["priority"])

	large("too large", 2, 600)
	require.Contains(t, s.do(bob, get, "/plans/too large/edit", nil).is(409).body, "too many notifications for a form")
}
