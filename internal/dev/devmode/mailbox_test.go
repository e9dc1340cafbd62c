package devmode

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors/slack"
	"github.com/iris-oncall/iris/internal/vendors/smtp"
	"github.com/iris-oncall/iris/internal/vendors/twilio"
	"github.com/iris-oncall/iris/internal/vendors/webhook"
)

const testWebhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// mailboxBench is a mailbox, a client of every mode that sends to it, and an iris-api that records its requests.
type mailboxBench struct {
	box     *mailbox
	page    *httptest.Server
	api     *httptest.Server
	asked   chan url.Values
	vendors map[users.Mode]messages.Vendor
	hook    string
}

func newMailboxBench(t *testing.T) *mailboxBench {
	t.Helper()
	b := &mailboxBench{asked: make(chan url.Values, 10), vendors: map[users.Mode]messages.Vendor{}}
	b.api = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		form, parseErr := url.ParseQuery(string(body))
		if err != nil || parseErr != nil {
			http.Error(w, "bad body", http.StatusBadRequest)
			return
		}
		full := "http://" + r.Host + r.URL.RequestURI()
		switch r.URL.Path {
		case pretend.SlackInteractionsPath:
			if err := slack.VerifySignature("signing", r.Header, body, time.Now()); err != nil {
				http.Error(w, err.Error(), http.StatusUnauthorized)
				return
			}
			_, _ = io.WriteString(w, `{"text":"Iris incident(17) claimed."}`)
		default:
			if !twilio.ValidSignature([]string{"token"}, full, form, r.Header.Get(twilio.SignatureHeader)) {
				http.Error(w, "signature", http.StatusForbidden)
				return
			}
			switch r.URL.Path {
			case twilio.StatusPath:
				return
			case twilio.GatherPath:
				_, _ = io.WriteString(w,
					`<Response><Gather action="/keys" numDigits="1"><Say>Disk full</Say><Say>Press 2 to acknowledge.</Say></Gather><Say>Goodbye.</Say></Response>`)
				return
			case "/keys":
				_, _ = io.WriteString(w, `<Response><Say>Iris incident(17) claimed.</Say><Hangup/></Response>`)
			case pretend.TwilioInboundPath:
				_, _ = io.WriteString(w, `<Response><Message>Iris incident(17) claimed.</Message></Response>`)
			}
		}
		b.asked <- form
	}))
	v := pretend.New(pretend.Config{
		Slack:   pretend.SlackConfig{Token: "xoxb-1", SigningSecret: "signing"},
		Twilio:  pretend.TwilioConfig{AccountSID: "AC1", AuthToken: "token", AutoAnswer: true, AutoStatus: true},
		Webhook: pretend.WebhookConfig{Secret: testWebhookSecret},
	})
	require.NoError(t, v.Start())
	b.hook = v.Webhook.URL() + "/hook"
	b.box = newMailbox(v, b.api.URL)
	b.page = httptest.NewServer(b.box)
	t.Cleanup(func() { b.page.Close(); v.Close(); b.api.Close() })

	mail, err := smtp.New(smtp.Config{Addr: v.SMTP.Addr(), From: "Iris <iris@example.com>"})
	require.NoError(t, err)
	chat, err := slack.New(slack.Config{Token: "xoxb-1", APIURL: v.Slack.URL()})
	require.NoError(t, err)
	phone, err := twilio.New(twilio.Config{AccountSID: "AC1", AuthToken: "token", From: "+12025550199",
		APIURL: v.Twilio.URL(), PublicURL: b.api.URL})
	require.NoError(t, err)
	hook, err := webhook.New(webhook.Config{Secrets: []string{testWebhookSecret}, AllowPrivate: true, AllowHTTP: true})
	require.NoError(t, err)
	for _, v := range []messages.Vendor{mail, chat, phone, hook} {
		for _, m := range v.Modes() {
			b.vendors[m] = v
		}
	}
	t.Cleanup(func() { mail.Close(); chat.Close(); phone.Close(); hook.Close() })
	return b
}

