package pretend

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// TwilioConfig of the account.
type TwilioConfig struct {
	Addr       string // "" = a free port on 127.0.0.1
	AccountSID string
	AuthToken  string // also signs what is sent back
	// From are the numbers (or messaging services) of the account. Empty = any well-formed one.
	From []string
	// AutoAnswer answers every call at once and fetches its text.
	AutoAnswer bool
	// AutoStatus reports texts as delivered and answered calls as completed, at once.
	AutoStatus bool
	Rate       Rate
}

// TwilioInboundPath is where replies to texts are posted, below the public URL.
const TwilioInboundPath = "/api/v0/twilio/messages/relay"

// Twilio simulates Messages.json and Calls.json, and the person with the phone.
type Twilio struct {
	web
	cfg TwilioConfig

	mu    sync.Mutex
	calls map[string]*phoneCall // by SID
}

// phoneCall is a call as the called person sees it.
type phoneCall struct {
	Entry
	answered bool
	keysURL  string // where a pressed key goes; "" = no key is asked for
	ended    bool
	spoken   []string
}

// NewTwilio returns an account that is not started. log nil = one of its own.
func NewTwilio(cfg TwilioConfig, log *Log) *Twilio {
	s := &Twilio{cfg: cfg, calls: map[string]*phoneCall{}}
	s.web = web{
		conduct: newConduct(cfg.Rate, log), name: TwilioVendor, addr: cfg.Addr, dialect: s, accepted: s.ring,
		rejection: *twilioError(http.StatusBadRequest, 21211, "The number is not valid"),
	}
	return s
}

var (
	e164     = regexp.MustCompile(`^\+[1-9][0-9]{7,14}$`)
	senderID = regexp.MustCompile(`^(\+[1-9][0-9]{7,14}|[0-9]{3,6}|[A-Za-z0-9 ]{1,11}|MG[0-9a-f]{32})$`)
)

// known are the form fields that Iris uses. Others are refused.
var known = map[string][]string{
	"sms": {"To", "From", "MessagingServiceSid", "Body", "StatusCallback"},
	"call": {"To", "From", "Url", "Method", "StatusCallback", "StatusCallbackMethod", "StatusCallbackEvent",
		"MachineDetection",
		"Timeout"},
}

func twilioError(status, code int, text string) *refusal {
	return &refusal{status: status, code: strconv.Itoa(code), text: text}
}

func badForm(code int, text string) *refusal { return twilioError(http.StatusBadRequest, code, text) }

func (s *Twilio) read(r *http.Request, body []byte) (Entry, *refusal) {
	var e Entry
	rest, ok := strings.CutPrefix(r.URL.Path, "/2010-04-01/Accounts/"+s.cfg.AccountSID+"/")
	switch {
	case ok && rest == "Messages.json":
		e.Mode = "sms"
	case ok && rest == "Calls.json":
		e.Mode = "call"
	default:
		return e, twilioError(http.StatusNotFound, 20404, "The requested resource was not found")
	}
	user, password, _ := r.BasicAuth()
	if user != s.cfg.AccountSID || password != s.cfg.AuthToken {
		return e, twilioError(http.StatusUnauthorized, 20003, "Authenticate")
	}
	if r.Method == http.MethodGet { // the list of messages, which is empty here
		e.Mode = "lookup"
		return e, nil
	}
	if r.Method != http.MethodPost {
		return e, twilioError(http.StatusMethodNotAllowed, 20004, "Method not allowed")
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		return e, badForm(20001, "The body is not a form")
	}
	for name, values := range form {
		if !slices.Contains(known[e.Mode], name) || len(values) != 1 {
			return e, badForm(20001, "Unknown or repeated parameter "+name)
		}
	}
	return s.readForm(e, form)
}

func (s *Twilio) readForm(e Entry, form url.Values) (Entry, *refusal) {
	e.From, e.To, e.Body = cmp.Or(form.Get("MessagingServiceSid"), form.Get("From")), form.Get("To"), form.Get("Body")
	e.StatusCallback, e.URL = form.Get("StatusCallback"), form.Get("Url")
	for _, text := range []string{e.URL, e.StatusCallback} {
		if u, err := url.Parse(text); err == nil && text != "" {
			mark(&e, u.Query())
		}
	}
	switch {
	case e.From == "":
		return e, badForm(21603, "A 'From' phone number is required")
	case !senderID.MatchString(e.From) || len(s.cfg.From) > 0 && !slices.Contains(s.cfg.From, e.From):
		return e, badForm(21659, "'From' is not a number of this account")
	case e.To == "":
		return e, badForm(21604, "A 'To' phone number is required")
	case !e164.MatchString(e.To):
		return e, badForm(21211, "The 'To' number "+e.To+" is not a valid phone number")
	case e.StatusCallback != "" && !absolute(e.StatusCallback):
		return e, badForm(21609, "The StatusCallback URL is not a valid URL")
	}
	if e.Mode == "sms" {
		e.VendorID = newSID("SM")
		switch {
		case strings.TrimSpace(e.Body) == "":
			return e, badForm(21602, "Message body is required")
		case utf8.RuneCountInString(e.Body) > 1600:
			return e, badForm(21617, "The concatenated message body exceeds the 1600 character limit")
		}
		return e, nil
	}
	e.VendorID = newSID("CA")
	if !absolute(e.URL) || len(e.URL) > 4000 {
		return e, badForm(21205, "Url is not a valid URL")
	}
	return e, nil
}

// mark reads the message's ids from the URL of a callback.
func mark(e *Entry, q url.Values) {
	number := func(name string, otherwise int64) int64 {
		n, _ := strconv.ParseInt(q.Get(name), 10, 64) // 0 if it is missing
		return cmp.Or(n, otherwise)
	}
	e.MessageID, e.IncidentID = number("message_id", e.MessageID), number("incident_id", e.IncidentID)
	e.Attempt = int(number("attempt", int64(e.Attempt)))
	e.Application = cmp.Or(q.Get("source"), e.Application)
}

func absolute(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

func newSID(prefix string) string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return prefix + hex.EncodeToString(b[:])
}

func (s *Twilio) answer(w http.ResponseWriter, e Entry) {
	if e.Mode == "lookup" {
		writeJSON(w, http.StatusOK, map[string]any{"messages": []any{}})
		return
	}
	writeJSON(w, http.StatusCreated, map[string]any{
		"sid": e.VendorID, "account_sid": s.cfg.AccountSID, "status": "queued", "to": e.To, "from": e.From, "error_code": nil,
		"date_created": time.Now().UTC().Format(time.RFC1123Z),
	})
}

func (s *Twilio) refuse(w http.ResponseWriter, r refusal) {
	code, _ := strconv.Atoi(r.code)
	if r.status == http.StatusTooManyRequests {
		code = 20429
	}
	if r.status >= 500 {
		http.Error(w, "<html>"+r.text+"</html>", r.status)
		return
	}
	writeJSON(w, r.status, map[string]any{
		"code": code, "message": r.text, "status": r.status, "more_info": "https://www.twilio.com/docs/errors/" +
			strconv.Itoa(code),
	})
}
