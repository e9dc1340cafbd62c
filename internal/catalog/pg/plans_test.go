package pg_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	domain "github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

func TestPlansAreVersioned(t *testing.T) {
	t.Parallel()
	c := pgtest.NewCatalog(t)
	plans := pg.NewPlans(c.DB)
	first, err := plans.Create(t.Context(), c.Draft("Pager"))
	require.NoError(t, err)
	second, err := plans.Create(t.Context(), c.Draft("pager"))
	require.NoError(t, err)

	active, err := plans.ByName(t.Context(), "PAGER ")
	require.NoError(t, err)
	require.Equal(t, second, active.ID)
	old, err := plans.ByID(t.Context(), first)
	require.NoError(t, err)
	require.False(t, old.Active)
	require.Equal(t, "ann", old.Creator)
	require.Equal(t, 1, old.DynamicTargets())
	require.Equal(t, map[string]bool{"words": true, "gone": true}, old.Lost)
	want := c.Draft("Pager")
	require.Equal(t, want.Tracking.Key, old.Tracking.Key)
	require.JSONEq(t, string(want.Tracking.Template), string(old.Tracking.Template))
	require.Len(t, old.Steps, 2)
	for s := range want.Steps {
		for n := range want.Steps[s].Notifications {
			got := old.Steps[s].Notifications[n]
			require.NotZero(t, got.ID)
			got.ID = 0
			require.Equal(t, want.Steps[s].Notifications[n], got)
		}
	}

	require.NoError(t, plans.SetActive(t.Context(), first, true))
	recent, err := plans.Recent(t.Context(), "pager")
	require.NoError(t, err)
	require.Equal(t, first, recent.ID)
	require.NoError(t, plans.SetActive(t.Context(), second, false)) // not the active version: no effect
	require.NoError(t, plans.SetActive(t.Context(), first, false))
	_, err = plans.Recent(t.Context(), "pager")
	require.True(t, fault.Is(err, fault.NotFound))
	require.True(t, fault.Is(plans.SetActive(t.Context(), 99999, true), fault.NotFound))
}

func TestPlansAreListedAndFiltered(t *testing.T) {
	t.Parallel()
	c := pgtest.NewCatalog(t)
	plans := pg.NewPlans(c.DB)
	for _, name := range []string{"a", "a", "b"} {
		_, err := plans.Create(t.Context(), c.Draft(name))
		require.NoError(t, err)
	}
	ids := func(limit int, conds ...filters.Condition) string {
		got, err := plans.List(t.Context(), filters.Query{Conditions: conds, Limit: limit})
		require.NoError(t, err)
		var out []escalation.PlanID
		for _, p := range got {
			out = append(out, p.ID)
		}
		return fmt.Sprint(out)
	}
	cond := func(field string, op filters.Op, v any) filters.Condition {
		return filters.Condition{Field: field, Op: op, Values: []any{v}}
	}
	require.Equal(t, "[1 2 3]", ids(0))
	require.Equal(t, "[3 2]", ids(2))
	require.Equal(t, "[2 3]", ids(0, cond("active", filters.Eq, true)))
	require.Equal(t, "[3]", ids(0, cond("name", filters.Ne, "A")))
	require.Equal(t, "[1 2 3]", ids(0, cond("target", filters.Eq, "OPS")))
	require.Equal(t, "[]", ids(0, cond("target", filters.StartsWith, "nobody")))
	for field := range domain.PlanFilters {
		var v any = int64(1)
		switch domain.PlanFilters[field] {
		case filters.Text:
			v = "x"
		case filters.Time:
			v = time.Now()
		case filters.Bool, filters.Flag:
			v = true
		case filters.Int:
		}
		ids(0, cond(field, filters.Eq, v))
	}
}

func TestAPlanWithIncidentsCannotBeDeleted(t *testing.T) {
	t.Parallel()
	c := pgtest.NewCatalog(t)
	plans := pg.NewPlans(c.DB)
	id, err := plans.Create(t.Context(), c.Draft("used"))
	require.NoError(t, err)
	_, err = plans.Create(t.Context(), c.Draft("used"))
	require.NoError(t, err)
	_, err = c.Pool().Exec(t.Context(), "insert into incidents (plan_id, application_id) values ($1, $2)", id, c.Demo)
	require.NoError(t, err)
	require.EqualError(t, plans.Delete(t.Context(), "used"),
		"Cannot delete this plan as 1 incidents have been created using it")

	_, err = plans.Create(t.Context(), c.Draft("free"))
	require.NoError(t, err)
	require.NoError(t, plans.Delete(t.Context(), "FREE"))
	require.True(t, fault.Is(plans.Delete(t.Context(), "free"), fault.NotFound))
}

