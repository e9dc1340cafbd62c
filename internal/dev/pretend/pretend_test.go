package pretend_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors/twilio"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func start(t *testing.T, cfg pretend.Config) *pretend.Vendors {
	t.Helper()
	v := pretend.New(cfg)
	require.NoError(t, v.Start())
	t.Cleanup(v.Close)
	return v
}

func post(t *testing.T, target string, form url.Values, header http.Header) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	for name, values := range header {
		req.Header[name] = values
	}
	if req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body), resp.Header
}

func TestTwilioIsStrict(t *testing.T) {
	t.Parallel()
	v := start(t, pretend.Config{Twilio: pretend.TwilioConfig{AccountSID: "AC1", AuthToken: "t",
		From: []string{"+12025550199"}}})
	base := v.Twilio.URL() + "/2010-04-01/Accounts/AC1"
	login := func(user, password string) http.Header {
		req, _ := http.NewRequest(http.MethodGet, "/", nil)
		req.SetBasicAuth(user, password)
		return req.Header
	}
	good := url.Values{"To": {"+12025550123"}, "From": {"+12025550199"}, "Body": {"x"}}
	with := func(name string, values ...string) url.Values {
		out := url.Values{}
		for k, v := range good {
			out[k] = v
		}
		out[name] = values
		return out
	}
	status, body, _ := post(t, base+"/Messages.json", good, login("AC1", "t"))
	require.Equal(t, http.StatusCreated, status, body)
	for name, c := range map[string]struct {
		path   string
		form   url.Values
		header http.Header
		status int
		code   string
	}{
		"no log-in":      {"/Messages.json", good, nil, 401, "20003"},
		"wrong log-in":   {"/Messages.json", good, login("AC1", "x"), 401, "20003"},
		"other path":     {"/Faxes.json", good, login("AC1", "t"), 404, "20404"},
		"not our number": {"/Messages.json", with("From", "+12025550100"), login("AC1", "t"), 400, "21659"},
		"no sender":      {"/Messages.json", with("From"), login("AC1", "t"), 400, "21603"},
		"empty sender":   {"/Messages.json", with("From", ""), login("AC1", "t"), 400, "21603"},
		"no number":      {"/Messages.json", with("To", "202-555-0123"), login("AC1", "t"), 400, "21211"},
		"empty body":     {"/Messages.json", with("Body", " "), login("AC1", "t"), 400, "21602"},
		"long body": {"/Messages.json", with("Body", strings.Repeat("ä", 1601)), login("AC1", "t"), 400,
			"21617"},
		"relative callback": {"/Messages.json", with("StatusCallback", "/status"), login("AC1", "t"), 400, "21609"},
		"unknown field":     {"/Messages.json", with("Bcc", "x"), login("AC1", "t"), 400, "20001"},
		"twice": {"/Messages.json", with("To", "+12025550123", "+12025550124"), login("AC1", "t"), 400,
			"20001"},
		"call without url": {"/Calls.json", url.Values{"To": good["To"], "From": good["From"]}, login("AC1", "t"),
			400, "21205"},
		"not a form": {"/Messages.json", good, http.Header{"Content-Type": {"text/plain"},
			"Authorization": login("AC1", "t")["Authorization"]}, 400, "20001"},
	} {
		status, body, _ := post(t, base+c.path, c.form, c.header)
		require.Equal(t, c.status, status, "%s: %s", name, body)
		require.Contains(t, body, c.code, name)
	}
	require.Len(t, v.Log().Accepted(), 1)
	require.Len(t, v.Log().Entries(), 15)
}

