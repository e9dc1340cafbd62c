package slack_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/vendors/slack"
)

// The example of Slack's documentation.
const (
	exampleSecret    = "8f742231b10e8888abcd99yyyzzz85a5"
	exampleTimestamp = 1531420618
	exampleBody      = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
	exampleSignature = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
)

func headers(timestamp, signature string) http.Header {
	h := http.Header{}
	h.Set(slack.TimestampHeader, timestamp)
	h.Set(slack.SignatureHeader, signature)
	return h
}

func TestVerifySignature(t *testing.T) {
	t.Parallel()
	now, at := time.Unix(exampleTimestamp, 0), strconv.Itoa(exampleTimestamp)
	good := headers(at, exampleSignature)
	require.NoError(t, slack.VerifySignature(exampleSecret, good, []byte(exampleBody), now))
	require.NoError(t, slack.VerifySignature(exampleSecret, good, []byte(exampleBody), now.Add(5*time.Minute)))
	for name, err := range map[string]error{
		"no secret":    slack.VerifySignature("", good, []byte(exampleBody), now),
		"other secret": slack.VerifySignature("x", good, []byte(exampleBody), now),
		"other body":   slack.VerifySignature(exampleSecret, good, []byte(exampleBody+"&x=1"), now),
		"too old": slack.VerifySignature(exampleSecret, good, []byte(exampleBody),
			now.Add(5*time.Minute+time.Second)),
		"future":  slack.VerifySignature(exampleSecret, good, []byte(exampleBody), now.Add(-6*time.Minute)),
		"no time": slack.VerifySignature(exampleSecret, headers("", exampleSignature), []byte(exampleBody), now),
		"other time": slack.VerifySignature(exampleSecret,
			headers(strconv.Itoa(exampleTimestamp+1), exampleSignature), []byte(exampleBody), now),
		"no signature": slack.VerifySignature(exampleSecret, headers(at, ""), []byte(exampleBody), now),
	} {
		require.True(t, fault.Is(err, fault.Unauthenticated), name)
		require.NotContains(t, err.Error(), exampleSecret)
	}
}

func FuzzVerifySignature(f *testing.F) {
	f.Add(strconv.Itoa(exampleTimestamp), exampleSignature, []byte(exampleBody))
	f.Add("-9223372036854775808", "v0=", []byte(nil))
	f.Fuzz(func(t *testing.T, timestamp, signature string, body []byte) {
		err := slack.VerifySignature(exampleSecret, headers(timestamp, signature), body, time.Unix(exampleTimestamp, 0))
		if err == nil {
			require.Equal(t, exampleBody, string(body), "nobody guesses a signature")
		}
	})
}

func TestParseInteraction(t *testing.T) {
	t.Parallel()
	parse := func(payload string) (slack.Interaction, error) {
		return slack.ParseInteraction([]byte(url.Values{"payload": {payload}}.Encode()))
	}
	i, err := parse(`{"type":"block_actions","user":{"id":"U1","username":"ann"},"channel":{"id":"C1"},"response_url":"https://r.example","container":{"message_ts":"7.1"},
		"actions":[{"action_id":"iris_acknowledge","value":"4711"}]}`)
	require.NoError(t, err)
	require.Equal(t, slack.Interaction{MessageID: 4711, Action: slack.ActionAcknowledge, UserID: "U1", UserName: "ann",
		Channel: "C1", Timestamp: "7.1", ResponseURL: "https://r.example"}, i)
	require.True(t, i.Acknowledges())
	require.False(t, i.All())
	i, err = parse(`{"type":"block_actions","user":{"id":"U1","name":"ann"},"actions":[{"action_id":"iris_acknowledge_all","value":"4711"}]}`)
	require.NoError(t, err)
	require.True(t, i.All() && i.Acknowledges())
	require.Equal(t, "ann", i.UserName)
	i, err = parse(`{"type":"interactive_message","callback_id":"4711","message_ts":"7.2","token":"x","user":{"id":"U1","name":"ann"},"actions":[{"name":"claim all","value":"claimed"}]}`)
	require.NoError(t, err)
	require.True(t, i.All())
	require.Equal(t, messages.ID(4711), i.MessageID)
	require.Equal(t, "7.2", i.Timestamp)
	i, err = parse(`{"type":"block_actions","user":{"id":"U1"},"actions":[{"action_id":"iris_open","value":"4711"}]}`)
	require.NoError(t, err)
	require.False(t, i.Acknowledges(), "a pressed link acknowledges nothing")
	for _, payload := range []string{
		"", "{", "null", "[]", `{"type":"block_actions","user":{"id":"U1"},"actions":[]}`,
		`{"type":"view_submission","user":{"id":"U1"},"actions":[{"action_id":"x","value":"1"}]}`,
		`{"type":"block_actions","actions":[{"action_id":"x","value":"1"}]}`,
		`{"type":"block_actions","user":{"id":"U1"},"actions":[{"action_id":"x","value":"one"}]}`,
		`{"type":"block_actions","user":{"id":"U1"},"actions":[{"action_id":"x","value":"-1"}]}`,
	} {
		_, err := parse(payload)
		require.True(t, fault.Is(err, fault.Invalid), payload)
	}
}

