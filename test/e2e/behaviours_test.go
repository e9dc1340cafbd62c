package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/legacy/apiclient"
)

// waiting is how long a message may take on a busy machine.
const waiting = 20 * time.Second

// accepted returns the messages that vendors accepted and for which fits is true.
func (s *stage) accepted(fits func(pretend.Entry) bool) (out []pretend.Entry) {
	for _, e := range s.vendors.Log().Accepted() {
		if fits(e) {
			out = append(out, e)
		}
	}
	return out
}

// must sends a request in the session of ann, the administrator. The request must succeed.
func (s *stage) must(method, path string, body any) {
	s.t.Helper()
	status, text := s.as("ann", method, path, body)
	require.Less(s.t, status, 300, "%s %s: %s", method, path, text)
}

// change is a row of a message's audit log on the wire.
type change struct {
	Old, New, Description string
	Type                  string `json:"change_type"`
}

func (s *stage) changes(message int64) (out []change) {
	s.t.Helper()
	require.NoError(s.t, s.app.Call(s.t.Context(), http.MethodGet, fmt.Sprintf("/v0/messages/%d/auditlog", message),
		nil, &out))
	return out
}

// Settings of plans, people and applications that the API stores change the messages that vendors receive.
func TestSettingsChangeMessages(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "iris.yaml")
	require.NoError(t, os.WriteFile(config,
		[]byte("delivery: {sms_override_template: \"Incident %s, see Iris\"}\ncompatibility: {applications_reach_everything: true}\n"), 0o600))
	s := newStage(t, options{env: []string{"IRIS_CONFIG=" + config}})
	s.alarm()
	s.iris(s.apiEnv, "", "app", "set", "watch", "--relay") // watch may pass on answers
	plan := func(name string, more map[string]any, steps ...[]notification) {
		t.Helper()
		body := map[string]any{"name": name, "creator": "ann", "description": "d", "threshold_window": 0,
			"threshold_count": 0, "aggregation_window": 0, "aggregation_reset": 0, "steps": steps}
		for k, v := range more {
			body[k] = v
		}
		s.must(http.MethodPost, "/v0/plans", body)
	}
	s.tracksAndMails(plan)
	s.fixedTexts(plan)
	s.categories()
	s.movesFloods(plan)
	s.bundlesFloods(plan)
	s.holdsQuotas(plan)
}

type planner func(name string, more map[string]any, steps ...[]notification)

// tracksAndMails checks that a mail to an incident address opens an incident, and that the plan's tracking address gets
// one message.
func (s *stage) tracksAndMails(plan planner) {
	t := s.t
	t.Helper()
	plan("tracked", map[string]any{"tracking_type": "email", "tracking_key": "track@example.com", "tracking_template": map[string]any{"watch": map[string]any{
		"email_subject": "tracked {{ iris.incident_id }}", "email_text": "{{ subject }} by {{ iris.plan }}"}}},
		[]notification{notify("user", "ann", "low", 0)})
	s.must(http.MethodPut, "/v0/applications/watch/incident_emails", map[string]any{"in@example.com": "tracked"})
	require.NoError(t, s.app.Call(t.Context(), http.MethodPost, "/v0/response/email", map[string]any{"body": "the pool is empty", "headers": []map[string]string{
		{"name": "From", "value": "pool@example.com"}, {"name": "To", "value": "in@example.com"}, {"name": "Subject",
			"value": "pool"}}}, nil))
	var opened []struct{ ID int64 }
	require.NoError(t, s.app.Call(t.Context(), http.MethodGet, "/v0/incidents?plan=tracked&fields=id", nil, &opened))
	require.Len(t, opened, 1)
	s.expect(opened[0].ID, "email", "ann@example.com")
	tracked := func(e pretend.Entry) bool { return strings.Contains(e.To, "track@example.com") }
	s.eventually(waiting, "the tracking address to hear of it", func() bool { return len(s.accepted(tracked)) > 0 })
	heard := s.accepted(tracked)
	require.Len(t, heard, 1)
	require.Equal(t, fmt.Sprintf("tracked %d", opened[0].ID), heard[0].Subject)
	require.Contains(t, heard[0].Body, "pool by tracked")
}

