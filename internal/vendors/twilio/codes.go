package twilio

import (
	"fmt"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/vendors"
)

// verdict is the meaning of a Twilio error code.
type verdict int

const (
	gone      verdict = iota + 1 // the number cannot be reached this way
	refused                      // the message cannot be sent
	throttled                    // too fast
	account                      // the account or configuration is wrong; the message is kept
)

// verdicts of the codes that need more than their HTTP status.
var verdicts = map[int]verdict{
	20003: account,   // log-in refused
	20005: account,   // account not active
	20006: account,   // access denied
	20008: account,   // test credentials
	20404: account,   // account not found
	20429: throttled, // too many requests
	14107: throttled, // message rate
	21201: gone,      // no number
	21211: gone,      // invalid number
	21214: gone,      // cannot be reached
	21215: refused,   // region not permitted (calls)
	21216: refused,   // blocked
	21217: gone,      // seems not to be valid
	21210: account,   // From not verified
	21212: account,   // From invalid
	21213: account,   // From missing
	21219: refused,   // To not verified on a trial
	21401: gone,      // invalid number
	21407: gone,      // not a mobile
	21408: refused,   // region not permitted (texts)
	21421: gone,      // number invalid
	21602: refused,   // empty body
	21603: account,   // From missing
	21604: gone,      // To missing
	21606: account,   // From cannot send
	21608: refused,   // To not verified on a trial
	21610: gone,      // opted out
	21611: throttled, // From's queue is full
	21612: refused,   // no way from From to To
	21614: gone,      // not a mobile
	21617: refused,   // too long
	21635: gone,      // a land line
	21659: account,   // From is not ours
	21660: account,   // From belongs to another account
	21703: account,   // messaging service without senders
	21704: account,   // the same
	30001: throttled, // queue overflow
	30002: account,   // suspended
	63038: throttled, // daily limit
}

func refusal(resp *http.Response, code int, said string) messages.Result {
	after := vendors.RetryAfter(resp.Header, time.Now())
	switch verdicts[code] {
	case gone:
		return vendors.Gone("error %d: %s", code, said)
	case refused:
		return vendors.Rejected("error %d: %s", code, said)
	case throttled:
		return vendors.Throttled(after, "error %d: %s", code, said)
	case account:
		return vendors.AccountFailed(vendors.Unavailable("error %d: %s", code, said))
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusPaymentRequired, http.StatusMethodNotAllowed:
		return vendors.AccountFailed(vendors.Unavailable("status %d, error %d: %s", resp.StatusCode, code, said))
	}
	if code != 0 {
		said = fmt.Sprintf("error %d: %s", code, said)
	}
	return vendors.FromStatus(resp, said)
}