func FuzzParseInteraction(f *testing.F) {
	f.Add([]byte("payload=%7B%22type%22%3A%22block_actions%22%7D"))
	f.Add([]byte("%zz"))
	f.Fuzz(func(t *testing.T, body []byte) {
		i, err := slack.ParseInteraction(body)
		if err == nil {
			require.Positive(t, i.MessageID)
			require.NotEmpty(t, i.UserID+i.UserName)
			return
		}
		require.True(t, fault.Is(err, fault.Invalid))
	})
}

func TestDestinations(t *testing.T) {
	t.Parallel()
	v, p := pair(t, pretend.SlackConfig{People: map[string]string{"ann@example.com": "U0ANN0001"}, OnlyPeople: true})
	for dest, want := range map[string]string{
		"#ops": "#ops", "@ann": "@ann", "ann": "@ann", "C0123456789": "C0123456789", "U0ANN0001": "U0ANN0001", "ann@example.com": "U0ANN0001",
	} {
		r := v.Send(t.Context(), messages.Outbound{MessageID: 1, Destination: dest, Body: "x"})
		require.Equal(t, messages.OutcomeSent, r.Outcome, "%s: %s", dest, r.Detail)
		all := p.Log().Accepted()
		require.Equal(t, want, all[len(all)-1].To)
	}
	r := v.Send(t.Context(), messages.Outbound{MessageID: 1, Destination: "bob@example.com", Body: "x"})
	require.Equal(t, messages.OutcomeRejected, r.Outcome)
	require.True(t, r.DestinationGone)
}

func lookups(p *pretend.Slack) (n int) {
	for _, e := range p.Log().Entries() {
		if e.Mode == "lookup" {
			n++
		}
	}
	return n
}

func TestLookupsAreCachedUntilTheyFail(t *testing.T) {
	t.Parallel()
	v, p := pair(t, pretend.SlackConfig{})
	m := messages.Outbound{MessageID: 1, Destination: "ann@example.com", Body: "x"}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { v.Send(t.Context(), m) })
	}
	wg.Wait()
	v.Send(t.Context(), m)
	require.Less(t, lookups(p), 20, "those at the same time share one")
	n := lookups(p)
	require.Equal(t, messages.OutcomeSent, v.Send(t.Context(), m).Outcome)
	require.Equal(t, n, lookups(p))
	p.Behave(pretend.Behaviour{Do: pretend.Reject, Code: "user_not_found", Times: 1})
	require.Equal(t, messages.OutcomeRejected, v.Send(t.Context(), m).Outcome)
	require.Equal(t, messages.OutcomeSent, v.Send(t.Context(), m).Outcome)
	require.Equal(t, n+1, lookups(p), "asked again after the user was refused")
}

func TestFailedLookupIsNeverInDoubt(t *testing.T) {
	t.Parallel()
	v, p := pair(t, pretend.SlackConfig{})
	for _, kind := range []pretend.Kind{pretend.BreakAfter, pretend.Garbage, pretend.Fail, pretend.HangAfter} {
		p.Behave(pretend.Behaviour{Do: kind, To: "lookup", DelayMS: 1})
		ctx, cancel := contextOf(t, 300*time.Millisecond)
		r := v.Send(ctx, messages.Outbound{MessageID: 1, Destination: string(kind) + "@example.com", Body: "x"})
		cancel()
		require.Equal(t, messages.OutcomeUnavailable, r.Outcome, "%s: %s", kind, r.Detail)
	}
	p.Behave(pretend.Behaviour{Do: pretend.Throttle, RetryAfter: 9, To: "lookup"})
	r := v.Send(t.Context(), messages.Outbound{MessageID: 1, Destination: "zoe@example.com", Body: "x"})
	require.Equal(t, messages.OutcomeThrottled, r.Outcome)
	require.Equal(t, 9*time.Second, r.RetryAfter)
	require.Empty(t, p.Log().Accepted())
}