func (b *mailboxBench) send(t *testing.T, mode users.Mode, to string) letter {
	t.Helper()
	r := b.vendors[mode].Send(t.Context(), messages.Outbound{
		MessageID: 4711, Attempt: 1, Mode: mode, Destination: to, Subject: "4711 Disk <full>",
		Body: "Disk full, see https://iris.example/ack/abc.\nhttps://iris.example/incidents/17", EmailHTML: `<p>Disk full <a href="https://iris.example/ack/abc?a=1&amp;b=2">acknowledge</a><script>alert(1)</script></p>`,
		Application: "demo", IncidentID: 17, IncidentURL: "https://iris.example/incidents/17", AckURL: "https://iris.example/ack/abc",
	})
	require.Equal(t, messages.OutcomeSent, r.Outcome, r.Detail)
	return b.letters(t)[0]
}

func (b *mailboxBench) get(t *testing.T, path string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Get(b.page.URL + path)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(body)
}

func (b *mailboxBench) letters(t *testing.T) []letter {
	t.Helper()
	resp, body := b.get(t, "/dev/mailbox.json")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	var out []letter
	require.NoError(t, json.Unmarshal([]byte(body), &out))
	return out
}

func TestMailboxShowsSentMessages(t *testing.T) {
	t.Parallel()
	b := newMailboxBench(t)
	_, body := b.get(t, "/dev/mailbox.json")
	require.Equal(t, "[]\n", body, "an array, also when nothing was sent")
	for mode, to := range map[users.Mode]string{users.Email: "ann@example.com", users.SMS: "+12025550123", users.Slack: "@ann", users.Webhook: b.hook} {
		l := b.send(t, mode, to)
		require.Equal(t, string(mode), l.Mode)
		require.Equal(t, to, l.To)
		require.Equal(t, int64(17), l.IncidentID)
		require.Equal(t, "demo", l.Application)
		require.Contains(t, l.Links, "https://iris.example/ack/abc", "without the full stop")
		require.Contains(t, l.Links, "https://iris.example/incidents/17")
		require.WithinDuration(t, time.Now(), l.At, time.Minute)
		if mode == users.Email {
			require.Equal(t, "4711 Disk <full>", l.Subject)
			require.Contains(t, l.HTML, "acknowledge")
			require.Contains(t, l.Links, "https://iris.example/ack/abc?a=1&b=2")
		}
	}
	all := b.letters(t)
	require.Len(t, all, 4)
	for i := 1; i < len(all); i++ {
		require.Greater(t, all[i-1].ID, all[i].ID, "newest first")
	}
}

func TestMailboxPageEscapesMessages(t *testing.T) {
	t.Parallel()
	b := newMailboxBench(t)
	b.send(t, users.Email, "ann@example.com")
	resp, body := b.get(t, "/dev/mailbox")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Contains(t, resp.Header.Get("Content-Security-Policy"), "script-src 'self'")
	require.Contains(t, body, "4711 Disk &lt;full&gt;")
	require.NotContains(t, body, "<script>alert", "a mail's markup stays in its frame")
	require.Contains(t, body, `sandbox="allow-popups allow-popups-to-escape-sandbox"`)
	require.Contains(t, body, "&lt;script&gt;alert(1)")
	require.Contains(t, body, `<a href="https://iris.example/ack/abc" target="_blank" rel="noopener noreferrer">https://iris.example/ack/abc</a>.`)
	for _, asset := range []string{"mailbox.css", "mailbox.js"} {
		resp, _ := b.get(t, "/dev/mailbox/"+asset)
		require.Equal(t, http.StatusOK, resp.StatusCode)
	}
	require.Equal(t, []string{"https://a.example/ack/x-", "https://a.example/ack/x_", "https://a.example/b"},
		links("(https://a.example/ack/x-) https://a.example/ack/x_, *https://a.example/b*.", ""))
	// Only links with http or https become links; the text is escaped.
	require.Equal(t, `javascript:alert(1) &lt;b&gt; <a href="https://a.example/?q=1&amp;x=2" target="_blank" rel="noopener noreferrer">https://a.example/?q=1&amp;x=2</a>&#34; onclick=`,
		string(linked(`javascript:alert(1) <b> https://a.example/?q=1&x=2" onclick=`)))
}

func TestMailboxListIsSentOnlyWhenItHasChanged(t *testing.T) {
	t.Parallel()
	b := newMailboxBench(t)
	l := b.send(t, users.Slack, "@ann")
	resp, _ := b.get(t, "/dev/mailbox/list")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	state := resp.Header.Get("ETag")
	ask := func() int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.page.URL+"/dev/mailbox/list", nil)
		require.NoError(t, err)
		req.Header.Set("If-None-Match", state)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	require.Equal(t, http.StatusNotModified, ask())
	_, err := b.box.Answer(t.Context(), l.ID, "press", slack.ActionAcknowledge)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, ask())
}

