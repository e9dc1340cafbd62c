// Package drop is the vendor that deliberately discards: mode drop, and the synthetic incidents of the self-watch.
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
	// Account tells several apart. "" = "main".
	Account string
}

// Vendor discards what it is given and says that it was sent.
type Vendor struct{ account string }

// New returns a vendor. The error is always nil; it is there because every vendor has it.
func New(cfg Config) (*Vendor, error) {
	if cfg.Account == "" {
		cfg.Account = "main"
	}
	return &Vendor{account: cfg.Account}, nil
}

// Name is the vendor's kind.
func (v *Vendor) Name() string { return "drop" }

// Account tells several vendors of the kind apart.
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

// Close has nothing to release.
func (v *Vendor) Close() {}