func TestSlackIsStrict(t *testing.T) {
	t.Parallel()
	v := start(t, pretend.Config{Slack: pretend.SlackConfig{Token: "xoxb", Channels: []string{"#ops"}}})
	section := func(text string) string {
		b, err := json.Marshal([]any{map[string]any{"type": "section",
			"text": map[string]any{"type": "mrkdwn", "text": text}}})
		require.NoError(t, err)
		return string(b)
	}
	button := func(n int, label, value string) string {
		var elements []any
		for range n {
			elements = append(elements, map[string]any{"type": "button", "action_id": "a", "value": value,
				"text": map[string]any{"type": "plain_text", "text": label}})
		}
		b, err := json.Marshal([]any{map[string]any{"type": "actions", "elements": elements}})
		require.NoError(t, err)
		return string(b)
	}
	for name, c := range map[string]struct {
		form url.Values
		want string
	}{
		"good":           {url.Values{"channel": {"#ops"}, "text": {"x"}}, ""},
		"good blocks":    {url.Values{"channel": {"#ops"}, "blocks": {section("x")}}, ""},
		"no token":       {url.Values{"channel": {"#ops"}, "text": {"x"}, "token": {""}}, "not_authed"},
		"other token":    {url.Values{"channel": {"#ops"}, "text": {"x"}, "token": {"y"}}, "invalid_auth"},
		"no channel":     {url.Values{"text": {"x"}}, "channel_not_found"},
		"other channel":  {url.Values{"channel": {"#dev"}, "text": {"x"}}, "channel_not_found"},
		"nothing to say": {url.Values{"channel": {"#ops"}}, "no_text"},
		"too long":       {url.Values{"channel": {"#ops"}, "text": {strings.Repeat("x", 40001)}}, "msg_too_long"},
		"long section": {url.Values{"channel": {"#ops"}, "blocks": {section(strings.Repeat("x", 3001))}},
			"invalid_blocks"},
		"empty section": {url.Values{"channel": {"#ops"}, "blocks": {section("")}}, "invalid_blocks"},
		"no blocks":     {url.Values{"channel": {"#ops"}, "blocks": {"{"}}, "invalid_blocks_format"},
		"unknown block": {url.Values{"channel": {"#ops"}, "blocks": {`[{"type":"x"}]`}}, "invalid_blocks"},
		"long label": {url.Values{"channel": {"#ops"}, "blocks": {button(1, strings.Repeat("x", 76), "v")}},
			"invalid_blocks"},
		"long value": {url.Values{"channel": {"#ops"}, "blocks": {button(1, "x", strings.Repeat("x", 2001))}},
			"invalid_blocks"},
		"same action": {url.Values{"channel": {"#ops"}, "blocks": {button(2, "x", "v")}}, "invalid_blocks"},
		"no buttons":  {url.Values{"channel": {"#ops"}, "blocks": {button(0, "x", "v")}}, "invalid_blocks"},
		"many blocks": {url.Values{"channel": {"#ops"}, "blocks": {"[" +
			strings.Repeat(`{"type":"divider"},`, 50) + `{"type":"divider"}]`}}, "invalid_blocks"},
		"broken metadata": {url.Values{"channel": {"#ops"}, "text": {"x"}, "metadata": {"{"}},
			"invalid_metadata_format"},
	} {
		if _, ok := c.form["token"]; !ok {
			c.form.Set("token", "xoxb")
		}
		status, body, _ := post(t, v.Slack.URL()+"chat.postMessage", c.form, nil)
		require.Equal(t, http.StatusOK, status)
		var answer struct {
			OK    bool   `json:"ok"`
			Error string `json:"error"`
		}
		require.NoError(t, json.Unmarshal([]byte(body), &answer))
		require.Equal(t, c.want, answer.Error, name)
		require.Equal(t, c.want == "", answer.OK, name)
	}
	_, body, _ := post(t, v.Slack.URL()+"chat.delete", url.Values{"token": {"xoxb"}}, nil)
	require.Contains(t, body, "unknown_method")
}

func TestWebhookIsStrict(t *testing.T) {
	t.Parallel()
	v := start(t, pretend.Config{Webhook: pretend.WebhookConfig{Secret: secret}})
	for name, h := range map[string]http.Header{
		"unsigned": nil,
		"forged":   {"Webhook-Id": {"1"}, "Webhook-Timestamp": {"1"}, "Webhook-Signature": {"v1,xx"}},
	} {
		status, _, _ := post(t, v.Webhook.URL(), url.Values{}, h)
		require.Equal(t, http.StatusUnauthorized, status, name)
	}
	require.Empty(t, v.Log().Accepted())
}

// talk sends commands and returns the code of the last reply.
func talk(t *testing.T, addr string, lines ...string) int {
	t.Helper()
	c, err := textproto.Dial("tcp", addr)
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	code, _, err := c.ReadResponse(220)
	require.NoError(t, err)
	for _, line := range lines {
		_, err := io.WriteString(c.W, line)
		require.NoError(t, err)
		require.NoError(t, c.W.Flush())
		code, _, err = c.ReadResponse(0)
		require.NoError(t, err, line)
	}
	return code
}

