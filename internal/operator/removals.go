package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/postgres"
	pgpeople "github.com/iris-oncall/iris/internal/postgres/people"
	"github.com/iris-oncall/iris/internal/users"
)

// Removals deletes teams, users, plans and templates, for /v1 and for the command line. An object that is in use is not
// deleted, unless that is forced. History is kept: a team keeps its past under another name, a user is switched off, plans
// and templates have no active version any more.
type Removals struct {
	uses      *pg.Uses
	teams     *pgpeople.Teams
	profiles  *pgpeople.OncallTeams
	users     *pgpeople.Users
	people    *pgpeople.OncallPeople
	plans     *pg.Plans
	templates *pg.Templates
	catchAll  string // intake.catch_all_plan
}

// NewRemovals returns removals on the database. catchAll is the setting intake.catch_all_plan; the plan of that name counts
// as in use.
func NewRemovals(db *postgres.DB, plans *pg.Plans, catchAll string) *Removals {
	return &Removals{
		uses: pg.NewUses(db), teams: pgpeople.NewTeams(db), profiles: pgpeople.NewOncallTeams(db, nil),
		users: pgpeople.NewUsers(db), people: pgpeople.NewOncallPeople(db), plans: plans, templates: pg.NewTemplates(db),
		catchAll: catchAll,
	}
}

// Remove deletes an active object; kind is team, user, plan or template. It returns a NotFound fault if there is none, and
// a Conflict fault that names the uses of the object, unless force is set. ifMatch has the accepted tags of a plan or
// template; nil = any. For any other tag it returns etag.ErrStale. actor is stored in the audit log.
func (r *Removals) Remove(ctx context.Context, kind, name string, force bool, ifMatch []string, actor string) error {
	find := map[string]func(context.Context, string, oncall.By) (removal, error){
		"team": r.team, "user": r.person, "plan": r.plan, "template": r.template,
	}[kind]
	if find == nil {
		return fault.Newf(fault.NotFound, "%q cannot be deleted: use team, user, plan or template", kind)
	}
	found, err := find(ctx, name, oncall.By{Owner: actor})
	if fault.Is(err, fault.NotFound) {
		return fault.Newf(fault.NotFound, "there is no active %s %s", kind, name)
	}
	if err != nil {
		return err
	}
	if found.match != nil {
		if err := found.match(ifMatch); err != nil {
			return err
		}
	}
	if err := refuse(kind, found.name, found.uses, force); err != nil {
		return err
	}
	return found.remove()
}

// removal is an active object to be deleted.
type removal struct {
	name   string
	uses   []string
	remove func() error
	match  func(wanted []string) error // returns etag.ErrStale for another state; nil = the object has no tag
}

// maxUses is how many uses of an object a refusal names.
const maxUses = 50

// refuse returns a Conflict fault that names the uses of an object.
func refuse(kind, name string, uses []string, force bool) error {
	if force || len(uses) == 0 {
		return nil
	}
	rest := ""
	if more := len(uses) - maxUses; more > 0 {
		uses, rest = uses[:maxUses], fmt.Sprintf(" and %d more", more)
	}
	return fault.Newf(fault.Conflict, "%s %s is in use by: %s%s. Change these first, or use force", kind, name, strings.Join(uses, ", "), rest)
}

// Owner returns the creator and the owning team of an active plan or template; 0 = there is none.
func (r *Removals) Owner(ctx context.Context, kind, name string) (creator users.ID, team users.OwningTeam, err error) {
	if kind == "plan" {
		p, err := r.plans.ByName(ctx, name)
		return p.CreatorID, p.Team, fault.When(err, fault.NotFound, nil)
	}
	t, err := r.templates.ByName(ctx, name)
	return t.CreatorID, t.Team, fault.When(err, fault.NotFound, nil)
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

func (r *Removals) team(ctx context.Context, name string, by oncall.By) (removal, error) {
	t, err := r.teams.ByName(ctx, name)
	if err != nil {
		return removal{}, err
	}
	profile, err := r.profiles.ByName(ctx, t.Name)
	if err != nil {
		return removal{}, err
	}
	uses, err := r.uses.OfTeam(ctx, t.ID, t.TargetID)
	return removal{t.Name, uses, func() error { return r.profiles.Delete(ctx, profile, by) }, nil}, err
}

func (r *Removals) person(ctx context.Context, name string, by oncall.By) (removal, error) {
	u, err := r.users.ByName(ctx, name)
	if err == nil && !u.Active {
		err = fault.New(fault.NotFound, "switched off")
	}
	if err != nil {
		return removal{}, err
	}
	person, err := r.people.ByName(ctx, u.Name)
	if err != nil {
		return removal{}, err
	}
	uses, err := r.uses.OfPerson(ctx, u)
	return removal{u.Name, uses, func() error {
		_, err := r.people.Remove(ctx, person, false, by)
		return err
	}, nil}, err
}

func (r *Removals) plan(ctx context.Context, name string, by oncall.By) (removal, error) {
	p, err := r.plans.ByName(ctx, name)
	if err != nil {
		return removal{}, err
	}
	uses, err := r.uses.OfPlan(ctx, p.Name)
	if err == nil && r.catchAll != "" {
		catchAll, err := r.plans.ByName(ctx, r.catchAll)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return removal{}, err
		}
		if err == nil && catchAll.ID == p.ID {
			uses = append(uses, "the setting intake.catch_all_plan")
		}
	}
	return removal{p.Name, uses, func() error { return r.plans.Switch(ctx, p.ID, 0, by.Owner) }, p.Match}, err
}

func (r *Removals) template(ctx context.Context, name string, by oncall.By) (removal, error) {
	t, err := r.templates.ByName(ctx, name)
	if err != nil {
		return removal{}, err
	}
	uses, err := r.uses.OfTemplate(ctx, t.Name)
	return removal{t.Name, uses, func() error { return r.templates.Switch(ctx, t.ID, 0, by.Owner) }, t.Match}, err
}
