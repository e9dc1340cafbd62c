package catalog

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// Filter selects plans or templates. Texts are compared as a whole, in any case.
type Filter struct {
	operation.Paging
	Name        string `query:"name" json:"name,omitempty"`
	Creator     string `query:"creator" json:"creator,omitempty" doc:"A person's name."`
	Team        string `query:"team" json:"team,omitempty" doc:"The team that owns it."`
	Member      string `query:"member" json:"member,omitempty" doc:"A person who saved it, or a member of the team that owns it."`
	Search      string `query:"search" json:"search,omitempty" doc:"A part of the name."`
	Application string `query:"application" json:"application,omitempty" doc:"Only plans that name a template with a text for this application, and templates with a text for it."`
	Versions    string `query:"versions" json:"versions,omitempty" enum:"active,all" doc:"all: also those that are not active; default: active."`
	operation.Period
}

func (f Filter) query() (q filters.Query, err error) {
	q.Add("name", filters.Eq, f.Name)
	q.Add("creator", filters.Eq, f.Creator)
	q.Add("team", filters.Eq, f.Team)
	q.Add("member", filters.Eq, f.Member)
	q.Add("name", filters.Contains, f.Search)
	q.Add("application", filters.Eq, f.Application)
	if f.Versions != "all" {
		q.Conditions = append(q.Conditions, filters.Equal("active", true))
	}
	f.Add(&q)
	return q, f.Newest(&q)
}

// Owner is the team that owns an application, or all versions of a plan or template.
type Owner struct {
	Team operation.Text `json:"team" doc:"Its name; null = no team."`
	id   int64
}

// Tag is the number of the team.
func (o Owner) Tag() string { return strconv.FormatInt(o.id, 10) }

// versionStore stores versions of plans, or of templates: V is a version in a list, D one with its content. What does not
// exist is a NotFound fault.
type versionStore[V, D any, ID ~int64] interface {
	List(ctx context.Context, q filters.Query) ([]V, error)
	ByID(ctx context.Context, id ID) (D, error)
	// ByName finds the active version.
	ByName(ctx context.Context, name string) (D, error)
	// Switch activates the version "to" and deactivates the version "from"; 0 = none. It returns a Stale fault if
	// "from" is not the active version. by is the actor of the audit log.
	Switch(ctx context.Context, from, to ID, by string) error
	// SetActive activates a version in place of the active one, or deactivates it.
	SetActive(ctx context.Context, id ID, active bool) error
	// UsedBy names what uses a plan or template.
	UsedBy(ctx context.Context, name string) ([]string, error)
}

// Owners changes the teams that own objects.
type Owners interface {
	// Give returns a Stale fault if from does not own the object. by is the actor of the audit log.
	Give(ctx context.Context, kind, name string, from, to users.OwningTeam, by string) error
}

// versions are the operations that plans and templates share.
type versions[V, D any, ID ~int64] struct {
	kind    string // plan or template
	store   versionStore[V, D, ID]
	owners  Owners
	authors Authors
	head    func(D) (ID, Version)
	place   func(V) filters.Place
}

func (v versions[V, D, ID]) missing(numberOrName string) error {
	return fault.Newf(fault.NotFound, "there is no %s %.100q", v.kind, numberOrName)
}

func (v versions[V, D, ID]) list(ctx context.Context, f Filter) ([]V, *filters.Place, error) {
	q, err := f.query()
	if err != nil {
		return nil, nil, err
	}
	return filters.Reader[V](v.store.List).Page(ctx, q, v.place)
}

// find takes the number of any version, or the name of the active one.
func (v versions[V, D, ID]) find(ctx context.Context, numberOrName string) (D, error) {
	if n, err := strconv.ParseInt(numberOrName, 10, 64); err == nil {
		found, err := v.store.ByID(ctx, ID(n))
		return found, fault.When(err, fault.NotFound, v.missing(numberOrName))
	}
	found, err := v.store.ByName(ctx, numberOrName)
	return found, fault.When(err, fault.NotFound, v.missing(numberOrName))
}

// active finds the active version of a name. It refuses numbers, because versions do not change.
func (v versions[V, D, ID]) active(ctx context.Context, name string) (found D, id ID, head Version, err error) {
	if _, err := strconv.ParseInt(name, 10, 64); err == nil {
		return found, 0, head, fault.Newf(fault.Invalid, "a version cannot be changed: name the %s", v.kind)
	}
	if found, err = v.store.ByName(ctx, name); err != nil {
		return found, 0, head, fault.When(err, fault.NotFound, v.missing(name))
	}
	id, head = v.head(found)
	return found, id, head, nil
}

// changeable is active for callers who may change the object.
func (v versions[V, D, ID]) changeable(ctx context.Context, by operation.Actor, name string) (D, Version, error) {
	found, err := v.store.ByName(ctx, name)
	if err != nil {
		return found, Version{}, fault.When(err, fault.NotFound,
			fault.Newf(fault.NotFound, "there is no active %s %.100q", v.kind, name))
	}
	_, head := v.head(found)
	return found, head, head.changeableBy(by, "change")
}

// setActive activates or deactivates a version, in any state of the others.
func (v versions[V, D, ID]) setActive(ctx context.Context, by operation.Actor, id ID, active bool) error {
	found, err := v.store.ByID(ctx, id)
	if err == nil {
		_, head := v.head(found)
		err = head.changeableBy(by, "change")
	}
	if err == nil {
		err = v.store.SetActive(ctx, id, active)
	}
	return err
}

