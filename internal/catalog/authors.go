package catalog

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// MaxName is the longest name of a plan or template, in characters.
const MaxName = 255

// Version is a version of a plan or template, without its content.
type Version struct {
	ID        int64          `json:"id"`
	Name      string         `json:"name"`
	Active    bool           `json:"active"`
	Creator   string         `json:"creator"`
	Team      operation.Text `json:"team" doc:"The team that owns all versions."`
	CreatedAt time.Time      `json:"created_at"`
	MayEdit   *bool          `json:"may_edit,omitempty" nullable:"false" doc:"The caller may delete it and give it to a team; not in lists."`

	kind      string // plan or template
	creatorID users.ID
	owner     users.OwningTeam
}

// Tag is the number of the version.
func (v Version) Tag() string { return strconv.FormatInt(v.ID, 10) }

// Teams finds active teams. A team that does not exist is a NotFound fault.
type Teams interface {
	ByName(ctx context.Context, name string) (users.OwningTeam, error)
	ByID(ctx context.Context, id int64) (users.OwningTeam, error)
}

// Authors decides in whose name a version may be saved, and who may change one.
type Authors struct {
	People users.Finder
	Teams  Teams
	// Teammates reports whether two people belong to the same active team.
	Teammates func(ctx context.Context, one, other users.ID) (bool, error)
}

// Creator finds the person in whose name a version is saved. It returns operation.ErrNotThisUser if the caller may not
// act for the person, and an Invalid fault if there is no such person. The service token of a team may name the members
// of the team.
func (a Authors) Creator(ctx context.Context, by operation.Actor, name string) (users.User, error) {
	u, err := a.People.ByName(ctx, name)
	unknown := fault.Is(err, fault.NotFound)
	if err != nil && !unknown {
		return u, err
	}
	if unknown {
		u = users.User{Name: name}
	}
	may := auth.MayActAs(by, u)
	if !may && by.Service != 0 {
		t, err := a.Teams.ByID(ctx, by.Service)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return u, err
		}
		may = writes(by) && !unknown && slices.Contains(t.Members, u.ID)
	}
	switch {
	case !may:
		return u, operation.ErrNotThisUser
	case unknown:
		return u, fault.Invalidf("creator", "Creator %s not found", name)
	}
	return u, nil
}

// creator is Creator for the name in the input of an operation; "" = the caller. The person must be active.
func (a Authors) creator(ctx context.Context, by operation.Actor, name string) (users.User, error) {
	if name == "" {
		if by.Person == 0 {
			return users.User{}, fault.Invalidf("creator", "creator is required: the caller is no person")
		}
		name = by.Name
	}
	u, err := a.Creator(ctx, by, name)
	if err == nil && !u.Active {
		err = fault.Invalidf("creator", "there is no active user %.100q", name)
	}
	return u, err
}

// team finds the team that owns a new plan or template; 0 = none. People may name their own teams, administrators any.
func (a Authors) team(ctx context.Context, by operation.Actor, name string) (int64, error) {
	if name == "" {
		return 0, nil
	}
	t, err := a.Teams.ByName(ctx, name)
	if err != nil {
		return 0, fault.When(err, fault.NotFound, fault.Invalidf("team", "there is no active team %.100q", name))
	}
	return t.ID, MayGive(by, true, users.OwningTeam{}, t)
}

func writes(by operation.Actor) bool { return by.Role >= operation.Member }

func is(by operation.Actor, u users.ID) bool { return by.Person != 0 && by.Person == int64(u) }

func inTeam(by operation.Actor, t users.OwningTeam) bool {
	return writes(by) && t.ID != 0 && (slices.Contains(by.Teams, t.ID) || by.Person != 0 &&
		slices.Contains(t.Members, users.ID(by.Person)))
}

func manages(by operation.Actor, t users.OwningTeam) bool {
	return writes(by) && t.ID != 0 && (slices.Contains(by.Manages, t.ID) || by.Person != 0 &&
		slices.Contains(t.Admins, users.ID(by.Person)))
}

// MayChange reports whether a caller may delete, activate or deactivate a plan or template. With a team as the owner
// its members may, without one the creator.
func MayChange(by operation.Actor, creator users.ID, team users.OwningTeam) bool {
	switch {
	case by.AnyVersion, by.ForAnybody:
		return true
	case team.ID == 0:
		return writes(by) && is(by, creator)
	}
	return inTeam(by, team)
}

// changeableBy returns a Forbidden fault if MayChange is false. verb says what the caller wants.
func (v Version) changeableBy(by operation.Actor, verb string) error {
	if MayChange(by, v.creatorID, v.owner) {
		return nil
	}
	return fault.Newf(fault.Forbidden, "Only %s or an admin may %s the %s %s", v.owner.OwnerText(v.Creator), verb, v.kind,
		v.Name)
}

// ErrNotOwner refuses a change of the team that owns an object.
var ErrNotOwner = fault.New(fault.Forbidden,
	"Only administrators, the owner and administrators of the team that owns this may give it to another team")

// MayGive allows a change of the team that owns an object, from one team to another; the zero team = none.
// Administrators may do it, and administrators of the present team. Without a present team, an owner may give the
// object to a team of their own.
func MayGive(by operation.Actor, owns bool, from, to users.OwningTeam) error {
	if err := by.Require(operation.Member); err != nil {
		return err
	}
	if by.Role == operation.Admin || manages(by, from) || from.ID == 0 && owns && (to.ID == 0 || inTeam(by, to)) {
		return nil
	}
	return ErrNotOwner
}

// seenBy returns the version as its own route shows it to a caller.
func (v Version) seenBy(by operation.Actor) Version {
	may := writes(by) && (v.creatorID != 0 && MayChange(by, v.creatorID, v.owner) || by.Role == operation.Admin)
	v.MayEdit = &may
	return v
}

// mayReplace allows a new version to callers for whom MayChange is true, and, if no team owns the name, to people in a
// team with the creator of the active one. found is the error of reading the active version; without an active version
// everything is allowed.
func (a Authors) mayReplace(ctx context.Context, by operation.Actor, v Version, found error) error {
	switch {
	case fault.Is(found, fault.NotFound):
		return nil
	case found != nil:
		return found
	case MayChange(by, v.creatorID, v.owner):
		return nil
	case v.owner.ID != 0:
		return fault.Newf(fault.Forbidden, "Only %s or an admin may replace the %s %s", v.owner.OwnerText(v.Creator), v.kind,
			v.Name)
	}
	if by.Person != 0 && writes(by) {
		are, err := a.Teammates(ctx, users.ID(by.Person), v.creatorID)
		if err != nil || are {
			return err
		}
	}
	return fault.Newf(fault.Forbidden, "Only %s, their teams or an admin may replace the %s %s", v.Creator, v.kind,
		v.Name)
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
