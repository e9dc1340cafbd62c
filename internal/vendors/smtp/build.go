package smtp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/mail"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"
	"golang.org/x/net/idna"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/vendors"
)

// envelope is a message ready to send.
type envelope struct {
	from, to string
	utf8     bool // an address needs SMTPUTF8
	id       string
	body     *bytes.Buffer
	message  messages.Outbound
}

func (e *envelope) mailCommand() string {
	line := "MAIL FROM:<" + e.from + ">"
	if e.utf8 {
		line += " SMTPUTF8"
	}
	return line
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (e *envelope) release() {
	if e.body.Cap() <= 256<<10 {
		buffers.Put(e.body)
	}
	e.body = nil
}

const maxSubject = 500 // bytes

// build makes the envelope and the message to a recipient. The error says what is wrong with the message.
func (v *Vendor) build(m messages.Outbound, to *mail.Address, now time.Time) (*envelope, error) {
	from, replyTo := v.from, v.replyTo
	if m.Sender != "" {
		// A custom sender that is not an address is ignored: the message is sent anyway.
		if custom, err := address(m.Sender); err == nil {
			if custom.Name == "" && strings.EqualFold(custom.Address, v.from.Address) {
				custom = v.from
			}
			from = custom
			if replyTo == nil && from.Address != v.from.Address {
				replyTo = from
			}
		}
	}
	if m.ReplyTo != "" {
		if own, err := address(m.ReplyTo); err == nil {
			replyTo = own
		}
	}
	domain := v.from.Address[strings.LastIndexByte(v.from.Address, '@')+1:]
	env := &envelope{from: v.from.Address, to: to.Address, id: messageID(m, domain), message: m}
	env.utf8 = !ascii(env.from) || !ascii(env.to)

	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(from)
	msg.ToMailAddress(named(m, to)...)
	if replyTo != nil {
		msg.ReplyToMailAddress(replyTo)
	}
	if from != v.from {
		msg.SetGenHeader("Sender", "<"+v.from.Address+">")
	}
	subject := vendors.Line(m.Subject, maxSubject)
	if subject == "" {
		subject = "(no subject)"
	}
	msg.Subject(subject)
	msg.SetDateWithValue(now)
	msg.SetMessageIDWithValue(env.id)
	if m.ThreadKey != "" {
		root := "<thread." + hash(m.ThreadKey) + "@" + domain + ">"
		msg.SetGenHeader(gomail.HeaderInReplyTo, root)
		msg.SetGenHeader(gomail.HeaderReferences, root)
	}
	headers(msg, m)
	msg.SetBodyString(gomail.TypeTextPlain, vendors.Text(m.Body))
	if m.EmailHTML != "" {
		msg.AddAlternativeString(gomail.TypeTextHTML, v.withButton(vendors.Text(m.EmailHTML), m))
	}
	env.body, _ = buffers.Get().(*bytes.Buffer)
	env.body.Reset()
	if _, err := msg.WriteTo(env.body); err != nil {
		return nil, fmt.Errorf("build the message: %w", err)
	}
	return env, nil
}

func recipient(m messages.Outbound) (*mail.Address, error) {
	to, err := address(m.Destination)
	if err != nil {
		return nil, fault.Invalidf("destination", "the destination is not a mail address: %s", err)
	}
	return to, nil
}

// named are the recipients that the mail names. It is sent to one of them, or to a bcc recipient.
func named(m messages.Outbound, to *mail.Address) []*mail.Address {
	var out []*mail.Address
	for text := range strings.SplitSeq(m.ShownTo, ",") {
		if a, err := address(text); err == nil && ascii(a.Address) {
			out = append(out, a)
		}
	}
	if len(out) == 0 {
		return []*mail.Address{to}
	}
	return out
}

// headers adds headers for sorting and filtering, and against automatic replies.
func headers(msg *gomail.Msg, m messages.Outbound) {
	set := func(name gomail.Header, value string) {
		if value = vendors.Line(value, 200); value != "" {
			msg.SetGenHeader(name, value)
		}
	}
	set("X-IRIS-APPLICATION", m.Application)
	set("X-IRIS-PRIORITY", string(m.Priority))
	set("X-IRIS-PLAN", m.Plan)
	set("X-IRIS-MESSAGE-ID", strconv.FormatInt(int64(m.MessageID), 10))
	set("X-IRIS-IDEMPOTENCY-KEY", m.IdempotencyKey)
	if m.IncidentID != 0 {
		set("X-IRIS-INCIDENT-ID", strconv.FormatInt(int64(m.IncidentID), 10))
	}
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetGenHeader("X-Auto-Response-Suppress", "OOF, AutoReply")
}

// messageID is the same for every sending of a message in doubt, so that mail programs show it once.
func messageID(m messages.Outbound, domain string) string {
	key := m.IdempotencyKey
	if key == "" {
		key = strconv.Itoa(m.Attempt)
	}
	return fmt.Sprintf("iris.%d.%s@%s", m.MessageID, hash(key), domain)
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:10])
}

// address parses a mail address, with or without a name. The local part must be plain (no quoting); the domain becomes
// ASCII.
func address(text string) (*mail.Address, error) {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return nil, fault.Invalidf("", "control characters")
	}
	a, err := mail.ParseAddress(strings.TrimSpace(text))
	if err != nil {
		return nil, fault.Invalidf("", "it cannot be read")
	}
	at := strings.LastIndexByte(a.Address, '@')
	if at <= 0 || len(a.Address) > 254 {
		return nil, fault.Invalidf("", "it has no local part, or is too long")
	}
	local, domain := a.Address[:at], a.Address[at+1:]
	if strings.ContainsFunc(local, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`<>()[]\,;:"@`, r)
	}) {
		return nil, fault.Invalidf("", "unusual characters before the @")
	}
	if literal, ok := strings.CutPrefix(domain, "["); ok {
		if _, err := netip.ParseAddr(strings.TrimPrefix(strings.TrimSuffix(literal, "]"), "IPv6:")); err != nil {
			return nil, fault.Invalidf("", "the domain is malformed")
		}
	} else if domain, err = idna.Lookup.ToASCII(domain); err != nil || domain == "" {
		return nil, fault.Invalidf("", "the domain is malformed")
	}
	a.Address = local + "@" + domain
	a.Name = vendors.Line(a.Name, 200)
	return a, nil
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}
