package answers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// relay posts a body as iris-relay does.
func relay(t *testing.T, h http.Handler, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	return relayAs(t, h, "iris-relay", "", path, body)
}

func relayAs(t *testing.T, h http.Handler, app, user, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	if app != "" {
		r.Header.Set("Authorization", auth.Sign(app, "key", auth.SignedRequest{Username: user, Method: http.MethodPost,
			Path:     r.URL.Path,
			RawQuery: r.URL.RawQuery, Body: []byte(body)}, time.Now()))
	}
	if user != "" {
		r.Header.Set(wire.UsernameHeader, user)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const hex32 = "abababababababababababababababab"

func sms(from, text string) string { return url.Values{"Body": {text}, "From": {from}}.Encode() }

func titleOf(words ...string) string {
	out := map[string]string{"title": words[0]}
	if len(words) > 1 {
		out["description"] = words[1]
	}
	b, _ := json.Marshal(out)
	return string(b)
}

func appResponse(text string) string {
	b, _ := json.Marshal(map[string]string{"app_response": text})
	return string(b)
}

const annPhone = "+12234567890"

func TestRelayedReplies(t *testing.T) {
	t.Parallel()
	const texts, calls, slack = "/v0/response/twilio/messages", "/v0/response/twilio/calls", "/v0/response/slack"
	digits := func(to, d string) string { return url.Values{"Digits": {d}, "To": {to}}.Encode() }
	for name, c := range map[string]struct {
		path, body string
		status     int
		want       string // the whole body
		owned      []incidents.ID
		recorded   int
	}{
		"claim": {texts, sms(annPhone, "27 claim"), 200,
			appResponse("Iris incident(300) claimed."), []incidents.ID{300}, 1},
		"claim the other way round": {texts, sms(annPhone, " Claim 27 now"), 200,
			appResponse("Iris incident(300) claimed."), []incidents.ID{300}, 1},
		"last": {texts, sms(annPhone, "L"), 200, appResponse("Iris incident(301) claimed."),
			[]incidents.ID{301}, 1},
		"all": {texts, sms(annPhone, "claim all"), 200,
			appResponse("db: Iris Incidents claimed (1): 300\nweb: Iris Incidents claimed (1): 301"), []incidents.ID{300, 301}, 1},
		"a digest": {texts, sms(annPhone, "claim "+strings.ToUpper(hex32)), 200,
			appResponse("All iris incidents claimed for batch id " + hex32 + "."), []incidents.ID{300, 301}, 1},
		"an unknown digest": {texts, sms(annPhone, strings.Repeat("0", 32)+" claim"), 400,
			titleOf("Invalid message(" + strings.Repeat("0", 32) + "): no application found."), nil, 1},
		"sorry": {texts, sms("+1999", "Fine"), 200, appResponse("Sincerest apologies"), nil, 1},
		"suppress": {texts, sms(annPhone, "suppress 27"), 200, appResponse("Unknown command."), nil,
			1},
		"another command": {texts, sms(annPhone, "27 snooze"), 200, appResponse("Unknown command."), nil, 1},
		"no incident": {texts, sms(annPhone, "29 claim"), 200,
			appResponse("Failed to match incident for message(29)."), nil, 1},
		"stranger": {texts, sms("+1999", "27 claim"), 200,
			appResponse("Failed to identify owner for the incident."), nil, 1},
		"stranger, all": {texts, sms("+1999", "a"), 200,
			appResponse("Failed to identify owner for the incident."), nil, 1},
		"stranger, last": {texts, sms("+1999", "claim last"), 200,
			appResponse("Failed to identify owner for the incident."), nil, 1},
		"only reads": {texts, sms("+16", "27 claim"), 200,
			appResponse("vic may only read, and cannot acknowledge"), nil, 1},
		"one word": {texts, sms(annPhone, "hello"), 400,
			titleOf("Invalid response", "failed to parse response"), nil, 1},
		"nothing": {texts, "Body=&From=%2B1", 400,
			titleOf("Invalid response", "failed to parse response"), nil, 1},
		"no id": {texts, sms(annPhone, "Hello you"), 400,
			titleOf("Invalid message id", "invalid message id: Hello"), nil, 1},
		"unknown message": {texts, sms(annPhone, "77 claim"), 400,
			titleOf("Invalid message(77): no application found."), nil, 1},
		"no body": {texts, "From=1", 400, titleOf("SMS body not found",
			"Missing Body argument in post body"), nil, 0},
		"no sender": {texts, "Body=1", 400, titleOf("From argument not found",
			"Missing From in post body"), nil, 0},
		"no form": {texts, "%zz", 400, titleOf("Invalid form", "the body is not form encoded"), nil,
			0},

		"key": {calls + "?message_id=27", digits(annPhone, "2"), 200,
			appResponse("Iris incident(300) claimed."), []incidents.ID{300}, 1},
		"another key": {calls + "?message_id=27", digits(annPhone, "5"), 200,
			appResponse("Got unknown option from user: 5"), nil, 1},
		"key of a stranger": {calls + "?message_id=27", digits("+1999", "2"), 200,
			appResponse("Failed to identify owner for the incident."), nil, 1},
		"key, unknown": {calls + "?message_id=77", digits(annPhone, "2"), 400,
			titleOf("Invalid message(77): no application found."), nil, 1},
		"key, no message": {calls, digits(annPhone, "2"), 400,
			titleOf("Missing parameter", `The "message_id" parameter is required.`), nil, 0},
		"key, odd message": {calls + "?message_id=x", digits(annPhone, "2"), 400,
			titleOf("Invalid message id", "invalid message id: x"), nil, 0},
		"key, word in number": {calls + "?message_id=f", digits(annPhone, "2"), 400,
			titleOf("Invalid message id", "invalid message id: f"), nil, 0},
		"no digits": {calls + "?message_id=27", "To=1", 400, titleOf("Digits argument not found"), nil, 0},
		"no callee": {calls + "?message_id=27", "Digits=2", 400, titleOf("To argument not found"), nil, 0},

		"button": {slack, `{"msg_id":27,"source":"ann","content":"claim"}`, 200,
			appResponse("Iris incident(300) claimed."), []incidents.ID{300}, 1},
		"button, quoted": {slack, `{"msg_id":"27","source":"ann","content":"claim"}`, 200,
			appResponse("Iris incident(300) claimed."), []incidents.ID{300}, 1},
		"button for all": {slack, `{"msg_id":27,"source":"ann","content":"claim all"}`, 200,
			appResponse("db: Iris Incidents claimed (1): 300\nweb: Iris Incidents claimed (1): 301"), []incidents.ID{300, 301}, 1},
		"another button": {slack, `{"msg_id":27,"source":"ann","content":"dance"}`, 200,
			appResponse("Unknown command."), nil, 1},
		"button, stranger": {slack, `{"msg_id":27,"source":"eve","content":"claim"}`, 200,
			appResponse("Failed to identify owner for the incident."), nil, 1},
		"button, unknown": {slack, `{"msg_id":77,"source":"ann","content":"claim"}`, 400,
			titleOf("Bad Request", "Failed to handle slack response"), nil, 1},
		"button, no number": {slack, `{"msg_id":"x","source":"ann","content":"claim"}`, 400,
			titleOf("Bad Request", "Failed to handle slack response"), nil, 0},
		"button, wrong types": {slack, `{"msg_id":27,"source":7,"content":"claim"}`, 400,
			titleOf("Bad Request", "Failed to handle slack response"), nil, 0},
		"button, no key": {slack, `{"msg_id":27,"content":"claim"}`, 400,
			titleOf("Post body missing required key"), nil, 0},
		"button, no JSON": {slack, `{`, 400, "", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _, h := setup(t)
			r := relay(t, h, c.path, c.body)
			require.Equal(t, c.status, r.Code, r.Body)
			if c.want != "" {
				require.JSONEq(t, c.want, r.Body.String())
			}
			require.Len(t, w.owners, len(c.owned))
			for _, id := range c.owned {
				require.Equal(t, "ann", w.owners[id])
			}
			require.Len(t, w.recorded, c.recorded, "every answer is recorded, understood or not")
			for _, k := range w.recorded {
				require.NotEmpty(t, k.Result)
			}
		})
	}
}

func TestOnlyKnownCallersRelay(t *testing.T) {
	t.Parallel()
	for path, body := range map[string]string{
		"/v0/response/email":           mailJSON("ann@example.com", "x@example.com", "Re: 27 x", "claim"),
		"/v0/response/gmail":           mailJSON("ann@example.com", "x@example.com", "Re: 27 x", "claim"),
		"/v0/response/gmail-oneclick":  `{"msg_id":27,"email_address":"ann@example.com","cmd":"claim"}`,
		"/v0/response/twilio/calls":    "Digits=2&To=%2B12234567890",
		"/v0/response/twilio/messages": sms(annPhone, "27 claim"),
		"/v0/response/slack":           `{"msg_id":27,"source":"ann","content":"claim"}`,
		"/v0/twilio/deliveryupdate":    "MessageSid=SM1&MessageStatus=delivered",
	} {
		w, _, h := setup(t)
		r := relayAs(t, h, "", "", path, body)
		require.Equal(t, http.StatusUnauthorized, r.Code, path)
		require.JSONEq(t, titleOf("Authentication failure", "Malformed/missing HMAC authorization header"),
			r.Body.String(), path)
		require.Equal(t, http.StatusUnauthorized, relayAs(t, h, "nobody", "", path, body).Code, path)
		require.Equal(t, http.StatusForbidden, relayAs(t, h, "iris-relay", "vic", path, body).Code,
			"%s: vic only reads", path)
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		require.Equal(t, http.StatusMethodNotAllowed, rec.Code, path)
		require.Empty(t, w.recorded, path)
		require.Empty(t, w.owners, path)
		require.Empty(t, w.receipts, path)
	}
}

// An application without the power relay may not pass on answers of other people or receipts.
func TestOnlyRelaysPassOnAnswers(t *testing.T) {
	t.Parallel()
	for path, body := range map[string]string{
		"/v0/response/email":           mailJSON("ann@example.com", "x@example.com", "Re: 27 x", "claim"),
		"/v0/response/gmail":           mailJSON("bob@example.com", "db-page@iris.example", "it burns", "b"),
		"/v0/response/gmail-oneclick":  `{"msg_id":27,"email_address":"ann@example.com","cmd":"claim"}`,
		"/v0/response/twilio/calls":    "Digits=2&To=%2B12234567890",
		"/v0/response/twilio/messages": sms(annPhone, "27 claim"),
		"/v0/response/slack":           `{"msg_id":27,"source":"ann","content":"claim"}`,
		"/v0/twilio/deliveryupdate":    "MessageSid=SM1&MessageStatus=delivered",
	} {
		w, _, h := setup(t)
		r := relayAs(t, h, "web", "", path, body)
		require.Equal(t, http.StatusForbidden, r.Code, path)
		require.Contains(t, r.Body.String(), "This application may not pass on answers", path)
		require.Empty(t, w.owners, path)
		require.Empty(t, w.opened, path)
		require.Empty(t, w.receipts, path)
		require.Empty(t, w.sent, path)
	}
	w, _, h := setup(t)
	require.Equal(t, http.StatusForbidden, relayAs(t, h, "iris-relay", "kim", "/v0/twilio/deliveryupdate",
		"MessageSid=SM1&MessageStatus=delivered").Code,
		"a person passes on no receipts")
	require.Empty(t, w.receipts)
}

// With disable_auth, requests without credentials pass on answers and receipts, as with the predecessor, and the reply
// to a mail is queued for an application that exists.
func TestRelaysWithoutCredentialsWhereAuthenticationIsOff(t *testing.T) {
	t.Parallel()
	for path, body := range map[string]string{
		"/v0/response/email":                      mailJSON("ann@example.com", "x@example.com", "Re: 27 x", "claim"),
		"/v0/response/gmail":                      mailJSON("ann@example.com", "x@example.com", "hello", "claim last"),
		"/v0/response/gmail-oneclick":             `{"msg_id":27,"email_address":"ann@example.com","cmd":"claim"}`,
		"/v0/response/twilio/calls?message_id=27": url.Values{"Digits": {"2"}, "To": {"+12234567890"}}.Encode(),
		"/v0/response/twilio/messages":            sms(annPhone, "27 claim"),
		"/v0/response/slack":                      `{"msg_id":27,"source":"ann","content":"claim"}`,
		"/v0/twilio/deliveryupdate":               "MessageSid=SM1&MessageStatus=delivered",
	} {
		w, h := setupOpen(t)
		r := relayAs(t, h, "", "", path, body)
		require.Less(t, r.Code, 300, "%s: %s", path, r.Body)
		if strings.HasPrefix(path, "/v0/response/") {
			require.Len(t, w.owners, 1, path)
		}
		for _, n := range w.sent {
			require.NotZero(t, n.ApplicationID, path)
		}
	}
	w, h := setupOpen(t)
	require.Equal(t, http.StatusNoContent, relayAs(t, h, "", "", "/v0/response/email",
		mailJSON("ann@example.com", "x@example.com", "hello", "fine")).Code)
	require.Len(t, w.sent, 1)
	require.Equal(t, int64(2), w.sent[0].ApplicationID, "an answer about no incident is the session application's")
	mail := mailJSON("bob@example.com", "db-page@iris.example", "it burns", "b")
	require.Equal(t, http.StatusNoContent, relayAs(t, h, "", "", "/v0/response/email", mail).Code)
	require.Len(t, w.opened, 1)
}

func TestRelayedReceipts(t *testing.T) {
	t.Parallel()
	w, _, h := setup(t)
	const path = "/v0/twilio/deliveryupdate"
	require.Equal(t, http.StatusNoContent, relay(t, h, path, "MessageSid=SM1&MessageStatus=delivered").Code,
		"even when nobody knows it")
	require.Len(t, w.receipts, 1)
	r := relay(t, h, path, "MessageSid=SM1&MessageStatus=failed")
	require.Equal(t, http.StatusBadRequest, r.Code)
	require.JSONEq(t, titleOf("Failed to update Twilio delivery status", "Failed to update Twilio delivery status"),
		r.Body.String())
	w.known = true
	require.Equal(t, http.StatusNoContent, relay(t, h, path, "MessageSid=SM1&MessageStatus=failed").Code)
	r = relay(t, h, path, "a=b")
	require.Equal(t, http.StatusBadRequest, r.Code)
	require.JSONEq(t, titleOf("Invalid keys in payload"), r.Body.String())
}

func TestOneClick(t *testing.T) {
	t.Parallel()
	const path = "/v0/response/gmail-oneclick"
	w, _, h := setup(t)
	r := relay(t, h, path, `{"msg_id":27,"email_address":"ann@example.com","cmd":"claim"}`)
	require.Equal(t, http.StatusNoContent, r.Code)
	require.Empty(t, r.Body.String())
	require.Equal(t, "ann", w.owners[300])
	require.Equal(t, []incidents.Via{incidents.ViaEmail}, w.via)
	require.Equal(t, http.StatusNoContent, relay(t, h, path,
		`{"msg_id":27,"email_address":"eve@example.com","cmd":"claim"}`).Code)
	require.Equal(t, textUnknownSource, w.recorded[1].Result)
	for body, title := range map[string]string{
		`{"msg_id":27,"email_address":"a@b","cmd":"claim all"}`: oneClickOnly,
		`{"msg_id":"x","email_address":"a@b","cmd":"claim"}`:    oneClickKeys,
		`{"msg_id":27,"email_address":7,"cmd":"claim"}`:         oneClickKeys,
		`{"msg_id":27,"email_address":null,"cmd":"claim"}`:      oneClickKeys,
		`{"msg_id":27,"cmd":"claim"}`:                           oneClickKeys,
		`{"msg_id":77,"email_address":"a@b","cmd":"claim"}`:     "Invalid message(77): no application found.",
	} {
		r := relay(t, h, path, body)
		require.Equal(t, http.StatusBadRequest, r.Code, body)
		require.JSONEq(t, titleOf(title), r.Body.String(), body)
	}
}

func TestOneClickFromGmail(t *testing.T) {
	t.Parallel()
	signer, err := auth.NewOneClick(oneClickKey, "https://iris.example/api/v0/gmail-oneclick/relay")
	require.NoError(t, err)
	later, now := time.Now().Add(time.Hour), time.Now()
	unlimited := signer.URL(27, "ann@example.com", "claim", later)
	unlimited = unlimited[:strings.Index(unlimited, "&expires=")] + unlimited[strings.Index(unlimited, "&msg_id="):]
	for name, c := range map[string]struct {
		address string
		status  int
		owner   string
	}{
		"claim":         {signer.URL(27, "ann@example.com", "claim", later), 204, "ann"},
		"stranger":      {signer.URL(27, "eve@example.com", "claim", later), 400, ""},
		"unknown":       {signer.URL(77, "ann@example.com", "claim", later), 400, ""},
		"another thing": {signer.URL(27, "ann@example.com", "claim all", later), 400, ""},
		"altered":       {strings.Replace(signer.URL(27, "eve@example.com", "claim", later), "eve", "ann", 1), 403, ""},
		"another id": {strings.Replace(signer.URL(28, "ann@example.com", "claim", later), "msg_id=28", "msg_id=27",
			1), 403, ""},
		"unsigned": {"https://iris.example/api/v0/gmail-oneclick/relay?msg_id=27&email_address=ann@example.com&cmd=claim", 403, ""},
		"expired":  {signer.URL(27, "ann@example.com", "claim", now), 403, ""},
		"prolonged": {strings.Replace(signer.URL(27, "ann@example.com", "claim", now),
			fmt.Sprintf("expires=%d", now.Unix()),
			fmt.Sprintf("expires=%d", later.Unix()), 1), 403, ""},
		"without expiry": {unlimited, 403, ""},
	} {
		path := strings.TrimPrefix(c.address, "https://iris.example")
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			w, _, h := setup(t)
			status, _ := call(t, h, method, path, nil)
			require.Equal(t, http.StatusMethodNotAllowed, status, "%s: scanners follow links", name)
			require.Empty(t, w.owners, name)
		}
		w, _, h := setup(t)
		status, body := call(t, h, http.MethodPost, path, nil)
		require.Equal(t, c.status, status, "%s: %s", name, body)
		require.Equal(t, c.owner, w.owners[300], name)
	}
}

