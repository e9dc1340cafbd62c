package contract

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// textsPages are the rows of pages (see pages).
func textsPages() []right {
	text := []string{"application", "demo", "email.subject", "s {{ host }}", "email.body", "b"}
	out := []right{}
	for _, path := range []string{"/templates", "/templates?name=w", "/templates/new", "/templates/new?from=words", "/templates/words", "/templates/words/edit", "/templates/words/versions"} {
		out = append(out, right{get, path, nil, 200, people, nil})
	}
	return append(out,
		right{post, "/templates/new", formOf(append([]string{"name", "new words"}, text...)...), 303, "11111ooo3",
			func(s *server) { s.exec("delete from template_active where name_key = 'new words'") }},
		right{post, "/templates/preview", formOf(append([]string{"mode", "email"}, text...)...), 200, "11111ooo3", nil},
		right{post, "/templates/preview/html", formOf(text...), 200, "11111ooo3", nil},
		right{post, "/templates/spare/edit", formOf(append([]string{"base", ""}, text...)...), 303, "11111ooo3", nil},
		right{post, "/templates/{spare template}/activate", nil, 303, "11111ooo3", spareOfBob},
		right{post, "/templates/spare/owner", formOf("team", ""), 303, "11111o3o3", spareOfBob},
		right{post, "/templates/spare words/delete", nil, 303, "11111o3o3", spareWords},
		right{post, "/v1/templates/preview", m{"application": "demo", "mode": "email", "body": "b"}, 200, "", nil},
	)
}

// spareOfBob makes bob the author of all versions of the template spare again.
func spareOfBob(s *server) {
	s.exec("update templates set creator_id = (select id from users where name = 'bob') where name = 'spare'")
}

// spareWords makes a template of bob.
func spareWords(s *server) {
	s.exec(`delete from template_active where name_key = 'spare words';
		with t as (insert into templates (name, creator_id) select 'spare words', id from users where name = 'bob' returning id, name) insert into template_active select name, id from t`)
}

// submit sends a form of a page. A name may be given several times.
func (s *server) submit(as caller, path string, pairs ...string) answer {
	s.Helper()
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return s.do(as, post, path, v.Encode(), "Content-Type", form)
}

// follow opens the address that a form leads to.
func (a answer) follow(as caller) answer {
	a.Helper()
	return a.do(as, get, a.is(http.StatusSeeOther).header.Get("Location"), nil).is(200)
}

