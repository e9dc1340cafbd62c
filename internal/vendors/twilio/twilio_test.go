package twilio_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors/twilio"
)

func TestNumbersAreNotRepaired(t *testing.T) {
	t.Parallel()
	v, err := twilio.New(twilio.Config{AccountSID: "AC1", AuthToken: "t", From: "+15005550006",
		APIURL: "http://127.0.0.1:1"})
	require.NoError(t, err)
	for _, to := range []string{"", "202-555-0123", "2025550123", "+44 (0)20 7946 0958", "0041446681800", "+02025550123", "tel:+12025550123", "+1202555012\n3"} {
		r := v.Send(t.Context(), messages.Outbound{MessageID: 1, Mode: users.SMS, Destination: to, Body: "x"})
		require.True(t, r.DestinationGone, "%q: %+v", to, r)
		require.Contains(t, r.Detail, "international form")
	}
}

// The example of Twilio's documentation.
func TestValidSignature(t *testing.T) {
	t.Parallel()
	const full, signature = "https://mycompany.com/myapp.php?foo=1&bar=2", "RSOYDt4T1cUTdK1PDd93/VVr8B8="
	form := url.Values{
		"CallSid": {"CA1234567890ABCDE"}, "Digits": {"1234"}, "From": {"+14158675309"}, "To": {"+18005551212"}, "Caller": {"+14158675309"},
	}
	require.True(t, twilio.ValidSignature([]string{"12345"}, full, form, signature))
	require.True(t, twilio.ValidSignature([]string{"other", "12345"}, full, form, signature))
	require.True(t, twilio.ValidSignature([]string{"12345"}, "https://mycompany.com:443/myapp.php?foo=1&bar=2", form,
		signature))
	altered := url.Values{}
	for k, v := range form {
		altered[k] = v
	}
	altered["Digits"] = []string{"2"}
	for name, got := range map[string]bool{
		"other token": twilio.ValidSignature([]string{"54321"}, full, form, signature),
		"no token":    twilio.ValidSignature(nil, full, form, signature),
		"empty token": twilio.ValidSignature([]string{""}, full, form, signature),
		"altered":     twilio.ValidSignature([]string{"12345"}, full, altered, signature),
		"other url":   twilio.ValidSignature([]string{"12345"}, full+"&x=1", form, signature),
		"other port": twilio.ValidSignature([]string{"12345"}, "https://mycompany.com:8443/myapp.php?foo=1&bar=2",
			form, signature),
		"none":    twilio.ValidSignature([]string{"12345"}, full, form, ""),
		"garbage": twilio.ValidSignature([]string{"12345"}, full, form, "!!!"),
		"no form": twilio.ValidSignature([]string{"12345"}, full, nil, signature),
	} {
		require.False(t, got, name)
	}
}

func FuzzValidSignature(f *testing.F) {
	f.Add("https://mycompany.com/myapp.php?foo=1&bar=2", "a=1&b=2", "RSOYDt4T1cUTdK1PDd93/VVr8B8=")
	f.Add("http://[::1]:80", "a=1&a=2", "")
	f.Fuzz(func(t *testing.T, full, body, header string) {
		form, err := url.ParseQuery(body)
		if err != nil {
			return
		}
		require.False(t, twilio.ValidSignature([]string{"", "a token that nobody knows"}, full, form, header))
		twilio.ParseReceipt(form)
	})
}

func TestParseReceipt(t *testing.T) {
	t.Parallel()
	parse := func(body string) (messages.Receipt, bool) {
		form, err := url.ParseQuery(body)
		require.NoError(t, err)
		return twilio.ParseReceipt(form)
	}
	for body, want := range map[string]messages.Receipt{
		"MessageSid=SM1&MessageStatus=delivered": {VendorMessageID: "SM1", Status: "delivered",
			Outcome: messages.OutcomeSent, Delivered: true},
		"SmsSid=SM1&SmsStatus=sent": {VendorMessageID: "SM1", Status: "sent",
			Outcome: messages.OutcomeSent},
		"CallSid=CA1&CallStatus=completed": {VendorMessageID: "CA1", Status: "completed",
			Outcome: messages.OutcomeSent, Delivered: true},
		"CallSid=CA1&CallStatus=completed&AnsweredBy=human": {VendorMessageID: "CA1", Status: "completed",
			Outcome: messages.OutcomeSent, Delivered: true},
		"CallSid=CA1&CallStatus=completed&AnsweredBy=machine_start": {VendorMessageID: "CA1", Status: "completed",
			Outcome: messages.OutcomeUnavailable, Detail: "answered by machine_start"},
		"CallSid=CA1&CallStatus=completed&AnsweredBy=machine_end_beep": {VendorMessageID: "CA1", Status: "completed",
			Outcome: messages.OutcomeUnavailable, Detail: "answered by machine_end_beep"},
		"CallSid=CA1&CallStatus=no-answer": {VendorMessageID: "CA1", Status: "no-answer",
			Outcome: messages.OutcomeUnavailable},
		"MessageSid=SM1&MessageStatus=failed": {VendorMessageID: "SM1", Status: "failed",
			Outcome: messages.OutcomeRejected},
		"MessageSid=SM1&MessageStatus=undelivered&ErrorCode=30005": {
			VendorMessageID: "SM1", Status: "undelivered", Outcome: messages.OutcomeRejected, Detail: "error 30005",
		},
		"MessageSid=SM1&MessageStatus=undelivered&ErrorCode=30003": {
			VendorMessageID: "SM1", Status: "undelivered", Outcome: messages.OutcomeUnavailable, Detail: "error 30003",
		},
	} {
		got, ok := parse(body)
		require.True(t, ok, body)
		want.Vendor = "twilio"
		require.Equal(t, want, got, body)
	}
	for _, body := range []string{"", "MessageSid=SM1", "MessageStatus=sent", "CallSid=&CallStatus=failed"} {
		_, ok := parse(body)
		require.False(t, ok, body)
	}
}

