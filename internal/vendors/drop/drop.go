// Package drop is the vendor that deliberately discards messages: for mode drop. Package vendoraccounts builds it and
// delivery calls it.
package drop

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors"
)

// Config of the account; the zero value works.
type Config struct {
	// Account distinguishes accounts of one kind. "" = "main".
	Account string
}

// Vendor discards messages and returns Sent. Safe for concurrent use.
type Vendor struct{ vendors.Identity }

// New returns a vendor. The error is always nil; it is there because New of every vendor returns one.
func New(cfg Config) (*Vendor, error) {
	return &Vendor{vendors.NewIdentity("drop", cfg.Account, 0, users.Drop)}, nil
}

// Send discards m.
func (v *Vendor) Send(ctx context.Context, m messages.Outbound) messages.Result {
	if r, ok := vendors.Begun(ctx); !ok {
		return r
	}
	if m.TooLate(time.Now()) {
		return messages.NotBegun()
	}
	return messages.Result{Outcome: messages.OutcomeSent, Detail: "discarded"}
}

// Close does nothing.
func (v *Vendor) Close() {}
