package twilio

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/vendors"
)

// SignatureHeader holds Twilio's signature.
const SignatureHeader = "X-Twilio-Signature"

// ValidSignature checks a request of Twilio. fullURL is the URL that Twilio was given, with scheme, host, path and raw
// query. form is the POST body (empty for GET). header is the value of SignatureHeader. Any of authTokens may have
// signed it; an empty token never matches. The default port may be present or absent.
func ValidSignature(authTokens []string, fullURL string, form url.Values, header string) bool {
	got, err := base64.StdEncoding.DecodeString(header)
	if err != nil || len(got) != sha1.Size {
		return false
	}
	rest := sorted(form)
	valid := 0
	for _, u := range spellings(fullURL) {
		for _, token := range authTokens {
			if token == "" {
				continue
			}
			valid |= subtle.ConstantTimeCompare(got, digest(token, u+rest))
		}
	}
	return valid == 1
}

func digest(token, text string) []byte {
	mac := hmac.New(sha1.New, []byte(token))
	_, _ = mac.Write([]byte(text))
	return mac.Sum(nil)
}

// sorted is every name followed by its values, in order, each value once.
func sorted(form url.Values) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(form)) {
		for _, v := range slices.Compact(slices.Sorted(slices.Values(form[name]))) {
			b.WriteString(name + v)
		}
	}
	return b.String()
}

// spellings of a URL: as it is, and with the default port added or removed.
func spellings(full string) []string {
	scheme, rest, ok := strings.Cut(full, "://")
	if !ok {
		return []string{full}
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	host, tail := rest[:end], rest[end:]
	port := map[string]string{"https": ":443", "http": ":80"}[scheme]
	switch {
	case port == "":
		return []string{full}
	case strings.HasSuffix(host, port):
		return []string{full, scheme + "://" + strings.TrimSuffix(host, port) + tail}
	case !strings.Contains(host[strings.LastIndexByte(host, ']')+1:], ":"):
		return []string{full, scheme + "://" + host + port + tail}
	default:
		return []string{full}
	}
}

// ParseReceipt parses the form of a status callback. It returns false if the form names no message or call, or has no
// status.
func ParseReceipt(form url.Values) (messages.Receipt, bool) {
	sid := cmp.Or(form.Get("MessageSid"), form.Get("SmsSid"))
	status := cmp.Or(form.Get("MessageStatus"), form.Get("SmsStatus"))
	if sid == "" {
		sid, status = form.Get("CallSid"), form.Get("CallStatus")
	}
	if sid == "" || status == "" {
		return messages.Receipt{}, false
	}
	r := messages.Receipt{
		Vendor: "twilio", VendorMessageID: vendors.Token(sid), Status: vendors.Line(strings.ToLower(status), 40),
		Outcome: messages.OutcomeSent,
	}
	switch r.Status {
	case "delivered", "read", "completed":
		r.Delivered = true
	case "failed", "undelivered", "canceled":
		r.Outcome = messages.OutcomeRejected
		if code := form.Get("ErrorCode"); transient[code] {
			r.Outcome = messages.OutcomeUnavailable
		}
	case "busy", "no-answer":
		r.Outcome = messages.OutcomeUnavailable
	}
	if by := form.Get("AnsweredBy"); r.Delivered && (strings.HasPrefix(by, "machine") || by == "fax") {
		// An answering machine or a fax took the call: nobody was reached, as when the line is busy.
		r.Delivered, r.Outcome, r.Detail = false, messages.OutcomeUnavailable, vendors.Clean("answered by "+by)
	}
	if code := form.Get("ErrorCode"); code != "" {
		r.Detail = vendors.Clean("error " + code + " " + form.Get("ErrorMessage"))
	}
	return r, true
}

// transient are reasons of failures that may pass: full queue, phone switched off, unknown error of the carrier.
var transient = map[string]bool{"30001": true, "30003": true, "30008": true, "30017": true, "30022": true}
