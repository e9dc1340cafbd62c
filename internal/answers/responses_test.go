package answers

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/dev/testlog"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/incidents/load"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// world is a fake of storage and vendors. Ann was paged by message 27 for incident 300 and by message 28 for incident
// 301. Message 29 was out of band.
type world struct {
	escalating int64 // incidents of the mailbox's plan
	owners     map[incidents.ID]string
	meanwhile  []incidents.ID // kim acknowledges them just before the next Acknowledge
	via        []incidents.Via
	recorded   []messages.Answer
	receipts   []messages.Receipt
	woken      buckets.Set
	replies    []string // in Slack
	asked      map[messages.ID]messages.AnsweredMessage
	slackRuns  messages.ID // the message whose call to Slack runs until the next query ends
	known      bool        // the messages of receipts exist
	sent       []messages.Notification
	opened     []incidents.New
	noText     bool // the plan's templates have no text for the application
	wait       time.Duration
}

var (
	ann = users.User{ID: 5, Name: "ann", Active: true}
	vic = users.User{ID: 6, Name: "vic", Active: true, ReadOnly: true}
	eve = users.User{ID: 7, Name: "eve"} // switched off
	kim = users.User{ID: 8, Name: "kim", Active: true}
)

func (w *world) Asked(_ context.Context, id messages.ID) (messages.AnsweredMessage, error) {
	if m, ok := w.asked[id]; ok {
		return m, nil
	}
	return messages.AnsweredMessage{}, fault.New(fault.NotFound, "no such message")
}

// SlackMessages: Slack calls message 27 "27.1", and so on.
func (w *world) SlackMessages(_ context.Context, ts string, _ messages.ID) ([]messages.ID, error) {
	defer w.recordSlackAnswer()
	for id := range w.asked {
		if id == w.slackRuns {
			continue
		}
		if ts == fmt.Sprintf("%d.1", id) {
			return []messages.ID{id}, nil
		}
	}
	return nil, nil
}

func (w *world) SlackUnknown(_ context.Context, id messages.ID) (bool, error) {
	defer w.recordSlackAnswer()
	return id == 29 || id == w.slackRuns, nil
}

// recordSlackAnswer records Slack's answer to the call that runs.
func (w *world) recordSlackAnswer() { w.slackRuns = 0 }

// counted returns the numbers of existing incidents.
type counted func() (active, recent int64)

func (c counted) Recent(context.Context, int64, string, int64, time.Duration, int) (active, recent int64, err error) {
	active, recent = c()
	return active, recent, nil
}

// digest is the number of a digest of the incidents 300 and 301.
var digest = strings.Repeat("ab", 16)

func (w *world) AskedBatch(ctx context.Context, batch string) (messages.AnsweredMessage, error) {
	if batch == digest {
		return w.Asked(ctx, 30)
	}
	return messages.AnsweredMessage{}, fault.New(fault.NotFound, "no such digest")
}

func (w *world) Newest(ctx context.Context, _ users.ID) (messages.AnsweredMessage, bool, error) {
	m, err := w.Asked(ctx, 28)
	return m, w.owners[301] == "", err
}

func (w *world) Active(context.Context, users.ID) ([]messages.AnsweredMessage, error) {
	var out []messages.AnsweredMessage
	for _, id := range []messages.ID{27, 28} {
		if m := w.asked[id]; w.owners[m.IncidentID] == "" {
			out = append(out, m)
		}
	}
	return out, nil
}

func (w *world) Batch(_ context.Context, batch string) ([]incidents.ID, error) {
	if batch == digest {
		return []incidents.ID{300, 301}, nil
	}
	return nil, nil
}

func (w *world) Waiting(_ context.Context, ids []incidents.ID) ([]incidents.ID, error) {
	var out []incidents.ID
	for _, id := range ids {
		if w.owners[id] == "" {
			out = append(out, id)
		}
	}
	return out, nil
}

func (w *world) ByContact(_ context.Context, mode users.Mode, source string) (users.User, error) {
	if (mode == users.Slack && source == "ann") || source == "+12234567890" || source == "ann@example.com" {
		return ann, nil
	}
	if mode == users.Slack && source == "Kim@example.com" {
		return kim, nil
	}
	if (mode == users.Slack && source == "vic") || source == "+16" || source == "vic@example.com" {
		return vic, nil
	}
	return users.User{}, fault.New(fault.NotFound, "nobody")
}

// ByMessage returns kim, who got message 28 at an unverified number and address. It finds no other message.
func (w *world) ByMessage(_ context.Context, id messages.ID, mode users.Mode, source string) (users.User, error) {
	if id == 28 && (source == "+15550009999" && (mode == users.SMS || mode == users.Call) || source == "kim.new@example.com" && mode == users.Email) {
		return kim, nil
	}
	return users.User{}, fault.New(fault.NotFound, "nobody")
}

