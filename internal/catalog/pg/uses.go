package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// Uses lists the objects that use a team, person, plan or template, such as "plan db-on-call". It is safe for
// concurrent use.
type Uses struct{ db *postgres.DB }

// NewUses returns the adapter over d.
func NewUses(d *postgres.DB) *Uses { return &Uses{db: d} }

// OfTeam returns the plans, fallbacks, quotas, escalating incidents and services that refer to a team, by its id and
// its number as a target.
func (u *Uses) OfTeam(ctx context.Context, id, target int64) ([]string, error) {
	return u.read(ctx, func(ctx context.Context, q *postgresdb.Queries) ([]string, error) {
		return q.UsesOfTarget(ctx,
			target)
	},
		func(ctx context.Context, q *postgresdb.Queries) ([]string, error) { return q.UsesOfTeam(ctx, id) })
}

// OfPerson returns what refers to a person: plans, fallbacks, quotas, escalating and acknowledged incidents, rosters,
// future shifts, teams, mailing lists and applications; and the plans that page the person as a member of a team or
// mailing list.
func (u *Uses) OfPerson(ctx context.Context, p users.User) ([]string, error) {
	return u.read(ctx, func(ctx context.Context, q *postgresdb.Queries) ([]string, error) {
		return q.UsesOfTarget(ctx, p.TargetID)
	},
		func(ctx context.Context, q *postgresdb.Queries) ([]string, error) {
			return q.UsesOfPerson(ctx, p.ID)
		})
}

// OfPlan returns the quotas, applications (as their default plan), integrations (as their default plan or in a rule)
// and escalating incidents that use a plan.
func (u *Uses) OfPlan(ctx context.Context, name string) ([]string, error) {
	return u.read(ctx, func(ctx context.Context, q *postgresdb.Queries) ([]string, error) {
		return q.UsesOfPlan(ctx,
			name)
	})
}

// OfTemplate returns the active plans that use a template.
func (u *Uses) OfTemplate(ctx context.Context, name string) ([]string, error) {
	return u.read(ctx, func(ctx context.Context, q *postgresdb.Queries) ([]string, error) { return q.UsesOfTemplate(ctx, name) })
}

func (u *Uses) read(ctx context.Context, ask ...func(context.Context, *postgresdb.Queries) ([]string, error)) ([]string, error) {
	return postgres.Get(ctx, u.db, func(ctx context.Context, q *postgresdb.Queries) (out []string, err error) {
		out = out[:0]
		for _, f := range ask {
			found, err := f(ctx, q)
			if err != nil {
				return out, err
			}
			out = append(out, found...)
		}
		return out, nil
	})
}
