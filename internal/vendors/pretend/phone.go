package pretend

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// taken makes the phone ring.
func (s *Twilio) taken(e Entry) {
	if e.Mode == "call" {
		s.mu.Lock()
		s.calls[e.VendorID] = &phoneCall{sid: e.VendorID, from: e.From, to: e.To, url: e.URL, status: e.StatusCallback, entry: e.ID}
		s.mu.Unlock()
	}
	if !s.cfg.AutoAnswer && !s.cfg.AutoStatus {
		return
	}
	s.wg.Go(func() {
		ctx, cancel := s.within(10 * time.Second)
		defer cancel()
		if e.Mode == "sms" {
			if s.cfg.AutoStatus {
				_ = s.report(ctx, e, "delivered", 0)
			}
			return
		}
		if s.cfg.AutoAnswer {
			_, _ = s.Answer(ctx, e.VendorID)
		}
	})
}

// Answer answers a call: it fetches the text from the call's URL and returns the text.
func (s *Twilio) Answer(ctx context.Context, sid string) (string, error) {
	c, err := s.call(sid)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	again, said := c.answered, strings.Join(c.spoken, "\n")
	c.answered = true
	s.mu.Unlock()
	if again {
		return said, nil
	}
	if err := s.follow(ctx, c, c.url, url.Values{}); err != nil {
		s.mu.Lock()
		c.answered = false
		s.mu.Unlock()
		return "", err
	}
	return s.Spoken(sid), nil
}

// PressKey presses a key during a call, after answering it if necessary. It returns the text that follows.
func (s *Twilio) PressKey(ctx context.Context, sid, digit string) (string, error) {
	if _, err := s.Answer(ctx, sid); err != nil {
		return "", err
	}
	c, err := s.call(sid)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	target, before := c.keysURL, len(c.spoken)
	c.keysURL = ""
	s.mu.Unlock()
	if target == "" {
		return "", fmt.Errorf("call %s asks for no key", sid)
	}
	if err := s.follow(ctx, c, target, url.Values{"Digits": {digit}, "msg": {"Gather End"}}); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(c.spoken[min(before, len(c.spoken)):], "\n"), nil
}

// Spoken returns the text of a call so far.
func (s *Twilio) Spoken(sid string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[sid]; c != nil {
		return strings.Join(c.spoken, "\n")
	}
	return ""
}

func (s *Twilio) call(sid string) (*phoneCall, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[sid]; c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("no call %s", sid)
}

// twiml is one verb of an answer.
type twiml struct {
	XMLName xml.Name
	Text    string  `xml:",chardata"`
	Action  string  `xml:"action,attr"`
	Method  string  `xml:"method,attr"`
	Loop    string  `xml:"loop,attr"`
	Verbs   []twiml `xml:",any"`
}

const maxHops = 8

// follow posts to target and follows the answer, as a phone does, until it waits for a key or the call ends.
func (s *Twilio) follow(ctx context.Context, c *phoneCall, target string, extra url.Values) error {
	for range maxHops {
		form := url.Values{
			"AccountSid": {s.cfg.AccountSID}, "ApiVersion": {"2010-04-01"}, "CallSid": {c.sid}, "CallStatus": {"in-progress"},
			"Direction": {"outbound-api"}, "From": {c.from}, "To": {c.to}, "Called": {c.to}, "Caller": {c.from},
		}
		for k, v := range extra {
			form[k] = v
		}
		status, text, err := s.signed(ctx, target, form)
		if err != nil {
			return err
		}
		if status != http.StatusOK {
			return fmt.Errorf("the text of the call: status %d: %.200s", status, text)
		}
		doc, err := parseTwiML(text)
		if err != nil {
			return err
		}
		next, err := s.perform(c, target, doc)
		if err != nil || next == "" {
			return s.ended(ctx, c, err)
		}
		target, extra = next, nil
	}
	return errors.New("the call has too many redirects")
}

func parseTwiML(text string) (twiml, error) {
	var doc twiml
	if err := xml.Unmarshal([]byte(text), &doc); err != nil {
		return doc, fmt.Errorf("the answer is not TwiML: %w", err)
	}
	if doc.XMLName.Local != "Response" {
		return doc, errors.New("the answer is not TwiML: no Response")
	}
	return doc, nil
}

