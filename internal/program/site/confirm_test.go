package site

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
)

func TestChangeWithoutASessionIsOfferedAgain(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	status, body := b.post("/incidents/257/acknowledge", nil)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `name="password"`)
	require.Contains(t, body, "incident 257 was not changed")
	require.True(t, w.incident.Active)

	next := "/incidents/257?offer=acknowledge"
	require.Contains(t, strings.ToLower(body), "?next="+strings.ToLower(url.QueryEscape(next)))
	status, body = b.post("/login/?next="+url.QueryEscape(next), url.Values{"username": {"ann"}, "password": {"right"}})
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `id="offer"`)
	require.True(t, w.incident.Active, "a log-in changes nothing")
	_, body = b.get("/login?next=" + url.QueryEscape(next))
	require.Contains(t, body, `id="offer"`, "a reader who has logged in meanwhile is led to the offer")

	w.incident.Resolved = true
	_, body = b.get(next)
	require.Contains(t, body, "the incident was not acknowledged. It has changed since then")
}

func TestFailedCommentKeepsItsText(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	content := url.Values{"content": {"the disk is <full>"}}
	status, body := b.post("/incidents/257/comments", content)
	require.Equal(t, http.StatusUnauthorized, status)
	require.Contains(t, body, "the disk is &lt;full&gt;</textarea>")
	require.Contains(t, body, `action="/incidents/257/comments"`)
	require.Contains(t, body, "Log in (another tab)")
	status, body = b.post("/incidents/257/snooze", url.Values{"for": {"at"}, "until": {"2030-01-01T09:00"}})
	require.Equal(t, http.StatusUnauthorized, status)
	require.Contains(t, body, `action="/incidents/257/snooze"`)
	require.Contains(t, body, `name="until" value="2030-01-01T09:00"`)

	b.login()
	status, body = b.post("/incidents/257/comments", url.Values{"content": {"the database is away"}})
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "the database is away</textarea>")
	status, body = b.post("/incidents/257/comments", content)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "data-done", "the draft is forgotten")
	require.Equal(t, "the disk is <full>", w.entries[len(w.entries)-1].Text)
	_, body = b.get("/incidents/257")
	require.NotContains(t, body, "data-done")
}

func TestFormsAreKeptWhileTheDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	w.down = true
	status, body := b.post("/silences?confirmed=", url.Values{"comment": {"new <disks>"},
		"confirm_password": {"once more"}})
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "What you entered is kept on this page")
	require.Contains(t, body, `action="/silences?confirmed="`)
	require.Contains(t, body, `name="comment" value="new &lt;disks&gt;"`)
	require.NotContains(t, body, "once more")
	for _, path := range []string{"/account/second-factor", "/login/"} {
		_, body = b.post(path, url.Values{"username": {"ann"}, "password": {"entered"}})
		require.NotContains(t, body, "entered\"", path)
	}
	status, body = b.post("/silences", url.Values{"comment": {"x"}}, "HX-Request", "true")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.NotContains(t, body, "Send it again", "the script leaves the form as it is")
}

func TestAnIncompleteFormIsRefused(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	large := url.Values{"content": {strings.Repeat("x", 4<<20)}}
	status, body := b.post("/incidents/257/comments", large)
	require.Equal(t, http.StatusRequestEntityTooLarge, status, "without a session too")
	require.Contains(t, body, "larger than 4096 KB")
	b.login()
	status, _ = b.post("/incidents/257/comments", large)
	require.Equal(t, http.StatusRequestEntityTooLarge, status)
	status, body = b.post("/incidents/257/resolve", url.Values{"back": {"/"}}, "Content-Type",
		"multipart/form-data; boundary=x")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, body, "did not arrive completely")
	require.False(t, w.incident.Resolved)
}

func TestRefusedActionKeepsItsValues(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	status, body := b.post("/incidents/257/merge", url.Values{"into": {"257"}, "comment": {"the same <disk>"}})
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, body, "cannot be merged into itself")
	require.Contains(t, body, `value="the same &lt;disk&gt;"`)
	require.Regexp(t, `<details name="more" open><summary>Merge`, body)
	require.Regexp(t, `name="into"[^>]*aria-invalid="true"`, body)
	require.Contains(t, body, `hx-get="/incidents/257"`, "the page refreshes that of the incident")

	status, body = b.post("/incidents/257/snooze", url.Values{"for": {"at"}, "until": {"soon"}})
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, body, "date and time at which the snooze ends")
	status, body = b.post("/incidents/257/escalate", nil)
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, body, "use restart to begin the plan again")
	status, _ = b.post("/incidents/257/restart", nil)
	require.Equal(t, http.StatusOK, status)
	require.True(t, w.woken.Has(1))
}

func TestResolveCanBeUndone(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	_, body := b.post("/incidents/257/resolve", nil)
	require.True(t, w.incident.Resolved)
	require.Contains(t, body, `id="undo"`)
	_, body = b.get("/incidents/257")
	require.Contains(t, body, `id="undo"`, "a reload keeps the offer")
	w.incident.Active = false
	_, body = b.post("/incidents/257/unresolve", nil)
	require.False(t, w.incident.Resolved)
	require.True(t, w.incident.Active, "nobody owned it, so that it escalates again")
	require.NotContains(t, body, `id="undo"`)

	w.incident.Active, w.incident.Owner = false, "ann"
	b.post("/incidents/257/resolve", nil)
	b.post("/incidents/257/unresolve", nil)
	require.False(t, w.incident.Active, "it has its owner again")
}

func TestTakingOverAnIncidentNeedsConfirmation(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	w.incident.Active, w.incident.Owner = false, "bob"
	back := url.Values{"back": {"/incidents?show=all"}}
	status, body := b.post("/incidents/257/acknowledge", back)
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, body, "bob has acknowledged this incident")
	require.Contains(t, body, `value="/incidents?show=all"`)
	require.Equal(t, "bob", w.incident.Owner)

	back.Set("replace", "2")
	require.Contains(t, body, `name="replace" value="2"`)
	status, _ = b.post("/incidents/257/acknowledge", back)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "ann", w.incident.Owner)
	require.NotEqual(t, users.ID(2), w.ann.ID)
}
