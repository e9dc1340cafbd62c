package sso

import (
	"slices"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Identity is an account at a provider, as the provider describes it at a log-in. Issuer and Subject together name the
// account for ever; the other values can change and can be given to another account.
type Identity struct {
	Provider string // its name in the configuration
	Issuer   string
	Subject  string

	Name          string // wanted log-in name; "" = the provider gave none
	FullName      string
	Email         string
	EmailVerified bool
	Groups        []string
	HasGroups     bool // false = the provider said nothing about groups
}

// TeamRule makes the members of a group at the provider members of a team.
type TeamRule struct {
	Group string
	Team  string
}

// Rules say what an identity gives. The zero value gives nothing to unknown people.
type Rules struct {
	Import     bool     // unknown people are created at their first log-in
	TrustEmail bool     // an existing person with the same verified e-mail address is linked
	Admins     []string // groups whose members are administrators
	ReadOnly   []string // groups whose members may only read, unless they are administrators
	Teams      []TeamRule
}

// Role is a right that groups give. It is not stored for members.
type Role string

// The roles.
const (
	Member   Role = ""
	Admin    Role = "admin"
	ReadOnly Role = "read_only"
)

// Facts are what is stored about an identity before a log-in. A user without ID = none.
type Facts struct {
	Linked  users.User // has the identity
	Granted Role       // the role that the groups of the identity gave to Linked
	Named   users.User // has the wanted name
	Mailed  users.User // has verified the e-mail address
	// MailedLinked reports whether Mailed has another identity.
	MailedLinked bool
}

// Kind is what a log-in does.
type Kind int

// The kinds.
const (
	Refuse Kind = iota // nobody is logged in; Reason says why
	Use                // the linked person
	Link               // an existing person gets the identity
	Create             // a new person gets the identity
)

// Decision is the outcome of a log-in for storage to carry out.
type Decision struct {
	Kind     Kind
	Identity Identity
	User     users.User // of Use and Link
	Reason   string     // of Refuse
	Listed   bool       // of Refuse: an administrator can help by linking, so the refusal is listed
	Rights   Rights
}

// Rights are the rights of a person after a log-in.
type Rights struct {
	Admin    bool
	ReadOnly bool
	Granted  Role // the part that the groups gave, and that a later log-in may take back
	// Teams are the teams of which the groups make the person a member. KeepTeams keeps the others too, because the
	// provider named no groups.
	Teams     []string
	KeepTeams bool
}

// Decide returns what a log-in with an identity does. An existing person is never taken over by a name. An e-mail
// address links only with TrustEmail, if provider and Iris have both verified it, and the person is no administrator
// and has no other identity.
func Decide(id Identity, f Facts, r Rules) Decision {
	d := Decision{Kind: Refuse, Identity: id}
	switch {
	case f.Linked.ID != 0 && !f.Linked.Active:
		d.Reason = "the person is switched off"
	case f.Linked.ID != 0:
		d.Kind, d.User = Use, f.Linked
	case r.TrustEmail && id.EmailVerified && f.Mailed.ID != 0 && f.Mailed.Active && !f.Mailed.Admin && !f.MailedLinked:
		d.Kind, d.User = Link, f.Mailed
	case f.Named.ID != 0:
		d.Reason, d.Listed = "the name belongs to an existing person", true
	case !r.Import:
		d.Reason, d.Listed = "nobody is linked to the account, and new people are not created", true
	case id.Name == "":
		d.Reason, d.Listed = "the provider gave no name", true
	default:
		d.Kind = Create
		if err := users.CheckNewName(id.Name); err != nil {
			d.Kind, d.Reason, d.Listed = Refuse, "the name cannot be used: "+fault.Public(err), true
		}
	}
	if d.Kind != Refuse {
		d.Rights = rights(d.User, f.Granted, id, r)
	}
	return d
}

// GroupRights returns the rights that groups give to a person whom a directory pushes; granted is the role that its
// groups gave before.
func GroupRights(u users.User, granted Role, groups []string, r Rules) Rights {
	return rights(u, granted, Identity{Groups: groups, HasGroups: true}, r)
}

// rights returns the rights of a person. A role that was given by hand stays. If the provider names no groups, rights
// become only narrower: the role of an administrator is taken back, and teams stay.
func rights(u users.User, granted Role, id Identity, r Rules) Rights {
	out := Rights{Admin: u.Admin, ReadOnly: u.ReadOnly, KeepTeams: !id.HasGroups}
	mapped := r.role(id.Groups)
	if !id.HasGroups && granted == ReadOnly {
		mapped = ReadOnly
	}
	if granted == Admin && mapped != Admin {
		out.Admin = false
	}
	if granted == ReadOnly && mapped != ReadOnly {
		out.ReadOnly = false
	}
	switch {
	case mapped == Admin && (granted == Admin || !out.Admin):
		out.Admin, out.Granted = true, Admin
	case mapped == ReadOnly && (granted == ReadOnly || !out.ReadOnly):
		out.ReadOnly, out.Granted = true, ReadOnly
	}
	for _, t := range r.Teams {
		if slices.Contains(id.Groups, t.Group) && !slices.Contains(out.Teams, t.Team) {
			out.Teams = append(out.Teams, t.Team)
		}
	}
	return out
}

func (r Rules) role(groups []string) Role {
	has := func(wanted []string) bool {
		return slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(wanted, g) })
	}
	switch {
	case has(r.Admins):
		return Admin
	case has(r.ReadOnly):
		return ReadOnly
	}
	return Member
}