// perform speaks and gathers; it returns the next URL.
func (s *Twilio) perform(c *phoneCall, base string, doc twiml) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		spoken := strings.Join(c.spoken, "\n")
		s.log.update(c.entry, func(e *Entry) { e.Spoken = spoken })
	}()
	for _, v := range doc.Verbs {
		switch v.XMLName.Local {
		case "Say":
			c.spoken = append(c.spoken, strings.TrimSpace(v.Text))
		case "Pause", "Play":
		case "Gather":
			for _, inner := range v.Verbs {
				switch inner.XMLName.Local {
				case "Say":
					c.spoken = append(c.spoken, strings.TrimSpace(inner.Text))
				case "Pause", "Play":
				default:
					return "", fmt.Errorf("verb %s is not allowed in Gather", inner.XMLName.Local)
				}
			}
			target, err := resolve(base, v.Action)
			if err != nil {
				return "", err
			}
			// A person presses the key at the last question.
			c.keysURL = target
		case "Redirect":
			if c.keysURL != "" {
				return "", nil
			}
			return resolve(base, strings.TrimSpace(v.Text))
		case "Hangup", "Reject":
			c.ended = c.keysURL == ""
			return "", nil
		default:
			return "", fmt.Errorf("verb %s is not known", v.XMLName.Local)
		}
	}
	c.ended = c.keysURL == ""
	return "", nil
}

func (s *Twilio) ended(ctx context.Context, c *phoneCall, err error) error {
	if err != nil {
		return err
	}
	s.mu.Lock()
	report := c.ended && s.cfg.AutoStatus
	s.mu.Unlock()
	if report {
		return s.Status(ctx, c.sid, "completed", 0)
	}
	return nil
}

func resolve(base, ref string) (string, error) {
	b, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	r, err := url.Parse(ref)
	if err != nil {
		return "", err
	}
	return b.ResolveReference(r).String(), nil
}

// Status posts a status callback for a text or call; code 0 = no error. It posts nothing if no callback was requested.
func (s *Twilio) Status(ctx context.Context, sid, status string, code int) error {
	var e Entry
	for _, have := range s.log.Entries() {
		if have.VendorID == sid {
			e = have
		}
	}
	if e.ID == 0 {
		return fmt.Errorf("no text or call %s", sid)
	}
	return s.report(ctx, e, status, code)
}

func (s *Twilio) report(ctx context.Context, e Entry, status string, code int) error {
	if e.StatusCallback == "" {
		return nil
	}
	sid := e.VendorID
	form := url.Values{"AccountSid": {s.cfg.AccountSID}, "ApiVersion": {"2010-04-01"}, "From": {e.From}, "To": {e.To}}
	if e.Mode == "call" {
		form.Set("CallSid", sid)
		form.Set("CallStatus", status)
	} else {
		form.Set("MessageSid", sid)
		form.Set("SmsSid", sid)
		form.Set("MessageStatus", status)
		form.Set("SmsStatus", status)
	}
	if code != 0 {
		form.Set("ErrorCode", fmt.Sprint(code))
	}
	got, text, err := s.signed(ctx, e.StatusCallback, form)
	if err == nil && (got < 200 || got > 299) {
		err = fmt.Errorf("status callback: status %d: %.200s", got, text)
	}
	return err
}

// ReplySMS sends a text from a person's number to ours by posting it to target (PUBLIC_URL + TwilioInboundPath). It
// returns the texts of the answer.
func (s *Twilio) ReplySMS(ctx context.Context, target, from, to, body string) (string, error) {
	sid := newSID("SM")
	form := url.Values{
		"AccountSid": {s.cfg.AccountSID}, "ApiVersion": {"2010-04-01"}, "MessageSid": {sid}, "SmsSid": {sid}, "SmsMessageSid": {sid},
		"SmsStatus": {"received"}, "NumMedia": {"0"}, "NumSegments": {"1"}, "From": {from}, "To": {to}, "Body": {body},
	}
	status, text, err := s.signed(ctx, target, form)
	if err != nil {
		return "", err
	}
	if status != http.StatusOK {
		return "", fmt.Errorf("reply: status %d: %.200s", status, text)
	}
	doc, err := parseTwiML(text)
	if err != nil {
		return "", err
	}
	var answers []string
	for _, v := range doc.Verbs {
		if v.XMLName.Local != "Message" && v.XMLName.Local != "Sms" {
			return "", fmt.Errorf("verb %s is not known in an answer to a text", v.XMLName.Local)
		}
		said := strings.TrimSpace(v.Text)
		for _, inner := range v.Verbs {
			if inner.XMLName.Local == "Body" {
				said = strings.TrimSpace(said + " " + inner.Text)
			}
		}
		answers = append(answers, strings.TrimSpace(said))
	}
	return strings.Join(answers, "\n"), nil
}

// signed posts form to target with Twilio's signature.
func (s *Twilio) signed(ctx context.Context, target string, form url.Values) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, "", err
	}
	names := make([]string, 0, len(form))
	for name := range form {
		names = append(names, name)
	}
	slices.Sort(names)
	mac := hmac.New(sha1.New, []byte(s.cfg.AuthToken))
	_, _ = io.WriteString(mac, target)
	for _, name := range names {
		_, _ = io.WriteString(mac, name+form.Get(name))
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	req.Header.Set("X-Twilio-Signature", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return s.post(ctx, req)
}