func (w *world) Record(_ context.Context, a messages.Answer) error {
	w.recorded = append(w.recorded, a)
	return nil
}

func (w *world) Get(_ context.Context, id incidents.ID) (incidents.Incident, error) {
	return incidents.Incident{ID: id, Application: "db", Plan: "db-plan", Active: w.owners[id] == "",
		Owner: w.owners[id]}, nil
}

func (w *world) Acknowledge(_ context.Context, c incidents.Change, owner users.User) ([]incidents.Acknowledged, error) {
	for _, id := range w.meanwhile {
		w.owners[id] = kim.Name
	}
	var out []incidents.Acknowledged
	for _, id := range c.IDs {
		if c.AskFirst && w.owners[id] == kim.Name && c.Replace != kim.ID {
			out = append(out, incidents.Acknowledged{ID: id, Found: true, PreviousOwner: kim.Name, OwnedBy: kim.ID,
				Application: "db"})
			continue
		}
		out = append(out, incidents.Acknowledged{ID: id, Found: true, PreviousOwner: w.owners[id], Application: "db"})
		w.owners[id] = owner.Name
	}
	w.via = append(w.via, c.Via)
	return out, nil
}

func (w *world) ByID(_ context.Context, id users.ID) (users.User, error) {
	for _, u := range []users.User{ann, vic, eve, kim} {
		if u.ID == id {
			return u, nil
		}
	}
	return users.User{}, fault.New(fault.NotFound, "nobody")
}

func (w *world) Apply(_ context.Context, r messages.Receipt) (bool, error) {
	w.receipts = append(w.receipts, r)
	return w.known, nil
}

// ByName finds the applications of the tests: relay signs the requests of relays.
func (w *world) ByName(_ context.Context, name string) (auth.Application, error) {
	id, ok := map[string]int64{"iris": 2, "iris-relay": 70, "db": 71, "web": 72}[name]
	if !ok {
		return auth.Application{}, fault.New(fault.NotFound, "no such application")
	}
	return auth.Application{ID: id, Name: name, Keys: []string{"key"}, AllowAuthenticatingUsers: name != "web",
		Relay: name == "iris-relay"}, nil
}

func (w *world) Mailbox(_ context.Context, addresses []string) (messages.Mailbox, bool, error) {
	for _, a := range addresses {
		if box, ok := map[string]string{"db-page@iris.example": "db-plan", "old@iris.example": "old-plan", "dyn@iris.example": "dyn-plan"}[a]; ok {
			return messages.Mailbox{Address: a, Application: "db", Plan: box}, true, nil
		}
	}
	return messages.Mailbox{}, false, nil
}

func (w *world) Recent(_ context.Context, name string) (p escalation.PlanSteps, err error) {
	switch name {
	case "dyn-plan":
		p.Steps = []escalation.Step{{Notifications: []escalation.Notification{{DynamicIndex: new(int)}}}}
	case "db-plan":
	default:
		return p, fault.New(fault.NotFound, "no such plan")
	}
	p.ID = 3
	return p, nil
}

func (w *world) HasText(context.Context, escalation.PlanID, int64) (bool, error) {
	return !w.noText, nil
}

func (w *world) Overloaded(context.Context, auth.Application) (time.Duration, error) {
	return w.wait, nil
}

func (w *world) Accepted(int64, int) {}

func (w *world) Open(_ context.Context, n incidents.New) (incidents.Opened, error) {
	w.opened = append(w.opened, n)
	return incidents.Opened{ID: 400, Bucket: 400 % buckets.Count}, nil
}

func (w *world) Create(_ context.Context, n messages.Notification) (int64, error) {
	w.sent = append(w.sent, n)
	return 1, nil
}

// callers finds the applications that sign requests.
type callers struct{}

func (callers) ByID(_ context.Context, _ users.ID) (users.User, error) {
	return users.User{}, fault.New(fault.NotFound, "nobody")
}

func (callers) ByName(_ context.Context, name string) (users.User, error) {
	for _, u := range []users.User{ann, vic, kim} {
		if name == u.Name {
			return u, nil
		}
	}
	return users.User{}, fault.New(fault.NotFound, "nobody")
}

const oneClickKey = "a key of Gmail's button"

func setup(t *testing.T) (*world, *auth.Links, http.Handler) {
	t.Helper()
	return setupWith(t, nil)
}

// setupOpen is a server with compatibility.disable_auth.
func setupOpen(t *testing.T) (*world, http.Handler) {
	t.Helper()
	w, _, h := setupWith(t, func(d *Deps) {
		d.Authenticator, d.Answers.Openings = d.Authenticator.WithoutVerification(), auth.Openings{NoCredentials: true}
	})
	return w, h
}

