package smtp

import (
	"context"
	"errors"
	"net/textproto"
	"os"
	"time"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/vendors"
)

// condition is the state of a connection after a transaction.
type condition int

const (
	reusable condition = iota
	broken
	stale // it was closed before the server replied to anything of this transaction
)

// transact sends one message. Before the final dot is sent, every failure is definite. After it, no reply or an
// unreadable one leaves the message in doubt.
func (c *conn) transact(env *envelope) (messages.Result, condition) {
	if env.utf8 && !c.utf8 {
		return vendors.Rejected("the mail server does not take addresses beyond ASCII"), reusable
	}
	if c.maxSize > 0 && int64(env.body.Len()) > c.maxSize {
		return vendors.Rejected("the message is larger than the mail server takes"), reusable
	}
	r, state, ok := c.announce(env)
	if !ok {
		return r, state
	}
	dot := textproto.NewWriter(c.w).DotWriter()
	_, err := dot.Write(env.body.Bytes())
	if err == nil {
		err = dot.Close() // writes the final dot and flushes
	}
	if err != nil {
		// The last bytes, with the dot, were not sent.
		return vendors.Unavailable("send the message: %s", why(err)), broken
	}
	rep, err := readReply(c.r)
	if err != nil {
		return vendors.Unknown("no answer to the message: %s", why(err)), broken
	}
	state = reusable
	if rep.code == 421 {
		state = broken // the server closes
	}
	if rep.ok() {
		return messages.Result{Outcome: messages.OutcomeSent, Detail: vendors.Clean(rep.String()),
			VendorMessageID: env.id}, state
	}
	if rep.code < 400 {
		return vendors.Unknown("an answer that cannot be read: %s", rep), broken
	}
	c.dirty = true
	return rep.result("message", false), state
}

// announce sends MAIL, RCPT and DATA, together if the server supports pipelining, and reads the replies. ok = the
// server waits for the message. If BeginBefore has passed, it sends nothing.
func (c *conn) announce(env *envelope) (r messages.Result, state condition, ok bool) {
	commands := []string{env.mailCommand(), "RCPT TO:<" + env.to + ">", "DATA"}
	if env.message.TooLate(time.Now()) {
		return messages.NotBegun(), reusable, false
	}
	if c.pipelining {
		for _, line := range commands {
			_, _ = c.w.WriteString(line)
			_, _ = c.w.WriteString("\r\n")
		}
		if err := c.w.Flush(); err != nil {
			return vendors.AccountFailed(vendors.Unavailable("send the envelope: %s", why(err))), stale, false
		}
	}
	var refused *reply
	var during string
	for i, line := range commands {
		name := line[:4]
		if !c.pipelining {
			if refused != nil {
				break
			}
			_, _ = c.w.WriteString(line + "\r\n")
			if err := c.w.Flush(); err != nil {
				return unnamed(i == 0, vendors.Unavailable("%s: %s", name, why(err))), staleIf(i == 0), false
			}
		}
		rep, err := readReply(c.r)
		if err != nil {
			if refused != nil {
				break // the server's last reply counts
			}
			// If commands were sent together, a missing reply may be about any of them: servers reply together, too.
			r := unnamed(i == 0 && !c.pipelining, vendors.Unavailable("%s: %s", name, why(err)))
			return r, staleIf(i == 0 && !errors.Is(err, errGarbage)), false
		}
		if rep.code == 421 {
			if refused == nil {
				refused, during = &rep, name
			}
			return unnamed(during == "MAIL", refused.result(during, false)), staleIf(i == 0 && !refused.rate()), false
		}
		wanted := rep.ok()
		if name == "DATA" {
			wanted = rep.code == 354
			if wanted && refused != nil {
				// The server waits for a message without recipients. Closing the connection is the only safe reply.
				return refused.result(during, during == "RCPT"), broken, false
			}
		}
		if !wanted && refused == nil {
			refused, during = &rep, name
		}
	}
	if refused == nil {
		return messages.Result{}, reusable, true
	}
	c.dirty = true
	state = reusable
	if refused.code < 400 {
		return vendors.Unavailable("%s: an answer out of place: %s", during, refused), broken, false
	}
	return unnamed(during == "MAIL", refused.result(during, during == "RCPT")), state, false
}

// unnamed marks r as a failure of the account if it came before the recipient was named.
func unnamed(before bool, r messages.Result) messages.Result {
	if before {
		return vendors.AccountFailed(r)
	}
	return r
}

func staleIf(b bool) condition {
	if b {
		return stale
	}
	return broken
}

// why returns the error without addresses of machines.
func why(err error) string {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "time is up"
	case errors.Is(err, errGarbage):
		return errGarbage.Error()
	default:
		return "the connection broke"
	}
}
