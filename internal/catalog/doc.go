// Package catalog saves plans and templates. It checks them, decides who may replace a version, and calls storage. The edges of
// /v0 and /v1 call it. It knows no HTTP. A fault names the field as bodies of /v1 spell it, and has the title that clients of /v0
// expect.
package catalog

import (
	"context"
	"errors"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// MaxName is the longest name of a plan or template, in characters.
const MaxName = 255

// People finds people by name, ignoring case; a NotFound fault when there is none.
type People interface {
	ByName(ctx context.Context, name string) (users.User, error)
}

// MayEdit reports whether the actor may delete the plan or template, or give it to a team.
func (v Version) MayEdit(actor auth.Actor) bool {
	owns := v.CreatorID != 0 && actor.MayChange(v.CreatorID, v.Team, auth.Openings{})
	return !actor.ReadOnly && (owns || actor.MayAdminister() == nil)
}

// Authors decides in whose name a version may be saved, and who may replace it.
type Authors struct {
	People People
	// Teammates reports whether two people belong to the same active team.
	Teammates func(ctx context.Context, one, other users.ID) (bool, error)
	// Team returns an active team by its id. A team that does not exist is a NotFound fault.
	Team     func(ctx context.Context, id int64) (users.OwningTeam, error)
	Openings auth.Openings
}

// Creator finds the person in whose name a version is saved. It returns auth.ErrNotThisUser if the actor may not act for the
// person, and an Invalid fault if there is no such person. The service token of a team may name the members of the team.
func (a Authors) Creator(ctx context.Context, actor auth.Actor, name string) (users.User, error) {
	u, err := a.People.ByName(ctx, name)
	unknown := fault.Is(err, fault.NotFound)
	if err != nil && !unknown {
		return u, err
	}
	if unknown {
		u = users.User{Name: name}
	}
	may := actor.MayActAs(u, a.Openings)
	if team := actor.ServiceTeam(); !may && team != 0 {
		t, err := a.Team(ctx, team)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return u, err
		}
		may = !actor.ReadOnly && !unknown && slices.Contains(t.Members, u.ID)
	}
	switch {
	case !may:
		return u, auth.ErrNotThisUser
	case unknown:
		return u, fault.Invalidf("creator", "Creator %s not found", name)
	}
	return u, nil
}

// Version is a version of a plan or template: the facts that decide who may replace it.
type Version struct {
	Kind, Name, Creator string
	CreatorID           users.ID
	Team                users.OwningTeam
}

// MayActivate allows the activation of a version to people who may replace the active one. Without an active version (found is then
// a NotFound fault) they must be allowed to replace the version itself. Others get a Forbidden fault.
func (a Authors) MayActivate(ctx context.Context, actor auth.Actor, wanted, active Version, found error) error {
	if fault.Is(found, fault.NotFound) {
		active, found = wanted, nil
	}
	return a.mayReplace(ctx, actor, active, found)
}

// mayReplace allows a new version to actors for whom auth.Actor.MayChange is true, and, if no team owns the name, to people in a team with the
// creator of the active one. found is the error of reading the active version; without an active version everything is allowed.
func (a Authors) mayReplace(ctx context.Context, actor auth.Actor, v Version, found error) error {
	switch {
	case fault.Is(found, fault.NotFound):
		return nil
	case found != nil:
		return found
	case actor.MayChange(v.CreatorID, v.Team, a.Openings):
		return nil
	case v.Team.ID != 0:
		return fault.Newf(fault.Forbidden, "Only %s or an admin may replace the %s %s", v.Team.Or(v.Creator), v.Kind, v.Name)
	}
	if actor.UserID != 0 && !actor.ReadOnly {
		are, err := a.Teammates(ctx, actor.UserID, v.CreatorID)
		if err != nil || are {
			return err
		}
	}
	return fault.Newf(fault.Forbidden, "Only %s, their teams or an admin may replace the %s %s", v.Creator, v.Kind, v.Name)
}

// invalid returns an Invalid fault about a field, with a title.
func invalid(field, title, detail string) error {
	return &fault.Error{Kind: fault.Invalid, Field: field, Message: title, Detail: detail}
}

// titled gives an Invalid fault a title; its message becomes the detail.
func titled(err error, title string) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid {
		return err
	}
	return invalid(f.Field, title, fault.Public(f))
}

// Destination reports whether s can be a destination of messages: one line of 1 to MaxDestination bytes.
func Destination(s string) bool {
	blank := true
	for _, c := range s {
		if unicode.IsControl(c) {
			return false
		}
		blank = blank && unicode.IsSpace(c)
	}
	return !blank && len(s) <= MaxDestination && utf8.ValidString(s)
}

// MaxDestination is the longest destination, in bytes.
const MaxDestination = 1000
