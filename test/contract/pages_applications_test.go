package contract

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// applicationsPages are the rows of pages (see pages).
func applicationsPages() []right {
	const owners = "111113oo3" // ann owns demo
	var out []right
	for _, path := range []string{"/applications", "/applications?name=d", "/applications/new", "/applications/demo", "/applications/demo/edit"} {
		out = append(out, right{get, path, nil, 200, people, nil})
	}
	withSecond := func(s *server) { s.do(admin, post, "/v0/applications/demo/secondary", nil) }
	return append(out,
		right{get, "/v1/applications/demo/quota", nil, 200, "", func(s *server) {
			s.do(admin, post, "/applications/demo/quota", quotaForm(), "Content-Type", form).is(303)
		}},
		right{post, "/applications/new", formOf("name", "spare2"), 303, "1111133o3",
			func(s *server) { s.exec("delete from applications where name = 'spare2'") }},
		right{post, "/applications/demo/edit", formOf("variables", "host\nmessage", "owners", "ann", "modes", "email"),
			303, owners, nil},
		right{post, "/applications/demo/key", nil, 200, owners, nil},
		right{post, "/applications/demo/second-key", nil, 200, owners,
			func(s *server) { s.exec("update applications set secondary_key_sealed = null where name = 'demo'") }},
		right{post, "/applications/demo/secondary", nil, 200, owners, withSecond},
		right{post, "/applications/demo/quota", quotaForm("plan", "pager"), 303, owners, nil},
		right{post, "/applications/demo/quota/remove", nil, 303, owners, nil},
		right{post, "/applications/demo/categories", formOf("name", "news", "mode", "email", "description", "d"), 303,
			owners, nil},
		right{post, "/applications/demo/addresses", formOf("email", "in2@example.com", "plan", "pager"), 303, owners,
			nil},
		right{post, "/applications/demo/fallback", formOf("role", "user", "target", "bob"), 303, owners, nil},
		right{post, "/applications/demo/owner", formOf("team", ""), 303, owners, nil},
		right{post, "/applications/demo/rename", formOf("name", "demo3"), 303, owners, demoAgain},
		right{post, "/applications/spare3/delete", nil, 303, owners, func(s *server) {
			demoAgain(s)
			s.exec(`insert into applications (name) values ('spare3') on conflict do nothing;
				insert into application_owners select a.id, u.id from applications a, users u where a.name = 'spare3' and u.name = 'ann' on conflict do nothing`)
		}},
		right{post, "/applications/demo/rekey", nil, 303, owners, func(s *server) {
			s.exec("update applications set key_sealed = key_sealed where name = 'demo'")
			withSecond(s)
		}},
		right{get, "/v1/applications?mine=true", nil, 200, "", func(s *server) { // the key has changed
			s.keys["demo"] = decode[map[string]string](s.do(admin, get, "/v0/applications/demo/key",
				nil).is(200))["key"]
		}},
	)
}

// demoAgain gives the application demo its name back.
func demoAgain(s *server) { s.exec("update applications set name = 'demo' where name = 'demo3'") }

// quotaForm returns the form of a quota with other values for some fields.
func quotaForm(pairs ...string) string {
	all := []string{"soft_threshold", "5", "soft_seconds", "90s", "hard_threshold", "10",
		"hard_seconds", "2m", "plan", "pager", "target", "ann", "wait_seconds", "3m"}
	for i := 0; i+1 < len(pairs); i += 2 {
		for j := 0; j < len(all); j += 2 {
			if all[j] == pairs[i] {
				all[j+1] = pairs[i+1]
			}
		}
	}
	return formOf(all...)
}

var shownKey = regexp.MustCompile(`<div class="flash secret"[^>]*>(?s:.*?)<pre[^>]*>([^<]+)</pre>`)

// key returns the key that a page shows once.
func (a answer) key() string {
	a.Helper()
	found := shownKey.FindStringSubmatch(a.is(200).body)
	require.Len(a, found, 2, "the page shows a key: %.400s", a.body)
	return found[1]
}

func TestAKeyIsRotatedInTheBrowser(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	works := func(key string) bool {
		s.keys["demo"] = key
		return s.do(demo, get, "/v1/applications/demo", nil).status == http.StatusOK
	}
	old := s.keys["demo"]
	require.NotContains(t, s.do(owner, get, "/applications/demo", nil).is(200).body, old,
		"the page shows no key by itself")
	require.Equal(t, old, s.submit(owner, "/applications/demo/key").key())
	s.submit(owner, "/applications/demo/secondary").is(409)
	require.Contains(t, s.submit(owner, "/applications/demo/rekey").is(409).body, "has no secondary key")
	fresh := s.submit(owner, "/applications/demo/second-key").key()
	require.NotEqual(t, old, fresh)
	page := s.do(owner, get, "/applications/demo", nil).is(200).body
	require.NotContains(t, page, fresh, "it is shown once")
	require.Contains(t, page, "Two keys are valid")
	require.Contains(t, s.submit(owner, "/applications/demo/second-key").is(409).body, "has a secondary key already")
	require.True(t, works(old))
	require.True(t, works(fresh))
	require.Contains(t, s.submit(owner, "/applications/demo/rekey").follow(owner).body, "The old key is removed")
	require.False(t, works(old))
	require.True(t, works(fresh))
	for _, as := range []caller{bob, viewer} {
		refused := s.submit(as, "/applications/demo/key").is(403)
		require.NotContains(t, refused.body, fresh)
		require.NotContains(t, s.do(as, get, "/applications/demo", nil).is(200).body, "Show the key",
			"who may not sees no button")
	}
}

