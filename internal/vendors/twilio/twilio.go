package twilio

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors"
)

// Paths of the callbacks below the public URL, as existing relays serve them.
const (
	GatherPath = "/api/v0/twilio/calls/gather" // text of a call that can be acknowledged
	SayPath    = "/api/v0/twilio/calls/say"    // text of a call that cannot
	StatusPath = "/api/v0/twilio/status"       // status of a text or call
)

// MaxSMS is the longest text that is sent, in characters.
const MaxSMS = 1600

// Config of the account.
type Config struct {
	// Account distinguishes accounts of one kind. "" = "main".
	Account string
	// AccountSID and AuthToken are the log-in. KeySID and KeySecret, if set, are an API key used in place of the token.
	AccountSID, AuthToken string
	KeySID, KeySecret     string
	// From is the sender: a number in international form, a sender name, or MG... for a messaging service (texts only).
	From string
	// CallFrom is the number that calls; "" = From.
	CallFrom string
	// ApplicationFrom are the sender numbers of some applications, by the application's name.
	ApplicationFrom map[string]string
	// APIURL is the base address. "" = https://api.twilio.com.
	APIURL string
	// PublicURL is the address under which Twilio reaches our callbacks. "" = no status callbacks, and no calls.
	PublicURL string
	// DetectMachines asks Twilio to detect answering machines, so that a machine gets no menu.
	DetectMachines bool
	// Modes to carry. Empty = SMS, and Call if PublicURL is set.
	Modes []users.Mode
	// MaxConns is how many connections may be open at once for each mode. 0 = 16.
	MaxConns int
	// Timeout bounds a call of the API, besides the caller's deadline. 0 = 10 s.
	Timeout time.Duration
}

// Vendor sends texts and calls. Safe for concurrent use.
type Vendor struct {
	vendors.Identity
	cfg    Config
	base   string // up to and including the account
	client *vendors.Client
}

// New checks cfg and returns a vendor; it opens no connection.
func New(cfg Config) (*Vendor, error) {
	cfg = cfg.withDefaults()
	id := vendors.NewIdentity("twilio", cfg.Account, vendors.Connections(cfg.MaxConns), cfg.Modes...)
	if err := cfg.validate(id); err != nil {
		return nil, err
	}
	return &Vendor{
		Identity: id,
		cfg:      cfg,
		base:     cfg.APIURL + "/2010-04-01/Accounts/" + url.PathEscape(cfg.AccountSID),
		client: vendors.NewClient(vendors.ClientConfig{Timeout: cfg.Timeout,
			MaxConns: id.Connections() * len(cfg.Modes)}),
	}, nil
}

func (c Config) withDefaults() Config {
	c.CallFrom = cmp.Or(c.CallFrom, c.From)
	c.APIURL = strings.TrimRight(cmp.Or(c.APIURL, "https://api.twilio.com"), "/")
	c.PublicURL = strings.TrimRight(c.PublicURL, "/")
	if len(c.Modes) == 0 {
		c.Modes = []users.Mode{users.SMS}
		if c.PublicURL != "" {
			c.Modes = append(c.Modes, users.Call)
		}
	}
	return c
}

func (c Config) validate(id vendors.Identity) error {
	switch {
	case c.AccountSID == "":
		return fault.Invalidf("account_sid", "twilio: the account SID is missing")
	case c.AuthToken == "" && (c.KeySID == "" || c.KeySecret == ""):
		return fault.Invalidf("auth_token", "twilio: the auth token is missing")
	case c.From == "":
		return fault.Invalidf("from", "twilio: the sender (from) is missing")
	}
	for app, number := range c.ApplicationFrom {
		if !users.IsE164(number) {
			return fault.Invalidf("application_from",
				"twilio: the number of application %s must be written like +15551234567", app)
		}
	}
	if err := id.CheckURL("api_url", c.APIURL); err != nil {
		return err
	}
	if c.PublicURL != "" {
		if err := id.CheckURL("public_url", c.PublicURL); err != nil {
			return err
		}
	}
	for _, m := range c.Modes {
		switch {
		case m != users.SMS && m != users.Call:
			return fault.Invalidf("modes", "twilio: mode %q is neither sms nor call", m)
		case m == users.Call && c.PublicURL == "":
			return fault.Invalidf("public_url",
				"twilio: calls need the public URL, from which Twilio fetches their text")
		}
	}
	return nil
}

// Close closes idle connections.
func (v *Vendor) Close() { v.client.Close() }

// Probe reports whether the API can be reached.
func (v *Vendor) Probe(ctx context.Context) bool { return v.client.Probe(ctx, v.base) }

// Check asks Twilio whether it takes the credentials, by the newest message of the account. It sends nothing. A key
// without the right to read messages is taken too.
func (v *Vendor) Check(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.base+"/Messages.json?PageSize=1", http.NoBody)
	if err != nil {
		return errors.New("the request could not be built")
	}
	v.sign(req)
	resp, err := v.client.Do(req)
	if err != nil {
		return errors.New(vendors.FromError(err, v.cfg.AuthToken, v.cfg.KeySecret).Detail)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusForbidden {
		return nil
	}
	return fmt.Errorf("status %d, %s", resp.StatusCode, http.StatusText(resp.StatusCode))
}

