package twilio

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/vendors"
)

// Number brings a phone number into international form: +, then 8 to 15 digits. Spaces, dots, dashes, slashes and
// brackets are taken out, 00 counts as +, and numbers of 10 digits get the country code.
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

// smsText is the body, which the renderer made the whole text of; the subject only where there is no body.
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

// callText is what is said: no links, nobody can listen to them.
func callText(m messages.Outbound) string {
	words := strings.Fields(whole(m))
	spoken := words[:0]
	for _, w := range words {
		if !strings.HasPrefix(w, "http://") && !strings.HasPrefix(w, "https://") {
			spoken = append(spoken, w)
		}
	}
	text := vendors.CutRunes(strings.Join(spoken, " "), MaxCall)
	// A URL longer than a few thousand bytes is refused; characters beyond ASCII take up to 12 bytes there.
	for len(url.QueryEscape(text)) > 3000 {
		text = vendors.CutRunes(text, utf8.RuneCountInString(text)*3/4)
	}
	return text
}

func whole(m messages.Outbound) string {
	if body := strings.TrimSpace(vendors.Text(m.Body)); body != "" {
		return body
	}
	return vendors.Line(m.Subject, 1000)
}
