package contract

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// browse sends a request as a browser does, and does not follow redirects.
func (s *server) browse(as caller, method, path, body string, header ...string) answer {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(body))
	require.NoError(s, err)
	r.Header.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
	if method == post {
		r.Header.Set("Content-Type", form)
		r.Header.Set("Origin", s.url)
		r.Header.Set("Referer", s.url+"/incidents?show=all")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{}
	if as.session != "" {
		*client = *s.sessions[as.session]
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(r)
	require.NoError(s, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	require.NoError(s, err)
	return answer{s, method + " " + path, resp.StatusCode, resp.Header, string(text)}
}

// styled requires a page with a heading, a style and a link or button.
func (a answer) styled(status int) answer {
	a.Helper()
	require.Equal(a, status, a.status, "%s: %.300s", a.what, a.body)
	require.Contains(a, a.header.Get("Content-Type"), "text/html", "%s: %.300s", a.what, a.body)
	require.Contains(a, a.body, "<h1", a.what)
	require.Contains(a, a.body, "<title>", a.what)
	require.Regexp(a, `<link rel="stylesheet"|<style>`, a.body, a.what)
	require.Regexp(a, `<main[\s\S]*(href=|<button)`, a.body, "%s: what to do next", a.what)
	return a
}

// disconnect makes the database unavailable until the returned function is called.
func (s *server) disconnect() (connect func()) {
	s.Helper()
	config := s.db.Config().ConnConfig.Copy()
	name := config.Database
	config.Database = "postgres"
	conn, err := pgx.ConnectConfig(s.Context(), config)
	require.NoError(s, err)
	allow := func(whether bool) {
		_, err := conn.Exec(s.Context(), fmt.Sprintf("alter database %s allow_connections %t",
			pgx.Identifier{name}.Sanitize(), whether))
		require.NoError(s, err)
	}
	allow(false)
	_, err = conn.Exec(s.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", name)
	require.NoError(s, err)
	return func() {
		allow(true)
		require.NoError(s, conn.Close(s.Context()))
		s.db.Reset()
	}
}

func TestNoPageHasAnErrorWithoutStyle(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	incident := fmt.Sprint(s.open())
	elsewhere := []string{"Origin", "https://evil.example.com", "Sec-Fetch-Site", "cross-site"}
	for _, path := range []string{"/nothing", "/incidents/999999", "/incidents/abc", "/incidents/bulk", "/plans/none", "/templates/999999", "/applications/none", "/integrations/none",
		"/silences/999999", "/messages/999999", "/people/none", "/teams/none", "/invitations/none"} {
		s.browse(bob, get, path, "").styled(404)
	}
	for as, more := range map[caller]string{bob: `<nav class="side"`, anonymous: `href="/login/"`} {
		page := s.browse(as, get, "/nothing", "").styled(404).body
		require.Contains(t, page, "There is no page at this address.")
		require.Contains(t, page, more)
	}
	require.NotContains(t, s.browse(bob, get, "/v1/nothing", "").styled(404).body, "<nav", "a path of an API")
	require.Equal(t, "application/problem+json", s.do(bob, get, "/nothing", nil).is(404).header.Get("Content-Type"))
	s.browse(anonymous, get, "/ack/none", "").styled(400)
	s.browse(bob, get, "/audit-log", "").styled(403)
	s.browse(viewer, post, "/incidents/"+incident+"/resolve", "").styled(403)
	s.browse(viewer, post, "/plans/new", "name=x").styled(403)
	s.browse(bob, post, "/incidents/"+incident+"/resolve", "", elsewhere...).styled(403)
	s.browse(bob, post, "/silences", "", elsewhere...).styled(403)
	s.browse(bob, http.MethodDelete, "/incidents", "").styled(405)
	require.Equal(t, "GET, HEAD", s.browse(bob, http.MethodPut, "/", "").styled(405).header.Get("Allow"))
	s.browse(bob, post, "/plans", "").styled(405)
	large := "content=" + strings.Repeat("x", 5<<20)
	for _, path := range []string{"/incidents/" + incident + "/comments", "/incidents/bulk", "/incidents/new", "/plans/new", "/templates/new", "/silences", "/add-integration",
		"/people/bob/contacts", "/tokens"} {
		s.browse(bob, post, path, large).styled(413)
	}
	s.browse(bob, post, "/silences", "%zz=%").styled(400)
	s.browse(bob, post, "/silences", "{}", "Content-Type", "application/json").styled(400)
	s.browse(owner, post, "/silences", formOf("plan", "pager", "for_seconds", "1h", "comment", "c")).is(303)
	s.exec("alter table silences alter column comment type bytea using comment::bytea")
	s.browse(bob, get, "/silences", "").styled(500)
}

// After many wrong passwords, the log-in page says when to try again.
func TestThrottledLogInHasAPage(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for n := range 100 {
		a := s.browse(anonymous, post, "/login/", formOf("username", []string{"gone", "bob"}[min(1, n%26)], "password",
			"wrong"))
		if a.status == http.StatusTooManyRequests {
			require.NotEmpty(t, a.styled(429).header.Get("Retry-After"))
			return
		}
	}
	require.Fail(t, "no log-in was throttled")
}

// While the database is unavailable, each page says so, and a change is offered again with its values.
func TestAChangeDuringAFailureIsOfferedAgain(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	first, second := fmt.Sprint(s.open()), fmt.Sprint(s.open())
	connect := s.disconnect()
	for _, path := range []string{"/", "/incidents", "/incidents/" + first, "/plans", "/system", "/people", "/silences/new"} {
		require.NotEmpty(t, s.browse(bob, get, path, "").styled(503).header.Get("Retry-After"), path)
	}
	ticked := "verb=acknowledge&id=" + first + "&id=" + second + "&back=%2Fincidents%3Fshow%3Dall"
	offered := s.browse(bob, post, "/incidents/bulk", ticked).styled(503).body
	require.Contains(t, offered, `action="/incidents/bulk"`)
	require.Contains(t, offered, "Send it again")
	require.Contains(t, offered, `href="/incidents?show=all"`)
	for _, field := range []string{`name="verb" value="acknowledge"`, `name="id" value="` + first + `"`, `name="id" value="` + second + `"`, `name="back" value="/incidents?show=all"`} {
		require.Contains(t, offered, field)
	}
	require.Contains(t, s.browse(bob, post, "/incidents/"+first+"/comments", "content=the+disk").styled(503).body,
		"the disk</textarea>")
	require.NotContains(t, s.browse(bob, post, "/login/", "username=bob&password=geheim").styled(503).body, "geheim",
		"a password is not kept")
	connect()
	require.Eventually(t, func() bool { return s.browse(bob, post, "/incidents/bulk", ticked).status == 303 },
		20*time.Second, 200*time.Millisecond)
	require.EqualValues(t, 2, s.number("select count(*) from incidents where owner_id is not null and id in ("+first+
		", "+second+")"))
}