func setupWith(t *testing.T, change func(*Deps)) (*world, *auth.Links, http.Handler) {
	t.Helper()
	keys, err := auth.NewKeys([]byte(strings.Repeat("k", 32)))
	require.NoError(t, err)
	w := &world{owners: map[incidents.ID]string{}, asked: map[messages.ID]messages.AnsweredMessage{
		27: {MessageID: 27, IncidentID: 300, Application: "db", ApplicationID: 71, Body: "disk full & <hot>"},
		28: {MessageID: 28, IncidentID: 301, Application: "web", Body: "slow"},
		29: {MessageID: 29, Application: "db", Subject: "hello"},
		30: {MessageID: 30, Batch: digest, Application: "db", ApplicationID: 71, Subject: "[db] 2 messages"},
	}}
	log := testlog.New(t, zap.DebugLevel)
	errs := wire.NewErrors(log)
	oneClick, err := auth.NewOneClick(oneClickKey, "https://iris.example/api/v0/gmail-oneclick/relay")
	require.NoError(t, err)
	counts := counted(func() (int64, int64) { return w.escalating, 0 })
	d := Deps{
		Answers: AnswerDeps{Store: w, Incidents: w,
			Wake: func(_ context.Context, b buckets.Set) { w.woken.Union(b) }},
		Links: LinkDeps{People: w, Links: keys.Links(), Asset: func(name string) string {
			return "/static/" +
				name
		}},
		Mail: MailDeps{Opener: w, Applications: w, Plans: w, Load: w,
			Rates:         load.NewRates(counts, 10, 10, time.Minute, nil),
			Notifications: w},
		OneClick: oneClick, Authenticator: wire.NewAuthenticator(w, callers{}, nil, "user",
			errs), Errors: errs, Log: log,
	}
	d.Twilio = TwilioDeps{PublicURL: "https://iris.example/", Receipts: w,
		Valid: func(full string, form url.Values, h http.Header) bool {
			return h.Get("X-Twilio-Signature") == "good" && strings.HasPrefix(full,
				"https://iris.example/api/v0/twilio/") && form != nil
		},
		Receipt: func(f url.Values) (messages.Receipt, bool) {
			return messages.Receipt{VendorMessageID: f.Get("MessageSid"),
				Status: f.Get("MessageStatus")}, f.Has("MessageSid")
		},
	}
	d.Slack = SlackDeps{
		Pressed: func(h http.Header, body []byte, _ time.Time) (Pressed, error) {
			if h.Get("X-Slack-Signature") != "good" {
				return Pressed{}, fault.New(fault.Unauthenticated, "wrong signature")
			}
			name, id, message := "ann", "", messages.ID(27)
			switch string(body) {
			case "by=U0KIM0001", "by=U0HID0001", "by=U0AWAY001":
				name, id = "k.i.m", strings.TrimPrefix(string(body), "by=")
			case "as-ann=U0KIM0001":
				id = "U0KIM0001"
			case "by=vic":
				name = "vic"
			case "gone=1":
				message = 77
			}
			ts := fmt.Sprintf("%d.1", message)
			if value, carrier, ok := strings.Cut(strings.TrimPrefix(string(body), "press="), "+"); ok {
				n, err := strconv.ParseInt(value, 10, 64)
				require.NoError(t, err)
				message, ts = messages.ID(n), carrier
			}
			return Pressed{MessageID: message, Timestamp: ts, Acts: true, All: string(body) == "all", UserID: id,
				UserName: name, ResponseURL: "https://slack.example/r"}, nil
		},
		Reply: func(_ context.Context, _, text string) error {
			w.replies = append(w.replies, text)
			return nil
		},
		Email: func(_ context.Context, userID string) (string, error) {
			switch userID {
			case "U0KIM0001":
				return "Kim@example.com", nil
			case "U0AWAY001":
				return "", fault.New(fault.Unavailable, "ask Slack for a user")
			}
			return "", nil
		},
	}
	if change != nil {
		change(&d)
	}
	s, err := New(d)
	require.NoError(t, err)
	r := chi.NewRouter()
	s.Routes(r)
	return w, keys.Links(), r
}

func call(t *testing.T, h http.Handler, method, path string, form url.Values, header ...string) (int, string) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	body, err := io.ReadAll(rec.Body)
	require.NoError(t, err)
	return rec.Code, string(body)
}

