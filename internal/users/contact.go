package users

import (
	"crypto/sha256"
	"encoding/hex"
	"net/mail"
	"net/url"
	"strings"
	"unicode"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// maxDestination bounds a destination, in bytes.
const maxDestination = 1000

// CheckContact returns an Invalid fault if destination cannot be stored as one of mode. It checks the spelling only; a
// vendor may still refuse the destination. Region.Contact turns what people write into what is stored.
func CheckContact(mode Mode, destination string) error {
	var ok bool
	var want string
	switch mode {
	case Email:
		ok, want = isAddress(destination), "an e-mail address, such as ann@example.com"
	case SMS, Call:
		ok, want = IsE164(destination), "a phone number with its country code, such as +15551234567"
	case Slack:
		ok, want = isSlackName(destination), "a Slack name, an id, a #channel, or the e-mail address that somebody has in Slack"
	case Webhook:
		ok, want = isWebURL(destination), "a URL that begins with https:// or http://"
	case Push:
		ok, want = destination != "" && !strings.ContainsFunc(destination, unicode.IsSpace), "one word"
	default:
		return fault.Invalidf("mode", "nobody can be reached by %s", mode)
	}
	if !ok || len(destination) > maxDestination || strings.ContainsFunc(destination, unicode.IsControl) {
		return fault.Invalidf(string(mode), "the %s contact %.100q must be %s", mode, destination, want)
	}
	return nil
}

func isAddress(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Name == "" && a.Address == s
}

func isSlackName(s string) bool {
	return strings.Trim(s, "@#") != "" && !strings.ContainsFunc(s, unicode.IsSpace)
}

func isWebURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") &&
		!strings.ContainsFunc(s, unicode.IsSpace)
}

// Contact is where a person is reached in a mode.
type Contact struct {
	Mode        Mode
	Destination string
	Verified    bool // it identifies the sender of a reply
	Managed     bool // a directory gave it
	// Failing says why no message can reach it, and what to do. "" = nothing is known against it.
	Failing string
}

// FailingContact is a contact that no message can reach, of a person.
type FailingContact struct {
	Person string
	Contact
}

// Identifies reports whether contacts of a mode identify senders of replies, so that they have to be verified.
func Identifies(m Mode) bool {
	return m == Email || m == SMS || m == Call || m == Slack
}

// Secret reports whether a destination of the mode is a secret: whoever knows it can send to it. Such are the addresses
// of webhooks and the tokens of phones.
func Secret(m Mode) bool { return m == Webhook || m == Push }

// WithoutSecret returns a destination as it may be shown to everybody who sees contacts. A secret becomes its host, if
// it has one, and the first 12 hexadecimal digits of its SHA-256, as in the audit log. The result cannot be stored as a
// contact.
func WithoutSecret(m Mode, destination string) string {
	if !Secret(m) || destination == "" {
		return destination
	}
	sum := sha256.Sum256([]byte(destination))
	shown := "fingerprint " + hex.EncodeToString(sum[:])[:12]
	if u, err := url.Parse(destination); err == nil && u.Hostname() != "" {
		return u.Hostname() + ", " + shown
	}
	return shown
}
