package web

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
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