func TestLinkShowsFirstAndActsOnPost(t *testing.T) {
	t.Parallel()
	w, links, h := setup(t)
	path := "/ack/" + links.Sign(auth.Link{Purpose: auth.Acknowledge, IncidentID: 300, MessageID: 27, UserID: ann.ID,
		ExpiresAt: time.Now().Add(time.Hour)})
	status, body := call(t, h, http.MethodGet, path, nil)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "You acknowledge it as ann")
	require.Contains(t, body, `<h1 dir="auto">db-plan from db</h1>`)
	require.Contains(t, body, `href="/incidents/300"`)
	require.Contains(t, body, `<form method="post">`)
	require.Empty(t, w.owners, "looking changes nothing")

	status, body = call(t, h, http.MethodPost, path, nil)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "Acknowledged by ann")
	require.Equal(t, "ann", w.owners[300])
	require.Equal(t, []incidents.Via{incidents.ViaLink}, w.via)
	require.True(t, w.woken.Has(300%256))
	require.Len(t, w.recorded, 1)

	_, body = call(t, h, http.MethodGet, path, nil)
	require.NotContains(t, body, "<form", "nothing left to press")
}

func TestLinkAsksBeforeItTakesOver(t *testing.T) {
	t.Parallel()
	w, links, h := setup(t)
	path := "/ack/" + links.Sign(auth.Link{Purpose: auth.Acknowledge, IncidentID: 300, MessageID: 27, UserID: ann.ID,
		ExpiresAt: time.Now().Add(time.Hour)})
	w.owners[300] = kim.Name // after ann opened the link
	status, body := call(t, h, http.MethodPost, path, nil)
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, body, kim.Name+" has acknowledged this incident")
	require.Equal(t, kim.Name, w.owners[300])

	replace := url.Values{"replace": {strconv.FormatInt(int64(kim.ID), 10)}}
	require.Contains(t, body, `name="replace" value="`+replace.Get("replace")+`"`)
	status, body = call(t, h, http.MethodPost, path, replace)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "Acknowledged by ann")
	require.Equal(t, ann.Name, w.owners[300])
}

// The link of a digest acknowledges all its incidents. It may be followed several times.
func TestLinkOfADigest(t *testing.T) {
	t.Parallel()
	w, links, h := setup(t)
	link := auth.Link{Purpose: auth.Acknowledge, MessageID: 30, UserID: ann.ID, ExpiresAt: time.Now().Add(time.Hour)}
	path := "/ack/" + links.Sign(link)
	status, body := call(t, h, http.MethodGet, path, nil)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "Acknowledge 2 incidents?")
	require.Contains(t, body, "You acknowledge as ann")
	require.Contains(t, body, "Incident #300")
	require.Contains(t, body, "Incident #301")
	require.Contains(t, body, `<form method="post">`)
	require.Empty(t, w.owners, "looking changes nothing")

	w.owners[301] = "kim"
	_, body = call(t, h, http.MethodGet, path, nil)
	require.Contains(t, body, "Acknowledge 1 incident?")
	require.Contains(t, body, "(acknowledged by kim)")
	status, body = call(t, h, http.MethodPost, path, nil)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "1 incident acknowledged by ann")
	require.Equal(t, map[incidents.ID]string{300: "ann", 301: "kim"}, w.owners, "what somebody has stays theirs")
	require.Equal(t, []incidents.Via{incidents.ViaLink}, w.via)
	require.True(t, w.woken.Has(300%256))
	require.Len(t, w.recorded, 1)
	require.Equal(t, messages.ID(30), w.recorded[0].MessageID)

	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodHead} {
		status, body = call(t, h, method, path, nil)
		require.Equal(t, http.StatusOK, status)
		require.Contains(t, body, "Nothing left to acknowledge")
		require.NotContains(t, body, "<form")
	}
	require.Len(t, w.via, 1, "a second time changes nothing")
	require.Len(t, w.recorded, 1)
}

// While the page acknowledges, another person acknowledges an incident of the digest: the page names only what it
// acknowledged.
func TestLinkOfADigestCountsOnlyWhatItAcknowledged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		taken   []incidents.ID
		heading string
		answers int
	}{
		"one of two": {[]incidents.ID{301}, "1 incident acknowledged by ann", 1},
		"both":       {[]incidents.ID{300, 301}, "Nothing left to acknowledge", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, links, h := setup(t)
			w.meanwhile = c.taken
			path := "/ack/" + links.Sign(auth.Link{Purpose: auth.Acknowledge, MessageID: 30, UserID: ann.ID,
				ExpiresAt: time.Now().Add(time.Hour)})
			status, body := call(t, h, http.MethodPost, path, nil)
			require.Equal(t, http.StatusOK, status)
			require.Contains(t, body, c.heading)
			require.Contains(t, body, "(acknowledged by kim)")
			require.Equal(t, "kim", w.owners[301])
			require.Len(t, w.recorded, c.answers)
		})
	}
}

