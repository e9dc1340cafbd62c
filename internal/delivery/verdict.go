package delivery

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
	"unicode"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/delivery/account"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// decider decides what happens to messages that failed or cannot be sent now: another try, the recipient's next mode,
// or none.
type decider struct {
	cfg       *Config
	directory Directory
	modes     map[users.Mode]*modeWorker
	lacking   *lacking
	report    *reporter
	stopping  <-chan struct{}
}

// after decides where a message goes after a call.
func (d *decider) after(ctx context.Context, it *item, r messages.Result) stage.Verdict {
	b := d.cfg.Budgets[it.c.Class]
	move, wait := b.After(account.State{
		Class: it.c.Class, ModeAttempt: it.c.ModeAttempt +
			1, InMode: it.waitedInMode(), Age: it.age(), Spread: spread(),
	}, r)
	if move == account.Done {
		if it.c.Mode == users.Drop || d.cfg.DryRun != DryRunOff {
			return stage.Verdict{State: messages.Dropped}
		}
		return stage.Verdict{State: messages.Sent}
	}
	what := fmt.Sprintf("%s to %s failed (%s).", capital(string(it.c.Mode)), it.c.Target, r.Detail)
	if r.Outcome == messages.OutcomeUnknown {
		what = fmt.Sprintf("%s to %s may or may not have left (%s).", capital(string(it.c.Mode)), it.c.Target, r.Detail)
	}
	var v stage.Verdict
	switch move {
	case account.Retry:
		v = stage.Verdict{State: messages.Pending, RetryIn: wait}
		switch {
		case r.Outcome != messages.OutcomeCancelled:
			v.Audit = fmt.Sprintf("%s It is tried again in %s.", what, humanize.Duration(wait))
		case it.stopped, ended(d.stopping):
			v.RetryIn = 0 // its incident may be open again; another process can send it now
		}
	case account.Next:
		v = d.nextMode(ctx, it, what, true, false)
	case account.NextOnly:
		v = d.nextMode(ctx, it, what, false, true)
	default:
		v = d.gaveUp(it, r.Detail)
	}
	v.Unstarted = r.Outcome == messages.OutcomeCancelled && v.State == messages.Pending
	if r.Outcome == messages.OutcomeUnknown && v.State == messages.Pending {
		v.SameKey = true
		if v.Why == "" {
			v.Why = what + " It is sent again."
		}
	}
	return v
}

// elsewhere is the verdict on a message that cannot use its mode at all: the next mode.
func (d *decider) elsewhere(ctx context.Context, it *item, why string) stage.Verdict {
	return d.nextMode(ctx, it, why, false, true)
}

// longGap is the longest pause before a message is tried again.
func (d *decider) longGap(it *item) time.Duration {
	return d.cfg.Budgets[it.c.Class].Gap(100, spread())
}

// refused is the verdict on a message that no outlet of its mode can send now. The message waits until its budget for
// the mode is used up, then gets its next mode. It gets that mode at once if a pause lasts longer than the budget,
// unless every mode failed already.
func (d *decider) refused(ctx context.Context, it *item, why string, wait time.Duration) stage.Verdict {
	b := d.cfg.Budgets[it.c.Class]
	waited, age := it.waitedInMode(), it.age()
	switch {
	case len(it.mode.outlets) == 0:
		return d.nextMode(ctx, it, capital(why)+".", false, true)
	case age >= b.GiveUp:
		return d.gaveUp(it, why)
	case age >= b.Total || waited >= b.PerMode || it.closed.left > 0 && !it.c.FallbackAsked && waited+
		it.closed.left >= b.PerMode:
		what := fmt.Sprintf("%s to %s could not be sent: %s.", capital(string(it.c.Mode)), it.c.Target, why)
		return d.nextMode(ctx, it, what, true, false)
	default:
		return stage.Verdict{State: messages.Pending, RetryIn: min(wait, max(b.FirstGap, b.PerMode-waited))}
	}
}