func TestATemplateIsWrittenAndChangedInTheBrowser(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.submit(bob, "/templates/new", "name", "disk words", "application", "demo", "sms.body",
		"{{ host }} is full").follow(bob)
	require.Contains(t, made.body, "Saved as version")
	require.Contains(t, made.body, "{{ host }} is full")
	require.Contains(t, s.do(bob, get, "/templates", nil).body, "disk words", "one's own are shown first")
	require.NotContains(t, s.do(owner, get, "/templates?show=mine", nil).body, "disk words")
	require.Contains(t, s.do(bob, get, "/templates?name=isk+w", nil).body, "disk words")
	require.NotContains(t, s.do(bob, get, "/templates?name=nothing", nil).body, "disk words")

	again := s.submit(bob, "/templates/new", "name", "disk words", "application", "demo", "sms.body",
		"typed text").is(409)
	require.Contains(t, again.body, "typed text", "the typed values stay")
	nowhere := s.submit(bob, "/templates/new", "name", "x", "application", "none", "sms.body", "typed text").is(400)
	require.Contains(t, nowhere.body, "Application none not found")
	wrong := s.submit(bob, "/templates/disk words/edit", "application", "demo", "sms.body", "fine", "email.body",
		"a\n{{ host | nofilter }}").is(400)
	require.Regexp(t, `<textarea name="email.body"[^>]*aria-invalid="true"`, wrong.body, "the field is named")
	require.Contains(t, wrong.body, "line 2")
	empty := s.submit(bob, "/templates/disk words/edit", "application", "demo").is(400)
	require.Contains(t, empty.body, "write a text in at least one mode")

	first := s.number("select max(id) from templates")
	edited := s.submit(bob, "/templates/disk words/edit", "base", fmt.Sprint(first), "application", "demo", "sms.body",
		"{{ host }} is nearly full", "call.body", "{{ host }}").follow(bob)
	require.Contains(t, edited.body, "nearly full")
	s.submit(bob, "/templates/disk words/edit", "base", fmt.Sprint(first), "application", "demo", "sms.body",
		"of an old tab").is(412)
	other := s.submit(bob, "/templates/disk words/edit", "application", "other", "email.body",
		"{{ title }}").follow(bob)
	require.Contains(t, other.body, "nearly full", "the texts of other applications stay")
	require.Contains(t, s.do(bob, get, "/templates/disk words/edit?application=demo", nil).is(200).body, "nearly full")
	difference := s.do(bob, get, fmt.Sprintf("/templates/disk words/versions?from=%d", first), nil).is(200).body
	require.Contains(t, difference, `<div class="del" dir="auto">{{ host }} is full</div>`)
	require.Contains(t, difference, `<div class="add" dir="auto">{{ host }} is nearly full</div>`)
	require.NotContains(t, s.submit(bob, fmt.Sprintf("/templates/%d/activate", first)).follow(bob).body,
		"nearly full</pre>")
	s.do(bob, get, "/templates/disk words/versions?from=1", nil).is(404)
	s.do(bob, get, "/templates/"+s.text("select max(id)::text from templates")+"/edit", nil).is(409)

	require.Contains(t, s.submit(viewer, "/templates/disk words/edit", "application", "demo", "sms.body",
		"x").is(403).body, "<h1")
	s.exec("insert into users (name, canonical_name) values ('sid', 'sid')")
	require.Contains(t, s.submit(bob, "/templates/disk words/owner", "team", "none").is(400).body,
		"there is no active team")
	require.Contains(t, s.submit(owner, "/templates/disk words/delete").is(403).body, "problem",
		"a colleague may change it, but not delete it")
	s.submit(bob, "/templates/disk words/delete").follow(bob)
	require.Contains(t, s.do(bob, get, "/templates/disk words", nil).is(200).body, "not active")
	require.Contains(t, s.do(bob, get, fmt.Sprintf("/templates/%d", first), nil).is(200).body, "Activate this version")
}

func TestDraftsAreRenderedAsTheyWouldBeSent(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.do(owner, put, "/v1/applications/demo", m{"variables": []string{"host", "message"}, "title_variable": "host",
		"sample_context": m{"host": "db1", "message": "<full>"}}).is(200)
	ask := func(body m, status int) m {
		t.Helper()
		for name, value := range (m{"application": "demo", "mode": "email"}) {
			if body[name] == nil {
				body[name] = value
			}
		}
		return decode[m](s.do(bob, post, "/v1/templates/preview", body).is(status))
	}
	mail := ask(m{"subject": "{{ host }}", "body": "{{ message }} {{ iris.title }}",
		"email_html": "<b>{{ message }}</b>"}, 200)
	require.Contains(t, mail["subject"], "db1")
	require.Contains(t, mail["body"], "<full> db1")
	require.Contains(t, mail["email_html"], "<b>&lt;full&gt;</b>")
	require.Empty(t, mail["errors"])
	sms := ask(m{"mode": "sms", "body": "{{ host }}" + strings.Repeat("x", 200)}, 200)
	require.InEpsilon(t, 2, sms["segments"], 0)
	slack := ask(m{"mode": "slack", "body": "{{ message }}"}, 200)
	require.Contains(t, slack["slack"].(m)["body"], "&lt;full&gt;")
	alert := ask(m{"source": "alertmanager", "body": "{{ alerts|length }} {{ commonLabels.alertname }}"}, 200)
	require.Regexp(t, `^3 \w+`, alert["body"])
	require.Contains(t, ask(m{"context": m{"host": "h"}, "body": "{{ host }}"}, 200)["body"], "h")

	id := s.open()
	incident := ask(m{"incident": id, "body": "{{ host }} {{ iris.incident_id }} {{ iris.plan }}"}, 200)
	require.Contains(t, incident["body"], fmt.Sprintf(" %d pager", id))

	failed := ask(m{"subject": "{{ nothing.at.all }}", "body": "one\ntwo {{ host | nofilter }}\n",
		"email_html": "{% for x in %}"}, 200)
	require.Equal(t, []any{
		m{"part": "subject", "line": 1.0, "column": 4.0, "message": "UndefinedError: 'nothing' is undefined"},
		m{"part": "body", "line": 2.0, "column": 15.0, "message": "TemplateAssertionError: no filter named 'nofilter'"},
		m{"part": "email_html", "line": 1.0, "column": 13.0, "message": failed["errors"].([]any)[2].(m)["message"]},
	}, failed["errors"])
	require.Contains(t, failed["problem"], "plain text")
	require.Contains(t, failed["body"], "db1", "the built-in text")
	endless := ask(m{"body": "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% set x = a %}{% endfor %}{% endfor %}{% endfor %}"}, 200)
	require.Len(t, endless["errors"], 1, "the limits of delivery apply")
	require.Len(t, ask(m{"body": "{% set s = host * 1000 * 1000 * 1000 %}{{ s }}"}, 200)["errors"], 1)

	for field, body := range map[string]m{"mode": {"mode": "fax"}, "application": {"application": "none"}, "incident": {"incident": 999999}, "source": {"source": "none"},
		"priority": {"priority": "none"}} {
		require.Contains(t, ask(body, 400)["detail"], "no ", field)
	}
	ask(m{"incident": id, "context": m{}}, 400)
	ask(m{"context": []int{1}}, 400)
	require.Equal(t, int64(0), s.number("select count(*) from templates where name = 'draft'"))
}