func TestLinkOfADigestChecksThePerson(t *testing.T) {
	t.Parallel()
	w, links, h := setup(t)
	good := auth.Link{Purpose: auth.Acknowledge, MessageID: 30, UserID: ann.ID, ExpiresAt: time.Now().Add(time.Hour)}
	expired, gone, reader, other, page := good, good, good, good, good
	expired.ExpiresAt = time.Now().Add(-time.Minute)
	gone.UserID = eve.ID
	reader.UserID = vic.ID
	other.MessageID = 99
	page.MessageID = 27
	for name, c := range map[string]struct {
		link   auth.Link
		status int
		says   string
	}{
		"expired":                        {expired, 400, "This link has expired."},
		"for somebody who is gone":       {gone, 403, "no longer active"},
		"for somebody who may only read": {reader, 403, "may only read"},
		"of no message":                  {other, 404, "does not exist any more"},
		"of a message that is no digest": {page, 404, "does not exist any more"},
	} {
		status, body := call(t, h, http.MethodPost, "/ack/"+links.Sign(c.link), nil)
		require.Equal(t, c.status, status, name)
		require.Contains(t, body, c.says, name)
		require.Empty(t, w.owners, name)
	}
	_, body := call(t, h, http.MethodGet, "/ack/"+links.Sign(reader), nil)
	require.Contains(t, body, "Nobody has acknowledged 2 incidents")
	require.NotContains(t, body, "<form")
}

func TestBadLinks(t *testing.T) {
	t.Parallel()
	w, links, h := setup(t)
	good := auth.Link{Purpose: auth.Acknowledge, IncidentID: 300, MessageID: 27, UserID: ann.ID,
		ExpiresAt: time.Now().Add(time.Hour)}
	expired, stranger, other := good, good, good
	expired.ExpiresAt = time.Now().Add(-time.Minute)
	stranger.UserID = 99
	other.Purpose = auth.Voice
	altered := []byte(links.Sign(good))
	altered[4] ^= 1
	for name, c := range map[string]struct {
		token  string
		status int
		says   string
	}{
		"expired":       {links.Sign(expired), 400, "This link has expired.</p>"},
		"altered":       {string(altered), 400, "This link is not valid.</p>"},
		"other purpose": {links.Sign(other), 400, "This link is not valid.</p>"},
		"nonsense":      {"nonsense", 400, "This link is not valid.</p>"},
		"stranger":      {links.Sign(stranger), 404, "does not exist any more"},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			status, body := call(t, h, method, "/ack/"+c.token, nil)
			require.Equal(t, c.status, status, name)
			require.Contains(t, body, c.says, name)
		}
	}
	require.Empty(t, w.owners)
}

func TestSMSReplies(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"27 claim":   "Iris incident(300) acknowledged.",
		"claim last": "Iris incident(301) acknowledged.",
		"l":          "Iris incident(301) acknowledged.",
		"a":          "db: Iris Incidents acknowledged (1): 300\nweb: Iris Incidents acknowledged (1): 301",
		"29 claim":   "Failed to match incident for message(29).",
		"30 claim":   "All iris incidents acknowledged for batch id " + digest + ".",
		"77 claim":   "Invalid message(77): no application found.",
		"27 what":    "Unknown command.",
		"fine":       "Sincerest apologies",
		"help":       textHelp,
	} {
		w, _, h := setup(t)
		status, body := call(t, h, http.MethodPost, "/api/v0/twilio/messages/relay",
			url.Values{"Body": {text}, "From": {"+12234567890"}}, "X-Twilio-Signature", "good")
		require.Equal(t, http.StatusOK, status, text)
		require.Contains(t, strings.ReplaceAll(body, "&#xA;", "\n"), "<Response><Message>"+want+
			"</Message></Response>", text)
		require.Len(t, w.recorded, 1, text)
	}
	_, _, h := setup(t)
	_, body := call(t, h, http.MethodPost, "/api/v0/twilio/messages/relay",
		url.Values{"Body": {"27 claim"}, "From": {"+1999"}}, "X-Twilio-Signature", "good")
	require.Contains(t, body, textUnknownSource)
}

func TestUnsignedVendorsAreRefused(t *testing.T) {
	t.Parallel()
	w, _, h := setup(t)
	for _, path := range []string{"twilio/messages/relay", "twilio/calls/gather?message_id=27", "twilio/calls/say?message_id=27", "twilio/calls/relay?message_id=27", "twilio/status"} {
		status, _ := call(t, h, http.MethodPost, "/api/v0/"+path,
			url.Values{"Body": {"27 claim"}, "From": {"+12234567890"}, "Digits": {"2"}, "To": {"+12234567890"},
				"MessageSid": {"SM1"}})
		require.Equal(t, http.StatusForbidden, status, path)
	}
	status, _ := call(t, h, http.MethodPost, "/api/v0/slack/messages/relay", nil)
	require.Equal(t, http.StatusUnauthorized, status)
	require.Empty(t, w.owners)
	require.Empty(t, w.receipts)
}

