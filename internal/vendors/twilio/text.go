package twilio

import (
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/vendors"
)

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
