package demo

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// samples are contexts that the sources post, with the title that the page must contain.
var samples = map[string]struct{ context, title string }{
	"alertmanager": {`{"receiver":"iris","status":"firing","alerts":[{"status":"firing","labels":{"alertname":"DiskFull","instance":"db1","severity":"critical"},
		"annotations":{"summary":"disk of db1 is full"},"startsAt":"2026-11-20T10:00:00Z","generatorURL":"http://p/graph"}],
		"groupLabels":{"alertname":"DiskFull"},"commonLabels":{"alertname":"DiskFull","severity":"critical"},"commonAnnotations":{"summary":"disk of db1 is full"},"version":"4"}`, "disk of db1 is full"},
	"alertmanager, different summaries": {`{"receiver":"iris","status":"firing","alerts":[
		{"status":"firing","labels":{"alertname":"DiskFull","instance":"db1"},"annotations":{"summary":"disk of db1 is full"},"startsAt":"2026-11-20T10:00:00Z"},
		{"status":"firing","labels":{"alertname":"DiskFull","instance":"db2"},"annotations":{"summary":"disk of db2 is full"},"startsAt":"2026-11-20T10:00:00Z"}],
		"groupLabels":{"alertname":"DiskFull"},"commonLabels":{"alertname":"DiskFull"},"commonAnnotations":{},"version":"4"}`, "disk of db1 is full (and 1 more)"},
	"grafana without group labels": {`{"receiver":"iris","status":"firing","orgId":1,"alerts":[{"status":"firing","labels":{"alertname":"Load"},
		"annotations":{},"startsAt":"2026-11-20T10:00:00Z","fingerprint":"c6","values":{"B":7}}],"groupLabels":{},"commonLabels":{},
		"commonAnnotations":{},"version":"1","title":"[FIRING:1] Load","state":"alerting","message":"x"}`, "Load"},
	"grafana of old": {`{"dashboardId":1,"evalMatches":[{"value":100,"metric":"load","tags":{}}],"message":"load is high","orgId":1,
		"panelId":2,"ruleId":9,"ruleName":"Load","ruleUrl":"http://g/","state":"alerting","tags":{},"title":"[Alerting] Load"}`, "[Alerting] Load"},
	"freshping": {`{"title":"Check down","description":"<b>shop</b> is down","tags":["shop"],"ticket_id":17}`,
		"Check down"},
	"rackspace": {`{"event_id":"ac1:en2","details":{"target":"t","state":"CRITICAL"},"entity":{},"tenant_id":"5"}`,
		"ops from shop"},
	"title": {`{"title":"db-1: disk is full","service":"db","value":99}`, "db-1: disk is full"},
}

// oneIncident is a source with one incident and one template.
type oneIncident struct {
	context string
	content messages.TemplateContent
}

func (s oneIncident) Incidents(context.Context, []incidents.ID) (map[incidents.ID]messages.IncidentData, error) {
	return map[incidents.ID]messages.IncidentData{5: {Context: json.RawMessage(s.context), PlanID: 7,
		Application: "shop"}}, nil
}

func (oneIncident) Requests(context.Context, []int64) (map[int64]messages.RequestData, error) {
	return nil, nil
}

func (oneIncident) Plans(context.Context, []int64) (map[int64]messages.PlanData, error) {
	return map[int64]messages.PlanData{7: {Name: "ops"}}, nil
}

func (s oneIncident) Templates(_ context.Context, keys []messages.TemplateKey) (map[messages.TemplateKey]messages.Found, error) {
	return map[messages.TemplateKey]messages.Found{keys[0]: {Template: true, Application: true, Mode: true,
		Content: s.content}}, nil
}

func (oneIncident) Detours(context.Context, []messages.ID) (map[messages.ID]messages.Change, error) {
	return nil, nil
}

func TestTemplatesAndBuiltInTextContainTheTitle(t *testing.T) {
	t.Parallel()
	builtIn := []messages.TemplateText{}
	for _, mode := range []users.Mode{users.Email, users.SMS, users.Slack, users.Call} {
		for _, blank := range []string{"{{ nothing }}", "{{ nothing.at.all }}", "Summary: {{ commonAnnotations_.summary }}{{ nothing }}"} {
			builtIn = append(builtIn, messages.TemplateText{Mode: mode,
				TemplateContent: messages.TemplateContent{Subject: "{{ nothing }}", Body: blank}})
		}
	}
	for kind, templates := range map[string][]messages.TemplateText{"demo": templateDraft().Texts, "built in": builtIn} {
		for source, sample := range samples {
			for _, tpl := range templates {
				out, err := messages.NewRenderer(oneIncident{sample.context, tpl.TemplateContent}).Render(t.Context(), []messages.Request{{
					MessageID: 27, IncidentID: 5, PlanID: 7, Mode: tpl.Mode, Template: "t", Target: "ana", AckURL: "https://iris.example/ack/abc",
				}})
				require.NoError(t, err)
				c, what := out[0], kind+" of "+source+" by "+string(tpl.Mode)
				require.Equal(t, kind == "built in", c.Problem != "", "%s: %s", what, c.Problem)
				title := sample.title
				if tpl.Mode == users.Call {
					title = strings.NewReplacer("[", "", "]", "").Replace(title)
				}
				require.Contains(t, c.Body, title, what)
				require.NotContains(t, c.Body, "{'", what)
				if tpl.Mode == users.Email || tpl.Mode == users.Slack {
					require.Contains(t, c.Subject, title, what)
				}
				if tpl.Mode == users.Email {
					require.Contains(t, c.EmailHTML, title, what)
				}
				if tpl.Mode == users.SMS && kind == "built in" {
					require.LessOrEqual(t, utf8.RuneCountInString(c.Body), 160, what)
				}
			}
		}
	}
}
