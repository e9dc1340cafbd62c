package twilio

import (
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/vendors"
)

// Number converts a phone number to international form: +, then 8 to 15 digits. It removes spaces, dots, dashes,
// slashes and brackets; 00 counts as +; numbers of 10 digits get the country code.
func Number(text, countryCode string) (string, bool) {
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "tel:"))
	international := strings.HasPrefix(text, "+")
	var digits strings.Builder
	for i, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digits.WriteRune(r)
		case r == '+' && i == 0, strings.ContainsRune(" -.()/\u00a0", r):
		default:
			return "", false
		}
	}
	d := digits.String()
	switch {
	case international:
	case strings.HasPrefix(d, "00"):
		d = d[2:]
	case len(d) == 10:
		d = countryCode + d
	case countryCode == "1" && len(d) == 11 && d[0] == '1':
	default:
		return "", false
	}
	if len(d) < 8 || len(d) > 15 || d[0] == '0' {
		return "", false
	}
	return "+" + d, true
}

// smsText is the body, or the subject if there is no body, cut to MaxSMS characters.
func smsText(m messages.Outbound) string {
	text := whole(m)
	if text == "" {
		return "(empty message)"
	}
	return cutKeeping(text, m.AckURL, MaxSMS)
}

// cutKeeping cuts text, but keeps the link if it would be cut off.
func cutKeeping(text, link string, limit int) string {
	cut := vendors.CutRunes(text, limit)
	if link == "" || cut == text || !strings.Contains(text, link) || strings.Contains(cut, link) {
		return cut
	}
	room := limit - utf8.RuneCountInString(link) - 1
	if room < 0 {
		return cut
	}
	return vendors.CutRunes(text, room) + "\n" + link
}

func whole(m messages.Outbound) string {
	if body := strings.TrimSpace(vendors.Text(m.Body)); body != "" {
		return body
	}
	return vendors.Line(m.Subject, 1000)
}
