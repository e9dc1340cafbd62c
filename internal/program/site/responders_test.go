package site

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
)

func TestFurtherRespondersArePagedFromTheIncidentPage(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	_, body := b.get("/incidents/257")
	require.Contains(t, body, `action="/incidents/257/page"`)
	form := url.Values{"role": {"team"}, "name": {" <db> "}, "priority": {"urgent"}}
	status, _ := b.post("/incidents/257/page", form, "Sec-Fetch-Site", "cross-site")
	require.Equal(t, http.StatusForbidden, status)
	status, body = b.post("/incidents/257/page", form)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "ann paged also &lt;db&gt;")
	require.True(t, w.woken.Has(1))

	w.incident.Active = false
	status, body = b.post("/incidents/257/reassign", url.Values{"owner": {"bob"}})
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "acknowledged by <bdi>bob</bdi>")

	w.incident.Resolved = true
	_, body = b.get("/incidents/257")
	require.NotContains(t, body, `action="/incidents/257/page"`)
	status, body = b.post("/incidents/257/page", form)
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, body, "reopen it first")

	w.ann.ReadOnly = true
	status, _ = b.post("/incidents/257/page", form)
	require.Equal(t, http.StatusForbidden, status)
}

func TestAnIncidentIsSnoozedFromItsPage(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	w.ann.TimeZone = "Asia/Kathmandu"
	b.login()
	_, body := b.get("/incidents/257")
	require.Contains(t, body, "Until, Asia/Kathmandu")
	status, body := b.post("/incidents/257/snooze", url.Values{"for": {"30m"}})
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "snoozed")
	require.WithinDuration(t, time.Now().Add(30*time.Minute), w.incident.SnoozedUntil, time.Minute)
	require.Contains(t, body, "<dt>Snoozed until</dt>")
	_, _ = b.post("/incidents/257/snooze", url.Values{"for": {"tomorrow"}})
	require.Equal(t, "09:00 +0545", w.incident.SnoozedUntil.Format("15:04 -0700"))
	_, _ = b.post("/incidents/257/snooze", url.Values{"for": {"at"}, "until": {"2031-02-03T04:05"}})
	require.Equal(t, "2031-02-02T22:20:00Z", w.incident.SnoozedUntil.UTC().Format(time.RFC3339))
	for _, wrong := range []url.Values{{"for": {"at"}}, {"for": {"long"}}, {}} {
		status, _ = b.post("/incidents/257/snooze", wrong)
		require.Equal(t, http.StatusBadRequest, status)
	}
}

func TestTheIncidentPageNamesTheSilence(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	w.incident.Active, w.incident.SilencedUntil, w.incident.Silence = false, time.Now().Add(time.Hour), 5
	b.login()
	_, body := b.get("/incidents/257")
	require.Contains(t, body, "<dt>Silenced until</dt>")
	require.Contains(t, body, `by <a href="/silences/5">silence 5</a>`)
}

func TestAnIncidentIsMergedOnItsPage(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	w.merged = []incidents.Incident{{ID: 300, MergedInto: 257, Context: []byte(`{"title":"<disk>"}`),
		TitleVariable: "title"}}
	b.login()
	_, body := b.get("/incidents/257")
	require.Contains(t, body, `href="/incidents/300" dir="auto">&lt;disk&gt;</a>`, "those merged into it")
	require.NotContains(t, body, "/unmerge")
	for _, wrong := range []string{"", "disk", "257"} {
		status, _ := b.post("/incidents/257/merge", url.Values{"into": {wrong}})
		require.Equal(t, http.StatusBadRequest, status)
	}
	status, body := b.post("/incidents/257/merge", url.Values{"into": {" #12 "}, "comment": {"same disk"}})
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `<a href="/incidents/12">incident #12</a>`)
	require.NotContains(t, body, `action="/incidents/257/merge"`)
	require.True(t, w.woken.Has(1))
	status, body = b.post("/incidents/257/unmerge", nil)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `action="/incidents/257/merge"`)

	w.ann.ReadOnly = true
	for _, verb := range []string{"merge", "unmerge"} {
		status, _ = b.post("/incidents/257/"+verb, url.Values{"into": {"12"}})
		require.Equal(t, http.StatusForbidden, status)
	}
}
