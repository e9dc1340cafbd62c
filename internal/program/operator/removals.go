package operator

import (
	"context"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/oncall"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

// Removals deletes teams and users. An object that is in use is not deleted, unless that is forced. History is kept: a
// team keeps its past under another name, a user is switched off.
type Removals struct {
	uses     *pg.Uses
	teams    *pgusers.Teams
	profiles *pgusers.OncallTeams
	users    *pgusers.Users
	people   *pgusers.OncallPeople
}

// NewRemovals returns removals on the database.
func NewRemovals(db *postgres.DB) *Removals {
	return &Removals{
		uses: pg.NewUses(db), teams: pgusers.NewTeams(db), profiles: pgusers.NewOncallTeams(db, nil),
		users: pgusers.NewUsers(db), people: pgusers.NewOncallPeople(db),
	}
}

// Remove deletes an active object; kind is team or user. It returns a NotFound fault if there is none, and a Conflict
// fault that names the uses of the object, unless force is set. actor is stored in the audit log.
func (r *Removals) Remove(ctx context.Context, kind, name string, force bool, actor string) error {
	find := map[string]func(context.Context, string, oncall.By) (removal, error){
		"team": r.team, "user": r.person,
	}[kind]
	if find == nil {
		return fault.Newf(fault.NotFound, "%q cannot be deleted: use team or user", kind)
	}
	found, err := find(ctx, name, oncall.By{Owner: actor})
	if fault.Is(err, fault.NotFound) {
		return fault.Newf(fault.NotFound, "there is no active %s %s", kind, name)
	}
	if err != nil {
		return err
	}
	if err := catalog.RefuseInUse(kind, found.name, found.uses, force); err != nil {
		return err
	}
	return found.remove()
}

// removal is an active object to be deleted.
type removal struct {
	name   string
	uses   []string
	remove func() error
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
	return removal{t.Name, uses, func() error { return r.profiles.Delete(ctx, profile, by) }}, err
}

func (r *Removals) person(ctx context.Context, name string, by oncall.By) (removal, error) {
	u, err := r.users.ByName(ctx, name)
	if err == nil && !u.Active {
		err = fault.New(fault.NotFound, "switched off")
	}
	if err != nil {
		return removal{}, err
	}
	uses, err := r.uses.OfPerson(ctx, u)
	return removal{u.Name, uses, func() error { return r.people.Remove(ctx, u, false, by) }}, err
}
