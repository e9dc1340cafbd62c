package contract

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the algorithm is Twilio's
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	twilioToken   = "0123456789abcdef0123456789abcdef"
	slackSecret   = "a signing secret of slack"
	annPhone      = "+15551110001"
	form          = "application/x-www-form-urlencoded"
	oneClickKey   = "a key of sixteen or more characters"
	anotherPerson = "+15559998888"
)

// newRelay starts a server that takes the answers of people. slack is a fake of Slack's API.
func newRelay(t *testing.T) *server {
	t.Helper()
	return newRelayWith(t)
}

// newRelayWith is newRelay with additional lines of configuration.
func newRelayWith(t *testing.T, more ...string) *server {
	t.Helper()
	slack := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"ok": true, "user": {"id": "U0123456789", "name": "ann", "profile": {"email": "ann@example.com"}}}`)
	}))
	t.Cleanup(slack.Close)
	return newServer(t, "IRIS_TWILIO_ACCOUNT_SID=AC0123456789abcdef0123456789abcdef", "IRIS_TWILIO_AUTH_TOKEN="+
		twilioToken, "IRIS_TWILIO_FROM=+15550000000",
		"IRIS_SLACK_TOKEN=xoxb-x", "IRIS_SLACK_API_URL="+slack.URL+"/", "IRIS_SLACK_SIGNING_SECRET="+slackSecret,
		everythingServed(t, append(more, "gmail_one_click: {enabled: true, key: "+oneClickKey+"}", "tags: [service]",
			"internal_applications: [power]")...))
}

// page makes an incident, and a sent message about it to ann.
func (s *server) page(mode string) (incident, message int64) {
	s.Helper()
	incident = s.open()
	message = s.number(`insert into messages (bucket, incident_id, application_id, plan_id, step, recipient, user_id, target, priority, class, mode, state, settled_at)
		select i.bucket, i.id, i.application_id, i.plan_id, 1, 'user:' || u.id, u.id, u.name, 'high', 0, $2, 'sent', clock_timestamp()
		from incidents i, users u where i.id = $1 and u.name = 'ann' returning id`, incident, mode)
	s.exec(`insert into message_contents (message_id, destination, subject, body) values ($1, $2, 'S', 'disk full')`,
		message, annPhone)
	return incident, message
}

// acknowledged requires that ann owns the incident.
func (s *server) acknowledged(incident int64) {
	s.Helper()
	in := decode[m](s.do(demo, get, fmt.Sprintf("/v0/incidents/%d", incident), nil).is(200))
	require.Equal(s, []any{"ann", float64(0)}, []any{in["owner"], in["active"]})
}

func (s *server) twilio(method, path string, values url.Values) answer {
	s.Helper()
	text := s.url + path
	for _, k := range slices.Sorted(maps.Keys(values)) {
		text += k + values.Get(k)
	}
	mac := hmac.New(sha1.New, []byte(twilioToken))
	_, _ = mac.Write([]byte(text))
	return s.do(anonymous, method, path, values.Encode(), "Content-Type", form, "X-Twilio-Signature",
		base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

func TestAnswersThroughTwilio(t *testing.T) {
	t.Parallel()
	s := newRelay(t)
	incident, message := s.page("sms")
	a := s.twilio(post, "/api/v0/twilio/messages/relay", url.Values{"From": {annPhone},
		"Body": {fmt.Sprintf("%d claim", message)}}).is(200)
	require.Contains(t, a.body, fmt.Sprintf("Iris incident(%d) acknowledged.", incident))
	s.acknowledged(incident)
	s.do(anonymous, post, "/api/v0/twilio/messages/relay", "From=x&Body=y", "Content-Type", form, "X-Twilio-Signature",
		"forged").is(403)

	incident, message = s.page("call")
	path := fmt.Sprintf("/api/v0/twilio/calls/gather?message_id=%d", message)
	words := s.twilio(post, path, url.Values{"CallSid": {"CA1"}}).is(200).body
	require.Contains(t, words, "disk full")
	require.Contains(t, words, "Press pound for menu.")
	for _, method := range []string{get, post} {
		values := url.Values{}
		if method == post {
			values.Set("CallSid", "CA1")
		}
		require.Contains(t, s.twilio(method, fmt.Sprintf("/api/v0/twilio/calls/say?message_id=%d", message),
			values).is(200).body, "disk full")
	}
	path = fmt.Sprintf("/api/v0/twilio/calls/relay?message_id=%d", message)
	require.Contains(t, s.twilio(post, path, url.Values{"Digits": {"1"}, "To": {annPhone}}).is(200).body,
		"Got unknown option from user: 1")
	require.Contains(t, s.twilio(post, path, url.Values{"Digits": {"2"}, "To": {annPhone}}).is(200).body, "acknowledged")
	s.acknowledged(incident)
	s.twilio(post, "/api/v0/twilio/status", url.Values{"MessageSid": {"SM1"},
		"MessageStatus": {"delivered"}}).empty(204)
}

// A call that an answering machine or a fax takes reached nobody: like a busy line it is tried again, and then by the
// next mode.
func TestACallThatAMachineTakesIsNotDelivered(t *testing.T) {
	t.Parallel()
	s := newRelay(t)
	for name, report := range map[string]url.Values{
		"busy":    {"CallStatus": {"busy"}},
		"machine": {"CallStatus": {"completed"}, "AnsweredBy": {"machine_start"}},
		"fax":     {"CallStatus": {"completed"}, "AnsweredBy": {"fax"}},
		"a human": {"CallStatus": {"completed"}, "AnsweredBy": {"human"}},
	} {
		incident, message := s.page("call")
		s.exec("update incidents set current_step = 1 where id = $1", incident)
		state := func() string {
			return s.text("select state || ' ' || mode || ' ' || refused_modes::text from messages where id = $1",
				message)
		}
		want := []string{"pending call {}", "pending call {}", "pending call {call}"}
		if name == "a human" {
			want = []string{"delivered call {}"}
		}
		for attempt, after := range want {
			sid := fmt.Sprintf("CA%d-%d", message, attempt+1)
			s.exec("update messages set attempt = $2, mode_attempt = $2, state = 'sent', settled_at = clock_timestamp() where id = $1", message, attempt+1)
			s.exec(`insert into attempts (message_id, attempt, mode, vendor, destination, process_id, outcome, vendor_message_id)
				values ($1, $2, 'call', 'twilio', 'x', 'p', 'sent', $3)`, message, attempt+1, sid)
			report.Set("CallSid", sid)
			s.twilio(post, "/api/v0/twilio/status", report).empty(204)
			require.Equal(t, after, state(), "%s, attempt %d", name, attempt+1)
		}
	}
}

// slackPresses sends the request of Slack for a pressed button, with Slack's signature.
func (s *server) slackPresses(payload m) answer {
	s.Helper()
	raw, err := json.Marshal(payload)
	require.NoError(s, err)
	body := url.Values{"payload": {string(raw)}}.Encode()
	now := fmt.Sprint(time.Now().Unix())
	mac := hmac.New(sha256.New, []byte(slackSecret))
	_, _ = mac.Write([]byte("v0:" + now + ":" + body))
	return s.do(anonymous, post, "/api/v0/slack/messages/relay", body, "Content-Type", form,
		"X-Slack-Request-Timestamp", now, "X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
}

func TestAnswersThroughSlack(t *testing.T) {
	t.Parallel()
	s := newRelay(t)
	s.exec("insert into user_contacts select id, 'slack', '@ann', '@ann' from users where name = 'ann'")
	incident, message := s.page("slack")
	s.exec("insert into attempts (message_id, attempt, mode, vendor, destination, process_id, outcome, vendor_message_id) values ($1, 1, 'slack', 'slack', '@ann', 'p', 'sent', '1700000000.000100')", message)
	s.slackPresses(m{"type": "interactive_message", "message_ts": "1700000000.000100",
		"callback_id": fmt.Sprint(message), "user": m{"id": "U0123456789",
			"name": "ann"}, "actions": []m{{"name": "claim", "value": "claimed"}}}).is(200)
	s.acknowledged(incident)
	s.do(anonymous, get, "/api/v0/slack/authenticate", nil).is(200)
	s.do(demo, get, "/v0/users/ann/slackid", nil).says(201, `{"slack_id": "U0123456789"}`)
}

func TestAnswersThroughRelays(t *testing.T) {
	t.Parallel()
	s := newRelay(t)
	says := func(a answer, text string) {
		t.Helper()
		a.says(200, fmt.Sprintf(`{"app_response": %q}`, text))
	}
	sms := func(from, body string) answer {
		return s.do(power, post, "/v0/response/twilio/messages", url.Values{"From": {from}, "Body": {body}}.Encode(),
			"Content-Type", form)
	}
	incident, message := s.page("sms")
	says(sms(anotherPerson, fmt.Sprintf("claim %d", message)), "Failed to identify owner for the incident.")
	says(sms(annPhone, fmt.Sprintf("claim %d", message)), fmt.Sprintf("Iris incident(%d) claimed.", incident))
	says(sms(annPhone, "claim all"), "No active incidents to claim.")
	for _, same := range []string{"+1 555-111-0001", "+1 (555) 111.0001", "tel:+15551110001"} {
		says(sms(same, "claim all"), "No active incidents to claim.")
	}
	// Without phone_region, a number without its country code is nobody's.
	for _, other := range []string{"+5551110001", "111-0001", "5551110002", "(555) 111-0001", "555.111.0001"} {
		says(sms(other, "claim all"), "Failed to identify owner for the incident.")
	}
	says(sms(annPhone, "Fine"), "Sincerest apologies")
	says(sms(annPhone, fmt.Sprintf("suppress %d", message)), "Unknown command.")
	sms(annPhone, "hello").refuses(400, "Invalid response", "failed to parse response")
	sms(annPhone, "x y").refuses(400, "Invalid message id", "invalid message id: x")
	sms(annPhone, "999999 claim").refuses(400, "Invalid message(999999): no application found.")
	s.do(power, post, "/v0/response/twilio/messages", "From=x", "Content-Type", form).refuses(400,
		"SMS body not found", "Missing Body argument in post body")
	s.do(power, post, "/v0/response/twilio/messages", "Body=x", "Content-Type", form).refuses(400,
		"From argument not found", "Missing From in post body")
	last, _ := s.page("sms")
	says(sms(annPhone, "l"), fmt.Sprintf("Iris incident(%d) claimed.", last))
	s.acknowledged(last)

	incident, message = s.page("call")
	call := func(query, body string) answer {
		return s.do(power, post, "/v0/response/twilio/calls"+query, body, "Content-Type", form)
	}
	id := fmt.Sprintf("?message_id=%d", message)
	to := url.Values{"To": {annPhone}, "Digits": {"2"}}.Encode()
	call("", to).refuses(400, "Missing parameter", `The "message_id" parameter is required.`)
	call(id, "To=x").refuses(400, "Digits argument not found")
	call(id, "Digits=2").refuses(400, "To argument not found")
	says(call(id, to), fmt.Sprintf("Iris incident(%d) claimed.", incident))

	s.exec("insert into user_contacts select id, 'slack', 'ann', 'ann' from users where name = 'ann'")
	incident, message = s.page("slack")
	says(s.do(power, post, "/v0/response/slack", m{"msg_id": message, "source": "ann", "content": "claim"}),
		fmt.Sprintf("Iris incident(%d) claimed.", incident))
	s.do(power, post, "/v0/response/slack", m{"msg_id": message}).refuses(400, "Post body missing required key")
	s.do(power, post, "/v0/response/slack", m{"msg_id": "x", "source": "ann", "content": "claim"}).is(400)

	incident, message = s.page("email")
	click := m{"msg_id": message, "email_address": "ann@example.com", "cmd": "claim"}
	s.do(power, post, "/v0/response/gmail-oneclick", click).empty(204)
	s.acknowledged(incident)
	s.do(power, post, "/v0/response/gmail-oneclick", m{"msg_id": message}).refuses(400,
		"Post body missing required key or key of wrong type")
	s.do(power, post, "/v0/response/gmail-oneclick", changed(click, m{"cmd": "claim all"})).refuses(400,
		"GmailOneClick only supports claiming individual messages")

	incident, message = s.page("email")
	button, err := auth.NewOneClick(oneClickKey, s.url+"/api/v0/gmail-oneclick/relay")
	require.NoError(t, err)
	path := strings.TrimPrefix(button.URL(message, "ann@example.com", "claim", time.Now().Add(time.Hour)), s.url)
	s.do(anonymous, post, path[:len(path)-2]+"xx", nil).is(403)
	s.do(anonymous, get, path, nil).is(405)
	require.Zero(t, s.number("select count(*) from incidents where id = $1 and owner_id is not null", incident),
		"a GET acts on nothing")
	s.do(anonymous, post, path, nil).empty(204)
	s.acknowledged(incident)

	s.do(power, post, "/v0/twilio/deliveryupdate", "MessageSid=SM9&MessageStatus=delivered", "Content-Type",
		form).empty(204)
	s.do(power, post, "/v0/twilio/deliveryupdate", "MessageSid=SM9", "Content-Type", form).refuses(400,
		"Invalid keys in payload")
	s.do(power, post, "/v0/twilio/deliveryupdate", "MessageSid=SM8&MessageStatus=failed", "Content-Type", form).
		refuses(400, "Failed to update Twilio delivery status", "Failed to update Twilio delivery status")
}

func TestMailsArrive(t *testing.T) {
	t.Parallel()
	s := newRelay(t)
	s.do(owner, put, "/v0/applications/demo/incident_emails", m{"in@example.com": "pager"}).is(200)
	mail := func(body string, headers ...string) answer {
		list := []m{}
		for i := 0; i+1 < len(headers); i += 2 {
			list = append(list, m{"name": headers[i], "value": headers[i+1]})
		}
		return s.do(power, post, "/v0/response/email", m{"body": body, "headers": list})
	}
	a := mail("the disk is full", "From", "somebody@example.com", "To", "in@example.com", "Subject", "disk").empty(204)
	id := a.header.Get("X-IRIS-INCIDENT")
	in := decode[m](s.do(demo, get, "/v0/incidents/"+id, nil).is(200))
	require.Equal(t, m{"body": "the disk is full", "email": []any{"in@example.com"}, "subject": "disk",
		"sender": "somebody@example.com"}, in["context"])
	a = mail("again", "From", "somebody@example.com", "To", "in@example.com", "Subject", "Re: disk", "In-Reply-To",
		"<x@y>").empty(204)
	require.Equal(t, "Not created (email reply not fresh email)", a.header.Get("X-IRIS-INCIDENT"))
	mail("claim", "To", "iris@example.com", "Subject", "x").refuses(400, "Missing source")

	incident, message := s.page("email")
	mail("claim\n\n> old words", "From", "Ann <ann@example.com>", "To", "iris@example.com", "Subject",
		fmt.Sprintf("Re: %d S", message)).empty(204)
	s.acknowledged(incident)
	require.EqualValues(t, 1, s.number("select count(*) from messages where incident_id is null and target = 'ann' and mode = 'email'"), "the reply is a message of its own")
	incident, message = s.page("email")
	s.do(power, post, "/v0/response/gmail", m{"body": fmt.Sprintf("%d claim", message),
		"headers": []m{{"name": "From", "value": "ann@example.com"}, {"name": "To", "value": "iris@example.com"},
			{"name": "Subject", "value": "x"}}}).empty(204)
	s.acknowledged(incident)
}

func TestSignedLinks(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var secret []byte
	require.NoError(t, s.db.QueryRow(t.Context(), "select secret from installation").Scan(&secret))
	keys, err := auth.NewKeys(secret)
	require.NoError(t, err)
	incident, message := s.page("email")
	token := func(expires time.Time) string {
		return keys.Links().Sign(auth.Link{Purpose: auth.Acknowledge, IncidentID: incident, MessageID: message,
			UserID: users.ID(s.number("select id from users where name = 'ann'")), ExpiresAt: expires})
	}
	good := "/ack/" + token(time.Now().Add(time.Hour))
	s.do(anonymous, get, good, nil).is(200)
	require.EqualValues(t, 1, s.number("select count(*) from incidents where id = $1 and active", incident),
		"looking changes nothing")
	s.do(anonymous, post, good, nil).is(200)
	s.acknowledged(incident)
	s.do(anonymous, get, "/ack/"+token(time.Now().Add(-time.Hour)), nil).is(400)
	forged := good[:len(good)-1] + "A"
	if forged == good {
		forged = good[:len(good)-1] + "Q"
	}
	s.do(anonymous, get, forged, nil).is(400)
	page := s.do(anonymous, get, good, nil).is(200).body
	size := len(page)
	parts := regexp.MustCompile(`(?:href|src)="(/static/[^"]+)"`).FindAllStringSubmatch(page, -1)
	require.Len(t, parts, 2, "a stylesheet and an icon, no script")
	for _, part := range parts {
		size += len(s.do(anonymous, get, part[1], nil, "Accept-Encoding", "gzip").is(200).body)
	}
	require.Contains(t, page, `<body class="answer">`, "it uses a font of the system")
	require.Less(t, size, 20_000, "bytes of the page with everything it loads: it must open on a bad connection")
}