// fixedTexts checks that people whose carrier blocks the texts of templates get the operator's fixed text.
func (s *stage) fixedTexts(plan planner) {
	s.t.Helper()
	plan("texts", nil, []notification{notify("user", "bob", "high", 0)})
	s.must(http.MethodPost, "/v0/users/overrides/bob",
		map[string]any{"template_overrides": map[string]string{"sms": "enabled"}})
	id := s.open("texts", "secret words")
	require.Equal(s.t, fmt.Sprintf("Incident %d, see Iris", id), s.expect(id, "sms", bobPhone).Body)
	s.must(http.MethodPost, "/v0/users/overrides/bob",
		map[string]any{"template_overrides": map[string]string{"sms": "disabled"}})
}

// categories checks that a notification of a category uses the mode that the person chose, else the mode of the
// category.
func (s *stage) categories() {
	t := s.t
	t.Helper()
	require.NoError(t, s.app.Call(t.Context(), http.MethodPost, "/v0/categories/watch",
		[]map[string]string{{"name": "news", "description": "d", "mode": "email"}}, nil))
	s.must(http.MethodPost, "/v0/users/bob/categories/watch", map[string]any{"news": "sms"})
	for _, name := range []string{"ann", "bob"} {
		require.NoError(t, s.app.Call(t.Context(), http.MethodPost, "/v0/notifications",
			map[string]any{"role": "user", "target": name, "subject": "category", "body": "news of " + name,
				"category": "news"}, nil))
	}
	for mode, to := range map[string]string{"email": "ann", "sms": "bob"} {
		s.eventually(waiting, to+" to hear the news by "+mode, func() bool {
			return len(s.accepted(func(e pretend.Entry) bool {
				return e.Mode == mode &&
					strings.Contains(e.Body, "news of "+to)
			})) == 1
		})
	}
}

// movesFloods checks that messages above the person's count use the other mode, and that their audit log has an entry.
func (s *stage) movesFloods(plan planner) {
	t := s.t
	t.Helper()
	plan("loudly", nil, []notification{notify("user", "ann", "high", 0)})
	s.must(http.MethodPost, "/v0/users/reprioritization/ann",
		map[string]any{"src_mode": "sms", "dst_mode": "email", "count": 2, "duration": 600})
	s.aSecondLater()
	by := map[string]int64{}
	for i := range 4 {
		id := s.open("loudly", fmt.Sprint("flood ", i))
		mode := "sms"
		if i >= 2 {
			mode = "email"
		}
		s.eventually(waiting, fmt.Sprintf("incident %d to leave", id), func() bool { return s.messagesOf(id) > 0 })
		first := s.accepted(func(e pretend.Entry) bool { return e.IncidentID == id })[0]
		require.Equal(t, mode, first.Mode, "message %d of the flood", i+1)
		by[mode] = first.MessageID
	}
	require.Contains(t, s.changes(by["email"]), change{Old: "sms", New: "email", Type: "mode-change",
		Description: "Changing mode due to reprioritization"})
	require.Empty(t, s.changes(by["sms"]))
	s.must(http.MethodDelete, "/v0/users/reprioritization/ann/sms", nil)
}

// bundlesFloods checks that pages above the plan's threshold are sent in one digest. An answer to the digest claims all
// incidents.
func (s *stage) bundlesFloods(plan planner) {
	t := s.t
	t.Helper()
	plan("flood", map[string]any{"threshold_window": 600, "threshold_count": 2, "aggregation_window": 2,
		"aggregation_reset": 60}, []notification{notify("user", "bob", "low", 600)})
	ids := map[int64]bool{}
	for i := range 5 {
		ids[s.open("flood", fmt.Sprint("drop ", i))] = true
	}
	digest := func(e pretend.Entry) bool { return strings.Contains(e.Subject, "messages from plan flood") }
	s.eventually(waiting, "the digest", func() bool { return len(s.accepted(digest)) > 0 })
	require.Equal(t, "[watch] 3 messages from plan flood", s.accepted(digest)[0].Subject)
	alone := s.accepted(func(e pretend.Entry) bool { return ids[e.IncidentID] && !digest(e) })
	require.Len(t, alone, 2, "what is below the threshold leaves at once")
	batch := regexp.MustCompile(`Batch ID: ([0-9a-f]{32})`).FindStringSubmatch(s.accepted(digest)[0].Body)
	require.Len(t, batch, 2, s.accepted(digest)[0].Body)
	held, err := s.messages(url.Values{"batch": {batch[1]}})
	require.NoError(t, err)
	require.Len(t, held, 3, "its rows share the number of the batch")
	entered := s.changes(held[0].ID)
	require.NotEmpty(t, entered)
	require.Equal(t, "sent-change", entered[len(entered)-1].Type)
	require.Contains(t, entered[len(entered)-1].Description, "Aggregated with key (")
	var open []struct{ Owner *string }
	require.NoError(t, s.app.Call(t.Context(), http.MethodPost, "/v0/response/email",
		map[string]any{"body": batch[1] + " claim",
			"headers": []map[string]string{{"name": "From", "value": "bob@example.com"}}}, nil))
	require.NoError(t, s.app.Call(t.Context(), http.MethodGet, "/v0/incidents?plan=flood&owner=bob&fields=owner", nil,
		&open))
	require.Len(t, open, 3, "whoever claims a digest claims all that it stands for")
}

