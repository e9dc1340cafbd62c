package vendors

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/messages"
)

// maxRetryAfter bounds a vendor's Retry-After.
const maxRetryAfter = time.Hour

// Result builders. The caller removes secrets from a vendor's text; the builders clean the rest.

// Rejected is a permanent refusal of the message.
func Rejected(format string, args ...any) messages.Result {
	return messages.Result{Outcome: messages.OutcomeRejected, Detail: Clean(fmt.Sprintf(format, args...))}
}

// Gone is a permanent refusal of the destination itself.
func Gone(format string, args ...any) messages.Result {
	r := Rejected(format, args...)
	r.DestinationGone = true
	return r
}

// Throttled is a refusal because of the rate; after 0 = unknown.
func Throttled(after time.Duration, format string, args ...any) messages.Result {
	return messages.Result{
		Outcome: messages.OutcomeThrottled, RetryAfter: min(max(after, 0),
			maxRetryAfter), Detail: Clean(fmt.Sprintf(format, args...)),
	}
}

// Unavailable is a definite failure that is worth retrying.
func Unavailable(format string, args ...any) messages.Result {
	return messages.Result{Outcome: messages.OutcomeUnavailable, Detail: Clean(fmt.Sprintf(format, args...))}
}

// AccountFailed returns r as a failure before the recipient was named.
func AccountFailed(r messages.Result) messages.Result {
	r.BeforeRecipient = r.Outcome == messages.OutcomeUnavailable || r.Outcome == messages.OutcomeUnknown
	return r
}

// Unknown is a message in doubt.
func Unknown(format string, args ...any) messages.Result {
	return messages.Result{Outcome: messages.OutcomeUnknown, Detail: Clean(fmt.Sprintf(format, args...))}
}

// Cancelled is a call that was not begun because ctx had ended.
func Cancelled() messages.Result {
	return messages.Result{Outcome: messages.OutcomeCancelled, Detail: "the call was not begun"}
}

// Begun returns a Cancelled result and false if ctx has already ended.
func Begun(ctx context.Context) (messages.Result, bool) {
	if ctx.Err() != nil {
		return Cancelled(), false
	}
	return messages.Result{}, true
}

// FromError maps the error of a call without a complete answer. Errors other than *CallError count as sent.
func FromError(err error, secrets ...string) messages.Result {
	if errors.Is(err, errTooLate) {
		return messages.NotBegun()
	}
	if errors.Is(err, errPrivateAddress) {
		return Rejected("the address is not public; allow private addresses in the configuration if it is meant")
	}
	detail := Clean(err.Error(), secrets...)
	var call *CallError
	if errors.As(err, &call) && !call.Sent {
		return AccountFailed(Unavailable("%s", detail))
	}
	return Unknown("%s", detail)
}

// FromStatus maps an HTTP status that is not a success and that the vendor's own error codes did not explain. 502, 504
// and the 52x of content networks come from a proxy that does not know the fate of the request: in doubt. said is the
// vendor's text, without secrets.
func FromStatus(resp *http.Response, said string) messages.Result {
	detail := "status " + strconv.Itoa(resp.StatusCode)
	if said = Clean(said); said != "" {
		detail += ": " + said
	}
	switch code := resp.StatusCode; {
	case code == http.StatusTooManyRequests:
		return Throttled(RetryAfter(resp.Header, time.Now()), "%s", detail)
	case code == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
		return Throttled(RetryAfter(resp.Header, time.Now()), "%s", detail)
	case code == http.StatusBadGateway, code == http.StatusGatewayTimeout, code >= 520 && code <= 529:
		return Unknown("%s", detail)
	case code >= 500, code == http.StatusRequestTimeout, code == http.StatusTooEarly:
		return Unavailable("%s", detail)
	case code >= 300 && code < 400:
		return Rejected("%s: redirects are not followed", detail)
	case code >= 400:
		return Rejected("%s", detail)
	default:
		return Unknown("unexpected %s", detail)
	}
}

// RetryAfter parses the Retry-After header: seconds (also with a fraction) or a date; 0 = none or past. At most
// maxRetryAfter.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	v := h.Get("Retry-After")
	if v == "" {
		return 0
	}
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		if !(s > 0) {
			return 0
		}
		if s >= maxRetryAfter.Seconds() {
			return maxRetryAfter
		}
		return time.Duration(s * float64(time.Second))
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}
