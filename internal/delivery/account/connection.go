package account

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
)

// Connection makes one vendor call. The zero value holds no place among the running calls of an outlet: Send must not
// be called.
type Connection struct {
	Failed *messages.Result // why no connection could be prepared; nil = nothing failed
	Panic  error            // of the vendor while it prepared the connection

	outlet   *Outlet
	to       string
	prepared messages.Prepared // nil = the vendor needs no preparation
}

// Unprepared returns a Connection for a destination whose place is held, without asking the vendor.
func (o *Outlet) Unprepared(to string) Connection { return Connection{outlet: o, to: to} }

// Open prepares the call up to the first byte that can page, if the vendor is a messages.Preparer. It does not return
// an error: see Failed and Panic. The caller holds a place of the outlet's running calls.
func (o *Outlet) Open(ctx context.Context, out messages.Outbound) Connection {
	c := o.Unprepared(out.Destination)
	p, needed := o.Vendor.(messages.Preparer)
	if !needed {
		return c
	}
	c.prepared, c.Failed, c.Panic = prepare(ctx, p, out)
	if c.Panic != nil {
		c.Failed = &messages.Result{Outcome: messages.OutcomeUnavailable, Detail: panicked}
	}
	return c
}

const panicked = "internal error of the vendor's adapter"

// prepare calls the vendor. Its error is a panic.
func prepare(ctx context.Context, p messages.Preparer, out messages.Outbound) (c messages.Prepared, failed *messages.Result, err error) {
	defer fault.Recover(&err)
	c, r, ok := p.Prepare(ctx, out)
	if !ok {
		return nil, &r, nil
	}
	return c, nil, nil
}

// Held reports whether the connection holds a place among the running calls.
func (c Connection) Held() bool { return c.outlet != nil }

// Send calls the vendor. The error is a panic of the vendor; the outcome is then unknown.
func (c Connection) Send(ctx context.Context, out messages.Outbound) (r messages.Result, err error) {
	defer func() {
		switch {
		case err != nil:
			r = messages.Result{Outcome: messages.OutcomeUnknown, Detail: panicked}
		case r.Outcome == "":
			r = messages.Result{Outcome: messages.OutcomeUnknown, Detail: "the vendor's adapter gave no outcome"}
		}
	}()
	defer fault.Recover(&err)
	if c.prepared != nil {
		return c.prepared.Send(ctx, out), nil
	}
	return c.outlet.Vendor.Send(ctx, out), nil
}

// Close gives a prepared connection back to the vendor without a call.
func (c Connection) Close() {
	if c.prepared != nil {
		c.prepared.Release()
	}
}

// End gives the place back. It is called once, after Send or Close.
func (c Connection) End() {
	if c.outlet != nil {
		c.outlet.Running.Release(c.to)
	}
}
