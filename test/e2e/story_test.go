package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/legacy/apiclient"
)

var ackLink = regexp.MustCompile(`https?://[^\s"<>]+/ack/[A-Za-z0-9_-]+`)

func TestPageWaitNextStepAndAcknowledgeByLink(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{})
	s.alarm()
	s.plan("two-steps", []notification{notify("user", "ann", "low", 2)},
		[]notification{notify("user", "bob", "low", 60)})

	// Nobody acknowledges: step 2 pages bob when the wait is over, not before.
	alone := s.open("two-steps", "db down")
	first := s.expect(alone, "email", "ann@example.com")
	require.Contains(t, first.Subject, "db down")
	require.Contains(t, first.Body, "db down for ann")
	second := s.expect(alone, "email", "bob@example.com")
	require.GreaterOrEqual(t, second.At.Sub(first.AnsweredAt), 2*time.Second, "the wait starts when the message left")

	// Acknowledged by link: opening the page changes nothing, the button acknowledges, and step 2 does not begin.
	id := s.open("two-steps", "disk full")
	page := s.expect(id, "email", "ann@example.com")
	link := ackLink.FindString(page.Body)
	require.NotEmpty(t, link, page.Body)
	status, body := fetch(t, http.MethodGet, link)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "Acknowledge")
	require.Equal(t, 1, s.incident(id).Active, "a mail scanner that follows the link acknowledges nothing")
	status, body = fetch(t, http.MethodPost, link)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "Acknowledged by ann")
	s.expectAcknowledged(id, "ann", "link")
	s.silentUntil(page.At.Add(4*time.Second), id)
	s.check([]int64{alone, id})
}

func TestAcknowledgeBySlackSMSAndKey(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{processors: 2})
	s.alarm()
	s.plan("by-mode", []notification{notify("user", "ann", "urgent", 3), notify("user", "ann", "high", 3)},
		[]notification{notify("team", "ops", "low", 60)})

	// Ann chose Slack for the priority medium.
	_, err := s.db.Exec(t.Context(), "insert into user_modes (user_id, priority, mode) select id, 'medium', 'slack' from users where name = 'ann'")
	require.NoError(t, err)
	bySMS := s.open("by-mode", "by text")
	text := s.expect(bySMS, "sms", annPhone)
	require.Contains(t, text.Body, "by text")
	said, err := s.vendors.Twilio.ReplySMS(t.Context(), s.apiURL+pretend.TwilioInboundPath, annPhone, twilioFrom,
		fmt.Sprintf("%d ack", text.MessageID))
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("Iris incident(%d) acknowledged.", bySMS), said)
	s.expectAcknowledged(bySMS, "ann", "text message")

	byKey := s.open("by-mode", "by key")
	call := s.expect(byKey, "call", annPhone)
	heard, err := s.vendors.Twilio.Answer(t.Context(), call.VendorID)
	require.NoError(t, err)
	require.Contains(t, heard, "by key")
	said, err = s.vendors.Twilio.PressKey(t.Context(), call.VendorID, "2")
	require.NoError(t, err)
	require.Contains(t, said, fmt.Sprintf("Iris incident(%d) acknowledged.", byKey))
	s.expectAcknowledged(byKey, "ann", "phone key")

	s.plan("by-slack", []notification{notify("user", "ann", "medium", 3)},
		[]notification{notify("team", "ops", "low", 60)})
	bySlack := s.open("by-slack", "by button")
	chat := s.expect(bySlack, "slack", "@ann")
	status, answer, err := s.vendors.Slack.Press(t.Context(), s.apiURL+pretend.SlackInteractionsPath, chat.ID,
		"iris_acknowledge", "U1", "ann")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, answer)
	s.expectAcknowledged(bySlack, "ann", "slack")

	// Nothing is sent after an acknowledgement, although the waits are over.
	s.silentUntil(time.Now().Add(4*time.Second), bySlack)
	for _, e := range s.vendors.Log().Accepted() {
		require.NotContains(t, e.To, "bob", "step 2 must not fire")
	}
	s.check([]int64{bySMS, byKey, bySlack})
}

