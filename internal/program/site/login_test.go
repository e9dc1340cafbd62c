package site

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
)

var right = url.Values{"username": {"ann"}, "password": {"right"}}

func TestOncallLogInBeginsTheSameSession(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	for _, form := range []url.Values{nil, {"username": {"ann"}}, {"password": {"right"}}, {"username": {" "}, "password": {"right"}}} {
		status, body := b.post("/login", form)
		require.Equal(t, http.StatusBadRequest, status)
		require.JSONEq(t, `{"title":"Invalid login attempt","description":"Missing user/password"}`, body)
	}
	status, body := b.post("/login", url.Values{"username": {"ann"}, "password": {"wrong"}})
	require.Equal(t, http.StatusUnauthorized, status)
	require.JSONEq(t, `{"title":"Authentication failure","description":"bad login credentials"}`, body)
	status, body = b.post("/login", url.Values{"username": {strings.Repeat("x", maxLogin)}, "password": {"right"}})
	require.Equal(t, http.StatusBadRequest, status, body)

	status, body = b.post("/login", right)
	require.Equal(t, http.StatusOK, status)
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(body), &got))
	require.Regexp(t, `^[0-9a-f]{32}$`, got["csrf_token"])
	delete(got, "csrf_token")
	require.Equal(t, map[string]any{"id": 21.0, "name": "ann", "full_name": "Ann Lee", "time_zone": "UTC",
		"photo_url": "https://example.com/ann.png", "active": 1.0,
		"god": 0.0, "contacts": map[string]any{"email": "ann@example.com"}}, got)
	_, body = b.get("/incidents")
	require.Contains(t, body, "Escalating", "the pages know the session")
	require.Contains(t, body, "<summary><bdi>ann</bdi></summary>", "and show whose it is")

	status, body = b.post("/logout", nil)
	require.Equal(t, http.StatusOK, status)
	require.Empty(t, body)
	_, body = b.get("/incidents")
	require.Contains(t, body, `name="password"`)
	status, _ = b.post("/logout", nil)
	require.Equal(t, http.StatusOK, status, "without a session, too")
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*world){
		"with a new password":                  func(w *world) { w.ann.LoginEpoch++ },
		"when switched off":                    func(w *world) { w.ann.Active = false },
		"when the name goes to another person": func(w *world) { w.ann.ID++ },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, b := setup(t)
			b.login()
			end(w)
			_, body := b.get("/incidents")
			require.Contains(t, body, `name="password"`)
			_, body = b.post("/incidents/257/acknowledge", nil)
			require.Contains(t, body, `name="password"`)
			require.True(t, w.incident.Active)
		})
	}
}

func TestRefreshWithoutASessionRedirectsToTheLogIn(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.base+"/incidents?show=all", nil)
	require.NoError(t, err)
	req.Header.Set("HX-Request", "true")
	resp, err := b.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusNoContent, resp.StatusCode)
	require.Equal(t, "/login/?next=%2Fincidents%3Fshow%3Dall", resp.Header.Get("HX-Redirect"))
}

func TestReasonOfAFailedLogInIsShownOnce(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	_, body := b.post("/login/", url.Values{"username": {`a"><b>`}, "password": {"wrong"}})
	require.Contains(t, body, "password is wrong")
	require.NotContains(t, body, "<b>")
	_, body = b.get("/login")
	require.NotContains(t, body, "password is wrong")
}

func TestReadOnlyPeopleChangeNothing(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	w.ann.ReadOnly = true
	b.login()
	for _, path := range []string{"/incidents", "/incidents/257"} {
		_, body := b.get(path)
		require.Contains(t, body, "disk full")
		require.NotContains(t, body, "/acknowledge", path)
		require.NotContains(t, body, "/comments", path)
	}
	for _, act := range []string{"acknowledge", "reopen", "resolve", "comments"} {
		status, body := b.post("/incidents/257/"+act, url.Values{"content": {"x"}})
		require.Equal(t, http.StatusForbidden, status, act)
		require.Contains(t, body, "may only read")
	}
	require.True(t, w.incident.Active)
	require.Len(t, w.entries, 1)
}

func TestPagesWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	w.down = true
	for _, path := range []string{"/incidents", "/incidents/257", "/silences", "/login"} {
		status, body := b.get(path)
		require.Equal(t, http.StatusServiceUnavailable, status, path)
		require.Contains(t, body, "The database cannot be reached")
		require.NotContains(t, body, "secret")
	}
}

func TestPagesAnswerWithASlashAndToHead(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	b.login()
	for _, path := range []string{"/incidents/", "/incidents/257/", "/silences/"} {
		status, _ := b.get(path)
		require.Equal(t, http.StatusOK, status, path)
		resp, err := b.Head(b.base + path)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode, path)
	}
}

func TestHeadDoesNotLogOut(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	b.login()
	for _, path := range []string{"/logout", "/logout/"} {
		resp, err := b.Head(b.base + path)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
	_, body := b.get("/incidents")
	require.Contains(t, body, "<summary><bdi>ann</bdi></summary>")
}

func TestFilterAcceptsAnyText(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	status, body := b.get(`/incidents?show=all&application=%00%ff"><script>alert(1)</script>`)
	require.Equal(t, http.StatusOK, status)
	require.NotContains(t, body, "<script>alert")
	require.Equal(t, "\uFFFD\uFFFD\"><script>alert(1)</script>", w.asked.Conditions[0].Values[0])
	_, body = b.get("/incidents?show=all&plan=db&after=1700000000000000.900")
	require.Contains(t, body, `name="back" value="/incidents?after=1700000000000000.900&amp;plan=db&amp;show=all"`)
}

func TestChangesRedirectOnlyToTheList(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	b.login()
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for back, want := range map[string]string{
		"/incidents?show=all": "/incidents?show=all", "/incidents": "/incidents", "": "/incidents/257", "https://evil.example/": "/incidents/257",
		"//evil.example": "/incidents/257", "/incidentsevil": "/incidents/257",
	} {
		resp, err := b.PostForm(b.base+"/incidents/257/resolve", url.Values{"back": {back}})
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, want, resp.Header.Get("Location"), back)
	}
}

func TestTimelineNamesAPersonOnce(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	w.entries = []incidents.Entry{
		{Kind: incidents.EntryAcknowledged, Actor: "ann", Text: "acknowledged by ann in Slack"},
		{Kind: incidents.EntryComment, Actor: "ann", Text: "ann looks at <b>it</b>"},
		{Kind: incidents.EntryOperator, Actor: "root", Text: "paused"},
	}
	b.login()
	_, body := b.get("/incidents/257")
	require.Contains(t, body, `acknowledged by ann in Slack</div>`)
	require.Contains(t, body, `ann looks at &lt;b&gt;it&lt;/b&gt; <span class="dim">· <bdi>ann</bdi></span>`)
	require.Contains(t, body, `paused <span class="dim">· <bdi>root</bdi></span>`)
}

// The content security policy blocks scripts and styles inside a page, so pages must not have any.
func TestPagesHaveNoInlineScriptsOrStyles(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	inline := regexp.MustCompile(`(?i)<script>|<style|\sstyle=|\son[a-z]+=|javascript:|hx-on|hx-vals=.js`)
	_, body := b.get("/login")
	require.NotRegexp(t, inline, body)
	b.login()
	for _, path := range []string{"/incidents", "/incidents/257", "/silences", "/incidents/1"} {
		_, body := b.get(path)
		require.NotRegexp(t, inline, body, path)
	}
}

// When the directory is unavailable, both log-ins say so and do not report a wrong password.
func TestLogInWhileTheDirectoryIsUnavailable(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	away, stranger := url.Values{"username": {"away"}, "password": {"x"}}, url.Values{"username": {"stranger"},
		"password": {"x"}}
	status, body := b.post("/login/?next=/plans", away)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "cannot be reached")
	require.Contains(t, body, `action="/login/?next=%2fplans"`, "the form is there again, for passwords of our own")
	status, body = b.post("/login", away)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.JSONEq(t, `{"title":"the directory that checks passwords cannot be reached; try again in a moment"}`, body)

	status, body = b.post("/login/", stranger)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "nobody has added you to Iris yet")
	status, _ = b.post("/login", stranger)
	require.Equal(t, http.StatusNotFound, status)
}