func TestCallIsReadAndAcknowledgedByKey(t *testing.T) {
	t.Parallel()
	w, _, h := setup(t)
	sig := []string{"X-Twilio-Signature", "good"}
	status, body := call(t, h, http.MethodPost, "/api/v0/twilio/calls/gather?message_id=27",
		url.Values{"To": {"+12234567890"}}, sig...)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "disk full &amp; &lt;hot&gt;")
	require.Equal(t, 3, strings.Count(body, "Press 2 to acknowledge."))
	require.Equal(t, 3, strings.Count(body, "Press pound for menu."))
	_, short := call(t, h, http.MethodPost, "/api/v0/twilio/calls/gather?message_id=27&loop=1&instruction=Press+2",
		url.Values{"To": {"+12234567890"}}, sig...)
	require.Equal(t, 1, strings.Count(short, "<Say>Press 2</Say>"))
	_, spoken := call(t, h, http.MethodGet, "/api/v0/twilio/calls/say?message_id=27&loop=99", nil, sig...)
	require.Equal(t, 10, strings.Count(spoken, "disk full"))
	require.Contains(t, body, `action="https://iris.example/api/v0/twilio/calls/relay?message_id=27"`)
	for _, by := range []string{"machine_start", "fax"} {
		_, body = call(t, h, http.MethodPost, "/api/v0/twilio/calls/gather?message_id=27",
			url.Values{"AnsweredBy": {by}}, sig...)
		require.NotContains(t, body, "Gather", "a machine gets no menu")
	}

	_, body = call(t, h, http.MethodPost, "/api/v0/twilio/calls/relay?message_id=27",
		url.Values{"Digits": {"5"}, "To": {"+12234567890"}}, sig...)
	require.Contains(t, body, "Got unknown option from user: 5")
	require.Empty(t, w.owners)
	_, body = call(t, h, http.MethodPost, "/api/v0/twilio/calls/relay?message_id=27",
		url.Values{"Digits": {"2"}, "To": {"+12234567890"}}, sig...)
	require.Equal(t, 2, strings.Count(body, "Iris incident(300) acknowledged."), "said twice")
	require.Equal(t, "ann", w.owners[300])
	require.Equal(t, []incidents.Via{incidents.ViaCall}, w.via)
	_, body = call(t, h, http.MethodPost, "/api/v0/twilio/calls/relay", url.Values{"Digits": {"2"}}, sig...)
	require.Contains(t, body, "Thank you")
	status, _ = call(t, h, http.MethodPost, "/api/v0/twilio/calls/gather?message_id=x", nil, sig...)
	require.Equal(t, http.StatusBadRequest, status)
}

// A digest may be named by its own number, or by the number of its message.
func TestCallAboutADigestIsAcknowledgedByKey(t *testing.T) {
	t.Parallel()
	sig := []string{"X-Twilio-Signature", "good"}
	for _, id := range []string{"30", digest, strings.ToUpper(digest), "abababab-abab-abab-abab-abababababab"} {
		w, _, h := setup(t)
		_, body := call(t, h, http.MethodPost, "/api/v0/twilio/calls/gather?message_id="+id,
			url.Values{"To": {"+12234567890"}}, sig...)
		require.Contains(t, body, `action="https://iris.example/api/v0/twilio/calls/relay?message_id=`+id+`"`)
		require.Contains(t, body, "[db] 2 messages")
		_, body = call(t, h, http.MethodGet, "/api/v0/twilio/calls/say?message_id="+id, nil, sig...)
		require.Contains(t, body, "[db] 2 messages")
		_, body = call(t, h, http.MethodPost, "/api/v0/twilio/calls/relay?message_id="+id,
			url.Values{"Digits": {"2"}, "To": {"+12234567890"}}, sig...)
		require.Contains(t, body, "All iris incidents acknowledged for batch id "+digest+".")
		require.Equal(t, map[incidents.ID]string{300: "ann", 301: "ann"}, w.owners, id)
	}
	_, _, h := setup(t)
	for id, want := range map[string]int{"0": 400, "-1": 400, "abc": 400, "abababab-abab": 400, digest + "ab": 400, strings.Repeat("cd", 16): 404} {
		for _, route := range []string{"gather", "say"} {
			status, _ := call(t, h, http.MethodPost, "/api/v0/twilio/calls/"+route+"?message_id="+id, nil, sig...)
			require.Equal(t, want, status, "%s %s", route, id)
		}
	}
	status, _ := call(t, h, http.MethodPost, "/api/v0/twilio/calls/relay?message_id=abc",
		url.Values{"Digits": {"2"}, "To": {"+12234567890"}}, sig...)
	require.Equal(t, http.StatusBadRequest, status)
}