func TestOutcomeOfEachSlackError(t *testing.T) {
	t.Parallel()
	v, p := pair(t, pretend.SlackConfig{})
	for word, want := range map[string]struct {
		outcome messages.Outcome
		gone    bool
	}{
		"channel_not_found": {messages.OutcomeRejected, true}, "is_archived": {messages.OutcomeRejected, true},
		"not_in_channel": {messages.OutcomeRejected, false}, "msg_too_long": {messages.OutcomeRejected, false},
		"invalid_auth": {messages.OutcomeUnavailable, false}, "token_revoked": {messages.OutcomeUnavailable, false},
		"ratelimited": {messages.OutcomeThrottled, false}, "fatal_error": {messages.OutcomeUnknown, false},
		"service_unavailable": {messages.OutcomeUnavailable, false},
	} {
		p.Behave(pretend.Behaviour{Do: pretend.Reject, Code: word})
		r := v.Send(t.Context(), messages.Outbound{MessageID: 1, Destination: "#ops", Body: "x"})
		require.Equal(t, want.outcome, r.Outcome, word)
		require.Equal(t, want.gone, r.DestinationGone, word)
		require.Contains(t, r.Detail, word)
	}
}

func TestButtonsAndText(t *testing.T) {
	t.Parallel()
	v, p := pair(t, pretend.SlackConfig{})
	m := messages.Outbound{
		MessageID: 4711, Destination: "#ops", Application: "demo", Subject: "4711 Disk full", Body: "db1 is at 99 %", IncidentID: 17,
		IncidentURL: "https://iris.example/incidents/17",
	}
	send := func(m messages.Outbound) pretend.Entry {
		r := v.Send(t.Context(), m)
		require.Equal(t, messages.OutcomeSent, r.Outcome, r.Detail)
		all := p.Log().Entries()
		return all[len(all)-1]
	}
	e := send(m)
	require.Equal(t, "[demo] 4711 Disk full\ndb1 is at 99 %", e.Body)
	require.Equal(t, []pretend.Button{
		{ActionID: slack.ActionAcknowledge, Text: "Acknowledge", Value: "4711"},
		{ActionID: slack.ActionAcknowledgeAll, Text: "Acknowledge all", Value: "4711"},
		{ActionID: slack.ActionOpen, Text: "Open incident", Value: "4711", URL: "https://iris.example/incidents/17"},
	}, e.Buttons)

	m.IncidentID = 0
	require.Empty(t, send(m).Buttons, "nothing to acknowledge out of band")
	url := m.IncidentURL
	m.Batch, m.IncidentURL = "0123456789abcdef0123456789abcdef", ""
	require.Equal(t, e.Buttons[:2], send(m).Buttons, "a digest is acknowledged by the number of its message")
	m.Batch, m.IncidentURL = "", url
	m.Subject = ""
	require.Equal(t, "[demo] db1 is at 99 %", send(m).Body)

	m.IncidentID = 17
	m.Slack.Body = `{"text":"short","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"*rich*"}},{"type":"divider"}]}` + "\nhttps://iris.example/ack/abc"
	require.Equal(t, "[demo] "+strings.ReplaceAll(m.Slack.Body, "\n", "\n"), send(m).Body,
		"text, unless the template's source is an object")
	m.Slack.Custom = true
	e = send(m)
	require.Equal(t, "short", e.Body, "a body of Slack's own parts")
	require.Len(t, e.Buttons, 3)

	m.Slack.Body = `{"no": "parts of Slack"}`
	require.Contains(t, send(m).Body, `{"no": "parts of Slack"}`)
}

func TestPlainTextIsEscapedForSlack(t *testing.T) {
	t.Parallel()
	v, p := pair(t, pretend.SlackConfig{})
	r := v.Send(t.Context(), messages.Outbound{MessageID: 1, Destination: "#ops", Application: "a&b",
		Subject: "<!channel>", Body: "<https://evil.example|log in> & more"})
	require.Equal(t, messages.OutcomeSent, r.Outcome, r.Detail)
	require.Equal(t, "[a&amp;b] &lt;!channel&gt;\n&lt;https://evil.example|log in&gt; &amp; more",
		p.Log().Accepted()[0].Body)
}