func TestSMTPIsStrict(t *testing.T) {
	t.Parallel()
	v := start(t, pretend.Config{SMTP: pretend.SMTPConfig{From: []string{"iris@example.com"}, MaxSize: 5000}})
	const header = "From: iris@example.com\r\nTo: ann@example.com\r\nSubject: s\r\nDate: Fri, 20 Nov 2026 12:00:00 +0000\r\nMessage-ID: <a@b>\r\n" +
		"MIME-Version: 1.0\r\nContent-Type: text/plain\r\n"
	send := func(from, to, text string) int {
		return talk(t, v.SMTP.Addr(), "EHLO x\r\n", "MAIL FROM:<"+from+">\r\n", "RCPT TO:<"+to+">\r\n", "DATA\r\n",
			text+"\r\n.\r\n")
	}
	without := func(name string) string {
		var kept []string
		for _, line := range strings.Split(strings.TrimSuffix(header, "\r\n"), "\r\n") {
			if !strings.HasPrefix(line, name+":") {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "\r\n") + "\r\n"
	}
	require.Equal(t, 250, send("iris@example.com", "ann@example.com", header+"\r\nhello"))
	require.Equal(t, 250, send("iris@example.com", "eve@example.com",
		strings.Replace(header, "To: ann@example.com", "To: ann@example.com, bob@example.com", 1)+"\r\nhello"),
		"a mail to several, of whom one is told in secret")
	for name, text := range map[string]string{
		"no From": without("From"), "no Date": without("Date"), "no Message-ID": without("Message-ID"), "no To": without("To"),
		"no Subject": without("Subject"), "two Subjects": header +
			"Subject: t\r\n", "other From": strings.Replace(header, "iris@", "x@", 1),
		"other To": strings.Replace(header, "ann@", "bob@", 1) +
			"X-Iris-Incident-Id: 5\r\n", "bad Date": strings.Replace(header, "Fri, 20", "soon", 1),
		"bad Message-ID": strings.Replace(header, "<a@b>", "a", 1), "bare LF": strings.Replace(header, "\r\nTo",
			"\nTo", 1),
		"bare CR": header + "X: a\rb\r\n", "NUL": header + "X: a\x00b\r\n", "long line": header + "X: " +
			strings.Repeat("x", 1100) + "\r\n",
		"no colon": header + "what\r\n", "bad encoding": header + "Content-Transfer-Encoding: base64\r\n",
	} {
		require.Equal(t, 554, send("iris@example.com", "ann@example.com", text+"\r\nhello, *"), name)
	}
	require.Equal(t, 552, send("iris@example.com", "ann@example.com", header+"\r\n"+strings.Repeat("x\r\n", 3000)))
	require.Equal(t, 553, talk(t, v.SMTP.Addr(), "EHLO x\r\n", "MAIL FROM:<x@example.com>\r\n"))
	require.Equal(t, 553, talk(t, v.SMTP.Addr(), "EHLO x\r\n", "MAIL FROM:<>\r\n"))
	require.Len(t, v.Log().Accepted(), 2)
}

func TestRateLimitAnswers429(t *testing.T) {
	t.Parallel()
	v := start(t, pretend.Config{Slack: pretend.SlackConfig{Rate: pretend.Rate{PerSecond: 0.1, Burst: 3}}})
	form := url.Values{"token": {"x"}, "channel": {"#ops"}, "text": {"x"}}
	for range 3 {
		status, _, _ := post(t, v.Slack.URL()+"chat.postMessage", form, nil)
		require.Equal(t, http.StatusOK, status)
	}
	status, body, h := post(t, v.Slack.URL()+"chat.postMessage", form, nil)
	require.Equal(t, http.StatusTooManyRequests, status)
	require.Contains(t, body, "ratelimited")
	require.Equal(t, "10", h.Get("Retry-After"))
	status, _, _ = post(t, v.Slack.URL()+"users.lookupByEmail", url.Values{"token": {"x"}, "email": {"a@b"}}, nil)
	require.Equal(t, http.StatusOK, status, "questions have a limit of their own")
}

func TestBehaviourWithTimesAndDestination(t *testing.T) {
	t.Parallel()
	v := start(t, pretend.Config{})
	v.Slack.Behave(
		pretend.Behaviour{Do: pretend.Fail, Status: 500, To: "#dev"}, pretend.Behaviour{Do: pretend.Throttle,
			RetryAfter: 4, Times: 2},
		pretend.Behaviour{Do: pretend.Reject, Code: "is_archived", Times: 1},
	)
	ask := func(channel string) (int, string) {
		status, body, _ := post(t, v.Slack.URL()+"chat.postMessage",
			url.Values{"token": {"x"}, "channel": {channel}, "text": {"x"}}, nil)
		return status, body
	}
	for range 3 {
		status, _ := ask("#dev")
		require.Equal(t, 500, status)
	}
	for range 2 {
		status, _ := ask("#ops")
		require.Equal(t, 429, status)
	}
	_, body := ask("#ops")
	require.Contains(t, body, "is_archived")
	_, body = ask("#ops")
	require.Contains(t, body, `"ok":true`)
}

func TestLogKeepsTheLatestEntries(t *testing.T) {
	t.Parallel()
	v := start(t, pretend.Config{Keep: 5})
	for range 23 {
		post(t, v.Slack.URL()+"chat.postMessage", url.Values{"token": {"x"}, "channel": {"#ops"}, "text": {"x"}}, nil)
	}
	entries := v.Log().Entries()
	require.Len(t, entries, 5)
	require.Equal(t, int64(19), entries[0].ID)
	require.Equal(t, int64(23), v.Log().Last())
	_, ok := v.Log().Entry(22)
	require.True(t, ok)
	_, ok = v.Log().Entry(2)
	require.False(t, ok)
	require.Len(t, v.Log().After(21), 2)
}

func TestLogWakesWaiters(t *testing.T) {
	t.Parallel()
	v := start(t, pretend.Config{})
	done := make(chan error, 1)
	go func() {
		done <- v.Log().Wait(t.Context(), func(all []pretend.Entry) bool { return len(all) == 1 })
	}()
	post(t, v.Slack.URL()+"chat.postMessage", url.Values{"token": {"x"}, "channel": {"#ops"}, "text": {"x"}}, nil)
	require.NoError(t, <-done)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, v.Log().Wait(ctx, func([]pretend.Entry) bool { return false }), context.Canceled)
}

