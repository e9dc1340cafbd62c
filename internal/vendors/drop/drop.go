// Package drop is the vendor that deliberately discards messages: for mode drop, and for the self-watch's synthetic
// incidents. Package accounts builds it and delivery calls it.
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
type Vendor struct{ account string }

// New returns a vendor. The error is always nil; every vendor's New has one.
func New(cfg Config) (*Vendor, error) {
	if cfg.Account == "" {
		cfg.Account = "main"
	}
	return &Vendor{account: cfg.Account}, nil
}

// Name is the vendor's kind.
func (v *Vendor) Name() string { return "drop" }

// Account distinguishes accounts of one kind.
func (v *Vendor) Account() string { return v.account }

// Modes are the modes the vendor carries.
func (v *Vendor) Modes() []users.Mode { return []users.Mode{users.Drop} }

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
