package auth

import (
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
)

// Refusals. Those that the v0 API knows use its words.
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

// MayCome allows what every known caller may do, reading what is not open to all among it.
func (a Actor) MayCome(open Openings) error {
	if !a.Known() && !open.NoCredentials {
		return ErrHeader
	}
	return nil
}

// MayTry is MayWrite at the door of a route: where authentication is switched off, requests without credentials are let in,
// and get what nobody may.
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
// people that speaks for nobody in particular.
func (a Actor) MaySelf(username string) error {
	switch {
	case !a.Known():
		return ErrUsernameNeeded
	case a.Username == "" && !a.ActsForUsers:
		return ErrAppUserPower
	case a.Username == "" || sameName(a.Username, username) || a.Admin:
		return nil
	}
	return ErrNotThisUser
}

// sameName compares names as the predecessor's database does: case and trailing spaces do not count.
func sameName(a, b string) bool {
	return strings.EqualFold(strings.TrimRight(a, " "), strings.TrimRight(b, " "))
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

// MayPassOn allows an answer in the name of a person: to relays, and to whoever may act for that person. Routes that a vendor
// signs have checked the signature and know no actor.
func (a Actor) MayPassOn(username string, open Openings) error {
	if !a.Known() || a.Username == "" && a.Relay || a.MayActAs(username, open) {
		return nil
	}
	if a.Username == "" {
		return ErrNoRelay
	}
	return ErrNotThisUser
}

// MayClaimFor allows an acknowledgement in the name of a person: to whoever may act for that person. Where that is opened,
// any application that speaks for nobody may as well, as in the predecessor.
func (a Actor) MayClaimFor(username string, open Openings) bool {
	return a.MayActAs(username, open) || open.ApplicationsClaim && a.Known() && a.Username == ""
}

// MayPassOnMail allows a mail that opens an incident of an application: to relays, and to whoever may open it directly.
func (a Actor) MayPassOnMail(application string) error {
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

// MayRegisterDevice guards the registration of a phone for a person: only applications that the operator named, and where
// they speak for somebody, only for that person.
func (a Actor) MayRegisterDevice(username string, applications []string) error {
	if a.ApplicationID == 0 || !slices.ContainsFunc(applications, func(name string) bool { return sameName(name, a.Application) }) {
		return ErrNoDevices
	}
	if a.Username != "" && !a.Admin && !sameName(a.Username, username) {
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

// MayUseInternal allows what only programs that belong to Iris may do: the listed applications, by name, speaking for nobody.
func (a Actor) MayUseInternal(allowed []string) error {
	listed := func(name string) bool { return sameName(name, a.Application) }
	if a.Session || a.Username != "" || a.Application == "" || !slices.ContainsFunc(allowed, listed) {
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
func (a Actor) Owning(application int64, owners []string) Actor {
	is := func(owner string) bool { return strings.EqualFold(owner, a.Username) }
	if a.UserID != 0 && slices.ContainsFunc(owners, is) {
		a.Owns = append(slices.Clone(a.Owns), application)
	}
	return a
}

// MayNameCategories allows an application itself, its owners and administrators to say which categories it has.
func (a Actor) MayNameCategories(application int64) bool {
	return a.MayEditApplication(application) == nil || a.Username == "" && a.ApplicationID == application && application != 0
}
