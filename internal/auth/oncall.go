package auth

import (
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

// MayAdministerTeam allows what the administrators of a team may do.
func (a Actor) MayAdministerTeam(team int64, name string) error {
	if err := a.MayUseOncall(true); err != nil {
		return err
	}
	if a.program() || a.Admin || slices.Contains(a.TeamAdminOf, team) {
		return nil
	}
	return Unauthorized(`Action not allowed: "` + a.String() + `" is not an admin for "` + name + `"`)
}

// MayEditCalendar allows what the members of a team may do. name is the name of the team, "" if the request does not
// name it.
func (a Actor) MayEditCalendar(team int64, name string) error {
	if err := a.MayUseOncall(true); err != nil {
		return err
	}
	switch {
	case a.program() || a.Admin || slices.Contains(a.MemberOf, team) || slices.Contains(a.TeamAdminOf, team):
		return nil
	case name == "":
		return Unauthorized(`Action not allowed: "` + a.String() + `" is not a team member`)
	}
	return Unauthorized(`Action not allowed: "` + a.String() + `" is not part of "` + name + `"`)
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

// MayRename allows changing the name of a person: to administrators and applications of the on-call API. People may not
// rename themselves, because a new name could be mistaken for another person's.
func (a Actor) MayRename() error {
	if a.MayManageOncall() != nil {
		return Unauthorized(`Action not allowed: only administrators rename users`)
	}
	return nil
}

// MayManageOncall allows changes of what belongs to the installation: people, roles, services. Oncall allowed them in
// debug mode only.
func (a Actor) MayManageOncall() error {
	if err := a.MayUseOncall(true); err != nil {
		return err
	}
	if a.Admin || a.program() {
		return nil
	}
	return ErrOncallAdmin
}

// Unauthorized returns the refusal of a caller, as clients of Oncall know it.
func Unauthorized(why string) error {
	return &fault.Error{Kind: fault.Forbidden, Message: "Unauthorized", Detail: why}
}
