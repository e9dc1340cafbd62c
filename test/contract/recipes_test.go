package contract

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/recipes"
)

// hook delivers a body to a hook and returns the events of the answer.
func (s *server) hook(kind, token, contentType, body string) []hookEvent {
	s.Helper()
	return decode[struct{ Events []hookEvent }](s.do(anonymous, post, "/v1/hooks/"+kind, body, "Authorization",
		"Bearer "+token, "Content-Type", contentType).is(200)).Events
}

type hookEvent struct {
	Key      string `json:"dedup_key"`
	Outcome  string `json:"outcome"`
	Incident int64  `json:"incident"`
}

// sender adds an integration and returns its token.
func (s *server) sender(name, kind string, settings m) string {
	s.Helper()
	return decode[struct{ Token string }](s.do(admin, put, "/v1/integrations/"+name, m{"type": kind, "application": "demo",
		"default_plan": "pager", "settings": settings}).is(201)).Token
}

// TestEverySampleOfRecipesPages delivers each sample of each recipe in its order: the first firing one of an alert opens
// an incident, further ones open none, and what is over resolves it.
func TestEverySampleOfRecipesPages(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, r := range recipes.Builtin().All() {
		tokens := map[bool]string{}
		open := map[string]int64{}
		for _, sample := range r.Samples {
			kind := map[bool]string{false: intake.Generic, true: intake.Email}[sample.Mail]
			if tokens[sample.Mail] == "" {
				tokens[sample.Mail] = s.sender(r.Name+"-"+kind, kind, nil)
			}
			got := s.hook(kind, tokens[sample.Mail], sample.ContentType, sample.Body)
			require.Len(t, got, len(sample.Events), "%s, %s", r.Name, sample.Name)
			for k, e := range sample.Events {
				at := []any{"%s, %s: %v", r.Name, sample.Name, got[k]}
				known := open[got[k].Key]
				switch {
				case e.Status != intake.Firing && known == 0: // another sample has ended it
					require.Equal(t, "ignored", got[k].Outcome, at...)
				case e.Status == intake.Firing && known == 0:
					require.Equal(t, "opened", got[k].Outcome, at...)
					open[got[k].Key] = got[k].Incident
				case e.Status == intake.Firing:
					require.Equal(t, "updated", got[k].Outcome, at...)
					require.Equal(t, known, got[k].Incident, at...)
				default:
					require.Equal(t, string(e.Status), got[k].Outcome, at...)
					require.Equal(t, known, got[k].Incident, at...)
				}
				if e.Status == intake.Resolved {
					delete(open, got[k].Key)
				}
			}
		}
	}
}

// TestARecipeChangesNoKeyOfAnOpenIncident: it begins with the next incident.
func TestARecipeChangesNoKeyOfAnOpenIncident(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	token := s.sender("later", intake.Generic, m{"recipe": "none"})
	r, known := recipes.Builtin().Named("uptime_kuma")
	require.True(t, known)
	fires := r.Samples[slices.IndexFunc(r.Samples, func(one recipes.Sample) bool {
		return !one.Mail && len(one.Events) > 0 && one.Events[0].Status == intake.Firing
	})]
	ends := r.Samples[slices.IndexFunc(r.Samples, func(one recipes.Sample) bool {
		return !one.Mail && len(one.Events) > 0 && one.Events[0].Status == intake.Resolved
	})]
	before := s.hook(intake.Generic, token, fires.ContentType, fires.Body)[0]
	require.Equal(t, "opened", before.Outcome)
	s.do(admin, put, "/v1/integrations/later", m{"type": "generic", "application": "demo", "default_plan": "pager",
		"settings": m{"recipe": r.Name}}).is(200)
	for _, sample := range []recipes.Sample{fires, ends} {
		after := s.hook(intake.Generic, token, sample.ContentType, sample.Body)[0]
		require.Equal(t, before.Incident, after.Incident, after.Outcome)
		require.Equal(t, before.Key, after.Key)
	}
	next := s.hook(intake.Generic, token, fires.ContentType, fires.Body)[0]
	require.Equal(t, "opened", next.Outcome)
	stored := s.comes("/integrations/later", "it keeps the key with which it was opened until it ends")
	require.Contains(t, stored.body, "read by the recipe "+r.Name+", because it has the members ")
	for _, sample := range []recipes.Sample{fires, ends} {
		s.do(admin, post, "/v1/integrations/later/preview", m{"payload": sample.Body}).is(200)
	}
}

// TestRecipesAtEveryDoor names, lists, tries and refuses recipes.
func TestRecipesAtEveryDoor(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	person, reader, _ := s.remotes()
	settingsOf := func(name string) string {
		return string(decode[struct{ Settings json.RawMessage }](s.do(admin, get, "/v1/integrations/"+name, nil).is(200)).Settings)
	}
	token := s.sender("ruler", intake.Generic, nil)
	ruled := decode[struct{ Events []hookEvent }](s.do(anonymous, post, "/v1/hooks/generic/api/v2/alerts", `[{"labels": {"alertname": "Disk", "instance": "db7"}, "annotations": {}, "startsAt": "2026-11-29T10:00:00Z", "generatorURL": "https://prometheus.example.com"}]`,
		"Authorization", "Bearer "+token).is(200))
	require.Equal(t, []hookEvent{{"alertname=Disk,instance=db7", "opened", ruled.Events[0].Incident}}, ruled.Events)
	require.Regexp(t, `(?m)^apprise +generic +Apprise +`, reader.does("integration recipes"))
	person.does("integration add known --type generic --application demo --plan pager --recipe apprise")
	require.JSONEq(t, `{"recipe":"apprise"}`, settingsOf("known"))
	require.Contains(t, person.does("integration preview known --sample apprise"), "read as: Apprise, because it has the members ")
	person.refused(2, "there is no recipe", "integration set known --recipe nothing")
	person.refused(2, "have no settings", "integration add other --type nagios --application demo --recipe apprise")
	page := s.do(admin, get, "/integrations/known/settings", nil).is(200).body
	require.Contains(t, page, `<option value="apprise" selected>Apprise</option>`)
	require.Contains(t, s.do(admin, get, "/integrations/known", nil).is(200).body, "apprise -t")
	added := s.do(admin, get, "/add-integration?type=generic&recipe=apprise", nil).is(200).body
	require.Contains(t, added, `<input type="hidden" name="recipe" value="apprise">`)
	found := s.do(admin, get, "/add-integration?text=azure", nil).is(200)
	found.shows("type=generic&recipe=azure_monitor", "type=email&recipe=azure_monitor_mail")
	require.NotContains(t, found.body, "recipe=apprise")
	s.do(admin, get, "/add-integration?text=carrier+pigeon", nil).is(200).shows("No sender has this name.")
	s.post(admin, "/add-integration", "type", "generic", "recipe", "apprise", "name", "by page", "application", "demo",
		"default_plan", "pager").is(200)
	require.JSONEq(t, `{"recipe":"apprise"}`, settingsOf("by%20page"))
	s.post(admin, "/add-integration", "type", "generic", "recipe", "nothing", "name", "no", "application", "demo").is(400)
}