func TestDeliveriesOfIntegrations(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	s.integrations()
	for _, method := range []string{post, put} {
		a := s.do(anonymous, method, "/v1/hooks/generic", m{"id": "1", "title": "t"}, "Authorization",
			"Bearer generic-token").is(200)
		require.Contains(t, a.body, `"dedup_key":"1"`)
	}
	require.EqualValues(t, 1, s.number("select count(*) from incidents"), "the second delivery is a repetition")
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	hook := func(name, plan string, body any) answer {
		t.Helper()
		path := fmt.Sprintf("/v0/webhooks/%s?application=demo&key=%s", name, s.keys["demo"])
		if plan != "" {
			path += "&plan=" + plan
		}
		return s.do(anonymous, post, path, body)
	}
	alert := m{"version": "4", "status": "firing", "groupKey": "k",
		"alerts": []m{{"status": "firing", "labels": m{"a": "b"},
			"fingerprint": "f"}}, "groupLabels": m{"iris_plan": "pager"}}
	a := hook("alertmanager", "", alert).is(201)
	require.Equal(t, "/incidents/"+a.body, a.header.Get("Location"))
	require.Equal(t, a.body, hook("alertmanager", "", alert).body, "a repeated delivery opens nothing new")
	hook("alertmanager", "", changed(alert, m{"status": "resolved"})).is(201)
	require.EqualValues(t, 1, s.number("select count(*) from incidents where resolved"))
	require.Equal(t, "null", hook("alertmanager", "", changed(alert, m{"status": "resolved"})).is(201).body,
		"nothing is open")
	hook("alertmanager", "", changed(alert, m{"groupLabels": m{"iris_plan": "none"}})).refuses(404,
		"there is no active plan named none")
	hook("alertmanager", "", changed(alert, m{"groupLabels": m{}})).refuses(400, "missing iris_plan in group labels")
	s.do(anonymous, post, "/v0/webhooks/alertmanager?application=demo", alert).refuses(400, "Missing parameter",
		`The "key" parameter is required.`)
	s.do(anonymous, post, "/v0/webhooks/alertmanager?application=nix&key=x", alert).refuses(401,
		"Authentication failure", noSuchKey)
	s.do(anonymous, post, "/v0/webhooks/alertmanager?application=demo&key=x", alert).refuses(401,
		"Authentication failure", noSuchKey)

	event := m{"event_id": "e", "details": m{"x": 1}}
	hook("rackspace", "pager", event).is(201)
	hook("rackspace", "", event).refuses(400, "missing plan in rackspace webhook url parameters")
	hook("rackspace", "pager", m{"event_id": "e"}).refuses(400, "missing event_id and/or details attributes")
	hook("rackspace", "none", event).refuses(404, "there is no active plan named none")
	hook("grafana", "pager", m{"ruleName": "r", "state": "alerting"}).empty(201)
	hook("grafana", "pager", m{"ruleName": "r", "state": "ok"}).empty(201)
	hook("grafana", "pager", m{"ruleName": "r", "state": "ok"}).empty(201)
	a = hook("grafana", "pager", m{"what": "ever"}).is(201)
	require.Equal(t, "/incidents/"+a.body, a.header.Get("Location"))
	hook("grafana", "none", m{"ruleName": "r", "state": "alerting"}).refuses(400,
		"plan does not exist or is not active")
	hook("grafana", "", m{"ruleName": "r", "state": "alerting"}).is(400)
	ping := m{"title": "t", "description": "d", "tags": []string{}, "ticket_id": 7}
	hook("freshping", "pager", ping).empty(201)
	hook("freshping", "pager", m{"title": "t"}).refuses(400, "missing channel name attributes")
	s.do(demo, get, "/v0/webhooks/alertmanager", nil).empty(405)
}