func TestNewRejectsInvalidConfig(t *testing.T) {
	t.Parallel()
	good := twilio.Config{AccountSID: "AC1", AuthToken: "t", From: "+12025550199", PublicURL: "https://iris.example"}
	for name, change := range map[string]func(*twilio.Config){
		"account_sid": func(c *twilio.Config) { c.AccountSID = "" },
		"auth_token":  func(c *twilio.Config) { c.AuthToken = "" },
		"from":        func(c *twilio.Config) { c.From = "" },
		"api_url":     func(c *twilio.Config) { c.APIURL = "there" },
		"public_url":  func(c *twilio.Config) { c.PublicURL = ""; c.Modes = []users.Mode{users.Call} },
		"modes":       func(c *twilio.Config) { c.Modes = []users.Mode{users.Email} },
	} {
		cfg := good
		change(&cfg)
		_, err := twilio.New(cfg)
		var f *fault.Error
		require.ErrorAs(t, err, &f, name)
		require.Equal(t, name, f.Field)
	}
	v, err := twilio.New(good)
	require.NoError(t, err)
	require.Equal(t, []users.Mode{users.SMS, users.Call}, v.Modes())
	good.PublicURL = ""
	v, err = twilio.New(good)
	require.NoError(t, err)
	require.Equal(t, []users.Mode{users.SMS}, v.Modes(), "without a public URL nobody could fetch a call's words")
	require.Equal(t, messages.OutcomeRejected, v.Send(t.Context(),
		messages.Outbound{Mode: users.Call, Destination: "+12025550123"}).Outcome)
}

func TestOutcomeOfEachErrorCode(t *testing.T) {
	t.Parallel()
	r := rig(t)
	p := r.Backend.(*pretend.Twilio)
	for code, want := range map[string]struct {
		outcome messages.Outcome
		gone    bool
	}{
		"21211": {messages.OutcomeRejected, true}, "21610": {messages.OutcomeRejected,
			true}, "21614": {messages.OutcomeRejected, true},
		"21408": {messages.OutcomeRejected, false}, "20429": {messages.OutcomeThrottled,
			false}, "21611": {messages.OutcomeThrottled, false},
		"20003": {messages.OutcomeUnavailable, false}, "21606": {messages.OutcomeUnavailable,
			false}, "99999": {messages.OutcomeRejected, false},
	} {
		p.Behave(pretend.Behaviour{Do: pretend.Reject, Code: code, Text: "about +12025550123"})
		res := r.Vendor.Send(t.Context(), messages.Outbound{MessageID: 1, Mode: users.SMS, Destination: "+12025550123",
			Body: "x"})
		require.Equal(t, want.outcome, res.Outcome, code)
		require.Equal(t, want.gone, res.DestinationGone, code)
		require.Contains(t, res.Detail, code)
		require.NotContains(t, res.Detail, "2025550123")
	}
}

func TestMisconfiguredAccountIsUnavailable(t *testing.T) {
	t.Parallel()
	p := pretend.NewTwilio(pretend.TwilioConfig{AccountSID: "AC1", AuthToken: "right", From: []string{"+12025550199"}},
		nil)
	require.NoError(t, p.Start())
	defer p.Close()
	for name, cfg := range map[string]twilio.Config{
		"token":   {AccountSID: "AC1", AuthToken: "wrong-token", From: "+12025550199"},
		"account": {AccountSID: "AC2", AuthToken: "right", From: "+12025550199"},
		"sender":  {AccountSID: "AC1", AuthToken: "right", From: "+12025550100"},
	} {
		cfg.APIURL = p.URL()
		v, err := twilio.New(cfg)
		require.NoError(t, err)
		r := v.Send(t.Context(), messages.Outbound{MessageID: 1, Mode: users.SMS, Destination: "+12025550123",
			Body: "x"})
		require.Equal(t, messages.OutcomeUnavailable, r.Outcome, "%s: %s", name, r.Detail)
		require.NotContains(t, r.Detail, "wrong-token")
		v.Close()
	}
}