// Prepare opens the connection that the call of m will need.
func (v *Vendor) Prepare(ctx context.Context, _ messages.Outbound) (messages.Prepared, messages.Result, bool) {
	return v.client.Prepare(ctx, v, v.base, 1)
}

// Send sends m as a text or makes a call.
func (v *Vendor) Send(ctx context.Context, m messages.Outbound) messages.Result {
	if r, ok := vendors.Begun(ctx); !ok {
		return r
	}
	to := m.Destination // as it is stored: nothing is guessed here
	if !users.IsE164(to) {
		return vendors.Gone("the phone number is not in international form, like +15551234567")
	}
	switch m.Mode {
	case users.SMS, "":
		return v.post(vendors.BeginBefore(ctx, m), "/Messages.json", v.sms(to, m))
	case users.Call:
		if v.cfg.PublicURL == "" {
			return vendors.Rejected("calls need the public URL")
		}
		return v.post(vendors.BeginBefore(ctx, m), "/Calls.json", v.call(to, m))
	default:
		return vendors.Rejected("mode %s is not carried by twilio", m.Mode)
	}
}

func (v *Vendor) sms(to string, m messages.Outbound) url.Values {
	form := url.Values{"To": {to}, "Body": {smsText(m)}}
	if from := v.from(m, v.cfg.From); strings.HasPrefix(from, "MG") {
		form.Set("MessagingServiceSid", from)
	} else {
		form.Set("From", from)
	}
	if v.cfg.PublicURL != "" {
		form.Set("StatusCallback", v.statusURL(m))
	}
	return form
}

// from is the number of the message's application, else the given one.
func (v *Vendor) from(m messages.Outbound, otherwise string) string {
	for app, number := range v.cfg.ApplicationFrom {
		if strings.EqualFold(app, m.Application) {
			return number
		}
	}
	return otherwise
}

func (v *Vendor) call(to string, m messages.Outbound) url.Values {
	form := url.Values{
		"To": {to}, "From": {v.from(m, v.cfg.CallFrom)}, "Url": {v.textURL(m)}, "Method": {"POST"},
		"StatusCallback": {v.statusURL(m)}, "StatusCallbackMethod": {"POST"},
	}
	if v.cfg.DetectMachines {
		form.Set("MachineDetection", "Enable")
	}
	return form
}

func (v *Vendor) statusURL(m messages.Outbound) string {
	q := url.Values{
		"message_id": {strconv.FormatInt(int64(m.MessageID),
			10)}, "attempt": {strconv.Itoa(m.Attempt)}, "source": {m.Application},
	}
	if m.IncidentID != 0 {
		q.Set("incident_id", strconv.FormatInt(int64(m.IncidentID), 10))
	}
	return v.cfg.PublicURL + StatusPath + "?" + q.Encode()
}

// textURL is where Twilio fetches the text of a call, by the message's number. Twilio signs its request over the whole
// URL, so nobody can change it. The text is not in the URL, and so not in access logs.
func (v *Vendor) textURL(m messages.Outbound) string {
	q := url.Values{
		"message_id": {strconv.FormatInt(int64(m.MessageID), 10)}, "loop": {"3"}, "source": {m.Application},
	}
	path := SayPath
	if m.IncidentID != 0 || m.Batch != "" {
		path = GatherPath
		q.Set("instruction", "Press 2 to acknowledge.")
	}
	if m.IncidentID != 0 {
		q.Set("incident_id", strconv.FormatInt(int64(m.IncidentID), 10))
	}
	return v.cfg.PublicURL + path + "?" + q.Encode()
}

// answer is the API's answer to accepted and refused requests.
type answer struct {
	SID     string      `json:"sid"`
	Status  any         `json:"status"` // a text for a message, a number for an error
	Code    json.Number `json:"code"`
	Message string      `json:"message"`
}

// sign adds the credentials to a request.
func (v *Vendor) sign(req *http.Request) {
	req.Header.Set("Accept", "application/json")
	if v.cfg.KeySID != "" && v.cfg.KeySecret != "" {
		req.SetBasicAuth(v.cfg.KeySID, v.cfg.KeySecret)
	} else {
		req.SetBasicAuth(v.cfg.AccountSID, v.cfg.AuthToken)
	}
}

func (v *Vendor) post(ctx context.Context, path string, form url.Values) messages.Result {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, v.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return vendors.Rejected("the request could not be built")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	v.sign(req)
	secrets := []string{v.cfg.AuthToken, v.cfg.KeySecret, form.Get("To")}
	resp, err := v.client.Do(req)
	if err != nil {
		return vendors.FromError(err, secrets...)
	}
	defer func() { _ = resp.Body.Close() }()
	var a answer
	body, readErr := io.ReadAll(resp.Body)
	parseErr := json.Unmarshal(body, &a)
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		if readErr != nil || parseErr != nil || a.SID == "" {
			return vendors.Unknown("status %d without a readable answer", resp.StatusCode)
		}
		status, _ := a.Status.(string)
		return messages.Result{
			Outcome: messages.OutcomeSent, Detail: vendors.Clean(status,
				secrets...), VendorMessageID: vendors.Token(a.SID),
		}
	}
	if parseErr != nil || a.Code == "" {
		return refusal(resp, 0, vendors.Clean(http.StatusText(resp.StatusCode)))
	}
	code, _ := strconv.Atoi(a.Code.String())
	return refusal(resp, code, vendors.Clean(a.Message, secrets...))
}