func TestStartFailsIfTheAddressIsInUse(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = ln.Close() }()
	v := pretend.New(pretend.Config{Twilio: pretend.TwilioConfig{Addr: ln.Addr().String()}})
	require.Error(t, v.Start())
	v.Close()
}

// phone is a Twilio account whose callbacks check the signature and record each request.
type phone struct {
	*pretend.Twilio
	vendor *twilio.Vendor
	api    *httptest.Server
	mu     sync.Mutex
	calls  []string
}

func (p *phone) heard() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.calls...)
}

func newPhone(t *testing.T, cfg pretend.TwilioConfig) *phone {
	t.Helper()
	p := &phone{}
	p.api = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		if !twilio.ValidSignature([]string{"t"}, "http://"+r.Host+r.URL.RequestURI(), r.PostForm, r.Header.Get(twilio.SignatureHeader)) {
			http.Error(w, "signature", http.StatusForbidden)
			return
		}
		p.mu.Lock()
		p.calls = append(p.calls, r.URL.Path+" "+r.PostForm.Get("Digits")+r.PostForm.Get("Body")+
			r.PostForm.Get("MessageStatus"))
		p.mu.Unlock()
		switch r.URL.Path {
		case twilio.GatherPath:
			_, _ = io.WriteString(w, `<Response><Pause/><Gather action="keys?x=1&amp;y=2"><Say>Disk &amp; CPU</Say></Gather><Say>Bye</Say></Response>`)
		case "/api/v0/twilio/calls/keys":
			_, _ = io.WriteString(w, `<Response><Redirect>/done</Redirect></Response>`)
		case "/done":
			_, _ = io.WriteString(w, `<Response><Say>Claimed.</Say><Hangup/></Response>`)
		case twilio.SayPath:
			_, _ = io.WriteString(w, `<Response><Redirect>`+twilio.SayPath+`</Redirect></Response>`)
		case pretend.TwilioInboundPath:
			_, _ = io.WriteString(w, `<Response><Message>Got `+r.PostForm.Get("Body")+
				`</Message><Message><Body>and more</Body></Message></Response>`)
		case "/bad":
			_, _ = io.WriteString(w, `not xml`)
		}
	}))
	cfg.AccountSID, cfg.AuthToken = "AC1", "t"
	p.Twilio = pretend.NewTwilio(cfg, nil)
	require.NoError(t, p.Start())
	v, err := twilio.New(twilio.Config{AccountSID: "AC1", AuthToken: "t", From: "+12025550199", APIURL: p.URL(),
		PublicURL: p.api.URL})
	require.NoError(t, err)
	p.vendor = v
	t.Cleanup(func() { v.Close(); p.Close(); p.api.Close() })
	return p
}

