package pg_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/escalation"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestFallbacksAreSetAndSurviveNewVersionsOfAPlan(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	_, err := d.Pool().Exec(t.Context(),
		`insert into users (name) values ('ann'), ('bob'); insert into applications (name) values ('demo')`)
	require.NoError(t, err)
	plans, apps := pg.NewPlans(d), pg.NewApplications(d, nil)
	version := escalation.PlanContent{Name: "p", CreatorID: 1}
	_, err = plans.Create(t.Context(), version)
	require.NoError(t, err)

	bob := &escalation.Target{Role: "user", Name: "bob"}
	require.NoError(t, plans.SetFallback(t.Context(), "P", bob))
	_, err = plans.Create(t.Context(), version)
	require.NoError(t, err)
	p, err := plans.ByName(t.Context(), "p")
	require.NoError(t, err)
	require.NotNil(t, p.Fallback, "a new version keeps the fallback")
	require.Equal(t, "bob", p.Fallback.Name)
	require.NoError(t, plans.SetFallback(t.Context(), "p", nil))
	p, err = plans.ByName(t.Context(), "p")
	require.NoError(t, err)
	require.Nil(t, p.Fallback)

	app, err := apps.ByName(t.Context(), "demo")
	require.NoError(t, err)
	require.NoError(t, apps.SetFallback(t.Context(), app.ID, bob))
	all, err := pgescalation.NewDirectory(d).Applications(t.Context(), []int64{app.ID})
	require.NoError(t, err)
	require.Equal(t, "bob", all[app.ID].Fallback.Name)

	require.True(t, fault.Is(plans.SetFallback(t.Context(), "none", bob), fault.NotFound))
	require.True(t, fault.Is(plans.SetFallback(t.Context(), "p", &escalation.Target{Role: "user", Name: "zoe"}),
		fault.Invalid))
	require.True(t, fault.Is(apps.SetFallback(t.Context(), 999, bob), fault.NotFound))
}
