package users

import (
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// Account is a person as lists of accounts show them.
type Account struct {
	User
	Reached    []Mode    // the modes for which the person has a contact, in the order of the modes
	Teams      []string  // names of the active ones; only for a single account
	ManagedBy  string    // the kind of directory that manages the account: ldap, slack or scim; "" = none
	LoggedInAt time.Time // the last log-in that is known; zero = none
}

// Roles of people in queries of accounts.
const (
	RoleAdmin    = "admin"
	RoleReadOnly = "read_only"
	RoleMember   = "member"
)

// AccountQuery selects accounts. Empty fields match every account.
type AccountQuery struct {
	Active  bool
	Keyword string // in the name or the full name, ignoring case
	Role    string
	Team    string
	Without string // phone: neither calls nor texts reach the person; contact: nothing does
	After   string // begins after this name, in the order of the names
	Most    int
}

// NewAccount is a person to be added.
type NewAccount struct {
	Name     string                  `json:"name"`
	FullName operation.Text          `json:"full_name" required:"false"`
	TimeZone operation.Text          `json:"time_zone" required:"false" doc:"null = UTC."`
	Admin    bool                    `json:"admin" required:"false"`
	ReadOnly bool                    `json:"read_only" required:"false"`
	Contacts map[Mode]operation.Text `json:"contacts,omitempty" nullable:"true" doc:"Destinations by mode."`
}

// AccountChange changes an account. What is left out stays.
type AccountChange struct {
	FullName *string `json:"full_name,omitempty"`
	Admin    *bool   `json:"admin,omitempty"`
	ReadOnly *bool   `json:"read_only,omitempty"`
	Active   *bool   `json:"active,omitempty"`
}

// Apply returns u with the changes. A person cannot be an administrator and read-only at the same time: an Invalid
// fault.
func (c AccountChange) Apply(u User) (User, error) {
	if c.FullName != nil {
		u.FullName = *c.FullName
	}
	for _, f := range []struct{ from, to *bool }{{c.Admin, &u.Admin}, {c.ReadOnly, &u.ReadOnly}, {c.Active, &u.Active}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	return u, CheckRole(u.Admin, u.ReadOnly)
}

// CheckRole refuses an administrator who may only read.
func CheckRole(admin, readOnly bool) error {
	if admin && readOnly {
		return fault.Invalidf("read_only", "an administrator cannot be somebody who may only read")
	}
	return nil
}

// Reachability counts the active people of a team, and which modes reach them.
type Reachability struct {
	Team           operation.Text `json:"team" doc:"null = everybody."`
	People         int            `json:"people"`
	WithoutPhone   int            `json:"without_phone"`
	WithoutContact int            `json:"without_contact"`
	Modes          map[Mode]int   `json:"modes" doc:"How many people each mode reaches."`
}

// Display is how pages show a person, and times to the person.
type Display struct {
	PhotoURL string // "" = none
	TimeZone string // "" = nobody chose one: that of the browser
	Clock    string // "12" or "24"; "" = 24
}

// Check returns an Invalid fault if the settings cannot be stored.
func (d Display) Check() error {
	if _, err := time.LoadLocation(d.TimeZone); err != nil || d.TimeZone == "Local" {
		return fault.Invalidf("time_zone", "there is no time zone %.60q: use a name such as Europe/Berlin", d.TimeZone)
	}
	if d.Clock != "" && d.Clock != "12" && d.Clock != "24" {
		return fault.Invalidf("clock", "clock must be 12 or 24")
	}
	return nil
}