func TestMailboxPageShowsTheNewest(t *testing.T) {
	t.Parallel()
	b := newMailboxBench(t)
	for range shown + 2 {
		b.send(t, users.SMS, "+12025550123")
	}
	_, body := b.get(t, "/dev/mailbox")
	require.Equal(t, shown, strings.Count(body, "<article"))
	require.Contains(t, body, "2 older")
	require.Len(t, b.letters(t), shown+2)
}

func (b *mailboxBench) post(t *testing.T, form url.Values, header http.Header) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.page.URL+"/dev/mailbox/answer",
		strings.NewReader(form.Encode()))
	require.NoError(t, err)
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	require.NoError(t, err)
	_ = resp.Body.Close()
	return resp
}

func TestMailboxSendsRepliesAndButtonPressesOfTheRecipient(t *testing.T) {
	t.Parallel()
	b := newMailboxBench(t)
	asked := func() url.Values {
		select {
		case form := <-b.asked:
			return form
		case <-t.Context().Done():
			return nil
		}
	}
	answer := func(l letter, do, what string) letter {
		resp := b.post(t, url.Values{"id": {json.Number(itoa(l.ID)).String()}, "do": {do}, "what": {what}}, nil)
		require.Equal(t, http.StatusSeeOther, resp.StatusCode)
		for _, now := range b.letters(t) {
			if now.ID == l.ID {
				return now
			}
		}
		require.Fail(t, "the message is gone")
		return l
	}

	l := answer(b.send(t, users.Slack, "@ann"), "press", slack.ActionAcknowledge)
	i, err := slack.ParseInteraction([]byte(asked().Encode()))
	require.NoError(t, err)
	require.Equal(t, slack.Interaction{
		MessageID: 4711, Action: slack.ActionAcknowledge, UserID: i.UserID, UserName: "ann", Channel: i.Channel, Timestamp: i.Timestamp, ResponseURL: i.ResponseURL, Token: "pretend",
	}, i)
	require.Equal(t, []string{"Pressing Acknowledge: Iris incident(17) claimed."}, l.Answers)

	l = answer(b.send(t, users.SMS, "+12025550123"), "reply", "4711 claim")
	form := asked()
	require.Equal(t, "4711 claim", form.Get("Body"))
	require.Equal(t, "+12025550123", form.Get("From"))
	require.Equal(t, "+12025550199", form.Get("To"))
	require.Equal(t, []string{"Replying \"4711 claim\": Iris incident(17) claimed."}, l.Answers)

	l = b.send(t, users.Call, "+12025550123")
	require.Eventually(t, func() bool { return strings.Contains(b.letters(t)[0].Body, "Disk full") }, 5*time.Second,
		10*time.Millisecond)
	l = answer(l, "key", "2")
	form = asked()
	require.Equal(t, "2", form.Get("Digits"))
	require.Equal(t, "+12025550123", form.Get("To"))
	require.Equal(t, []string{"Pressing 2: Iris incident(17) claimed."}, l.Answers)

	l = answer(b.send(t, users.Email, "ann@example.com"), "press", "x")
	require.Contains(t, l.Answers[0], "has no response")
}

func TestMailboxRefusesRequestsFromOtherSites(t *testing.T) {
	t.Parallel()
	b := newMailboxBench(t)
	form := url.Values{"id": {"1"}, "do": {"press"}, "what": {"x"}}
	require.Equal(t, http.StatusForbidden, b.post(t, form, http.Header{"Sec-Fetch-Site": {"cross-site"}}).StatusCode)
	require.Equal(t, http.StatusForbidden, b.post(t, form, http.Header{"Origin": {"https://evil.example"}}).StatusCode)
	// Behind iris-api the page's host differs from the host that the mailbox sees.
	require.Equal(t, http.StatusSeeOther, b.post(t, form, http.Header{"Origin": {"http://iris.local"},
		"X-Forwarded-Host": {"iris.local"}}).StatusCode)
	require.Equal(t, http.StatusBadRequest, b.post(t, url.Values{"id": {"one"}}, nil).StatusCode)
}

func itoa(n int64) string { b, _ := json.Marshal(n); return string(b) }
