package site

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	silence "github.com/iris-oncall/iris/internal/silences"
)

// silences are kept in memory, newest first. Each hides incident 257. People may silence everything but the team kept.
type silences struct {
	silence.Store
	all []silence.Silence
}

// operations returns the operations on the silences.
func (s *silences) operations() *silence.Silences {
	return silence.New(s, silence.NewKeeper(s, silence.NewCurrent(s, nil), nil, nil, zap.NewNop()))
}

func (s *silences) List(context.Context) (silence.Listed, error) { return silence.Listed{}, nil }

func (s *silences) Page(_ context.Context, before silence.ID, includeOver bool, limit int) (out []silence.Silence, _ error) {
	for _, one := range s.all {
		if (before == 0 || one.ID < before) && (includeOver || one.EndedAt == nil) && len(out) < limit {
			out = append(out, one)
		}
	}
	return out, nil
}

func (s *silences) ByID(_ context.Context, id silence.ID) (silence.Silence, error) {
	for _, one := range s.all {
		if one.ID == id {
			return one, nil
		}
	}
	return silence.Silence{}, fault.New(fault.NotFound, "there is no such silence")
}

func (s *silences) Incidents(context.Context, silence.ID, int64, incidents.ID, int) ([]silence.HiddenIncident, error) {
	return []silence.HiddenIncident{{ID: 257}}, nil
}

func (s *silences) Rights(_ context.Context, _ int64, _ []int64, scope silence.Scope) (silence.Rights, error) {
	return silence.Rights{OwnsApplication: scope.Application == "db", InTeam: scope.Team != "kept"}, nil
}

func (s *silences) Create(_ context.Context, c silence.Content, author string) (silence.ID, error) {
	made := silence.Silence{Content: c, ID: silence.ID(len(s.all) + 1), Author: author, CreatedAt: time.Now(),
		Hidden: 1}
	s.all = append([]silence.Silence{made}, s.all...)
	return made.ID, nil
}

func (s *silences) Replace(_ context.Context, id silence.ID, c silence.Content, _ string) error {
	for k := range s.all {
		if s.all[k].ID == id {
			s.all[k].Content = c
		}
	}
	return nil
}

func (s *silences) End(_ context.Context, before silence.Silence, _ string) error {
	for k := range s.all {
		if s.all[k].ID == before.ID {
			now := time.Now()
			s.all[k].EndedAt = &now
		}
	}
	return nil
}

func TestASilenceIsAddedFromAnIncidentAndEnded(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	_, body := b.get("/silences")
	require.Contains(t, body, "No silence is in force")
	w.incident.Context = []byte(`{"commonLabels":{"team":"<db>","host":"h1"}}`)
	_, body = b.get("/incidents/257")
	require.Contains(t, body, `href="/silences/new?incident=257"`)
	_, body = b.get("/silences/new?incident=257")
	require.Contains(t, body, `host=&#34;h1&#34;, team=&#34;&lt;db&gt;&#34;`)
	require.Contains(t, body, `name="application" type="text" value="db"`)
	status, _ := b.get("/silences/new?incident=1")
	require.Equal(t, http.StatusNotFound, status)

	form := url.Values{"application": {"db"}, "match": {`team="db"`}, "for_seconds": {"2h"},
		"comment": {"the <upgrade>"}}
	status, _ = b.post("/silences", form, "Sec-Fetch-Site", "cross-site")
	require.Equal(t, http.StatusForbidden, status)
	require.Empty(t, w.silences.all)
	status, body = b.post("/silences", form)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "the &lt;upgrade&gt;")
	require.Contains(t, body, `href="/incidents/257"`, "what it hides")
	made := w.silences.all[0]
	require.Equal(t, "ann", made.Author)
	require.Equal(t, 2*time.Hour, made.To.Sub(made.From))

	_, body = b.get("/silences")
	require.Contains(t, body, "match team=&#34;db&#34;; application db")
	status, body = b.post("/silences/1/end", nil)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "Silence 1 has ended")
	require.NotContains(t, body, `action="/silences/1/end"`)
	_, body = b.get("/silences?show=over")
	require.Contains(t, body, `href="/silences/1"`)
}