func TestSlackAuthenticates(t *testing.T) {
	t.Parallel()
	_, _, h := setup(t)
	status, body := call(t, h, http.MethodGet, "/api/v0/slack/authenticate", nil)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "Message Received", body)
}

func mailJSON(from, to, subject, body string, more ...string) string {
	headers := []map[string]any{{"name": "From", "value": from}, {"name": "To", "value": to},
		{"name": "Subject", "value": subject}}
	for i := 0; i+1 < len(more); i += 2 {
		headers = append(headers, map[string]any{"name": more[i], "value": more[i+1]})
	}
	b, _ := json.Marshal(map[string]any{"body": body, "headers": headers})
	return string(b)
}

func TestMailReplies(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 300)
	for name, c := range map[string]struct {
		from, subject, body string
		status              int
		want                string // the text of the reply, or the error
		subjectBack         string
		application         int64
	}{
		"the subject's number": {"Ann <ann@example.com>", "Re: 27 disk full", "claim\r\n\r\n> On Monday, Iris wrote",
			204, "Iris incident(300) acknowledged.", "Re: Re: 27 disk full", 71},
		"words": {"ann@example.com", "hello", "27 claim\nbye", 204, "Iris incident(300) acknowledged.",
			"Re: hello", 71},
		"last": {"ann@example.com", "hello", "claim last", 204, "Iris incident(301) acknowledged.",
			"Re: hello", 0},
		"sorry": {"ann@example.com", "hello", "fine", 204, "Sincerest apologies", "Re: hello", 70},
		"suppress": {"ann@example.com", "Re: 27 disk full", "suppress", 204, "Unknown command.",
			"Re: Re: 27 disk full", 71},
		"only reads": {"vic@example.com", "x", "27 claim", 204,
			"vic may only read, and cannot acknowledge", "Re: x", 71},
		"long subject": {"ann@example.com", long, "27 claim", 204, "Iris incident(300) acknowledged.", "Re: " +
			long[:2*236], 71},
		"another kind of answer": {"ann@example.com", "RE: 27 disk full", "claim", 400,
			titleOf("Invalid response", "Invalid response: claim"), "", 0},
		"capital letters": {"ann@example.com", "Re: 27 disk full", "Claim", 400,
			titleOf("Invalid response", "Invalid response: Claim"), "", 0},
		"no number": {"ann@example.com", "Re: disk full", "claim", 400,
			titleOf("Invalid response", "Invalid response: claim"), "", 0},
		"empty": {"ann@example.com", "hello", "", 400,
			titleOf("Invalid response", "Invalid response: "), "", 0},
		"no id": {"ann@example.com", "hello", "Hello you", 400,
			titleOf("Invalid message id", "invalid message id: Hello"), "", 0},
		"unknown message": {"ann@example.com", "hello", "77 claim", 400,
			titleOf("Invalid message(77): no application found."), "", 0},
		"stranger": {"eve@example.com", "hello", "27 claim", 400,
			titleOf("Invalid request", "Failed to lookup target from destination: eve@example.com"), "", 0},
		"nobody": {"", "hello", "27 claim", 400, titleOf("Missing source"), "", 0},
	} {
		for _, path := range []string{"/v0/response/email", "/v0/response/gmail"} {
			w, _, h := setup(t)
			r := relay(t, h, path, mailJSON(c.from, "iris@iris.example", c.subject, c.body))
			require.Equal(t, c.status, r.Code, "%s: %s", name, r.Body)
			if c.status != http.StatusNoContent {
				require.JSONEq(t, c.want, r.Body.String(), name)
				require.Empty(t, w.sent, name)
				require.Empty(t, w.owners, name)
				continue
			}
			require.Empty(t, r.Body.String())
			require.Len(t, w.sent, 1, name)
			n := w.sent[0]
			require.Equal(t, c.want, n.Body, name)
			require.Equal(t, c.subjectBack, n.Subject, name)
			require.True(t, n.Bare)
			require.Equal(t, users.Low, n.Priority)
			if c.application != 0 {
				require.Equal(t, c.application, n.ApplicationID, name)
			}
			require.Len(t, n.Recipients, 1)
			require.Equal(t, users.Email, n.Recipients[0].Mode)
			require.Equal(t, address(c.from), n.Recipients[0].Literal)
			require.Len(t, w.recorded, 1, name)
			require.Equal(t, users.Email, w.recorded[0].Mode)
		}
	}
}