// holdsQuotas checks that the quota's target is notified above the soft limit. Above the hard limit messages are
// dropped, and an incident is opened.
func (s *stage) holdsQuotas(plan planner) {
	t := s.t
	t.Helper()
	s.must(http.MethodPost, "/v0/templates", map[string]any{"name": "breach", "creator": "ann", "content": map[string]any{"iris": map[string]any{
		"email": words{"subject": "{{ quota_breach.application }} is cut off",
			"body": "beyond {{ quota_breach.limit }} in {{ quota_breach.duration }}"}}}})
	breach := notify("user", "ann", "low", 0)
	breach["template"] = "breach"
	plan("breach", nil, []notification{breach})
	key := strings.TrimSpace(s.iris(s.env, "", "app", "add", "loud"))
	loud, err := apiclient.New(apiclient.Config{URL: s.apiURL, App: "loud", Key: key})
	require.NoError(t, err)
	s.must(http.MethodPut, "/v0/applications/loud", map[string]any{"sample_context": "{}", "context_template": "",
		"summary_template": "", "mobile_template": "", "variables": []string{},
		"custom_sender_addresses": map[string]string{"email": "loud@example.com"}})
	s.must(http.MethodPost, "/v0/applications/loud/quota", map[string]any{"hard_quota_threshold": 4,
		"soft_quota_threshold": 2, "hard_quota_duration": 3600, "soft_quota_duration": 3600,
		"plan_name": "breach", "wait_time": 3600, "target_name": "bob"})
	s.aSecondLater()
	for i := range 7 {
		require.NoError(t, loud.Notify(t.Context(),
			apiclient.Notification{Target: apiclient.Target{Role: "user", Target: "ann"}, Subject: fmt.Sprint("n", i),
				Mode: "email", Body: "b"}))
	}
	of := func(subject string) func(pretend.Entry) bool {
		return func(e pretend.Entry) bool { return strings.Contains(e.Subject, subject) }
	}
	s.eventually(waiting, "the soft limit to be told",
		func() bool { return len(s.accepted(of("Application loud exceeding message quota"))) > 0 })
	s.eventually(waiting, "the incident of the hard limit",
		func() bool { return len(s.accepted(of("loud is cut off"))) > 0 })
	s.eventually(waiting, "the rest to be dropped", func() bool {
		dropped, err := s.messages(url.Values{"application": {"loud"}, "mode": {"drop"}})
		return err == nil && len(dropped) == 3
	})
	sent := s.accepted(of("[loud] n"))
	require.Len(t, sent, 4, "as many as the hard limit allows")
	require.Contains(t, sent[0].From, "loud@example.com", "from the application's own address")
	told := s.accepted(of("Application loud exceeding message quota"))
	require.Len(t, told, 1)
	require.Contains(t, told[0].To, "bob@example.com")
	require.Len(t, s.accepted(of("loud is cut off")), 1)
	dropped, err := s.messages(url.Values{"application": {"loud"}, "mode": {"drop"}})
	require.NoError(t, err)
	require.Contains(t, s.changes(dropped[0].ID), change{Old: "email", New: "drop", Type: "mode-change",
		Description: "Dropping due to hard quota violation."})
	var breached []struct {
		Context map[string]map[string]any
	}
	require.NoError(t, s.app.Call(t.Context(), http.MethodGet,
		"/v0/incidents?application=iris&plan=breach&fields=context", nil, &breached))
	require.Len(t, breached, 1)
	require.Equal(t, "loud", breached[0].Context["quota_breach"]["application"])
}