func TestRequestParameters(t *testing.T) {
	t.Parallel()
	r := rig(t)
	p := r.Backend.(*pretend.Twilio)
	const ack = "https://iris.example/ack/abc"
	m := messages.Outbound{
		MessageID: 4711, Attempt: 2, Mode: users.SMS, Destination: "+12025550123", Application: "demo", IncidentID: 17,
		Subject: "for the record", Body: "Disk full " + ack, AckURL: ack,
	}
	send := func(m messages.Outbound) pretend.Entry {
		res := r.Vendor.Send(t.Context(), m)
		require.Equal(t, messages.OutcomeSent, res.Outcome, res.Detail)
		all := p.Log().Entries()
		return all[len(all)-1]
	}
	e := send(m)
	require.Equal(t, "Disk full "+ack, e.Body, "the renderer made the whole text")
	require.Equal(t, "https://iris.example/api/v0/twilio/status?attempt=2&incident_id=17&message_id=4711&source=demo",
		e.StatusCallback)

	m.Body = strings.Repeat("ä", 3000) + " " + ack
	e = send(m)
	require.True(t, strings.HasSuffix(e.Body, "\n"+ack), "the link survives the cut")
	require.LessOrEqual(t, len([]rune(e.Body)), twilio.MaxSMS)

	m.Body = ""
	require.Equal(t, "for the record", send(m).Body)

	m.Mode, m.Body = users.Call, "Disk full"
	e = send(m)
	require.Equal(t, "https://iris.example/api/v0/twilio/calls/gather?incident_id=17&instruction=Press+2+to+acknowledge.&loop=3&message_id=4711&source=demo", e.URL)
	require.NotContains(t, e.URL, "Disk", "the words are not in the URL")
	m.IncidentID = 0
	require.Contains(t, send(m).URL, "/api/v0/twilio/calls/say?")
	m.Batch = "0123456789abcdef0123456789abcdef"
	require.Contains(t, send(m).URL, "/api/v0/twilio/calls/gather?instruction=Press+2+to+acknowledge.&loop=3&message_id=4711", "a digest can be acknowledged")
}

func TestMessagingServiceAndKey(t *testing.T) {
	t.Parallel()
	const service = "MG0123456789abcdef0123456789abcdef"
	p := pretend.NewTwilio(pretend.TwilioConfig{AccountSID: "AC1", AuthToken: "t", From: []string{service}}, nil)
	require.NoError(t, p.Start())
	defer p.Close()
	v, err := twilio.New(twilio.Config{AccountSID: "AC1", AuthToken: "t", From: service, APIURL: p.URL() + "/"})
	require.NoError(t, err)
	defer v.Close()
	r := v.Send(t.Context(), messages.Outbound{MessageID: 1, Mode: users.SMS, Destination: "+12025550123", Body: "x"})
	require.Equal(t, messages.OutcomeSent, r.Outcome, r.Detail)
}

func TestApplicationsWithTheirOwnSenderNumbers(t *testing.T) {
	t.Parallel()
	p := pretend.NewTwilio(pretend.TwilioConfig{AccountSID: "AC1", AuthToken: "token",
		From: []string{"+15005550001", "+15005550002", "+15005550003"}}, nil)
	require.NoError(t, p.Start())
	cfg := twilio.Config{AccountSID: "AC1", AuthToken: "token", From: "+15005550001", CallFrom: "+15005550002",
		APIURL:    p.URL(),
		PublicURL: "https://iris.example", ApplicationFrom: map[string]string{"Demo": "+15005550003"}}
	v, err := twilio.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { v.Close(); p.Close() })
	for _, c := range []struct {
		app  string
		mode users.Mode
		from string
	}{{"demo", users.SMS, "+15005550003"}, {"demo", users.Call, "+15005550003"}, {"other", users.SMS, "+15005550001"}, {"other", users.Call, "+15005550002"}} {
		res := v.Send(t.Context(), messages.Outbound{MessageID: 1, Attempt: 1, Mode: c.mode,
			Destination: "+15005550006", Body: "b", Application: c.app})
		require.Equal(t, messages.OutcomeSent, res.Outcome, res.Detail)
		all := p.Log().Accepted()
		require.Equal(t, c.from, all[len(all)-1].From)
	}
	cfg.ApplicationFrom = map[string]string{"demo": "MG1"}
	_, err = twilio.New(cfg)
	require.ErrorContains(t, err, "application demo")
}
