package catalog

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/api/page"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/jsonbody"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// resource serves the versions of plans or of templates. V is a version in a list, D is a version with its content.
type resource[V, D any, ID ~int64] struct {
	Versions[V, D, ID]
	authors catalog.Authors
	kind    string   // plan or template
	members []string // of the body of PUT, besides creator
	place   func(V) filters.Place
	row     func(V) any
	show    func(found D, mayEdit bool) any
	head    func(D) (ID, catalog.Version)
	// name returns the name of a new plan or template without the spaces around it, or an Invalid fault.
	name func(string) (string, error)
	// save stores a version. replaces is the version that must be active; 0 = none, nil = any.
	save func(r *http.Request, b jsonbody.Object, name string, creator users.User, replaces *ID) (id ID, warnings []string, err error)
}

func (a resource[V, D, ID]) path() string { return "/v1/" + a.kind + "s" }

func (a resource[V, D, ID]) routes() []routing.Route {
	one := a.path() + "/{" + a.kind + "}"
	all := page.List[V]{Read: a.List, Show: a.row, Place: a.place, Texts: []string{"name", "creator", "team", "member"}, More: []string{"versions", "search"}, Further: versions}
	return []routing.Route{
		routing.Get(a.path(), routing.Someone, all.Answer),
		routing.Post(a.path(), routing.Write, a.create),
		routing.Get(one, routing.Someone, a.get),
		routing.Put(one, routing.Write, a.replace),
		routing.Post(one+"/versions/{version}/activate", routing.Write, a.activate),
	}
}

// missing gives a NotFound fault the text that names the missing object.
func (a resource[V, D, ID]) missing(err error) error {
	return fault.When(err, fault.NotFound, fault.Newf(fault.NotFound, "there is no such %s", a.kind))
}

func (a resource[V, D, ID]) get(w http.ResponseWriter, r *http.Request) error {
	id, name, err := named(r, a.kind)
	if err != nil {
		return err
	}
	var found D
	if name == "" {
		found, err = a.ByID(r.Context(), ID(id))
	} else {
		found, err = a.ByName(r.Context(), name)
	}
	if err != nil {
		return a.missing(err)
	}
	return a.answer(w, r, http.StatusOK, found)
}

// answer answers with a version and its tag. An answer 201 has the address of the object.
func (a resource[V, D, ID]) answer(w http.ResponseWriter, r *http.Request, status int, found D) error {
	id, head := a.head(found)
	routing.ShowTag(w, tag(id))
	if status == http.StatusCreated {
		w.Header().Set("Location", a.path()+"/"+url.PathEscape(head.Name))
	}
	return routing.Answer(w, status, a.show(found, head.MayEdit(wire.Actor(r.Context()))))
}

// create saves the first version. A name that has an active version is a 409.
func (a resource[V, D, ID]) create(w http.ResponseWriter, r *http.Request) error {
	b, err := jsonbody.ReadKnown(w, r, append([]string{"name", "creator", "team"}, a.members...)...)
	if err != nil {
		return err
	}
	name, err := b.Required("name")
	if err != nil {
		return err
	}
	if name, err = a.name(name); err != nil {
		return err
	}
	return a.saveAs(w, r, b, name, new(ID), http.StatusCreated)
}

// replace saves a new version of the plan or template that the path names.
func (a resource[V, D, ID]) replace(w http.ResponseWriter, r *http.Request) error {
	name, err := activeName(r, a.kind)
	if err != nil {
		return err
	}
	found, err := a.ByName(r.Context(), name)
	if err != nil {
		return a.missing(err)
	}
	b, err := jsonbody.ReadKnown(w, r, append([]string{"creator"}, a.members...)...)
	if err != nil {
		return err
	}
	active, head := a.head(found)
	conditional, err := routing.CheckTag(r, tag(active))
	if err != nil {
		return err
	}
	if !conditional {
		return a.saveAs(w, r, b, head.Name, nil, http.StatusOK)
	}
	return a.saveAs(w, r, b, head.Name, &active, http.StatusOK)
}

// saveAs stores a version and answers with it. replaces is as in save.
func (a resource[V, D, ID]) saveAs(w http.ResponseWriter, r *http.Request, b jsonbody.Object, name string, replaces *ID, status int) error {
	creator, err := a.creator(r, b)
	if err != nil {
		return err
	}
	id, warnings, err := a.save(r, b, name, creator, replaces)
	if err != nil {
		return err
	}
	saved, err := a.ByID(r.Context(), id)
	if err != nil {
		return err
	}
	wire.Warn(w, warnings)
	return a.answer(w, r, status, saved)
}

// creator finds the person in whose name a version is saved: the person that the body names, else the caller.
func (a resource[V, D, ID]) creator(r *http.Request, b jsonbody.Object) (users.User, error) {
	actor := wire.Actor(r.Context())
	name, err := b.Text("creator")
	if err != nil {
		return users.User{}, err
	}
	if name == "" {
		name = actor.Username
	}
	if name == "" {
		return users.User{}, fault.Invalidf("creator", "creator is required: the caller is no person")
	}
	u, err := a.authors.Creator(r.Context(), actor, name)
	if err == nil && !u.Active {
		err = fault.Invalidf("creator", "there is no active user %.100q", name)
	}
	return u, err
}

// activate makes a stored version the active one of its name. If-Match names the version that is active before. A plan or template
// that was deleted is active again.
func (a resource[V, D, ID]) activate(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if _, err := jsonbody.ReadOptional(w, r); err != nil {
		return err
	}
	name, err := activeName(r, a.kind)
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(wire.Param(r, "version"), 10, 64)
	if err != nil {
		return a.missing(fault.New(fault.NotFound, "no number"))
	}
	wanted, err := a.ByID(ctx, ID(n))
	if err != nil {
		return a.missing(err)
	}
	to, version := a.head(wanted)
	if !strings.EqualFold(version.Name, strings.TrimRight(name, " ")) {
		return a.missing(fault.New(fault.NotFound, "a version of another name"))
	}
	from, err := a.replaceable(r, version)
	if err == nil && from != to {
		err = a.Switch(ctx, from, to, wire.Actor(ctx).String())
	}
	if err != nil {
		return err
	}
	if wanted, err = a.ByID(ctx, to); err != nil {
		return err
	}
	return a.answer(w, r, http.StatusOK, wanted)
}

// replaceable returns the active version of the name; 0 if there is none. It refuses callers who may not replace that version, and
// requests whose If-Match names another one.
func (a resource[V, D, ID]) replaceable(r *http.Request, wanted catalog.Version) (ID, error) {
	found, err := a.ByName(r.Context(), wanted.Name)
	from, active := a.head(found)
	if err := a.authors.MayActivate(r.Context(), wire.Actor(r.Context()), wanted, active, err); err != nil {
		return 0, err
	}
	if err != nil && routing.IfMatch(r) != nil {
		return 0, fault.Newf(fault.Stale, "no version of the %s is active", a.kind)
	}
	_, err = routing.CheckTag(r, tag(from))
	return from, err
}

func tag[ID ~int64](id ID) string { return strconv.FormatInt(int64(id), 10) }
