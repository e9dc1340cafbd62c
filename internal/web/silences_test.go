package web

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	silence "github.com/iris-oncall/iris/internal/silences"
)

// silences are kept in memory, newest first. Each hides incident 257. Only what names the application db is allowed.
type silences struct{ all []silence.Silence }

func (s *silences) Page(_ context.Context, before silence.ID, kept bool, most int) (out []silence.Silence, _ error) {
	for _, one := range s.all {
		if (before == 0 || one.ID < before) && (!kept || one.EndedAt.IsZero()) && len(out) < most {
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

func (s *silences) Incidents(context.Context, silence.ID, incidents.ID, int) ([]incidents.ID, error) {
	return []incidents.ID{257}, nil
}

func (s *silences) Create(_ context.Context, a auth.Actor, c silence.Content) (silence.Silence, error) {
	if c.Application != "db" {
		return silence.Silence{}, auth.ErrNoSilence
	}
	if err := c.Check(); err != nil {
		return silence.Silence{}, err
	}
	made := silence.Silence{Content: c, ID: silence.ID(len(s.all) + 1), Author: a.Username, CreatedAt: time.Now(), Hidden: 1}
	s.all = append([]silence.Silence{made}, s.all...)
	return made, nil
}

func (s *silences) End(_ context.Context, a auth.Actor, id silence.ID) error {
	for k := range s.all {
		if s.all[k].ID == id {
			s.all[k].EndedAt = time.Now()
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
	require.Contains(t, body, `name="application" value="db"`)
	status, _ := b.get("/silences/new?incident=1")
	require.Equal(t, http.StatusNotFound, status)

	form := url.Values{"application": {"db"}, "match": {`team="db"`}, "for": {"2h"}, "comment": {"the <upgrade>"}}
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

func TestARefusedSilenceKeepsItsForm(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	for problem, change := range map[string][2]string{
		"name an application that you own": {"application", ""},
		"must begin with a label":          {"match", "?"},
		"comment must say why":             {"comment", " "},
		"to must be after from":            {"until", "2020-01-31T22:00"},
		"until: &#34;noon&#34; is no time": {"until", "noon"},
		"recurrence is no RRULE":           {"rule", "often"},
	} {
		form := url.Values{"application": {"db"}, "for": {"2h"}, "comment": {"the <upgrade>"}, "team": {"kept"}}
		form.Set(change[0], change[1])
		status, body := b.post("/silences", form)
		require.Contains(t, []int{http.StatusBadRequest, http.StatusForbidden}, status, problem)
		require.Contains(t, body, problem)
		require.Contains(t, body, `name="team" value="kept"`, problem)
	}
	require.Empty(t, w.silences.all)
	w.ann.ReadOnly = true
	_, body := b.get("/silences")
	require.NotContains(t, body, "Add a silence")
	status, _ := b.post("/silences", url.Values{"application": {"db"}, "for": {"2h"}, "comment": {"x"}})
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
	status, body := b.post("/silences", url.Values{"application": {"db"}, "from": {"2026-07-01T22:00"}, "until": {"2026-07-02T06:00"},
		"repeat": {"FREQ=WEEKLY"}, "comment": {"backups"}})
	require.Equal(t, http.StatusOK, status, body)
	made := w.silences.all[0]
	require.Equal(t, time.Date(2026, 7, 1, 20, 0, 0, 0, time.UTC), made.From.UTC())
	require.Equal(t, "Europe/Berlin", made.Zone)
	require.Equal(t, "FREQ=WEEKLY", made.Recurrence)
	require.Contains(t, body, "FREQ=WEEKLY")
}

func TestTheListOfSilencesHasPages(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	now := time.Now()
	for n := 400; n > 0; n-- {
		one := silence.Silence{ID: silence.ID(n), Content: silence.Content{Match: "n=" + strconv.Itoa(n), From: now, To: now.Add(time.Hour), Comment: "many"}}
		if n%4 != 0 {
			one.EndedAt = now
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
