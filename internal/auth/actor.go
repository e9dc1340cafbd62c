package auth

import (
	"github.com/iris-oncall/iris/internal/users"
)

// Actor is on whose behalf a request acts: an application, a person, or a person through an application. The zero
// value is nobody. It is a value; what it may do is decided by its methods and nowhere else.
type Actor struct {
	ApplicationID int64  // 0 = nobody
	Application   string // name of the acting application; a web session acts as "iris"
	UserID        users.ID
	Username      string // the authenticated person; "" = the application itself
	Admin         bool   // the person's
	ReadOnly      bool   // the person only looks
	Session       bool   // came with a session cookie rather than a signature
	// TeamAdminOf are the teams the person administers, Owns the applications the person owns (internal ids).
	TeamAdminOf []int64
	// MemberOf are the teams the person belongs to (internal ids). Only the on-call API asks and fills it.
	MemberOf []int64
	Owns     []int64
	// Powers of the application.
	ActsForUsers   bool // allow_authenticating_users
	OpensForOthers bool // allow_other_app_incidents
	AllowOncall    bool
	Relay          bool // passes on what people answered
}

// Openings are holes of the predecessors that an operator can open again for clients that rely on them. All are
// closed by default; docs/compatibility.md names each.
type Openings struct {
	AnonymousReads       bool // GET on most routes needs no credentials
	ChangeAnyPlan        bool // any application or session deletes, activates and deactivates any plan or template
	ApplicationsClaim    bool // any application that acts for nobody claims incidents for anybody
	SessionsActForAnyone bool // an application's power to act for people counts even where a person was authenticated
	AdminsEditMembers    bool // administrators of a team change names, contacts and activity of its members
	NoCredentials        bool // requests without credentials go on as nobody's (authentication is switched off)
}

// Known reports whether the actor was authenticated at all.
func (a Actor) Known() bool { return a.ApplicationID != 0 || a.Username != "" }

// String names the actor for timelines and logs.
func (a Actor) String() string {
	switch {
	case a.Username != "":
		return a.Username
	case a.Application != "":
		return "application " + a.Application
	}
	return "nobody"
}

// MayActAs reports whether the actor may do something in the name of a user: as that user, as an administrator, or as
// an application with the power to act for people that acts for nobody in particular.
func (a Actor) MayActAs(u users.User, open Openings) bool {
	if a.ReadOnly {
		return false
	}
	if a.is(u) {
		return true
	}
	return a.Admin || (a.ActsForUsers && (a.Username == "" || open.SessionsActForAnyone))
}

// MayChange reports whether the actor may delete, activate or deactivate a plan or template made by creator.
func (a Actor) MayChange(creator users.ID, open Openings) bool {
	return a.MayActAs(users.User{ID: creator}, open) || (open.ChangeAnyPlan && a.MayTry(open) == nil)
}

// MayOpenAs reports whether the actor may open an incident in the name of an application; 0 is one that does not exist.
func (a Actor) MayOpenAs(application int64) bool {
	return a.MayWrite() == nil && (application != 0 && a.ApplicationID == application || a.OpensForOthers)
}