// gaveUp is the verdict on a message that could not be sent for too long.
func (d *decider) gaveUp(it *item, detail string) stage.Verdict {
	return stage.Verdict{
		State: messages.Failed, AskFallback: asksFallback(it.c), // even if asked before: the message is no longer tried
		Why: fmt.Sprintf("%s could not be reached in all that time (%s). It is not tried any more.", it.c.Target,
			detail),
	}
}

// nextMode is the verdict that tries the recipient's next mode. When every mode was tried, the first mode is tried
// again if again is true; otherwise the message failed for good. In both cases it asks for a fallback recipient once.
// refused excludes the present mode from further tries.
func (d *decider) nextMode(ctx context.Context, it *item, why string, again, refused bool) stage.Verdict {
	c := it.c
	gone := c.Refused
	if refused && !slices.Contains(gone, c.Mode) {
		gone = append(slices.Clone(gone), c.Mode)
	}
	tried := append(slices.Clone(c.Tried), c.Mode)
	v := stage.Verdict{State: messages.Failed, ForGood: true, Refused: gone, AskFallback: asksFallback(c) && !c.FallbackAsked}
	if c.UserID == 0 || c.Purpose.OneMode() {
		if again && !refused {
			return d.sameAgain(it, v, why)
		}
		v.Why = why + " There is no other way to reach it."
		return v
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	r, app, ok, err := d.directory.Reach(ctx, c.UserID, c.ApplicationID)
	if err != nil {
		d.report.Failed("reach", err, zap.Int64("message_id", int64(c.ID)))
		return stage.Verdict{State: messages.Pending, RetryIn: time.Second}
	}
	unusable := append(d.unserved(ctx), gone...)
	if ok {
		if m, found := users.NextMode(r, app, append(slices.Clone(unusable), tried...)); found {
			return stage.Verdict{
				State: messages.Pending, Mode: m, Tried: tried, Refused: gone,
				Why: fmt.Sprintf("%s Trying %s next.", why, m),
			}
		}
	}
	if again || (ok && len(c.Tried) > 0) {
		if m, found := users.NextMode(r, app, append(unusable, c.Mode)); ok && found {
			v.State, v.ForGood, v.Mode, v.Tried = messages.Pending, false, m, nil
			v.RetryIn = d.cfg.Budgets[c.Class].Gap(100, spread())
			v.Why = fmt.Sprintf("%s Every mode was tried; beginning again with %s.", why, m)
			return v
		}
		if again && !refused {
			return d.sameAgain(it, v, why)
		}
	}
	v.Why = fmt.Sprintf("%s %s cannot be reached in any other way.", why, c.Target)
	return v
}

// sameAgain is the verdict that tries the only mode again.
func (d *decider) sameAgain(it *item, v stage.Verdict, why string) stage.Verdict {
	v.State, v.ForGood, v.Mode, v.Tried = messages.Pending, false, it.c.Mode, nil
	v.RetryIn = d.cfg.Budgets[it.c.Class].Gap(100, spread())
	if !it.c.FallbackAsked {
		v.Why = fmt.Sprintf("%s There is no other way to reach %s; it is tried again and again.", why, it.c.Target)
	}
	return v
}

// unserved are the modes that no vendor of any live process carries.
func (d *decider) unserved(ctx context.Context) []users.Mode {
	var out []users.Mode
	for m, l := range d.modes {
		if len(l.outlets) == 0 && !d.lacking.elsewhere(ctx, m) {
			out = append(out, m)
		}
	}
	return out
}

// asksFallback reports whether a fallback recipient must be notified when the message cannot be delivered. Copies and
// tracking messages need none, because other people get the same message.
func asksFallback(c Claimed) bool {
	return c.Purpose == messages.Primary || c.Purpose == messages.Fallback || c.Purpose == messages.Direct ||
		c.Purpose == messages.Digest
}

// spread is the random part of pauses.
func spread() float64 { return rand.Float64() }

// capital makes the first letter of a sentence large. Mode names that are abbreviations are written as such.
func capital(s string) string {
	if s == "sms" {
		return "SMS"
	}
	for i, r := range s {
		return strings.ToUpper(string(unicode.ToUpper(r))) + s[i+len(string(r)):]
	}
	return s
}