func TestReachCountsThePeopleBehindNames(t *testing.T) {
	t.Parallel()
	c := pgtest.NewCatalog(t)
	templates, plans := pg.NewTemplates(c.DB), pg.NewPlans(c.DB)
	_, err := templates.Create(t.Context(), messages.NewTemplate{Name: "Words", CreatorID: c.Ann,
		Texts: []messages.TemplateText{{Application: "DEMO", Mode: users.Email}}})
	require.NoError(t, err)
	r, err := plans.Reach(t.Context(), []string{"Ann", "bob", "OPS", "nobody"}, []string{"words", "none"})
	require.NoError(t, err)
	require.Equal(t, "team", r.Roles["manager"])
	require.Equal(t, []escalation.ReachTarget{{Kind: "user", TargetID: c.AnnTarget, Name: "ann", Active: true,
		People: 1, Reachable: 1}},
		r.Targets["Ann"])
	require.Equal(t, 0, r.Targets["bob"][0].Reachable)
	require.Equal(t, 2, r.Targets["OPS"][0].People)
	require.Equal(t, 1, r.Targets["OPS"][0].Reachable)
	require.NotContains(t, r.Targets, "nobody")
	require.Equal(t, map[string]escalation.ReachTemplate{"words": {Applications: 1}}, r.Templates)
	_, fits, exists := r.Pick("team", "Ann")
	require.False(t, fits)
	require.True(t, exists)
}

func TestHasTextOfAPlanForAnApplication(t *testing.T) {
	t.Parallel()
	c := pgtest.NewCatalog(t)
	plans := pg.NewPlans(c.DB)
	id, err := plans.Create(t.Context(), c.Draft("p"))
	require.NoError(t, err)
	has, err := plans.HasText(t.Context(), id, c.Demo)
	require.NoError(t, err)
	require.False(t, has)
	_, err = pg.NewTemplates(c.DB).Create(t.Context(), messages.NewTemplate{Name: "words", CreatorID: c.Ann,
		Texts: []messages.TemplateText{{Application: "demo", Mode: users.Email}}})
	require.NoError(t, err)
	has, err = plans.HasText(t.Context(), id, c.Demo)
	require.NoError(t, err)
	require.True(t, has)
}

func TestTemplatesAreVersioned(t *testing.T) {
	t.Parallel()
	c := pgtest.NewCatalog(t)
	templates := pg.NewTemplates(c.DB)
	draft := messages.NewTemplate{Name: "Words", CreatorID: c.Ann, Texts: []messages.TemplateText{
		{Application: "demo", Mode: users.Email, TemplateContent: messages.TemplateContent{Subject: "s", Body: "b"}},
		{Application: "demo", Mode: users.SMS, TemplateContent: messages.TemplateContent{Body: "t"}},
	}}
	first, err := templates.Create(t.Context(), draft)
	require.NoError(t, err)
	second, err := templates.Create(t.Context(), draft)
	require.NoError(t, err)
	_, err = pg.NewPlans(c.DB).Create(t.Context(), c.Draft("p"))
	require.NoError(t, err)

	got, err := templates.ByName(t.Context(), "words")
	require.NoError(t, err)
	require.Equal(t, second, got.ID)
	require.Equal(t, draft.Texts, got.Texts)
	require.Len(t, got.Plans, 1)
	require.NoError(t, templates.SetActive(t.Context(), second, false))
	_, err = templates.ByName(t.Context(), "words")
	require.True(t, fault.Is(err, fault.NotFound))
	require.NoError(t, templates.SetActive(t.Context(), first, true))
	got, err = templates.ByID(t.Context(), first)
	require.NoError(t, err)
	require.True(t, got.Active)

	draft.Texts[0].Application = "nothing"
	_, err = templates.Create(t.Context(), draft)
	require.EqualError(t, err, "Application nothing not found")
	list, err := templates.List(t.Context(), filters.Query{Limit: 5})
	require.NoError(t, err)
	require.Len(t, list, 2, "the refused version left nothing behind")
	require.Equal(t, second, list[0].ID)
}

func TestSettingsSurvivePlanVersions(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plans := pg.NewPlans(e.DB)
	version := func() int64 {
		id, err := plans.Create(t.Context(), escalation.PlanContent{Name: "Night",
			CreatorID: users.ID(e.People["owner"])})
		require.NoError(t, err)
		return int64(id)
	}
	after := func(plan int64) int64 { return e.ID(`select repage_after from plans where id = $1`, plan) }
	first := version()
	require.EqualValues(t, 3600, after(first), "the default")
	ten, hour, twice := int64(600), int64(3600), 2
	require.NoError(t, plans.SetSettings(t.Context(), "night ", escalation.SettingsPatch{RepageAfterSeconds: &ten},
		nil, "ana"))
	require.NoError(t, plans.SetSettings(t.Context(), "night ",
		escalation.SettingsPatch{AcknowledgementTimeoutSeconds: &hour, Repeat: &twice}, nil, "ana"))
	second := version()
	require.EqualValues(t, 600, after(first), "for incidents that are open")
	require.EqualValues(t, 600, after(second))
	require.EqualValues(t, 3600, e.ID(`select acknowledgement_timeout from plans where id = $1`, second))
	got, err := plans.ByID(t.Context(), escalation.PlanID(second))
	require.NoError(t, err)
	require.Equal(t, escalation.Settings{Repeat: 2, RepageAfter: 10 * time.Minute, AcknowledgementTimeout: time.Hour},
		got.Settings)
	require.EqualValues(t, 2, e.ID(`select count(*) from audit_log where action = 'plan settings changed' and object = 'plan night' and actor = 'ana'`))
	require.Equal(t, fault.NotFound, fault.KindOf(plans.SetSettings(t.Context(), "day",
		escalation.SettingsPatch{Repeat: &twice}, nil, "ana")))
}
