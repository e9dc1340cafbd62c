package auth

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// The refusals of the on-call API with a fixed text. The texts are part of its wire (title in Message, description in
// Detail).
var (
	ErrNotLoggedIn = &fault.Error{Kind: fault.Unauthenticated, Message: "Unauthorized",
		Detail: "User must be logged in"}
	ErrSessionGone = &fault.Error{Kind: fault.Unauthenticated, Message: "Invalid Session",
		Detail: "CSRF token missing"}
	ErrCSRF = &fault.Error{Kind: fault.Unauthenticated, Message: "Invalid Session",
		Detail: "CSRF validation failed"}
	ErrDigestFormat  = failure("Invalid digest format")
	ErrOncallDigest  = failure("Wrong digest")
	ErrOncallNotOpen = &fault.Error{Kind: fault.Forbidden, Message: "Unauthorized",
		Detail: "This application may not use the on-call API (flag allow_oncall)"}
	ErrOncallReadOnly = &fault.Error{Kind: fault.Forbidden, Message: "Unauthorized", Detail: "This user may only read"}
	ErrOncallAdmin    = &fault.Error{Kind: fault.Forbidden, Message: "403 Forbidden", Detail: "Admin only action"}
	ErrPersonNeeded   = &fault.Error{Kind: fault.Forbidden, Message: "Unauthorized",
		Detail: "Action not allowed for applications: it needs a user"}
)

// SignedOncall reports whether digest is the application's signature over an on-call request. It is Signed without the
// username. It also accepts a signature over decoded path and query, percent-encoded together except for slashes,
// because some clients sign that.
func (a Application) SignedOncall(r SignedRequest, digest string, now time.Time) bool {
	r.Username = ""
	if a.Signed(r, digest, now) {
		return true
	}
	whole := r.Path
	if r.RawQuery != "" {
		whole += "?" + r.RawQuery
	}
	return a.Signed(SignedRequest{Method: r.Method, Path: quote(whole), Body: r.Body}, digest, now)
}

// quote percent-encodes every byte that is neither unreserved (RFC 3986) nor a slash.
func quote(s string) string {
	const hexDigits = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~/", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', hexDigits[c>>4], hexDigits[c&15]})
	}
	return b.String()
}

// program reports whether the actor is an application that names no person. With AllowOncall it has all permissions of
// the on-call API.
func (a Actor) program() bool { return a.ApplicationID != 0 && a.Username == "" && a.Service == "" }

// MayUseOncall admits people, and applications with AllowOncall. If change is true, it refuses read-only people.
func (a Actor) MayUseOncall(change bool) error {
	switch {
	case a.Username == "" && !a.Known():
		return ErrNotLoggedIn
	case a.program() && !a.AllowOncall:
		return ErrOncallNotOpen
	case change && a.ReadOnly:
		return ErrOncallReadOnly
	}
	return nil
}

// MayReadOncall admits the callers of MayUseOncall to reads. If AnonymousReads is on, it also admits unauthenticated
// callers.
func (a Actor) MayReadOncall(open Openings) error {
	if open.AnonymousReads && !a.Known() {
		return nil
	}
	return a.MayUseOncall(false)
}

// CalendarCaller returns the caller of an operation on calendars. If AnonymousReads is on, an unauthenticated caller may
// read.
func (a Actor) CalendarCaller(open Openings) operation.Actor {
	out := a.Caller(Openings{})
	out.OnCall = a.program() && a.AllowOncall
	if !a.Known() && open.AnonymousReads {
		out.Name, out.Role = "", operation.Reader
	}
	return out
}

// Memberships reads the teams that a person belongs to and administers.
type Memberships interface {
	MembershipsOf(ctx context.Context, id users.ID) ([]users.Membership, error)
}

// TeamsOf returns the teams that a person belongs to, and those that the person administers.
func TeamsOf(ctx context.Context, m Memberships, person users.ID) (member, manages []int64, err error) {
	found, err := m.MembershipsOf(ctx, person)
	for _, of := range found {
		if of.Member {
			member = append(member, of.TeamID)
		}
		if of.Admin {
			manages = append(manages, of.TeamID)
		}
	}
	return member, manages, err
}

// Planner is a caller whose teams are known, and says what the caller may do on the calendars of teams. It implements
// editing.Caller and scheduling.Administrator.
type Planner struct{ operation.Actor }

// PlannerOf returns the caller. It reads the teams of a person unless they are known.
func PlannerOf(ctx context.Context, m Memberships, by operation.Actor) (p Planner, err error) {
	if by.Person != 0 && len(by.Teams)+len(by.Manages) == 0 {
		by.Teams, by.Manages, err = TeamsOf(ctx, m, users.ID(by.Person))
	}
	return Planner{by}, err
}

func (p Planner) everywhere() bool { return p.Role == operation.Admin || p.OnCall }

// Administers reports whether the caller is an administrator of a team.
func (p Planner) Administers(team int64) bool { return slices.Contains(p.Manages, team) }

// MayAdministerTeam allows what the administrators of a team may do: to them, to administrators, and to applications
// of the on-call API.
func (p Planner) MayAdministerTeam(team int64, name string) error {
	if p.everywhere() || p.Administers(team) {
		return nil
	}
	return p.refused(`is not an admin for "` + name + `"`)
}

// MayEditCalendar allows what the members of a team may do. name is the name of the team, "" if the request does not
// name it.
func (p Planner) MayEditCalendar(team int64, name string) error {
	switch {
	case p.everywhere(), slices.Contains(p.Teams, team), p.Administers(team):
		return nil
	case name == "":
		return p.refused("is not a team member")
	}
	return p.refused(`is not part of "` + name + `"`)
}

func (p Planner) refused(why string) error {
	return Unauthorized(`Action not allowed: "` + p.Name + `" ` + why)
}

// MayManageOncall allows changes of what belongs to the installation, such as people, roles and services: to
// administrators and applications of the on-call API. Oncall allowed them in debug mode only.
func MayManageOncall(by operation.Actor) error {
	if by.Role == operation.Admin || by.OnCall {
		return nil
	}
	return ErrOncallAdmin
}

// MayEditPerson allows changing settings, reminders, contacts and activity of u: to u, to administrators and to
// applications of the on-call API. reads: the caller only reads them, which an administrator who may only read may do.
// Oncall also allowed it to administrators of u's teams. Here that needs
// AdminsEditMembers, because everybody may create a team and add people to it. A service token of a team may not: what
// it changes belongs to a person.
func (a Actor) MayEditPerson(u users.User, theirTeams []int64, reads bool, open Openings) error {
	if a.program() && a.AllowOncall || a.Admin && (reads || !a.ReadOnly) || a.is(u) {
		return nil
	}
	if err := a.MayUseOncall(true); err != nil {
		return err
	}
	for _, t := range theirTeams {
		if open.AdminsEditMembers && a.Service == "" && slices.Contains(a.TeamAdminOf, t) {
			return nil
		}
	}
	return Unauthorized(`Action not allowed for "` + a.String() + `"`)
}

// Unauthorized returns the refusal of a caller, as clients of Oncall know it.
func Unauthorized(why string) error {
	return &fault.Error{Kind: fault.Forbidden, Message: "Unauthorized", Detail: why}
}