// A relay passes on the answers of all people. A caller that acts for a person passes on only that person's answers.
func TestPeoplePassOnOnlyTheirOwnAnswers(t *testing.T) {
	t.Parallel()
	const refused = `{"title":"This user is not allowed to access this resource","description":""}`
	for path, body := range map[string]string{
		"/v0/response/twilio/messages":            sms("+12234567890", "27 claim"),
		"/v0/response/twilio/calls?message_id=27": url.Values{"Digits": {"2"}, "To": {"+12234567890"}}.Encode(),
		"/v0/response/slack":                      `{"msg_id":27,"source":"ann","content":"claim"}`,
		"/v0/response/gmail-oneclick":             `{"msg_id":27,"email_address":"ann@example.com","cmd":"claim"}`,
		"/v0/response/email": mailJSON("ann@example.com", "iris@iris.example", "Re: 27 x",
			"claim"),
	} {
		w, _, h := setup(t)
		r := relayAs(t, h, "iris-relay", "kim", path, body)
		require.Equal(t, http.StatusUnauthorized, r.Code, path)
		require.JSONEq(t, refused, r.Body.String(), path)
		require.Empty(t, w.owners, path)
		require.Less(t, relayAs(t, h, "iris-relay", "ann", path, body).Code, 300, path)
		require.Equal(t, "ann", w.owners[300], path)
	}
	w, _, h := setup(t)
	require.Equal(t, http.StatusUnauthorized, relayAs(t, h, "iris-relay", "kim", "/v0/response/email",
		mailJSON("ann@example.com", "iris@iris.example", "look at evil.example", "fine")).Code)
	require.Empty(t, w.sent, "nobody is written to in another's name")
	mail := mailJSON("bob@example.com", "db-page@iris.example", "it burns", "b")
	r := relayAs(t, h, "iris-relay", "kim", "/v0/response/email", mail)
	require.Equal(t, http.StatusUnauthorized, r.Code)
	require.JSONEq(t, refused, r.Body.String())
	require.Empty(t, w.opened)
	require.Equal(t, http.StatusNoContent, relayAs(t, h, "db", "kim", "/v0/response/email", mail).Code,
		"the application itself may")
}