func TestAnApplicationIsSetUpInTheBrowser(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	require.Contains(t, s.submit(bob, "/applications/new", "name", "shop").is(403).body, `value="shop"`)
	require.Contains(t, s.submit(admin, "/applications/new", "name", " ").is(400).body, `aria-invalid="true"`)
	require.Contains(t, s.submit(admin, "/applications/new", "name", "demo").is(409).body, `value="demo"`)
	require.Contains(t, s.submit(admin, "/applications/new", "name", "shop").follow(admin).body, "Settings of shop")

	at := "/applications/demo"
	etag := func() string { return s.do(owner, get, "/v1/applications/demo", nil).header.Get("ETag") }
	before := etag()
	save := func(as caller, pairs ...string) answer {
		return s.submit(as, "/applications/demo/edit",
			append([]string{"etag", etag(), "variables", "host\nmessage", "owners", "ann"}, pairs...)...)
	}
	saved := save(owner, "title_variable", "message", "sample_context", `{"host": "db1"}`, "sender_email",
		"shop@example.com").follow(owner).body
	for _, want := range []string{"The settings are saved", "shop@example.com", "&#34;host&#34;: &#34;db1&#34;"} {
		require.Contains(t, saved, want)
	}
	s.exec("update applications set summary_template = '{{host}}' where name = 'demo'")
	s.do(owner, put, "/v1/applications/demo", m{"variables": []string{"host", "message"}}).is(200)
	require.Contains(t, s.do(owner, get, "/v0/applications/demo", nil).body, `"summary_template":"{{host}}"`,
		"only /v0 has and changes this text, which Iris does not render")
	require.NotContains(t, s.do(owner, get, "/applications/demo/edit", nil).body, "{{host}}")
	s.do(owner, put, "/v1/applications/demo", m{"variables": []string{"host"}, "summary_template": "x"}).problem(400,
		"summary_template")
	require.Contains(t, s.do(owner, get, "/v1/applications/demo", nil).body, `"host":"db1"`,
		"clients that do not know the sample context do not clear it")
	save(owner, "required_variables", "message").follow(owner)
	require.Equal(t, []any{"message"}, decode[m](s.do(owner, get, "/v1/applications/demo", nil))["required_variables"])
	s.do(owner, put, "/v1/applications/demo", m{"variables": []string{"host", "message"}}).is(200)
	require.Contains(t, s.do(owner, get, at+"/edit", nil).body, ">\nmessage</textarea>",
		"without the member, variables stay required")
	for want, pairs := range map[string][]string{
		"must be among":                        {"required_variables", "none"},
		"line 2, column 11":                    {"sample_context", "{\n  \"host\": db1\n}"},
		"it must be an object":                 {"sample_context", "[1]"},
		"there is text after":                  {"sample_context", "{} x"},
		"must be one of":                       {"title_variable", "none"},
		"must be an e-mail":                    {"sender_email", "nowhere"},
		"must be a mode that the application ": {"mode.high", "drop"},
		"there is no user":                     {"owners", "ann, nobody-there"},
	} {
		if pairs[0] == "owners" {
			pairs = []string{"etag", etag(), "variables", "typed", pairs[0], pairs[1]}
			refused := s.submit(owner, "/applications/demo/edit", pairs...).is(400)
			require.Contains(t, refused.body, want)
			require.Regexp(t, `name="owners"[^>]*aria-invalid="true"`, refused.body)
			continue
		}
		refused := save(owner, pairs...).is(400)
		require.Contains(t, refused.body, want)
		if !strings.HasPrefix(pairs[0], "mode") {
			require.Regexp(t, `name="`+pairs[0]+`"[^>]*aria-invalid="true"`, refused.body, "the field is named")
		}
	}
	require.Contains(t, s.submit(owner, "/applications/demo/edit", "etag", before, "variables", "typed", "owners",
		"ann").is(412).body, "typed")
	s.savesAgain("/applications/demo/edit", "etag", before, "variables", "host\nmessage", "owners", "ann")
	require.Contains(t, save(bob, "title_variable", "message").is(403).body, `value="message"`)
	save(owner, "modes", "drop").follow(owner)
	require.NotContains(t, s.do(owner, get, "/v1/applications/demo", nil).body, `"drop"`,
		"only administrators change modes")
	save(admin, "modes", "email", "modes", "drop", "mode.low", "drop").follow(admin)
	require.Contains(t, s.do(owner, get, "/v1/applications/demo", nil).body, `"low":"drop"`)

	require.Contains(t, s.do(owner, post, at+"/quota", quotaForm(), "Content-Type", form).follow(owner).body,
		"10 messages in 2m:")
	require.EqualValues(t, 90, decode[m](s.do(bob, get, "/v1/applications/demo/quota", nil).is(200))["soft_seconds"])
	require.Regexp(t, `name="soft_seconds"[^>]*value="1m30s"`, s.do(owner, get, at, nil).body,
		"no second is lost")
	s.exec(`insert into sliding_counts (key, state) select 'quota:' || id, jsonb_build_object('w', jsonb_build_object('e', jsonb_build_array(
		jsonb_build_object('t', floor(extract(epoch from clock_timestamp() - interval '90 s') * 1000), 'n', 4), jsonb_build_object('t', floor(extract(epoch from clock_timestamp()) * 1000), 'n', 2))))
		from applications where name = 'demo'`)
	used := decode[m](s.do(bob, get, "/v1/applications/demo/quota", nil).is(200))
	require.Equal(t, []any{6.0, 2.0}, []any{used["hard_use"], used["soft_use"]},
		"in the last two minutes, and in the last minute")
	require.Contains(t, s.do(bob, get, at, nil).body, "<strong>6 now</strong>")
	s.do(bob, get, "/v1/applications/other/quota", nil).is(404)
	bad := s.do(owner, post, at+"/quota", quotaForm("hard_threshold", "3"), "Content-Type", form).is(400)
	require.Contains(t, bad.body, "must be above soft_threshold")
	require.Regexp(t, `name="hard_threshold"[^>]*value="3"[^>]*aria-invalid="true"`, bad.body)
	require.Contains(t, s.do(owner, post, at+"/quota", quotaForm("wait_seconds", "soon"), "Content-Type",
		form).is(400).body, "is no period")
	require.Contains(t, s.do(owner, post, at+"/quota", quotaForm("plan", "none"), "Content-Type",
		form).is(400).body, `value="none"`)
	require.Contains(t, s.submit(owner, at+"/quota/remove").follow(owner).body, "no quota of its own")

	require.Contains(t, s.submit(owner, at+"/categories", "name", "news", "mode", "sms", "description", "What is new",
		"name", "", "mode", "email", "description", "").follow(owner).body, "What is new")
	require.Contains(t, s.submit(owner, at+"/categories", "name", "a", "mode", "sms", "description", "d", "name", "A",
		"mode", "email", "description", "typed").is(400).body, `value="typed"`)
	require.Contains(t, s.submit(owner, at+"/addresses", "email", "db@example.com", "plan",
		"pager").follow(owner).body, "db@example.com")
	require.Contains(t, s.submit(owner, at+"/addresses", "email", "db", "plan", "pager").is(400).body,
		"is not an e-mail address")
	require.Contains(t, s.submit(owner, at+"/addresses", "email", "db@example.com", "plan", "none").is(400).body,
		`value="none"`)
	require.Contains(t, s.submit(owner, at+"/fallback", "role", "user", "target", "bob").follow(owner).body,
		"<bdi>bob</bdi> is paged")
	require.Contains(t, s.submit(owner, at+"/fallback", "role", "user", "target", "nobody-there").is(400).body,
		`value="nobody-there"`)
	require.Contains(t, s.submit(owner, at+"/fallback", "role", "user", "target", "").follow(owner).body,
		"no fallback now")
	require.Contains(t, s.submit(admin, at+"/owner", "team", "ops").follow(admin).body, "Team ops owns demo now")
	require.Contains(t, s.do(bob, get, "/applications", nil).body, `href="/applications?show=mine" aria-current="page"`)
	require.Contains(t, s.submit(bob, at+"/owner", "team", "none").body, `value="none"`)
	require.Contains(t, s.submit(owner, at+"/delete").is(409).body, "problem")
	require.Contains(t, s.submit(owner, at+"/rename", "name", "other").is(409).body, `value="other"`)
	require.Contains(t, s.submit(owner, at+"/rename", "name", "demo shop").follow(owner).body,
		"<h1 dir=\"auto\">demo shop</h1>")
	require.Contains(t, s.submit(admin, "/applications/shop/delete").follow(admin).body, "is deleted")
	require.Contains(t, s.do(bob, get, "/applications?name=mo+sh", nil).is(200).body, "demo shop")
	s.do(bob, get, "/applications/none", nil).is(404)
}
