package delivery

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// quarantineAfter is the number of takes in a row without an attempt. From this take on, a message gets the built-in
// text.
const quarantineAfter = 3

// screen decides whether a taken message may be sent in its mode, and makes the request for its text.
type screen struct {
	cfg    *Config
	links  Links
	decide *decider
}

// obstacle reports whether a message must not be sent in its mode now, and where it goes instead.
func (s *screen) obstacle(ctx context.Context, it *item) (v stage.Verdict, found bool) {
	c := it.c
	switch {
	case c.Expired:
		return stage.Verdict{State: messages.Dropped, Why: "It expired before it could be sent."}, true
	case c.Gone:
		return stage.Verdict{
			State: messages.Failed, ForGood: true, AskFallback: asksFallback(c) && !c.FallbackAsked,
			Why: c.Target + " is no longer active and is not notified.",
		}, true
	case (c.Mode == users.SMS || c.Mode == users.Call) && users.RefusedNumber(c.Destination, s.cfg.RefusedNumbers):
		return s.decide.elsewhere(ctx, it,
			fmt.Sprintf("The %s number of %s is in the list of refused numbers (delivery.refused_numbers).", c.Mode,
				shownTarget(c))), true
	case !s.cfg.CallMainlandChina && c.Mode == users.Call && mainlandChina(c.Destination):
		return stage.Verdict{
			State: messages.Pending, Mode: users.SMS, Tried: append(slices.Clone(c.Tried),
				users.Call), Refused: c.Refused,
			Why: fmt.Sprintf("Calls to +86 are not permitted; %s is notified by sms.",
				c.Target), Audit: callingRestriction,
		}, true
	case slices.Contains(c.Refused, c.Mode): // a receipt reported the failure after the call
		return s.decide.elsewhere(ctx, it, fmt.Sprintf("%s to %s was not delivered.", capital(string(c.Mode)),
			c.Target)), true
	case c.Destination == "" && c.Mode != users.Drop:
		return s.decide.elsewhere(ctx, it, fmt.Sprintf("%s has no %s contact.", c.Target, c.Mode)), true
	case !c.Allowed:
		return s.decide.elsewhere(ctx, it, fmt.Sprintf("The application may not use %s.", c.Mode)), true
	case it.outlet == nil:
		return s.decide.refused(ctx, it, it.closed.why, s.decide.longGap(it)), true
	}
	return stage.Verdict{}, false
}

// Texts of the audit log for changes that are caused neither by the template nor by a vendor
// (docs/reference/delivery.md 9).
const (
	callingRestriction = "Changing mode due to calling restriction"
	replacedSMS        = "Replaced SMS body to avoid being blocked by carrier"
)

// shownTarget names a recipient without showing a number that a notification gave literally.
func shownTarget(c Claimed) string {
	if c.UserID == 0 {
		return "the recipient"
	}
	return c.Target
}

func mainlandChina(destination string) bool {
	return strings.HasPrefix(strings.TrimSpace(destination), "+86")
}

// request is the request for the text of a message.
func (s *screen) request(c Claimed) messages.Request {
	r := messages.Request{
		MessageID: c.ID, IncidentID: c.IncidentID, RequestID: c.RequestID, PlanID: c.PlanID, Step: c.Step,
		Position: c.Position, Purpose: c.Purpose, Mode: c.Mode, Priority: c.Priority, Target: c.Target,
		Template: c.Template, Plain: c.Takes >= quarantineAfter,
	}
	if c.Mode == users.SMS {
		if c.Override && c.IncidentID != 0 {
			r.Override = strings.NewReplacer("%s", fmt.Sprint(c.IncidentID), "%d",
				fmt.Sprint(c.IncidentID)).Replace(s.cfg.SMSOverride)
		}
		if slices.Contains(c.Tried, users.Call) && !s.cfg.CallMainlandChina && mainlandChina(c.Destination) {
			r.Prefix = s.cfg.MainlandChinaNotice
		}
	}
	if c.IncidentID == 0 && c.Batch != "" {
		r.Batch, r.BatchSize, r.Application, r.Sender = c.Batch, c.BatchSize, c.ApplicationName, c.Sender
	}
	if c.IncidentID != 0 {
		r.IncidentURL = s.links.IncidentURL(c.IncidentID)
	}
	r.AckURL = ackURL(s.links, c)
	return r
}

// ackURL is the URL where the recipient acknowledges the message's incident, or all incidents of a digest. It is ""
// without an incident or digest, for a literal recipient, and in a notice.
func ackURL(l Links, c Claimed) string {
	if c.UserID == 0 || c.IncidentID == 0 && c.Batch == "" || c.Purpose.Notice() {
		return ""
	}
	return l.AckURL(c.IncidentID, c.ID, c.UserID)
}