func TestASilenceIsChanged(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	w.ann.TimeZone = "Europe/Berlin"
	b.login()
	from := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	w.silences.all = []silence.Silence{
		{ID: 2, Content: silence.Content{Scope: silence.Scope{Team: "db"},
			From: time.Date(2026, 1, 4, 3, 0, 0, 0, time.UTC), To: time.Date(2026, 1, 4, 5, 0, 0, 0, time.UTC),
			Recurrence: "FREQ=WEEKLY", Zone: "Asia/Tokyo", Comment: "backups"}},
		{ID: 1, Content: silence.Content{Scope: silence.Scope{Match: `team="db"`}, From: from,
			To: from.Add(2 * time.Hour), Comment: "upgrade"}},
	}
	_, body := b.get("/silences/1")
	require.Contains(t, body, `href="/silences/1/edit"`)
	_, body = b.get("/silences/1/edit")
	require.Contains(t, body, `action="/silences/1/edit"`)
	require.Contains(t, body, `team=&#34;db&#34;`)

	// What is sent back unchanged keeps the silence as it is.
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	const local = "2006-01-02T15:04:05"
	form := url.Values{"match": {`team="db"`}, "from": {from.In(berlin).Format(local)},
		"to": {from.Add(2 * time.Hour).In(berlin).Format(local)}, "comment": {"upgrade"}}
	require.Contains(t, body, `name="from" type="datetime-local" value="`+form.Get("from")+`"`)
	require.Contains(t, body, `name="to" type="datetime-local" value="`+form.Get("to")+`"`)
	status, _ := b.post("/silences/1/edit", form)
	require.Equal(t, http.StatusOK, status)
	now := w.silences.all[1]
	require.True(t, now.From.Equal(from) && now.To.Equal(from.Add(2*time.Hour)))

	form.Set("for_seconds", "4h")
	form.Set("match", `team="web"`)
	_, _ = b.post("/silences/1/edit", form)
	now = w.silences.all[1]
	require.EqualValues(t, `team="web"`, now.Match)
	require.True(t, now.From.Equal(from))
	require.WithinDuration(t, time.Now().Add(4*time.Hour), now.To, 10*time.Second, "a period counts from now")

	form.Set("comment", " ")
	status, body = b.post("/silences/1/edit", form)
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, body, "“Why” must not be empty")
	require.Contains(t, body, "Change silence 1")

	_, body = b.get("/silences/2/edit")
	require.Contains(t, body, `name="from" type="datetime-local" value="2026-01-04T12:00:00"`,
		"a window stays in its zone")
	require.Contains(t, body, `<option value="FREQ=WEEKLY" selected>`)
	_, _ = b.post("/silences/2/edit", url.Values{"team": {"db"}, "from": {"2026-01-04T12:00:00"},
		"for_seconds": {"1h"}, "repeat": {"FREQ=WEEKLY"}, "comment": {"shorter"}})
	window := w.silences.all[0]
	require.EqualValues(t, "Asia/Tokyo", window.Zone)
	require.Equal(t, time.Hour, window.To.Sub(window.From))
	status, _ = b.get("/silences/7/edit")
	require.Equal(t, http.StatusNotFound, status)
	w.ann.ReadOnly = true
	status, _ = b.post("/silences/1/edit", form)
	require.Equal(t, http.StatusForbidden, status)
}

func TestASilenceWhoseMatchCannotBeSavedAgainSaysSo(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	from := time.Now().Add(-time.Hour)
	large := silence.Content{Scope: silence.Scope{Match: `host=~"(x{0,30}){0,30}"`}, From: from,
		To: from.Add(2 * time.Hour), Comment: "upgrade"}
	small := large
	small.Match = `host=~"x.*"`
	w.silences.all = []silence.Silence{{ID: 2, Content: large}, {ID: 1, Content: small}}
	_, body := b.get("/silences/2")
	require.Contains(t, body, "use smaller repetitions")
	_, body = b.get("/silences/1")
	require.NotContains(t, body, "smaller")
}

// The session ended while somebody filled in the form: after the log-in the same form can be sent again.
func TestATypedSilenceIsKeptThroughTheLogIn(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	form := url.Values{"application": {"db"}, "match": {`host=~"h[1-3]&?"`}, "for_seconds": {"4h"},
		"comment": {"the <upgrade>"}}
	status, body := b.post("/silences", form)
	require.Equal(t, http.StatusUnauthorized, status)
	require.Contains(t, body, "Your session has ended")
	require.Contains(t, body, `name="match" value="host=~&#34;h[1-3]&amp;?&#34;"`)
	require.Contains(t, body, `name="comment" value="the &lt;upgrade&gt;"`)
	for _, secret := range []string{"password", "secret.1"} {
		_, body = b.post("/silences", url.Values{"comment": {"kept"}, secret: {"hidden"}})
		require.Contains(t, body, "send the form again")
		require.NotContains(t, body, "hidden\"", "a page does not repeat a secret")
	}
	require.Empty(t, w.silences.all, "nothing is stored")
	b.login()
	status, _ = b.post("/silences", form)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "the <upgrade>", w.silences.all[0].Comment)
}

