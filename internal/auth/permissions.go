package auth

import (
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// Refusals. Some texts are part of the v0 wire.
var (
	ErrNoDevices = fault.New(fault.Forbidden, "App not allowed to register devices")
	ErrNoRelay   = fault.New(fault.Forbidden,
		"This application may not pass on answers: give it the power with \"iris app set NAME --relay\"")
	ErrInternalOnly = fault.New(fault.Forbidden, "App not allowed to use internal routes")
)

// MayRead admits every authenticated caller to the reads that Iris left open. It admits anybody if AnonymousReads is
// on.
func (a Actor) MayRead(open Openings) error {
	if !a.Known() && !open.AnonymousReads {
		return a.MayCall(open)
	}
	return nil
}

// MayCall allows what every authenticated caller may do, such as reads that are not open to everybody. It admits
// requests without credentials if NoCredentials is on.
func (a Actor) MayCall(open Openings) error {
	if !a.Known() && !open.NoCredentials {
		return operation.ErrUnknown
	}
	return nil
}

// Confined reports whether the caller reaches only the incidents, messages and notifications of its own application: an
// application with its key. One that acts for a person whom Iris knows reaches what that person reaches.
// ReachEverything lifts the rule.
func (a Actor) Confined(open Openings) bool {
	return a.ApplicationID != 0 && a.Service == "" && a.UserID == 0 && !open.ReachEverything && !open.NoCredentials
}

// MayTry is MayWrite for routes that check again later. If NoCredentials is on, it also admits requests without
// credentials; they act for nobody.
func (a Actor) MayTry(open Openings) error {
	if !a.Known() && open.NoCredentials {
		return nil
	}
	return a.MayWrite()
}

// MayWrite admits every authenticated caller except read-only people: to open and acknowledge incidents, comment, and
// write plans.
func (a Actor) MayWrite() error {
	switch {
	case !a.Known():
		return operation.ErrUnknown
	case a.ReadOnly:
		return operation.ErrReadOnly
	}
	return nil
}

// MaySelf is users.MaySelf for routes about the person u. u.ID is 0 if there is no such person.
func (a Actor) MaySelf(u users.User) error {
	if a.is(u) {
		return nil
	}
	return users.MaySelf(a.Caller(Openings{}), u.ID)
}

// is reports whether the actor is the person. It compares ids. It compares names only if neither has an id: an
// application may act for a person whom Iris does not know, and that person owns nothing here.
func (a Actor) is(u users.User) bool {
	if a.UserID != 0 || u.ID != 0 {
		return a.UserID == u.ID
	}
	return a.Username != "" && users.SameName(a.Username, u.Name)
}

// listed reports whether the configuration names an application. It ignores case.
func listed(names []string, application string) bool {
	application = strings.ToLower(application)
	return application != "" && slices.ContainsFunc(names, func(name string) bool {
		return strings.ToLower(strings.TrimSpace(name)) == application
	})
}

// MayRelay guards the routes for answers that a caller passes on. It admits relays, applications that act for people,
// and people; MayPassOn then checks each answer. If NoCredentials is on, it admits anybody.
func (a Actor) MayRelay(open Openings) error {
	if err := a.MayTry(open); err != nil {
		return err
	}
	if a.Known() && a.Username == "" && !a.Relay && !a.ActsForUsers {
		return ErrNoRelay
	}
	return nil
}

// MayPassOn allows passing on an answer of u: to relays, and to actors who may act for u. Routes that a vendor signs
// have no actor; they have checked the vendor's signature.
func (a Actor) MayPassOn(u users.User, open Openings) error {
	if !a.Known() || a.Username == "" && a.Relay || a.MayActAs(u, open) {
		return nil
	}
	if a.Username == "" {
		return ErrNoRelay
	}
	return operation.ErrNotThisUser
}

// MayPassOnMail allows passing on a mail that opens an incident of an application: to relays, and to actors who may
// open the incident themselves.
func (a Actor) MayPassOnMail(application int64) error {
	if !a.Known() || a.Username == "" && a.Relay || a.Admin || a.MayOpenAs(application) {
		return nil
	}
	if a.Username == "" {
		return ErrNoRelay
	}
	return operation.ErrNotThisUser
}

// Caller returns the actor as operations see it. open has the compatibility switches. If NoCredentials is on, requests
// without credentials may write; they act for nobody.
func (a Actor) Caller(open Openings) operation.Actor {
	out := operation.Actor{Name: a.String(), Person: int64(a.UserID), Program: a.program(), Teams: a.MemberOf,
		Manages: a.TeamAdminOf,
		Service: a.ServiceTeam(), Token: int64(a.Token), ForAnybody: a.mayActAsAnybody(open), AnyVersion: open.ChangeAnyPlan &&
			a.MayTry(open) == nil, Through: a.Application, Session: a.Session}
	switch {
	case !a.Known() && !open.NoCredentials:
		out.Role = operation.Nobody
	case a.ReadOnly:
		out.Role, out.ReadOnlyAdmin = operation.Reader, a.Admin
	case a.Admin:
		out.Role = operation.Admin
	default:
		out.Role = operation.Member
	}
	if a.Confined(open) {
		out.Application, out.ApplicationName = a.ApplicationID, a.Application
	}
	return out
}

// Claimer is Caller for acknowledgements. If ApplicationsClaim is on, any application that names no person may
// acknowledge in the name of anybody, as in Iris.
func (a Actor) Claimer(open Openings) operation.Actor {
	out := a.Caller(open)
	out.ForAnybody = out.ForAnybody || open.ApplicationsClaim && a.program()
	return out
}

// MayActAs is Actor.MayActAs for a caller of operations. u.ID is 0 if there is no such person.
func MayActAs(by operation.Actor, u users.User) bool {
	self := by.Person == int64(u.ID) && (u.ID != 0 || users.SameName(by.Name, u.Name))
	return by.Role >= operation.Member && self || by.ForAnybody
}

// MayPassOnReceipts allows passing on the receipts of vendors: to relays and administrators.
func (a Actor) MayPassOnReceipts(open Openings) error {
	if err := a.MayTry(open); err != nil {
		return err
	}
	if a.Known() && !a.Admin && (a.Username != "" || !a.Relay) {
		return ErrNoRelay
	}
	return nil
}

// MayRegisterDevice guards the registration of a phone for u. It admits the applications that the operator listed. An
// application that acts for a person may register phones of that person only.
func (a Actor) MayRegisterDevice(u users.User, applications []string) error {
	if a.ApplicationID == 0 || a.Service != "" || !listed(applications, a.Application) {
		return ErrNoDevices
	}
	if a.Username != "" && !a.Admin && !a.is(u) {
		return operation.ErrNotThisUser
	}
	return nil
}

// MayAdminister allows what only administrators may do.
func (a Actor) MayAdminister() error {
	if !a.Admin {
		return operation.ErrAdminOnly
	}
	return nil
}

// MayUseInternal allows what only programs of Iris may do: the listed applications, when they name no person.
func (a Actor) MayUseInternal(allowed []string) error {
	if a.Session || a.Username != "" || !listed(allowed, a.Application) {
		return ErrInternalOnly
	}
	return nil
}

// Owning returns the actor with the application added to Owns, if the actor's person is one of the owners or the actor
// belongs to the team that owns it.
func (a Actor) Owning(application int64, owners []users.ID, team users.OwningTeam) Actor {
	if a.UserID != 0 && slices.Contains(owners, a.UserID) || a.InTeam(team) {
		a.Owns = append(slices.Clone(a.Owns), application)
	}
	return a
}
