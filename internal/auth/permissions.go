package auth

import (
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Refusals. Those of the v0 API have its texts.
var (
	ErrUsernameNeeded = &fault.Error{Kind: fault.Unauthenticated, Message: "Username must be specified for this action", EmptyDetail: true}
	ErrAppUserPower   = &fault.Error{Kind: fault.Unauthenticated, Message: "App must allow authentication as user for this action", EmptyDetail: true}
	ErrNotThisUser    = &fault.Error{Kind: fault.Unauthenticated, Message: "This user is not allowed to access this resource", EmptyDetail: true}
	ErrNoDevices      = fault.New(fault.Forbidden, "App not allowed to register devices")
	ErrNoRelay        = fault.New(fault.Forbidden, "This application may not pass on answers: give it the power with \"iris app set NAME --relay\"")
	ErrInternalOnly   = fault.New(fault.Forbidden, "App not allowed to use internal routes")
	ErrReadOnly       = fault.New(fault.Forbidden, "This user may only read")
	ErrAdminOnly      = fault.New(fault.Forbidden, "Only administrators may do this")
	ErrOwnerOnly      = fault.New(fault.Forbidden, "Only administrators and owners of this application may do this")
)

// MayRead allows reading what the v0 API calls open: to every known caller, or to anybody where that is opened.
func (a Actor) MayRead(open Openings) error {
	if !a.Known() && !open.AnonymousReads {
		return a.MayCome(open)
	}
	return nil
}

// MayCome allows what every known caller may do, such as reading what is not open to everybody.
func (a Actor) MayCome(open Openings) error {
	if !a.Known() && !open.NoCredentials {
		return ErrHeader
	}
	return nil
}

// MayTry is MayWrite for routes that check again: where authentication is switched off, requests without credentials pass, and
// act for nobody.
func (a Actor) MayTry(open Openings) error {
	if !a.Known() && open.NoCredentials {
		return nil
	}
	return a.MayWrite()
}

// MayWrite allows what every known caller may do unless they only read: open and answer incidents, comment, write plans.
func (a Actor) MayWrite() error {
	switch {
	case !a.Known():
		return ErrHeader
	case a.ReadOnly:
		return ErrReadOnly
	}
	return nil
}

// MaySelf guards routes about one person: for themselves, an administrator, or an application with the power to act for
// people that acts for nobody in particular.
// u.ID is 0 where nobody has the name.
func (a Actor) MaySelf(u users.User) error {
	switch {
	case !a.Known():
		return ErrUsernameNeeded
	case a.Username == "" && !a.ActsForUsers:
		return ErrAppUserPower
	case a.Username == "" || a.is(u) || a.Admin:
		return nil
	}
	return ErrNotThisUser
}

// is reports whether the actor is the person. Ids decide. Names are compared only where neither has an id: an application may
// act for somebody whom Iris does not know, and that person owns nothing here.
func (a Actor) is(u users.User) bool {
	if a.UserID != 0 || u.ID != 0 {
		return a.UserID == u.ID
	}
	return a.Username != "" && users.SameName(a.Username, u.Name)
}

// listed reports whether the configuration names an application, ignoring case. Only administrators name applications.
func listed(names []string, application string) bool {
	application = strings.ToLower(application)
	return application != "" && slices.ContainsFunc(names, func(name string) bool {
		return strings.ToLower(strings.TrimSpace(name)) == application
	})
}

// MayRelay guards the routes for answers that somebody else passes on: for relays, for applications that act for people, and
// for people, who pass on only what they may do themselves (MayPassOn). Where authentication is switched off, anybody may.
func (a Actor) MayRelay(open Openings) error {
	if err := a.MayTry(open); err != nil {
		return err
	}
	if a.Known() && a.Username == "" && !a.Relay && !a.ActsForUsers {
		return ErrNoRelay
	}
	return nil
}

// MayPassOn allows an answer of a person: to relays, and to actors who may act for that person. Routes signed by a vendor
// have checked the signature and have no actor.
func (a Actor) MayPassOn(u users.User, open Openings) error {
	if !a.Known() || a.Username == "" && a.Relay || a.MayActAs(u, open) {
		return nil
	}
	if a.Username == "" {
		return ErrNoRelay
	}
	return ErrNotThisUser
}

// MayClaimFor allows an acknowledgement for a person: to actors who may act for that person. With the compatibility switch,
// any application that acts for nobody may, as in the predecessor.
func (a Actor) MayClaimFor(u users.User, open Openings) bool {
	return a.MayActAs(u, open) || open.ApplicationsClaim && a.Known() && a.Username == ""
}

// MayPassOnMail allows a mail that opens an incident of an application: to relays, and to actors who may open it directly.
func (a Actor) MayPassOnMail(application int64) error {
	if !a.Known() || a.Username == "" && a.Relay || a.Admin || a.MayOpenAs(application) {
		return nil
	}
	if a.Username == "" {
		return ErrNoRelay
	}
	return ErrNotThisUser
}

// MayPassOnReceipts allows the receipts of vendors: to relays and administrators.
func (a Actor) MayPassOnReceipts(open Openings) error {
	if err := a.MayTry(open); err != nil {
		return err
	}
	if a.Known() && !a.Admin && (a.Username != "" || !a.Relay) {
		return ErrNoRelay
	}
	return nil
}

// MayWriteToAnybody allows notifications to addresses and numbers that are nobody's contact. Programs may; people with a session
// only if they are administrators: otherwise anybody could mail strangers in the installation's name.
func (a Actor) MayWriteToAnybody() error {
	if a.Session && !a.Admin {
		return ErrAdminOnly
	}
	return nil
}

// MayRegisterDevice guards the registration of a phone for a person: only applications that the operator named, and where
// they act for a person, only for that person.
func (a Actor) MayRegisterDevice(u users.User, applications []string) error {
	if a.ApplicationID == 0 || !listed(applications, a.Application) {
		return ErrNoDevices
	}
	if a.Username != "" && !a.Admin && !a.is(u) {
		return ErrNotThisUser
	}
	return nil
}

// MayAdminister allows what only administrators may do.
func (a Actor) MayAdminister() error {
	if !a.Admin {
		return ErrAdminOnly
	}
	return nil
}

// MayUseInternal allows what only programs that belong to Iris may do: the listed applications, acting for nobody.
func (a Actor) MayUseInternal(allowed []string) error {
	if a.Session || a.Username != "" || !listed(allowed, a.Application) {
		return ErrInternalOnly
	}
	return nil
}

// MayEditApplication allows changing the settings of the application with the internal id. It takes a person: the
// application's own key is not enough.
func (a Actor) MayEditApplication(application int64) error {
	if a.Admin || !a.ReadOnly && slices.Contains(a.Owns, application) {
		return nil
	}
	return ErrOwnerOnly
}

// Owning returns the actor with the application among what they own, if the person is one of its owners.
func (a Actor) Owning(application int64, owners []users.ID) Actor {
	if a.UserID != 0 && slices.Contains(owners, a.UserID) {
		a.Owns = append(slices.Clone(a.Owns), application)
	}
	return a
}

// MayNameCategories allows an application itself, its owners and administrators to say which categories it has.
func (a Actor) MayNameCategories(application int64) bool {
	return a.MayEditApplication(application) == nil || a.Username == "" && a.ApplicationID == application && application != 0
}
