package vendors

import (
	"cmp"
	"net/url"
	"slices"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Identity is what every vendor says about itself. Vendors embed it.
type Identity struct {
	kind, account string
	conns         int
	modes         []users.Mode
}

// NewIdentity returns the identity of an account of a kind of vendor, which carries the modes. account "" = "main".
// conns is how many calls of one mode can be in flight at once, 0 = any number.
func NewIdentity(kind, account string, conns int, modes ...users.Mode) Identity {
	return Identity{kind, cmp.Or(account, "main"), conns, modes}
}

// Name is the vendor's kind.
func (i Identity) Name() string { return i.kind }

// Account distinguishes accounts of one kind.
func (i Identity) Account() string { return i.account }

// Modes are the modes the vendor carries.
func (i Identity) Modes() []users.Mode { return slices.Clone(i.modes) }

// Connections is how many calls of one mode can be in flight at once; 0 = any number.
func (i Identity) Connections() int { return i.conns }

// CheckURL returns an Invalid fault of the field if text is not an http or https URL.
func (i Identity) CheckURL(field, text string) error {
	if u, err := url.Parse(text); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fault.Invalidf(field, "%s: %s is not an http or https URL", i.kind, field)
	}
	return nil
}