func TestMailOpensIncidents(t *testing.T) {
	t.Parallel()
	const path = "/v0/response/email"
	w, _, h := setup(t)
	r := relay(t, h, path, mailJSON("Bob <bob@example.com>", "DB <db-page@iris.example>", "it burns", "please\nhelp"))
	require.Equal(t, http.StatusNoContent, r.Code, r.Body)
	require.Equal(t, "400", r.Header().Get("X-IRIS-INCIDENT"))
	require.Len(t, w.opened, 1)
	require.JSONEq(t, `{"body":"please\nhelp","email":["db-page@iris.example"],"subject":"it burns","sender":"bob@example.com"}`, string(w.opened[0].Context))
	require.Equal(t, int64(71), w.opened[0].ApplicationID)
	require.Equal(t, int64(3), w.opened[0].PlanID)
	require.True(t, w.woken.Has(400%256))
	require.Empty(t, w.sent, "nobody is written back to")
	require.Empty(t, w.recorded)

	many := `{"body":"b","headers":[{"name":"from","value":"bob@example.com"},{"name":"to","value":["x@example.com","db-page@iris.example"]},{"name":"X","value":null}]}`
	require.Equal(t, "400", relay(t, h, path, many).Header().Get("X-IRIS-INCIDENT"), "a list of recipients, no subject")
	require.JSONEq(t, `{"body":"b","email":["x@example.com","db-page@iris.example"],"subject":"","sender":"bob@example.com"}`, string(w.opened[1].Context))
	require.Equal(t, "400", relay(t, h, path, mailJSON("b@c", "x@example.com, DB <db-page@iris.example>", "s",
		strings.Repeat("\"é🔥", 50000))).Header().Get("X-IRIS-INCIDENT"))
	require.LessOrEqual(t, incidents.JSONSize(w.opened[2].Context), incidents.MaxContext,
		"a long mail is cut, not lost")
	require.Greater(t, incidents.JSONSize(w.opened[2].Context), incidents.MaxContext/2)

	for name, c := range map[string]struct{ to, why string }{
		"reply":        {"db-page@iris.example", "Not created (email reply not fresh email)"},
		"no plan":      {"old@iris.example", "Not created (plan does not exist or is not active)"},
		"dynamic plan": {"dyn@iris.example", "Not created (no template actions for this app)"},
		"no words":     {"db-page@iris.example", "Not created (no template actions for this app)"},
	} {
		w, _, h := setup(t)
		w.noText = name == "no words"
		var more []string
		if name == "reply" {
			more = []string{"In-Reply-To", "<x@y>"}
		}
		r := relay(t, h, path, mailJSON("bob@example.com", c.to, "it burns", "27 claim", more...))
		require.Equal(t, http.StatusNoContent, r.Code, name)
		require.Equal(t, c.why, r.Header().Get("X-IRIS-INCIDENT"), name)
		require.Empty(t, w.opened, name)
	}
	w.wait = 7 * time.Second
	r = relay(t, h, path, mailJSON("bob@example.com", "db-page@iris.example", "it burns", "b"))
	require.Equal(t, http.StatusTooManyRequests, r.Code)
	require.Equal(t, "7", r.Header().Get("Retry-After"))

	w, _, h = setup(t)
	w.escalating = 10
	r = relay(t, h, path, mailJSON("bob@example.com", "db-page@iris.example", "it burns", "b"))
	require.Equal(t, http.StatusTooManyRequests, r.Code, "the relay keeps the mail and tries again")
	require.Contains(t, r.Body.String(), "Surpassed maximum of 10 active incidents for a given plan")
	require.Empty(t, w.opened)
}

