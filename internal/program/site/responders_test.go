package site

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
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

func TestTheIncidentPageShowsDescriptionsOfAlertsAndCustomDetails(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	alert := func(annotations string) incidents.Alert {
		return incidents.Alert{Firing: true, Labels: []byte(`{"alertname":"Disk"}`), Annotations: []byte(annotations)}
	}
	w.alerts = []incidents.Alert{alert(`{"summary":"db1 is full","description":"<b>2 GB</b> are left"}`),
		alert(`{"description":"` + strings.Repeat("d", 3000) + `"}`), alert(`{"description":"no space"}`)}
	more := ""
	for n := range 20 {
		more += fmt.Sprintf(`,"n%02d":%d`, n, n)
	}
	w.incident.Context = []byte(`{"title":"disk","payload":{"custom_details":{"a":"<i>1</i>","b":{"deep": [1, 2]},"c":null,"d":{},"e":"` +
		strings.Repeat("e", 3000) + `","f":"https://wiki.example/f"` + more + `}}}`)
	_, body := b.get("/incidents/257")
	visible, _, found := strings.Cut(body, "Context as JSON")
	require.True(t, found)
	require.Contains(t, visible, `<p class="alert-text small" dir="auto">&lt;b&gt;2 GB&lt;/b&gt; are left</p>`)
	require.Contains(t, visible, ">"+strings.Repeat("d", 1999)+"…</p>", "the whole description, not only the line of the alert")
	require.Equal(t, 1, strings.Count(visible, "no space"), "no text twice")
	require.Contains(t, visible, `<dt><bdi>a</bdi></dt><dd dir="auto">&lt;i&gt;1&lt;/i&gt;</dd>`)
	require.Contains(t, visible, `<dt><bdi>b</bdi></dt><dd dir="auto">{&#34;deep&#34;:[1,2]}</dd>`)
	require.Contains(t, visible, ">"+strings.Repeat("e", 1999)+"…</dd>")
	require.Contains(t, visible, `href="https://wiki.example/f"`)
	require.Contains(t, visible, "<bdi>n16</bdi>")
	require.NotContains(t, visible, "<bdi>n17</bdi>")
	require.Contains(t, visible, "3 further details are in the JSON below")

	w.incident.Context = []byte(`{"title":"disk","details":{"host":"db1"}}`)
	_, body = b.get("/incidents/257")
	require.Contains(t, body, `<dt><bdi>host</bdi></dt><dd dir="auto">db1</dd>`, "PagerDuty's events v1")
}

func TestTheIncidentPageSuggestsPeople(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	status, _ := b.get("/incidents/people?name=le")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "/login/", b.at.Path)
	b.login()
	_, body := b.get("/incidents/257")
	require.Contains(t, body, `list="others"`)
	require.Contains(t, body, `<datalist id="others" hx-get="/incidents/people"`)
	const ann = `<option value="ann">Ann &lt;Lee&gt;</option>`
	for query, want := range map[string]string{"role=user&name=+le": ann, "owner=le": ann, "role=team&name=le": "",
		"role=user&name=": "", "role=user&name=x": ""} {
		status, body = b.get("/incidents/people?" + query)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, want, body, query)
	}
	status, body = b.post("/incidents/257/page", url.Values{"role": {"user"}, "name": {"ana"}})
	require.Equal(t, http.StatusBadRequest, status)
	require.Regexp(t, `<input name="name"[^>]* aria-invalid="true"`, body)
	require.Contains(t, body, "choose ana1, ana2")
}