func (p *phone) ring(t *testing.T, incident int64) string {
	t.Helper()
	m := messages.Outbound{MessageID: 1, Mode: users.Call, Destination: "+12025550123", Body: "x"}
	if incident != 0 {
		m.IncidentID = 17
	}
	r := p.vendor.Send(t.Context(), m)
	require.Equal(t, messages.OutcomeSent, r.Outcome, r.Detail)
	return r.VendorMessageID
}

func TestCallIsAnsweredAndKeyIsPressed(t *testing.T) {
	t.Parallel()
	p := newPhone(t, pretend.TwilioConfig{})
	sid := p.ring(t, 17)
	require.True(t, p.WantsKey(sid))
	require.Empty(t, p.heard(), "the phone rings")
	said, err := p.PressKey(t.Context(), sid, "2")
	require.NoError(t, err)
	require.Equal(t, "Claimed.", said)
	require.Equal(t, []string{"/api/v0/twilio/calls/gather ", "/api/v0/twilio/calls/keys 2", "/done "}, p.heard())
	require.Equal(t, "Disk & CPU\nBye\nClaimed.", p.Spoken(sid))
	e, ok := p.Log().Entry(1)
	require.True(t, ok)
	require.Equal(t, p.Spoken(sid), e.Spoken)
	require.False(t, p.WantsKey(sid))
	_, err = p.PressKey(t.Context(), sid, "2")
	require.Error(t, err, "it is over")

	_, err = p.Answer(t.Context(), p.ring(t, 0))
	require.ErrorContains(t, err, "too many redirects")
}

func TestAutoAnswerAndAutoStatus(t *testing.T) {
	t.Parallel()
	p := newPhone(t, pretend.TwilioConfig{AutoAnswer: true, AutoStatus: true})
	sid := p.ring(t, 17)
	require.Eventually(t, func() bool { return p.Spoken(sid) == "Disk & CPU\nBye" }, 5*time.Second, time.Millisecond)
	r := p.vendor.Send(t.Context(), messages.Outbound{MessageID: 2, Mode: users.SMS, Destination: "+12025550123",
		Body: "x"})
	require.Equal(t, messages.OutcomeSent, r.Outcome)
	require.Eventually(t, func() bool {
		return strings.Contains(strings.Join(p.heard(), "\n"), twilio.StatusPath+
			" delivered")
	}, 5*time.Second, time.Millisecond)
	_, err := p.PressKey(t.Context(), sid, "2")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		n := 0
		for _, h := range p.heard() {
			if strings.HasPrefix(h, twilio.StatusPath) {
				n++
			}
		}
		return n == 2
	}, 5*time.Second, time.Millisecond, "a call that ended is completed")
}

func TestSMSReplyAndStatusCallback(t *testing.T) {
	t.Parallel()
	p := newPhone(t, pretend.TwilioConfig{})
	said, err := p.ReplySMS(t.Context(), p.api.URL+pretend.TwilioInboundPath, "+12025550123", "+12025550199", "1 claim")
	require.NoError(t, err)
	require.Equal(t, "Got 1 claim\nand more", said)
	require.NoError(t, p.Status(t.Context(), p.ring(t, 17), "failed", 30003))
	require.Error(t, p.Status(t.Context(), "SM0", "failed", 0))
	_, err = p.ReplySMS(t.Context(), p.api.URL+"/bad", "+12025550123", "+12025550199", "x")
	require.ErrorContains(t, err, "TwiML")
	stranger := pretend.NewTwilio(pretend.TwilioConfig{AccountSID: "AC1", AuthToken: "other"}, nil)
	_, err = stranger.ReplySMS(t.Context(), p.api.URL+pretend.TwilioInboundPath, "+12025550123", "+12025550199", "x")
	require.ErrorContains(t, err, "403")
}

func FuzzLog(f *testing.F) {
	f.Add(3, 10)
	f.Fuzz(func(t *testing.T, keep, n int) {
		if keep < 0 || keep > 50 || n < 0 || n > 200 {
			return
		}
		l := pretend.NewLog(keep)
		pretend.Fill(l, n)
		want := n
		if keep > 0 {
			want = min(n, keep)
		}
		require.Len(t, l.Entries(), want)
		require.Equal(t, int64(n), l.Last())
		var b bytes.Buffer
		require.NoError(t, json.NewEncoder(&b).Encode(l.Entries()))
	})
}
