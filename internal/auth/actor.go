package auth

import (
	"slices"
	"strconv"

	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Actor is the caller of a request: an application, a person, a person through an application, or a service token. The
// zero value is an unauthenticated caller. Only its methods decide what a caller may do.
type Actor struct {
	ApplicationID int64  // 0 = no application
	Application   string // its name; a web session acts through "iris"
	UserID        users.ID
	Username      string    // the person; "" = the application or the service token acts for itself
	Service       string    // the name of the service token with that of its owner; "" = another kind of caller
	Admin         bool      // the person is an administrator, or the service token belongs to the administrators
	OfAdmin       bool      // like Admin, for a token whose scopes leave out admin
	ReadOnly      bool      // the caller may only read
	Session       bool      // the caller was authenticated by a session or a token, not by a signature
	OldLogin      bool      // the session's log-in is not recent; see Confirmed
	Token         tokens.ID // the personal token or service token of the request; 0 = none
	// TeamAdminOf are the ids of the teams that the caller administers. Service tokens always have it, people only on
	// changes of the on-call APIs.
	TeamAdminOf []int64
	// MemberOf are the ids of the teams that the caller belongs to. It is filled like TeamAdminOf.
	MemberOf []int64
	// Owns are the ids of the applications that the person owns. Only Owning fills it.
	Owns []int64
	// Powers of the application.
	ActsForUsers   bool // allow_authenticating_users
	OpensForOthers bool // allow_other_app_incidents; it holds for requests that the application signed
	AllowOncall    bool
	Relay          bool // passes on the answers of people
}

// ByService returns the actor of a service token. It has no person. A token of a team has the rights of an
// administrator of that team, one of the administrators those of an administrator, as far as its scopes go. It can do
// nothing that belongs to a person, and acts for nobody.
func ByService(app Application, s tokens.Service) Actor {
	a := Actor{ApplicationID: app.ID, Application: app.Name, Service: s.String(), Token: s.ID, Session: true,
		Admin: s.TeamID == 0}
	if s.TeamID != 0 {
		a.TeamAdminOf, a.MemberOf = []int64{s.TeamID}, []int64{s.TeamID}
	}
	return a.Within(s.Scopes)
}

// CommandLine returns the actor of the iris command on the database. Whoever has the database may do everything, so it
// has the rights of an administrator. It has no person: it can do nothing that belongs to a person. Timelines and the
// audit log name it as "iris command".
func CommandLine(app Application) Actor {
	return Actor{ApplicationID: app.ID, Application: app.Name, Service: "iris command", Admin: true, Session: true}
}

// Within returns the actor with the rights that the scopes of a token leave. Without the scope admin the actor is no
// administrator.
func (a Actor) Within(s tokens.Scopes) Actor {
	a.OfAdmin = a.Admin
	a.Admin = a.Admin && s.Has(tokens.Admin)
	a.ReadOnly = a.ReadOnly || s.OnlyRead()
	return a
}

// Openings are compatibility switches: they allow what the predecessors allowed, for clients that need it. All are off
// by default. docs/compatibility.md describes each.
type Openings struct {
	AnonymousReads       bool // GET on most routes needs no credentials
	ChangeAnyPlan        bool // any application or session may delete, activate and deactivate any plan or template
	ApplicationsClaim    bool // any application that names no person may acknowledge in the name of anybody
	SessionsActForAnyone bool // an application's power to act for people applies even if a person was authenticated
	AdminsEditMembers    bool // administrators of a team may change names, contacts and activity of its members
	ReachEverything      bool // the key of an application reaches the incidents, messages and notifications of all applications
	NoCredentials        bool // authentication is switched off: requests without credentials are admitted as the zero Actor
}

// Known reports whether the caller was authenticated.
func (a Actor) Known() bool { return a.ApplicationID != 0 || a.Username != "" }

// String names the actor for timelines and logs.
func (a Actor) String() string {
	switch {
	case a.Username != "":
		return a.Username
	case a.Service != "":
		return a.Service
	case a.Application != "":
		return "application " + a.Application
	}
	return "nobody"
}

// Origin returns the actor as the author of changes, for the audit log.
func (a Actor) Origin() audit.Origin {
	o := audit.Origin{Actor: a.String(), TokenID: int64(a.Token), OldLogin: a.OldLogin}
	switch {
	case a.Username != "":
		o.Kind, o.ActorID = audit.Person, int64(a.UserID)
		if !a.Session {
			o.Through = a.Application
		}
	case a.Service != "" && a.Token == 0: // see CommandLine
		o.Kind = audit.Operator
	case a.Service != "":
		o.Kind, o.ActorID = audit.Service, int64(a.Token)
	case a.Application != "":
		o.Kind, o.ActorID = audit.Application, a.ApplicationID
	default:
		o.Kind = audit.Nobody
	}
	return o
}

// MayActAs reports whether the actor may act in the name of u: as u, as an administrator, or as an application that may
// act for people and names no person.
func (a Actor) MayActAs(u users.User, open Openings) bool {
	return MayActAs(a.Caller(open), u)
}

// mayActAsAnybody is MayActAs for every person.
func (a Actor) mayActAsAnybody(open Openings) bool {
	return !a.ReadOnly && (a.Admin || a.ActsForUsers && (a.Username == "" || open.SessionsActForAnyone))
}

// ErrNotItsApplication refuses to open an incident of an application that the caller may not name. It does not tell
// whether the application exists.
var ErrNotItsApplication = &fault.Error{Kind: fault.Forbidden, Field: "application",
	Message: "Only owners of an application and administrators may open its incidents: leave application out to open one of yours"}

// MayOpenAs reports whether the actor may name an application when an incident is opened; 0 = an application that does
// not exist. Its own key may, its owners (see Owning), administrators, their tokens, and signed requests of
// applications with the power to open incidents of others.
func (a Actor) MayOpenAs(application int64) bool {
	switch {
	case a.MayWrite() != nil:
		return false
	case a.Admin, a.OfAdmin, a.OpensForOthers && !a.Session:
		return true
	}
	return application != 0 && (a.ApplicationID == application || slices.Contains(a.Owns, application))
}

// Opener returns the name of a person or service token that opens an incident of the application iris, whose quotas and
// dedup keys are those of the opener; "" = the application opens it.
func (a Actor) Opener(application string) string {
	switch {
	case !a.Session || application != SessionApplication:
		return ""
	case a.UserID != 0:
		return "user " + strconv.FormatInt(int64(a.UserID), 10)
	case a.Token != 0:
		return "token " + strconv.FormatInt(int64(a.Token), 10)
	}
	return ""
}
