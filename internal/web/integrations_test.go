package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/applications"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/hours"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/intake/routing"
	"github.com/iris-oncall/iris/internal/users"
)

// senders has integrations of the application db, which owner owns.
type senders struct {
	all   []integrations.Integration
	owner users.ID
	read  int // how often payloads were read
}

func (s *senders) List(context.Context, integrations.ID, int) ([]integrations.Integration, error) {
	return s.all, nil
}

func (s *senders) ByName(_ context.Context, name string) (integrations.Integration, error) {
	for _, i := range s.all {
		if i.Name == name {
			return i, nil
		}
	}
	return integrations.Integration{}, fault.New(fault.NotFound, "there is no such integration")
}

func (s *senders) Payloads(context.Context, integrations.ID) ([]integrations.Payload, error) {
	s.read++
	return []integrations.Payload{{At: time.Now(), Outcome: "opened incident 257", Body: `{"title": "<script>secret</script>"}`}}, nil
}

func (s *senders) Describe(context.Context, string) (applications.Application, error) {
	return applications.Application{ID: 9, Name: "db", OwnerIDs: []users.ID{s.owner}}, nil
}

// Preview returns one event for each payload.
func (s *senders) Preview(_ context.Context, _ integrations.Integration, d receiving.Delivery) ([]receiving.Preview, error) {
	return []receiving.Preview{{Event: intake.Event{Status: intake.Firing, Title: "<b>" + string(d.Body), Severity: intake.Error, Labels: map[string]string{"team": "db"},
		Failures: []intake.Failure{{Field: "key", Reason: "no such name"}}}, Choice: receiving.Choice{Plan: "night", Owner: receiving.RulePlan, Reason: "rule 1 matches"}}}, nil
}

func sender(name string) integrations.Integration {
	return integrations.Integration{Application: "db", CreatedBy: "ann", Content: integrations.Content{Name: name, Type: "alertmanager", DefaultPlan: "db/plan",
		Settings: json.RawMessage(`{}`), Enabled: true, Rules: []routing.Rule{{Match: `team="db"`, Plan: "night",
			Times: []hours.Window{{Days: []string{"mon"}, From: "18:00", To: "08:00"}}}}},
		Activity: integrations.Activity{Accepted: 12, Refused: 3, LastRefusal: "the rate is exceeded", LastRefusedAt: time.Now()}}
}

func TestIntegrationsAreListed(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	_, body := b.get("/integrations")
	require.Contains(t, body, "iris integration add NAME", "an empty list says how to add one")
	w.senders.all = []integrations.Integration{sender("am <eu>"), sender("Zabbix")}
	w.senders.all[1].Enabled = false
	_, body = b.get("/integrations")
	require.Contains(t, body, "am &lt;eu&gt;")
	require.Contains(t, body, `href="/integrations/am%20%3Ceu%3E"`)
	require.Contains(t, body, "switched off")
	require.Contains(t, body, "the rate is exceeded")
	_, body = b.get("/integrations?text=ZAB")
	require.NotContains(t, body, "am &lt;eu&gt;")
	require.Contains(t, body, "Zabbix")
	_, body = b.get("/integrations?text=none")
	require.Contains(t, body, "No integration has this text")

	w.senders.all = nil
	for n := range 60 {
		w.senders.all = append(w.senders.all, sender(fmt.Sprintf("am-%02d", n)))
	}
	_, body = b.get("/integrations")
	require.Equal(t, 50, strings.Count(body, "<tr>")-1)
	require.Contains(t, body, "/integrations?after=am-49&amp;text=")
	_, body = b.get("/integrations?after=am-49&text=")
	require.Equal(t, 10, strings.Count(body, "<tr>")-1)
}

// Deliveries may have secrets of the sender.
func TestOnlyOwnersAndAdministratorsSeeDeliveries(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	w.senders.all = []integrations.Integration{sender("am eu")}
	status, body := b.get("/integrations/am%20eu")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "https://iris.example.com/v1/hooks/alertmanager")
	require.Contains(t, body, `href="/plans/db%2Fplan"`)
	require.Contains(t, body, "mon 18:00 to 08:00 UTC")
	require.Contains(t, body, "Only administrators and owners")
	require.Zero(t, w.senders.read)

	for name, allow := range map[string]func(){
		"owner":         func() { w.senders.owner = w.ann.ID },
		"administrator": func() { w.senders.owner, w.ann.Admin = 0, true },
	} {
		allow()
		_, body = b.get("/integrations/am%20eu")
		require.Contains(t, body, "opened incident 257", name)
		require.Contains(t, body, "&lt;script&gt;secret", name)
		require.NotContains(t, body, "<script>secret", name)
		require.Contains(t, body, `href="?preview=1"`)
		_, body = b.get("/integrations/am%20eu?preview=1")
		require.Contains(t, body, "it opens an incident on plan <bdi>night</bdi>, that of the rule", name)
		require.Contains(t, body, "no such name; the default is used", name)
		require.NotContains(t, body, "<b>{", name)
	}
	w.senders.owner, w.ann.Admin, w.ann.ReadOnly = w.ann.ID, false, true
	_, body = b.get("/integrations/am%20eu")
	require.NotContains(t, body, "opened incident 257", "an owner who may only read changes nothing, so /v1 refuses too")
	status, _ = b.get("/integrations/none")
	require.Equal(t, http.StatusNotFound, status)
}