func TestStatusCallback(t *testing.T) {
	t.Parallel()
	w, _, h := setup(t)
	status, _ := call(t, h, http.MethodPost, "/api/v0/twilio/status",
		url.Values{"MessageSid": {"SM1"}, "MessageStatus": {"delivered"}}, "X-Twilio-Signature", "good")
	require.Equal(t, http.StatusNoContent, status)
	require.Equal(t, []messages.Receipt{{VendorMessageID: "SM1", Status: "delivered"}}, w.receipts)
	status, _ = call(t, h, http.MethodPost, "/api/v0/twilio/status", url.Values{"x": {"y"}}, "X-Twilio-Signature",
		"good")
	require.Equal(t, http.StatusBadRequest, status)
}

func TestSlackButtons(t *testing.T) {
	t.Parallel()
	w, _, h := setup(t)
	status, body := call(t, h, http.MethodPost, "/api/v0/slack/messages/relay", nil, "X-Slack-Signature", "good")
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"text":"Iris incident(300) claimed.","replace_original":false}`, body)
	require.Equal(t, []string{"Iris incident(300) claimed."}, w.replies)
	require.Equal(t, []incidents.Via{incidents.ViaSlack}, w.via)
	require.Equal(t, "ann", w.owners[300])
}

func TestSlackButtonMustBelongToItsMessage(t *testing.T) {
	t.Parallel()
	w, _, h := setup(t)
	press := func(value, carrier string) string {
		_, body := call(t, h, http.MethodPost, "/api/v0/slack/messages/relay",
			url.Values{"press": {value + " " + carrier}}, "X-Slack-Signature", "good")
		return body
	}
	for _, carrier := range []string{"28.1", "99.9", ""} {
		require.Contains(t, press("27", carrier), "does not belong to the message that it names", carrier)
	}
	require.Empty(t, w.owners)
	require.Contains(t, press("29", "99.9"), "Failed to match incident for message(29).",
		"its time stamp is not known: the call is in doubt")
	require.Contains(t, press("27", "27.1"), "Iris incident(300) claimed.")
}

// A person may press while Iris records Slack's answer: the call runs for the first query and has a time stamp for the
// second.
func TestSlackButtonWhileTheAnswerIsRecorded(t *testing.T) {
	t.Parallel()
	w, _, h := setup(t)
	w.slackRuns = 27
	_, body := call(t, h, http.MethodPost, "/api/v0/slack/messages/relay", url.Values{"press": {"27 27.1"}},
		"X-Slack-Signature", "good")
	require.Contains(t, body, "Iris incident(300) claimed.")
}

// A contact may be the e-mail address that somebody has in Slack.
func TestSlackButtonOfAMemberFoundByAddress(t *testing.T) {
	t.Parallel()
	w, _, h := setup(t)
	for _, unknown := range []string{"U0HID0001", "U0AWAY001"} {
		status, body := call(t, h, http.MethodPost, "/api/v0/slack/messages/relay", url.Values{"by": {unknown}},
			"X-Slack-Signature", "good")
		require.Equal(t, http.StatusOK, status)
		require.Contains(t, body, textUnknownSource)
		require.Empty(t, w.owners)
	}
	_, body := call(t, h, http.MethodPost, "/api/v0/slack/messages/relay", url.Values{"by": {"U0KIM0001"}},
		"X-Slack-Signature", "good")
	require.Contains(t, body, "Iris incident(300) claimed.")
	require.Equal(t, "kim", w.owners[300])
}

// The name in the payload is tried last, because members of Slack choose it themselves.
func TestSlackNameIsTriedLast(t *testing.T) {
	t.Parallel()
	w, _, h := setup(t)
	_, body := call(t, h, http.MethodPost, "/api/v0/slack/messages/relay", url.Values{"as-ann": {"U0KIM0001"}},
		"X-Slack-Signature", "good")
	require.Contains(t, body, "Iris incident(300) claimed.")
	require.Equal(t, "kim", w.owners[300], "kim calls herself ann in Slack")
}

// A reply that names a message is from the message's recipient if it comes from the message's destination, even if that
// contact is not verified. Without the number, or from another address, an unverified contact identifies nobody.
func TestRepliesThatNameAMessage(t *testing.T) {
	t.Parallel()
	const path, number = "/v0/response/twilio/messages", "+15550009999"
	w, _, h := setup(t)
	require.JSONEq(t, appResponse(textUnknownSource), relay(t, h, path, sms(number, "claim all")).Body.String())
	require.JSONEq(t, appResponse(textUnknownSource), relay(t, h, path, sms(number, "27 claim")).Body.String(),
		"that message went elsewhere")
	require.JSONEq(t, appResponse(textUnknownSource), relay(t, h, path, sms("+15550008888", "28 claim")).Body.String())
	require.Empty(t, w.owners)
	require.JSONEq(t, appResponse("Iris incident(301) claimed."),
		relay(t, h, path, sms(number, "28 claim")).Body.String())
	require.Equal(t, "kim", w.owners[301])

	w, _, h = setup(t)
	require.Equal(t, http.StatusBadRequest, relay(t, h, "/v0/response/email",
		mailJSON("kim.new@example.com", "x@example.com", "Re: 27 x", "claim")).Code)
	require.Empty(t, w.owners)
	require.Equal(t, http.StatusNoContent, relay(t, h, "/v0/response/email",
		mailJSON("kim.new@example.com", "x@example.com", "Re: 28 x", "claim")).Code)
	require.Equal(t, "kim", w.owners[301])
}

func TestReadOnlyPeopleCannotAcknowledge(t *testing.T) {
	t.Parallel()
	w, links, h := setup(t)
	const says = "vic may only read, and cannot acknowledge"
	path := "/ack/" + links.Sign(auth.Link{Purpose: auth.Acknowledge, IncidentID: 300, UserID: vic.ID,
		ExpiresAt: time.Now().Add(time.Hour)})
	status, body := call(t, h, http.MethodGet, path, nil)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, says)
	require.NotContains(t, body, "<form")
	status, body = call(t, h, http.MethodPost, path, nil)
	require.Equal(t, http.StatusForbidden, status)
	require.Contains(t, body, strings.ToUpper(says[:1])+says[1:])
	_, body = call(t, h, http.MethodPost, "/api/v0/twilio/messages/relay",
		url.Values{"Body": {"27 claim"}, "From": {"+16"}}, "X-Twilio-Signature", "good")
	require.Contains(t, body, "<Message>"+says+"</Message>")
	_, body = call(t, h, http.MethodPost, "/api/v0/twilio/calls/relay?message_id=27",
		url.Values{"Digits": {"2"}, "To": {"+16"}}, "X-Twilio-Signature", "good")
	require.Contains(t, body, "<Say>"+says+"</Say>")
	_, body = call(t, h, http.MethodPost, "/api/v0/slack/messages/relay", url.Values{"by": {"vic"}},
		"X-Slack-Signature", "good")
	require.JSONEq(t, `{"text":"`+says+`","replace_original":false}`, body)
	require.Empty(t, w.owners)
	require.Len(t, w.recorded, 3, "tries are recorded")
}

func TestLinksThatCannotBeUsedSayWhatToDo(t *testing.T) {
	t.Parallel()
	w, links, h := setup(t)
	link := auth.Link{Purpose: auth.Acknowledge, IncidentID: 300, UserID: ann.ID,
		ExpiresAt: time.Now().Add(-time.Minute)}
	_, body := call(t, h, http.MethodGet, "/ack/"+links.Sign(link), nil)
	require.Contains(t, body, `href="/incidents/300"`, "those who can log in go on there")
	link.UserID, link.ExpiresAt = eve.ID, time.Now().Add(time.Hour)
	status, body := call(t, h, http.MethodPost, "/ack/"+links.Sign(link), nil)
	require.Equal(t, http.StatusForbidden, status)
	require.Contains(t, body, "is no longer active in Iris.</p>")
	_, body = call(t, h, http.MethodGet, "/ack/nonsense", nil)
	require.NotContains(t, body, "/incidents/")
	status, _ = call(t, h, http.MethodHead, "/ack/nonsense", nil)
	require.Equal(t, http.StatusBadRequest, status)
	link.UserID = ann.ID
	status, _ = call(t, h, http.MethodHead, "/ack/"+links.Sign(link), nil)
	require.Equal(t, http.StatusOK, status)
	require.Empty(t, w.owners)
}

func TestAnswersToUnknownMessagesAreExplained(t *testing.T) {
	t.Parallel()
	w, _, h := setup(t)
	status, body := call(t, h, http.MethodPost, "/api/v0/slack/messages/relay", url.Values{"gone": {"1"}},
		"X-Slack-Signature", "good")
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"text":"This button does not belong to the message that it names.","replace_original":false}`,
		body)
	require.Empty(t, w.owners)
}

func TestSentencesBeginWithAWholeLetter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "no such incident": "No such incident.", "øystein may only read.": "Øystein may only read."} {
		require.Equal(t, want, sentence(text))
	}
}