func TestTheEditorShowsPreviews(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.do(owner, post, "/v1/incidents", m{"plan": "pager", "application": "demo", "title": "t",
		"context": m{"host": "web7", "message": "slow"}}).is(201)
	id := int64(decode[m](made)["id"].(float64))
	all := s.submit(owner, "/templates/words/edit", "do", "preview", "application", "demo", "incident", fmt.Sprint(id),
		"email.subject", "{{ host }}", "email.body", "{{ message }}",
		"sms.body", "{{ host }}: {{ message }}", "slack.body", `{"blocks": [{"type": "header", "text": {"type": "plain_text", "text": "{{ host }} down"}}, {"type": "divider"}]}`,
		"call.body", "{{ hots.x }}")
	require.Contains(t, all.is(200).body, "web7: slow", "the real incident")
	require.Contains(t, all.body, `<iframe name="mail" sandbox `)
	require.Contains(t, all.body, `<div class="header" dir="auto">web7 down</div>`)
	require.Contains(t, all.body, "Body, line 1, column 4")
	require.Contains(t, all.header.Get("Content-Security-Policy"), "style-src 'self';")
	mail := s.submit(owner, "/templates/preview/html", "application", "demo", "incident", fmt.Sprint(id),
		"email.email_html", `<b style="color:red">{{ host }}</b>`)
	require.Contains(t, mail.is(200).body, `<b style="color:red">web7</b>`)
	require.Contains(t, mail.header.Get("Content-Security-Policy"), "sandbox; default-src 'none'",
		"the frame may load nothing")

	part := s.submit(owner, "/templates/preview", "mode", "sms", "application", "demo", "sample",
		fmt.Sprintf("incident:%d", id), "sms.body", "{{ host }} <b>")
	require.Contains(t, part.is(200).body, "web7 &lt;b&gt;")
	require.NotContains(t, part.body, "<html")
	require.Contains(t, s.submit(owner, "/templates/preview", "mode", "sms", "application", "none", "sms.body",
		"x").is(200).body, "there is no application")
	require.Contains(t, s.submit(owner, "/templates/preview", "mode", "sms", "application", "demo", "incident", "many",
		"sms.body", "x").is(200).body, "type the number of an incident")
	require.Contains(t, s.do(owner, get, "/templates/words/edit", nil).body, fmt.Sprintf(`value="incident:%d"`, id),
		"recent incidents are offered")
}