// burst opens n incidents from several clients at once and returns the accepted ones. It repeats refused posts until a
// deadline, as a monitoring system would.
func (s *stage) burst(plan string, n int, meanwhile func()) []int64 {
	s.t.Helper()
	var mu sync.Mutex
	var ids []int64
	work := make(chan int)
	var wg sync.WaitGroup
	ctx, cancel := context.WithTimeout(s.t.Context(), 60*time.Second)
	defer cancel()
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range work {
				for ctx.Err() == nil {
					id, err := s.app.OpenIncident(ctx, apiclient.Incident{Plan: plan,
						Context: map[string]any{"title": fmt.Sprintf("alarm %d", i)}})
					if err == nil {
						mu.Lock()
						ids = append(ids, id)
						mu.Unlock()
						break
					}
				}
			}
		}()
	}
	for i := range n {
		if i == n/2 && meanwhile != nil {
			meanwhile()
		}
		work <- i
	}
	close(work)
	wg.Wait()
	require.Len(s.t, ids, n, "every incident was accepted in the end")
	return ids
}

func (s *stage) allDelivered(d time.Duration, ids []int64) {
	s.t.Helper()
	s.eventually(d, fmt.Sprintf("%d incidents to be delivered", len(ids)), func() bool {
		reached := map[int64]bool{}
		for _, e := range s.vendors.Log().Accepted() {
			reached[e.IncidentID] = true
		}
		for _, id := range ids {
			if !reached[id] {
				return false
			}
		}
		return true
	})
}

// settled waits until no message is pending or in flight, so that every outcome is recorded.
func (s *stage) settled(d time.Duration) {
	s.t.Helper()
	s.eventually(d, "every message to be settled", func() bool {
		return s.count("select count(*) from messages where state in ('pending', 'taken', 'sending')") == 0
	})
}

func TestKilledProcessorLosesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{processors: 3})
	s.alarm()
	s.plan("burst", []notification{notify("user", "ann", "low", 3600)})
	s.allOwned(15*time.Second, 3)
	s.vendors.SMTP.Behave(pretend.Behaviour{Do: pretend.Fine, DelayMS: 20})
	ids := s.burst("burst", 600, func() { s.processors[0].signal(syscall.SIGKILL) })
	s.allOwned(10*time.Second, 2)
	s.allDelivered(60*time.Second, ids)
	s.settled(60 * time.Second)
	s.check(ids)
}

func TestPausedProcessorWritesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{processors: 2})
	s.alarm()
	s.plan("burst", []notification{notify("user", "ann", "low", 3600)})
	s.allOwned(15*time.Second, 2)
	// The vendor is slow, so that the pause happens during calls.
	s.vendors.SMTP.Behave(pretend.Behaviour{Do: pretend.Fine, DelayMS: 100})
	stopped := s.processors[0]
	ids := s.burst("burst", 200, func() { stopped.signal(syscall.SIGSTOP) })
	// A process that was frozen in a fenced transaction keeps the buckets of the transaction until the database ends it
	// (10 s).
	s.allOwned(30*time.Second, 1)
	s.allDelivered(90*time.Second, ids)
	stopped.signal(syscall.SIGCONT)
	s.allOwned(20*time.Second, 2)
	s.settled(60 * time.Second)
	s.check(ids)
}

func TestDatabaseRestartedUnderLoad(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{ownServer: true, processors: 2})
	s.alarm()
	s.plan("burst", []notification{notify("user", "ann", "low", 3600)})
	s.allOwned(15*time.Second, 2)
	ids := s.burst("burst", 400, func() { require.NoError(t, s.pg.Restart(t.Context(), true)) })
	s.allDelivered(90*time.Second, ids)
	s.settled(60 * time.Second)
	s.check(ids)
}

func TestAlertmanagerPairOpensOneIncident(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{})
	s.alarm()
	s.plan("am", []notification{notify("user", "ann", "low", 60)})
	payload := `{"version":"4","groupKey":"{}:{alertname=\"Down\"}","status":"%s","receiver":"iris","groupLabels":{"alertname":"Down"},
		"commonLabels":{"alertname":"Down","iris_plan":"am"},"commonAnnotations":{"summary":"db1 is down"},"externalURL":"http://am",
		"alerts":[{"status":"%[1]s","labels":{"alertname":"Down"},"annotations":{},"startsAt":"2026-11-20T10:00:00Z","endsAt":"0001-01-01T00:00:00Z","fingerprint":"abc"}]}`
	hook := s.apiURL + "/v0/webhooks/alertmanager?application=watch&key=" + s.key
	var mu sync.Mutex
	seen := map[string]int{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			resp, err := http.Post(hook, "application/json", strings.NewReader(fmt.Sprintf(payload, "firing")))
			if err != nil {
				return
			}
			body, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			mu.Lock()
			seen[fmt.Sprintf("%d %s", resp.StatusCode, body)]++
			mu.Unlock()
		}()
	}
	wg.Wait()
	require.Len(t, seen, 1, "all deliveries name the same incident: %v", seen)
	require.Equal(t, 1, s.count("select count(*) from incidents"))
	var id int64
	require.NoError(t, s.db.QueryRow(t.Context(), "select id from incidents").Scan(&id))
	s.expect(id, "email", "ann@example.com")
	resp, err := http.Post(hook, "application/json", strings.NewReader(fmt.Sprintf(payload, "resolved")))
	require.NoError(t, err)
	_ = resp.Body.Close()
	require.Equal(t, http.StatusCreated, resp.StatusCode)
	require.Equal(t, 1, s.incident(id).Resolved)
	require.Equal(t, 0, s.incident(id).Active)
	s.check([]int64{id})
}

