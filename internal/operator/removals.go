package operator

import (
	"context"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/catalog"
	pgpeople "github.com/iris-oncall/iris/internal/postgres/people"
	"github.com/iris-oncall/iris/internal/users"
)

// Removals deletes teams, users, plans and templates, for /v1 and for the command line. An object that is in use is not
// deleted, unless that is forced. History is kept: a team keeps its past under another name, a user is switched off, plans
// and templates have no active version any more.
type Removals struct {
	uses      *catalog.Uses
	teams     *pgpeople.Teams
	profiles  *pgpeople.OncallTeams
	users     *pgpeople.Users
	people    *pgpeople.OncallPeople
	plans     *catalog.Plans
	templates *catalog.Templates
	catchAll  string // intake.catch_all_plan
}

// NewRemovals returns removals on the database. catchAll is the setting intake.catch_all_plan; the plan of that name counts
// as in use.
func NewRemovals(db *postgres.DB, plans *catalog.Plans, catchAll string) *Removals {
	return &Removals{
		uses: catalog.NewUses(db), teams: pgpeople.NewTeams(db), profiles: pgpeople.NewOncallTeams(db, nil),
		users: pgpeople.NewUsers(db), people: pgpeople.NewOncallPeople(db), plans: plans, templates: catalog.NewTemplates(db),
		catchAll: catchAll,
	}
}

// Remove deletes an active object; kind is team, user, plan or template. It returns a NotFound fault if there is none, and
// a Conflict fault that names the uses of the object, unless force is set. ifMatch are the tags of which a plan or template
// must have one; nil = any. Otherwise it returns etag.ErrStale. actor is stored in the audit log.
func (r *Removals) Remove(ctx context.Context, kind, name string, force bool, ifMatch []string, actor string) error {
	switch kind {
	case "team":
		return r.team(ctx, name, force, actor)
	case "user":
		return r.person(ctx, name, force, actor)
	case "plan":
		return r.plan(ctx, name, force, ifMatch, actor)
	case "template":
		return r.template(ctx, name, force, ifMatch, actor)
	}
	return fault.Newf(fault.NotFound, "%q cannot be deleted: use team, user, plan or template", kind)
}

// refuse returns a Conflict fault that names the uses of an object.
func refuse(kind, name string, uses []string, force bool) error {
	if force || len(uses) == 0 {
		return nil
	}
	return fault.Newf(fault.Conflict, "%s %s is in use by: %s. Change these first, or use force", kind, name, strings.Join(uses, ", "))
}

// notFound replaces a NotFound fault by one that names the object.
func notFound(err error, kind, name string) error {
	if fault.Is(err, fault.NotFound) {
		return fault.Newf(fault.NotFound, "there is no active %s %s", kind, name)
	}
	return err
}

// AdministersTeam reports whether a user is an administrator of a team. A team that does not exist has no administrators.
func (r *Removals) AdministersTeam(ctx context.Context, person users.ID, name string) (bool, error) {
	t, err := r.teams.ByName(ctx, name)
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			err = nil
		}
		return false, err
	}
	memberships, err := r.profiles.MembershipsOf(ctx, person)
	return slices.ContainsFunc(memberships, func(s oncall.Membership) bool { return s.Admin && s.TeamID == t.ID }), err
}

func (r *Removals) team(ctx context.Context, name string, force bool, actor string) error {
	t, err := r.teams.ByName(ctx, name)
	if err != nil {
		return notFound(err, "team", name)
	}
	uses, err := r.uses.OfTeam(ctx, t)
	if err != nil {
		return err
	}
	if err := refuse("team", t.Name, uses, force); err != nil {
		return err
	}
	profile, err := r.profiles.ByName(ctx, t.Name)
	if err != nil {
		return notFound(err, "team", name)
	}
	return r.profiles.Delete(ctx, profile, oncall.By{Owner: actor})
}

func (r *Removals) person(ctx context.Context, name string, force bool, actor string) error {
	u, err := r.users.ByName(ctx, name)
	if err == nil && !u.Active {
		err = fault.New(fault.NotFound, "switched off")
	}
	if err != nil {
		return notFound(err, "user", name)
	}
	uses, err := r.uses.OfPerson(ctx, u)
	if err != nil {
		return err
	}
	if err := refuse("user", u.Name, uses, force); err != nil {
		return err
	}
	person, err := r.people.ByName(ctx, u.Name)
	if err != nil {
		return notFound(err, "user", name)
	}
	_, err = r.people.Remove(ctx, person, false, oncall.By{Owner: actor})
	return err
}

func (r *Removals) plan(ctx context.Context, name string, force bool, ifMatch []string, actor string) error {
	p, err := r.plans.ByName(ctx, name)
	if err != nil {
		return notFound(err, "plan", name)
	}
	if err := p.Match(ifMatch); err != nil {
		return err
	}
	uses, err := r.uses.OfPlan(ctx, p.Name)
	if err != nil {
		return err
	}
	if r.catchAll != "" {
		catchAll, err := r.plans.ByName(ctx, r.catchAll)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		if err == nil && catchAll.ID == p.ID {
			uses = append(uses, "the setting intake.catch_all_plan")
		}
	}
	if err := refuse("plan", p.Name, uses, force); err != nil {
		return err
	}
	return r.plans.Switch(ctx, p.ID, 0, actor)
}

func (r *Removals) template(ctx context.Context, name string, force bool, ifMatch []string, actor string) error {
	t, err := r.templates.ByName(ctx, name)
	if err != nil {
		return notFound(err, "template", name)
	}
	if err := t.Match(ifMatch); err != nil {
		return err
	}
	uses, err := r.uses.OfTemplate(ctx, t.Name)
	if err != nil {
		return err
	}
	if err := refuse("template", t.Name, uses, force); err != nil {
		return err
	}
	return r.templates.Switch(ctx, t.ID, 0, actor)
}

// Remove deletes a team, user, plan or template. See Removals.Remove.
func (o *Operator) Remove(ctx context.Context, kind, name string, force bool) error {
	return NewRemovals(o.db, o.plans, o.CatchAll).Remove(ctx, kind, name, force, nil, operatorName)
}
