package operator

import (
	"context"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/access"
	"github.com/iris-oncall/iris/internal/postgres/catalog"
	pgpeople "github.com/iris-oncall/iris/internal/postgres/people"
	"github.com/iris-oncall/iris/internal/users"
)

// Removals deletes teams, people, plans and templates as /v1 and the command line do: what is in use stays unless that is forced.
// Each keeps its history: a team keeps its past under another name, a person is switched off, a plan and a template have no
// active version any more.
type Removals struct {
	uses      *catalog.Uses
	audit     *access.Audit
	teams     *pgpeople.Teams
	profiles  *pgpeople.OncallTeams
	users     *pgpeople.Users
	people    *pgpeople.OncallPeople
	plans     *catalog.Plans
	templates *catalog.Templates
	catchAll  string // intake.catch_all_plan
}

// NewRemovals returns removals over the database. catchAll is the setting intake.catch_all_plan: that plan counts as in use.
func NewRemovals(db *postgres.DB, plans *catalog.Plans, catchAll string) *Removals {
	return &Removals{
		uses: catalog.NewUses(db), audit: access.NewAudit(db), teams: pgpeople.NewTeams(db), profiles: pgpeople.NewOncallTeams(db, nil),
		users: pgpeople.NewUsers(db), people: pgpeople.NewOncallPeople(db), plans: plans, templates: catalog.NewTemplates(db),
		catchAll: catchAll,
	}
}

// Remove deletes an object of a kind: team, user, plan or template. What uses it is a Conflict fault that names it, unless forced.
// A NotFound fault when there is no active one.
func (r *Removals) Remove(ctx context.Context, kind, name string, force bool, actor string) error {
	switch kind {
	case "team":
		return r.team(ctx, name, force, actor)
	case "user":
		return r.person(ctx, name, force, actor)
	case "plan":
		return r.plan(ctx, name, force, actor)
	case "template":
		return r.template(ctx, name, force, actor)
	}
	return fault.Newf(fault.NotFound, "there is nothing of the kind %s", kind)
}

// refuse says what uses an object.
func refuse(kind, name string, uses []string, force bool) error {
	if force || len(uses) == 0 {
		return nil
	}
	return fault.Newf(fault.Conflict, "%s %s is in use by: %s. Change these first, or force it", kind, name, strings.Join(uses, ", "))
}

func unknown(err error, kind, name string) error {
	if fault.Is(err, fault.NotFound) {
		return fault.Newf(fault.NotFound, "there is no active %s %s", kind, name)
	}
	return err
}

// AdministersTeam reports whether a person administers a team. An unknown team has no administrators.
func (r *Removals) AdministersTeam(ctx context.Context, person users.ID, name string) (bool, error) {
	t, err := r.teams.ByName(ctx, name)
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			err = nil
		}
		return false, err
	}
	standings, err := r.profiles.Standings(ctx, person)
	return slices.ContainsFunc(standings, func(s oncall.Standing) bool { return s.Admin && s.TeamID == t.ID }), err
}

func (r *Removals) team(ctx context.Context, name string, force bool, actor string) error {
	t, err := r.teams.ByName(ctx, name)
	if err != nil {
		return unknown(err, "team", name)
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
		return unknown(err, "team", name)
	}
	return r.profiles.Delete(ctx, profile, oncall.By{Owner: actor})
}

func (r *Removals) person(ctx context.Context, name string, force bool, actor string) error {
	u, err := r.users.ByName(ctx, name)
	if err == nil && !u.Active {
		err = fault.New(fault.NotFound, "switched off")
	}
	if err != nil {
		return unknown(err, "user", name)
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
		return unknown(err, "user", name)
	}
	_, err = r.people.Remove(ctx, person, false, oncall.By{Owner: actor})
	return err
}

func (r *Removals) plan(ctx context.Context, name string, force bool, actor string) error {
	p, err := r.plans.ByName(ctx, name)
	if err != nil {
		return unknown(err, "plan", name)
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
	if err := r.plans.SetActive(ctx, p.ID, false); err != nil {
		return err
	}
	return r.audit.Record(ctx, access.AuditRecord{Actor: actor, Action: "plan deleted", Object: "plan " + p.Name})
}

func (r *Removals) template(ctx context.Context, name string, force bool, actor string) error {
	t, err := r.templates.ByName(ctx, name)
	if err != nil {
		return unknown(err, "template", name)
	}
	uses, err := r.uses.OfTemplate(ctx, t.Name)
	if err != nil {
		return err
	}
	if err := refuse("template", t.Name, uses, force); err != nil {
		return err
	}
	if err := r.templates.SetActive(ctx, t.ID, false); err != nil {
		return err
	}
	return r.audit.Record(ctx, access.AuditRecord{Actor: actor, Action: "template deleted", Object: "template " + t.Name})
}

// Remove deletes a team, user, plan or template. See Removals.
func (o *Operator) Remove(ctx context.Context, kind, name string, force bool) error {
	return NewRemovals(o.db, o.plans, o.CatchAll).Remove(ctx, kind, name, force, operatorName)
}
