package contract

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// homePages are the rows of pages (see pages): home and the changes of an incident. Without a session, the
// acknowledgement is offered again after the log-in; a page keeps the values of the other forms.
func homePages() []right {
	out := []right{{get, "/", nil, 200, people, nil}, {post, "/incidents/1/acknowledge", nil, 303, "kkkkkooo3",
		unowned}}
	for path, body := range map[string]string{"reopen": "", "resolve": "", "unresolve": "", "page": formOf("role", "user", "name", "bob"), "snooze": formOf("for", "30m"),
		"comments": formOf("content", "c")} {
		out = append(out, right{post, "/incidents/1/" + path, body, 303, "11111ooo3", unresolved})
	}
	return append(out,
		right{post, "/incidents/1/escalate", "", 303, "11111ooo3", unresolved},
		right{post, "/incidents/1/restart", "", 303, "11111ooo3", unowned},
		right{post, "/incidents/1/merge", formOf("into", "900"), 303, "11111ooo3", withParent},
		right{post, "/incidents/1/unmerge", "", 303, "11111ooo3", merged},
		right{post, "/incidents/1/reassign", formOf("owner", "bob"), 303, "11111ooo3", owned},
	)
}

// html returns the page at a path.
func (s *server) html(as caller, path string) string {
	s.Helper()
	a := s.do(as, get, path, nil)
	require.Equal(s, http.StatusOK, a.status, "%s: %.300s", path, a.body)
	return a.body
}

// press sends a form and returns the page that follows. A refusal is a page too.
func (s *server) press(as caller, path string, values ...string) (status int, page string) {
	s.Helper()
	a := s.do(as, post, path, formOf(values...), "Content-Type", form)
	if a.status == http.StatusSeeOther {
		to, err := url.Parse(a.header.Get("Location"))
		require.NoError(s, err)
		return a.status, s.html(as, to.RequestURI())
	}
	return a.status, a.body
}

func TestHomeShowsWhatNeedsTheReader(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.join("new")
	page := s.html(caller{name: "a newcomer", session: "new"}, "/")
	require.Contains(t, page, "First steps")
	require.Contains(t, page, "/v1/hooks/generic")
	require.Contains(t, page, "You are in no team")
	require.Contains(t, page, "Nothing pages you")
	require.NotContains(t, page, "could not be read")

	s.roster()
	now := time.Now().Unix()
	s.event("ann", "primary", now-3600, now+3*3600)
	s.event("ann", "primary", now+2*86400, now+3*86400)
	s.do(owner, put, "/v1/teams/ops/coverage/primary", m{"cover": "always", "hours": []string{}}).is(200)
	s.exec("delete from user_contacts where user_id = (select id from users where name = 'ann') and mode = 'call'")
	incident, _ := s.page("sms")
	page = s.html(owner, "/")
	require.NotContains(t, page, "First steps")
	require.NotContains(t, page, "could not be read")
	require.Contains(t, page, `<span class="chip warn">now</span> <bdi>primary</bdi>`, "the shift that runs")
	require.Contains(t, page, `data-as="until"`, "the next shift with a countdown")
	require.Contains(t, page, "Nobody has a shift as primary of team ops from")
	require.Contains(t, page, "you have no phone number for call")
	require.Contains(t, page, fmt.Sprintf(`action="/incidents/%d/acknowledge"`, incident))

	status, page := s.press(owner, fmt.Sprintf("/incidents/%d/acknowledge", incident), "back", "/")
	require.Equal(t, http.StatusSeeOther, status)
	require.Contains(t, page, "<h1>Home</h1>")
	require.Contains(t, page, "acknowledged by you")

	s.exec("update messages set state = 'failed', failed_for_good = true")
	require.NotContains(t, s.html(owner, "/"), "failed for good")
	page = s.html(admin, "/")
	require.Contains(t, page, fmt.Sprintf("A page of incident %d did not reach ann", incident))
}

func TestHomeIsStreamed(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.roster()
	in := s.stream(s.sessions["ann"], "/")
	require.Contains(t, *in.until(func(c change) bool { return c.Frame != nil }).Frame, "Nothing pages you")
	id, _ := s.page("sms")
	row := fmt.Sprintf("incident-%d", id)
	require.Contains(t, in.until(func(c change) bool { return len(c.Order) > 0 }).Rows[row], "Acknowledge")
	s.do(owner, post, fmt.Sprintf("/v1/incidents/%d/acknowledge", id), nil).is(200)
	in.until(func(c change) bool { return strings.Contains(c.Rows[row], "acknowledged by you") })
	now := time.Now().Unix()
	s.event("ann", "primary", now-3600, now+3*3600)
	in.until(func(c change) bool {
		return c.Frame != nil && strings.Contains(*c.Frame, `<span class="chip warn">now</span> <bdi>primary</bdi>`)
	})
}