func TestASilenceLastsLonger(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	now := time.Now().UTC().Truncate(time.Second)
	w.silences.all = []silence.Silence{
		{ID: 2, Content: silence.Content{Scope: silence.Scope{Team: "db"}, From: now.Add(-48 * time.Hour),
			To: now.Add(-47 * time.Hour), Recurrence: "FREQ=DAILY", Zone: "UTC", Comment: "backups"}},
		{ID: 1, Content: silence.Content{Scope: silence.Scope{Match: `team="db"`}, From: now, To: now.Add(time.Hour),
			Comment: "upgrade"}},
	}
	_, body := b.get("/silences/1")
	require.Contains(t, body, `action="/silences/1/longer"`)
	require.NotContains(t, body, "Next times")
	_, body = b.post("/silences/1/longer", url.Values{"for_seconds": {"1h"}})
	require.Contains(t, body, "Silence 1 lasts longer now.")
	require.True(t, w.silences.all[1].To.Equal(now.Add(2*time.Hour)))
	_, body = b.get("/silences/2")
	require.NotContains(t, body, `/longer"`)
	require.Contains(t, body, "Next times")
	require.Equal(t, 8, strings.Count(body, `data-as="full"`))
	status, _ := b.post("/silences/2/longer", url.Values{"for_seconds": {"1h"}})
	require.Equal(t, http.StatusConflict, status)
	status, _ = b.post("/silences/1/longer", url.Values{"for_seconds": {"soon"}})
	require.Equal(t, http.StatusBadRequest, status)
}

func TestASilencedIncidentSaysWhyItCannotEscalate(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	w.incident.Active, w.incident.SilencedUntil = false, time.Now().Add(time.Hour)
	_, body := b.get("/incidents/257")
	require.Contains(t, body, `<button disabled aria-describedby="not-reopened">Escalate again</button>`)
	require.Contains(t, body, "“Escalate again” is not possible: a silence hides the incident: end the silence first.")
	w.incident.SilencedUntil = time.Time{}
	_, body = b.get("/incidents/257")
	require.Contains(t, body, `<button>Escalate again</button>`)
}

func TestARefusedSilenceKeepsItsForm(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	for problem, change := range map[string][2]string{
		"name an application that you own": {"application", ""},
		"must begin with a label":          {"match", "?"},
		"“Why” must not be empty":          {"comment", " "},
		"“or until” must be after from":    {"to", "2020-01-31T22:00"},
		"“or until” must be a time":        {"to", "noon"},
		"“or by this RRULE” is no RRULE":   {"recurrence", "often"},
	} {
		form := url.Values{"application": {"db"}, "for_seconds": {"2h"}, "comment": {"the <upgrade>"}, "team": {"kept"}}
		form.Set(change[0], change[1])
		status, body := b.post("/silences", form)
		require.Contains(t, []int{http.StatusBadRequest, http.StatusForbidden}, status, problem)
		require.Contains(t, body, problem)
		require.Contains(t, body, `name="team" type="text" value="kept"`, problem)
	}
	require.Empty(t, w.silences.all)
	w.ann.ReadOnly = true
	_, body := b.get("/silences")
	require.NotContains(t, body, "Add a silence")
	status, _ := b.post("/silences", url.Values{"application": {"db"}, "for_seconds": {"2h"}, "comment": {"x"}})
	require.Equal(t, http.StatusForbidden, status)
	for _, path := range []string{"/silences/7", "/silences/x"} {
		status, _ = b.get(path)
		require.Equal(t, http.StatusNotFound, status)
	}
}

// Times are typed in the reader's zone, and a window keeps them there.
func TestAWindowIsInTheZoneOfItsReader(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	w.ann.TimeZone = "Europe/Berlin"
	b.login()
	status, body := b.post("/silences", url.Values{"application": {"db"}, "from": {"2026-07-01T22:00"},
		"to":     {"2026-07-02T06:00"},
		"repeat": {"FREQ=WEEKLY"}, "comment": {"backups"}})
	require.Equal(t, http.StatusOK, status, body)
	made := w.silences.all[0]
	require.Equal(t, time.Date(2026, 7, 1, 20, 0, 0, 0, time.UTC), made.From.UTC())
	require.EqualValues(t, "Europe/Berlin", made.Zone)
	require.EqualValues(t, "FREQ=WEEKLY", made.Recurrence)
	require.Contains(t, body, "FREQ=WEEKLY")
}

func TestTheListOfSilencesHasPages(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	now := time.Now()
	for n := 400; n > 0; n-- {
		one := silence.Silence{ID: silence.ID(n),
			Content: silence.Content{Scope: silence.Scope{Match: operation.Text("n=" + strconv.Itoa(n))}, From: now,
				To: now.Add(time.Hour), Comment: "many"}}
		if n%4 != 0 {
			one.EndedAt = &now
		}
		w.silences.all = append(w.silences.all, one)
	}
	_, body := b.get("/silences")
	require.Equal(t, 50, strings.Count(body, "<tr>")-1)
	require.Contains(t, body, "/silences?before=204&amp;show=active")
	_, body = b.get("/silences?before=204&show=active")
	require.Equal(t, 50, strings.Count(body, "<tr>")-1)
	require.NotContains(t, body, "Older silences")
	_, body = b.get("/silences?show=planned")
	require.Contains(t, body, "No silence is planned")
}