func TestCustomBlocksGetNoIrisButtons(t *testing.T) {
	t.Parallel()
	v, p := pair(t, pretend.SlackConfig{})
	button := func(id string) string {
		return `{"type":"button","action_id":"` + id + `","value":"99","text":{"type":"plain_text","text":"x"}}`
	}
	body := `{"text":"t","blocks":[` +
		`{"type":"actions","elements":[` + button("iris_acknowledge") + `,` + button(" IRIS_acknowledge_all") + `]},` +
		`{"type":"actions","elements":[` + button("iris_open") + `,` + button("runbook") + `]},` +
		`{"type":"section","text":{"type":"mrkdwn","text":"s"},"accessory":` + button("iris_acknowledge") + `}],` +
		`"attachments":[{"fallback":"f","callback_id":"99","actions":[{"name":"claim","type":"button","text":"x","value":"claimed"},{"name":"claim all","type":"button","text":"x","value":"claimed"}]}]}`
	m := messages.Outbound{MessageID: 1, Destination: "#ops", IncidentID: 17,
		Slack: messages.SlackText{Body: body, Custom: true}}
	r := v.Send(t.Context(), m)
	require.Equal(t, messages.OutcomeSent, r.Outcome, r.Detail)
	var got []string
	for _, b := range p.Log().Accepted()[0].Buttons {
		got = append(got, b.ActionID+"="+b.Value)
	}
	require.Equal(t, []string{"runbook=99", slack.ActionAcknowledge + "=1", slack.ActionAcknowledgeAll + "=1"}, got)
}

func TestEmailOf(t *testing.T) {
	t.Parallel()
	v, _ := pair(t, pretend.SlackConfig{People: map[string]string{"ann@example.com": "U0ANN0001"}, OnlyPeople: true})
	email, err := v.EmailOf(t.Context(), "U0ANN0001")
	require.NoError(t, err)
	require.Equal(t, "ann@example.com", email)
	_, err = v.EmailOf(t.Context(), "U0BOB0001")
	require.True(t, fault.Is(err, fault.Unavailable))
	_, err = v.EmailOf(t.Context(), "../x")
	require.True(t, fault.Is(err, fault.Invalid))
}

func TestIDOf(t *testing.T) {
	t.Parallel()
	v, p := pair(t, pretend.SlackConfig{People: map[string]string{"ann@example.com": "U0ANN0001"}, OnlyPeople: true})
	for range 2 {
		id, err := v.IDOf(t.Context(), "ann@example.com")
		require.NoError(t, err)
		require.Equal(t, "U0ANN0001", id)
	}
	_, err := v.IDOf(t.Context(), "bob@example.com")
	require.True(t, fault.Is(err, fault.NotFound))
	p.Close()
	id, err := v.IDOf(t.Context(), "ann@example.com")
	require.NoError(t, err, "what was found is remembered")
	require.Equal(t, "U0ANN0001", id)
	_, err = v.IDOf(t.Context(), "eve@example.com")
	require.True(t, fault.Is(err, fault.Unavailable))
}

func TestNewRejectsInvalidConfig(t *testing.T) {
	t.Parallel()
	for _, cfg := range []slack.Config{{}, {Token: "x", APIURL: "there"}, {Token: "x", APIURL: "ftp://x/"}} {
		_, err := slack.New(cfg)
		require.True(t, fault.Is(err, fault.Invalid))
	}
	_, p := pair(t, pretend.SlackConfig{})
	v, err := slack.New(slack.Config{Token: token, APIURL: strings.TrimSuffix(p.URL(), "/")})
	require.NoError(t, err)
	defer v.Close()
	require.Equal(t, messages.OutcomeSent, v.Send(t.Context(),
		messages.Outbound{MessageID: 1, Destination: "#ops", Body: "x"}).Outcome, "the final slash is added")
	wrong, err := slack.New(slack.Config{Token: "xoxb-wrong-token", APIURL: p.URL()})
	require.NoError(t, err)
	defer wrong.Close()
	r := wrong.Send(t.Context(), messages.Outbound{MessageID: 1, Destination: "#ops", Body: "x"})
	require.Equal(t, messages.OutcomeUnavailable, r.Outcome, "the account is at fault, not the message")
}

// The pretend workspace signs button presses as Slack does, and the slack package parses them.
func TestPressedButton(t *testing.T) {
	t.Parallel()
	v, p := pair(t, pretend.SlackConfig{SigningSecret: exampleSecret})
	require.Equal(t, messages.OutcomeSent, v.Send(t.Context(),
		messages.Outbound{MessageID: 4711, Destination: "@ann", Body: "x", IncidentID: 17}).Outcome)
	api := serve(t, func(w http.ResponseWriter, r *http.Request, body []byte) {
		require.NoError(t, slack.VerifySignature(exampleSecret, r.Header, body, time.Now()))
		i, err := slack.ParseInteraction(body)
		require.NoError(t, err)
		require.Equal(t, messages.ID(4711), i.MessageID)
		require.NoError(t, json.NewEncoder(w).Encode(map[string]string{"text": i.UserName + " " + i.Action}))
	})
	status, said, err := p.Press(t.Context(), api, 1, slack.ActionAcknowledge, "U0ANN0001", "ann")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"text":"ann iris_acknowledge"}`, said)
	_, _, err = p.Press(t.Context(), api, 1, "no_such_button", "U1", "ann")
	require.Error(t, err)
}