func TestHomeLeadsToTheLogIn(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	a := s.do(anonymous, get, "/", nil).is(http.StatusFound)
	require.Equal(t, "/login/", a.header.Get("Location"))
	require.Contains(t, s.html(anonymous, "/login/"), `action="/login/?next=%2f"`, "people go on to the home page")
	a = s.do(anonymous, post, "/login/", formOf("username", "bob", "password", password), "Content-Type",
		form).is(http.StatusFound)
	require.Equal(t, "/incidents", a.header.Get("Location"), "clients of Iris go on as they did")
}

// The list and the page of an incident name the same next page, at the same time, in every state.
func TestListAndPageOfAnIncidentAgreeAboutTheNextPage(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.open()
	row := regexp.MustCompile(`(?s)id="incident-` + fmt.Sprint(id) + `".*?</tr>`)
	listed := regexp.MustCompile(`<div class="ahead small"><bdi>([^<]*)</bdi>(?: <time datetime="([^"]*)")?`)
	alone := regexp.MustCompile(`<p class="next" dir="auto"><strong>Next(?:, <time datetime="([^"]*)"[^>]*>[^<]*</time>)?:</strong> ([^<]*)</p>`)
	for _, c := range []struct{ state, sql, want string }{
		{"new", "update incidents set current_step = 0", "Step 1: ann by sms"},
		{"a queued message", `update incidents set current_step = 1, step_at = now(), due_at = now() + interval '1 hour', progress = '{"n":[{"m":1}]}'`, ""},
		{"due later than its page", "update incidents set due_at = now() + interval '3 hours'", ""},
		{"paused", "update plans set paused = true", "The plan or the application is paused"},
		{"resumed", "update plans set paused = false", ""},
		{"snoozed", "update incidents set active = false, snoozed_until = now() + interval '1 hour'", "The snooze ends"},
	} {
		s.exec(c.sql)
		list := row.FindString(s.html(bob, "/incidents?show=all"))
		inList, onPage := listed.FindStringSubmatch(list), alone.FindStringSubmatch(s.html(bob, fmt.Sprintf("/incidents/%d", id)))
		require.Len(t, inList, 3, "%s: %s", c.state, list)
		require.Len(t, onPage, 3, c.state)
		require.Equal(t, onPage[2], inList[1], c.state)
		require.Contains(t, onPage[2], c.want, c.state)
		require.Equal(t, onPage[1] == "", inList[2] == "", c.state)
	}
}

func TestActionsOfAnIncidentPage(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.open()
	at := fmt.Sprintf("/incidents/%d", id)
	next := decode[m](s.do(demo, get, "/v1"+at+"/next", nil).is(http.StatusOK))
	require.Equal(t, []any{map[string]any{"target": "ann", "mode": "sms", "priority": "high"}}, next["pages"])
	require.NotEmpty(t, next["at"])
	page := s.html(bob, at)
	require.Contains(t, page, `<strong>Next:</strong> Step 1: ann by sms</p>`, "a page that is due now has no time")
	require.Contains(t, page, `<dt><bdi>host</bdi></dt><dd dir="auto">db1</dd>`)

	status, page := s.press(bob, at+"/snooze", "for", "at", "until", "yesterday")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, page, `value="yesterday"`, "what was typed is kept")
	status, page = s.press(bob, at+"/snooze", "for", "2h")
	require.Equal(t, http.StatusSeeOther, status)
	require.Contains(t, page, "Snoozed until")
	require.Contains(t, page, "The snooze ends and the plan begins again")
	require.Empty(t, decode[m](s.do(demo, get, "/v1"+at+"/next", nil).is(http.StatusOK))["pages"])

	_, page = s.press(bob, at+"/resolve")
	require.Contains(t, page, `id="undo"`)
	require.NotContains(t, s.html(owner, at), `id="undo"`, "only the person who resolved it is offered to undo that")
	_, page = s.press(bob, at+"/unresolve")
	require.NotContains(t, page, `id="undo"`)
	require.Contains(t, page, `class="chip escalating"`)

	status, page = s.press(bob, at+"/restart")
	require.Equal(t, http.StatusSeeOther, status)
	require.Contains(t, page, `class="chip escalating"`)
	s.exec("update incidents set current_step = 1 where id = $1", id)
	status, page = s.press(bob, at+"/escalate")
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, page, "step 1 is the last one of the plan")
	status, page = s.press(bob, at+"/page", "role", "user", "name", "nobody-at-all", "priority", "high")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, page, `value="nobody-at-all"`)

	_, page = s.press(bob, at+"/comments", "content", "I <b>look</b>")
	require.Contains(t, page, "I &lt;b&gt;look&lt;/b&gt;")
	_, page = s.press(bob, at+"/acknowledge")
	require.Contains(t, page, "acknowledged by <bdi>bob</bdi>")
	status, page = s.press(owner, at+"/acknowledge", "back", "/")
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, page, "bob has acknowledged this incident")
	require.Contains(t, page, `name="back" value="/"`)

	a := s.do(anonymous, post, at+"/snooze", formOf("for", "at", "until", "2030-01-01T09:00"), "Content-Type",
		form).is(http.StatusUnauthorized)
	require.Contains(t, a.body, `name="until" value="2030-01-01T09:00"`, "without a session nothing is lost")
}