func TestDevicesTagsAndInternals(t *testing.T) {
	t.Parallel()
	s := newRelay(t)
	device := m{"username": "ann", "registration_id": "token-1", "platform": "Android"}
	for range 2 {
		s.do(demo, post, "/v0/devices", device).empty(201)
	}
	s.do(power, post, "/v0/devices", device).refuses(403, "App not allowed to register devices")
	s.do(demo, post, "/v0/devices", m{"username": "ann"}).refuses(400, "Missing parameters for adding device")
	s.do(demo, post, "/v0/devices", changed(device, m{"username": "zoe"})).is(400)
	require.Len(t, decode[m](s.do(owner, get, "/v0/users/ann", nil).is(200))["device"], 1)

	incident := s.open()
	tags := func(kind string, id any) answer {
		return s.do(power, put, "/v0/internal/"+kind+"_tag", m{"id": id, "name": "service", "values": []string{"shop"}})
	}
	tags("incident", incident).is(201)
	tags("plan", s.number("select id from plans")).is(201)
	tags("template", s.number("select id from templates")).is(201)
	tags("application", s.number("select id from applications where name = 'demo'")).is(201)
	tags("target", s.number("select target_id from users where name = 'ann'")).is(201)
	require.Len(t, decode[[]m](s.do(demo, get, "/v0/incidents?tag_service=shop", nil).is(200)), 1)
	require.Empty(t, decode[[]m](s.do(demo, get, "/v0/incidents?tag_service=store", nil).is(200)))
	s.do(demo, put, "/v0/internal/incident_tag", m{"id": incident, "name": "service", "values": []string{"x"}}).is(403)
	s.do(demo, get, "/v0/allowed_metadata_tags", nil).is(200)
	s.do(power, get, "/v0/internal/target?role=team&target=ops", nil).is(200)
	s.do(demo, get, "/v0/internal/target?role=team&target=ops", nil).is(403)
	s.do(power, post, fmt.Sprintf("/v0/internal/incident/%d", incident), m{"current_step": 1, "active": false}).is(200)
	s.do(demo, get, "/v0/internal/plan_aggregation_settings", nil).is(200)
	s.do(demo, get, "/v0/internal/priority_mode_map", nil).is(200)
}