func TestMalformedMails(t *testing.T) {
	t.Parallel()
	_, _, h := setup(t)
	for _, body := range []string{``, `[]`, `{"body":7,"headers":[]}`, `{"body":"","headers":{}}`, `{"headers":[{"name":"From","value":7}]}`, `{"headers":[{"name":7}]}`} {
		r := relay(t, h, "/v0/response/email", body)
		require.Equal(t, http.StatusBadRequest, r.Code, body)
		require.Contains(t, r.Body.String(), wire.InvalidJSON, body)
	}
}

func FuzzMail(f *testing.F) {
	f.Add([]byte(mailJSON("Ann <ann@example.com>", "a@b, c@d", "Re: 27 x", "claim")))
	f.Add([]byte(`{"body":"\u0000\ud800","headers":[{"name":"from","value":["a","b"]},{"name":"to","value":"<>"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := parseMail(raw)
		if err != nil {
			require.Equal(t, fault.Invalid, fault.KindOf(err))
			return
		}
		require.NotEmpty(t, m.from)
		for _, a := range m.to {
			require.NotEmpty(t, a)
		}
		if _, err := parseMailReply(m); err != nil {
			require.Equal(t, fault.Invalid, fault.KindOf(err))
		}
		context, err := mailContext(m)
		if err == nil {
			require.LessOrEqual(t, incidents.JSONSize(context), incidents.MaxContext)
		}
	})
}

func TestMailRepliesAreParsed(t *testing.T) {
	t.Parallel()
	_, err := parseMailReply(received{subject: "Re: " + hex32, body: "claim"})
	require.NoError(t, err)
	r, err := parseMailReply(received{subject: "Re: " + hex32 + " digest", body: "claim"})
	require.NoError(t, err)
	require.Equal(t, messages.Reply{Command: messages.CommandClaim, Batch: hex32}, r)
	_, err = parseMailReply(received{body: "hm"})
	require.Equal(t, "Invalid response: Invalid response: hm", fault.Public(err), fmt.Sprint(err))
}