// replaces returns the version that a new version of a name must replace; nil = any.
func (v versions[V, D, ID]) replaces(ctx context.Context, name string, s operation.State) (stored string, replaces *ID, err error) {
	_, id, head, err := v.active(ctx, name)
	if err != nil {
		return "", nil, err
	}
	conditional, err := s.Check(head.Tag())
	if conditional {
		replaces = &id
	}
	return head.Name, replaces, err
}

// activate makes a stored version the active one of its name. The state is that of the version that is active before. A
// plan or template that was deleted is active again.
func (v versions[V, D, ID]) activate(ctx context.Context, by operation.Actor, name string, number int64, s operation.State) (D, error) {
	if _, err := strconv.ParseInt(name, 10, 64); err == nil {
		return *new(D), fault.Newf(fault.Invalid, "a version cannot be changed: name the %s", v.kind)
	}
	wanted, err := v.store.ByID(ctx, ID(number))
	to, head := v.head(wanted)
	if err == nil && !strings.EqualFold(head.Name, strings.TrimRight(name, " ")) {
		err = v.missing(strconv.FormatInt(number, 10))
	}
	if err != nil {
		return wanted, fault.When(err, fault.NotFound, v.missing(strconv.FormatInt(number, 10)))
	}
	active, found := v.store.ByName(ctx, head.Name)
	from, present := v.head(active)
	if fault.Is(found, fault.NotFound) {
		from, present.ID = 0, 0
		err = v.authors.mayReplace(ctx, by, head, nil)
		if err == nil && s.Tags() != nil {
			err = fault.Newf(fault.Stale, "no version of the %s is active", v.kind)
		}
	} else if err = v.authors.mayReplace(ctx, by, present, found); err == nil {
		_, err = s.Check(present.Tag())
	}
	if err == nil && from != to {
		err = v.store.Switch(ctx, from, to, by.Name)
	}
	if err != nil {
		return wanted, err
	}
	return v.store.ByID(ctx, to)
}

// remove deletes a plan or template. Its versions stay. Unless force is set, one that is in use stays: further are uses
// that the store does not know.
func (v versions[V, D, ID]) remove(ctx context.Context, by operation.Actor, name string, force bool, s operation.State, further func(context.Context, ID) ([]string, error)) error {
	found, err := v.store.ByName(ctx, name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	id, head := v.head(found)
	if by.Role != operation.Admin && (err != nil || head.creatorID == 0 || !MayChange(by, head.creatorID, head.owner)) {
		return operation.ErrAdminOnly
	}
	if err != nil {
		return fault.Newf(fault.NotFound, "there is no active %s %.255s", v.kind, name)
	}
	if err := etag.Match(s.Tags(), head.Tag()); err != nil {
		return err
	}
	uses, err := v.store.UsedBy(ctx, head.Name)
	if err == nil {
		var more []string
		more, err = further(ctx, id)
		uses = append(uses, more...)
	}
	if err == nil {
		err = RefuseInUse(v.kind, head.Name, uses, force)
	}
	if err != nil {
		return err
	}
	return v.store.Switch(ctx, id, 0, by.Name)
}

// maxUses is how many uses of an object a refusal names.
const maxUses = 50

// RefuseInUse returns a Conflict fault that names the uses of an object that is to be deleted, unless there are none or
// force is set.
func RefuseInUse(kind, name string, uses []string, force bool) error {
	if force || len(uses) == 0 {
		return nil
	}
	rest := ""
	if more := len(uses) - maxUses; more > 0 {
		uses, rest = uses[:maxUses], fmt.Sprintf(" and %d more", more)
	}
	return fault.Newf(fault.Conflict, "%s %s is in use by: %s%s. Change these first, or use force", kind, name,
		strings.Join(uses, ", "), rest)
}

func (v versions[V, D, ID]) owned(ctx context.Context, name string) (Version, error) {
	found, err := v.store.ByName(ctx, name)
	_, head := v.head(found)
	return head, fault.When(err, fault.NotFound, fault.Newf(fault.NotFound, "there is no active %s %.100q", v.kind,
		name))
}

func (v versions[V, D, ID]) owner(ctx context.Context, name string) (Owner, error) {
	head, err := v.owned(ctx, name)
	return ownerOf(head.owner), err
}

func ownerOf(t users.OwningTeam) Owner { return Owner{operation.Text(t.Name), t.ID} }

// give gives all versions to a team, or to none.
func (v versions[V, D, ID]) give(ctx context.Context, by operation.Actor, name string, o Owner, s operation.State) (Owner, error) {
	head, err := v.owned(ctx, name)
	if err != nil {
		return o, err
	}
	return giving{v.kind, head.Name, head.owner, MayChange(by, head.creatorID, users.OwningTeam{})}.to(ctx, by,
		v.authors.Teams, v.owners, o, s)
}

// giving is an object that is given to a team. owns: without the team, the caller is an owner.
type giving struct {
	kind, name string
	from       users.OwningTeam
	owns       bool
}

// to gives the object to a team, or to none, if it is in a state that the caller has read.
func (g giving) to(ctx context.Context, by operation.Actor, teams Teams, owners Owners, o Owner, s operation.State) (Owner, error) {
	var to users.OwningTeam
	var err error
	if o.Team != "" {
		if to, err = teams.ByName(ctx, string(o.Team)); err != nil && !fault.Is(err, fault.NotFound) {
			return o, err
		}
	}
	if refused := MayGive(by, g.owns, g.from, to); refused != nil {
		return o, refused
	}
	if err != nil {
		return o, fault.Invalidf("team", "there is no active team %.100q", string(o.Team))
	}
	if _, err := s.Check(ownerOf(g.from).Tag()); err != nil {
		return o, err
	}
	return ownerOf(to), owners.Give(ctx, g.kind, g.name, g.from, to, by.Name)
}
