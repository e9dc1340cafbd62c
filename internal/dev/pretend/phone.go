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
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// ring is called for every accepted text and call. It answers and reports by itself if the configuration asks for that.
func (s *Twilio) ring(e Entry) {
	if e.Mode == "call" {
		s.mu.Lock()
		s.calls[e.VendorID] = &phoneCall{Entry: e}
		s.mu.Unlock()
	}
	if !s.cfg.AutoAnswer && !s.cfg.AutoStatus {
		return
	}
	s.wg.Go(func() {
		ctx, cancel := s.within(10 * time.Second)
		defer cancel()
		switch {
		case e.Mode == "sms" && s.cfg.AutoStatus:
			_ = s.report(ctx, e, "delivered", 0)
		case e.Mode == "call" && s.cfg.AutoAnswer:
			_, _ = s.Answer(ctx, e.VendorID)
		}
	})
}

// Answer answers a call: it fetches the text from the call's URL and returns it. For an answered call it returns the
// text so far.
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
	if err := s.follow(ctx, c, c.URL, url.Values{}); err != nil {
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
			"AccountSid": {s.cfg.AccountSID}, "ApiVersion": {"2010-04-01"}, "CallSid": {c.VendorID}, "CallStatus": {"in-progress"},
			"Direction": {"outbound-api"}, "From": {c.From}, "To": {c.To}, "Called": {c.To}, "Caller": {c.From},
		}
		maps.Copy(form, extra)
		doc, err := s.fetch(ctx, target, form)
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

// fetch posts form to target and returns the answer.
func (s *Twilio) fetch(ctx context.Context, target string, form url.Values) (twiml, error) {
	var doc twiml
	text, err := s.signed(ctx, target, form)
	if err != nil {
		return doc, err
	}
	if err := xml.Unmarshal([]byte(text), &doc); err != nil {
		return doc, fmt.Errorf("the answer is not TwiML: %w", err)
	}
	if doc.XMLName.Local != "Response" {
		return doc, errors.New("the answer is not TwiML: no Response")
	}
	return doc, nil
}

// speak reports whether the verb only makes sounds. It records what was said.
func (c *phoneCall) speak(v twiml) bool {
	if v.XMLName.Local == "Say" {
		c.spoken = append(c.spoken, strings.TrimSpace(v.Text))
	}
	return slices.Contains([]string{"Say", "Pause", "Play"}, v.XMLName.Local)
}

// perform executes the verbs of doc and returns the URL to fetch next; "" = the call waits for a key or has ended.
func (s *Twilio) perform(c *phoneCall, base string, doc twiml) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		spoken := strings.Join(c.spoken, "\n")
		s.log.update(c.ID, func(e *Entry) { e.Spoken = spoken })
	}()
	for _, v := range doc.Verbs {
		if c.speak(v) {
			continue
		}
		switch v.XMLName.Local {
		case "Gather":
			for _, inner := range v.Verbs {
				if !c.speak(inner) {
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
		return s.report(ctx, c.Entry, "completed", 0)
	}
	return nil
}

func resolve(base, ref string) (string, error) {
	b, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	u, err := b.Parse(ref)
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

// Status posts a status callback for a text or call; code 0 = no error. It posts nothing if no callback was requested.
func (s *Twilio) Status(ctx context.Context, sid, status string, code int) error {
	all := s.log.Entries()
	i := slices.IndexFunc(all, func(e Entry) bool { return e.VendorID == sid })
	if i < 0 {
		return fmt.Errorf("no text or call %s", sid)
	}
	return s.report(ctx, all[i], status, code)
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
	_, err := s.signed(ctx, e.StatusCallback, form)
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
	doc, err := s.fetch(ctx, target, form)
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

// signed posts form to target with Twilio's signature, and returns the answer's text.
func (s *Twilio) signed(ctx context.Context, target string, form url.Values) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha1.New, []byte(s.cfg.AuthToken))
	_, _ = io.WriteString(mac, target)
	for _, name := range slices.Sorted(maps.Keys(form)) {
		_, _ = io.WriteString(mac, name+form.Get(name))
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	req.Header.Set("X-Twilio-Signature", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	status, text, err := s.post(ctx, req)
	if err == nil && (status < 200 || status > 299) {
		err = fmt.Errorf("%s: status %d: %.200s", target, status, text)
	}
	return text, err
}