func TestLimitHoldsOverTheCluster(t *testing.T) { // not parallel, because it measures the times of calls
	config := t.TempDir() + "/iris.yaml"
	writeFile(t, config, "limits:\n  modes:\n    email: {rate: 20/s}\n")
	s := newStage(t, options{processors: 3, env: []string{"IRIS_CONFIG=" + config}})
	s.alarm()
	s.plan("burst", []notification{notify("user", "ann", "low", 3600)})
	s.allOwned(15*time.Second, 3)
	ids := s.burst("burst", 160, nil)
	s.allDelivered(60*time.Second, ids)
	s.settled(30 * time.Second)
	s.check(ids, limit{mode: "email", rate: 20, burst: 1})
}

func fetch(t *testing.T, method, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

// A snooze stops the pages of an incident. When it ends, the plan begins again and pages everybody again.
func TestSnoozeThenPageAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{})
	s.alarm()
	s.plan("snoozed", []notification{notify("user", "ann", "low", 2)}, []notification{notify("user", "bob", "low", 60)})
	id := s.open("snoozed", "disk full")
	page := s.expect(id, "email", "ann@example.com")

	status, body := s.as("ann", http.MethodPost, fmt.Sprintf("/v1/incidents/%d/snooze", id),
		map[string]string{"for": "4s"})
	require.Equal(t, http.StatusOK, status, body)
	require.Contains(t, body, `"state":"snoozed"`)
	s.silentUntil(page.At.Add(4*time.Second), id)
	s.eventually(10*time.Second, "the second page", func() bool { return s.messagesOf(id) >= 2 })
	require.Equal(t, 1, s.count(`select count(*) from timeline_entries where incident_id = $1 and text = 'escalation starts again: the snooze is over'`, id))

	out := s.iris(s.env, "", "incident", "snooze", fmt.Sprint(id), "--for", "1h")
	require.Contains(t, out, "is snoozed until")
	require.Equal(t, 0, s.incident(id).Active)
	s.iris(s.env, "", "incident", "unsnooze", fmt.Sprint(id))
	require.Equal(t, 1, s.incident(id).Active)
}

// A person is texted some time after the first notification, and called later. An acknowledgement stops what has not
// been sent.
func TestNotificationRulesGoOnUntilTheAcknowledgement(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{})
	s.alarm()
	s.iris(s.env, "", "user", "rule", "set", "ann", "low", "email", "sms:2s", "call:5s")
	require.Contains(t, s.iris(s.env, "", "user", "rule", "list", "ann"), "low by email, sms after 2 s, call after 5 s")
	s.plan("ruled", []notification{notify("user", "ann", "low", 60)})
	id := s.open("ruled", "disk full")
	page := s.expect(id, "email", "ann@example.com")
	text := s.expect(id, "sms", annPhone)
	require.GreaterOrEqual(t, text.At.Sub(page.At), time.Second, "about two seconds after the page was made")
	status, body := s.as("ann", http.MethodPost, fmt.Sprintf("/v1/incidents/%d/acknowledge", id), map[string]string{})
	require.Equal(t, http.StatusOK, status, body)
	s.silentUntil(page.At.Add(7*time.Second), id)
	require.Equal(t, 2, s.messagesOf(id))
	s.eventually(10*time.Second, "the call is cancelled", func() bool {
		return s.count(`select count(*) from messages where incident_id = $1 and state = 'cancelled' and mode = 'call'`, id) == 1
	})
}
