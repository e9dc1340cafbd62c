package pg_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/catalog/pg"
	pgdelivery "github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// newWords returns a catalog with a template in two versions, a plan with a dynamic target, an incident and a
// notification.
func newWords(t *testing.T) (c pgtest.Catalog, w *pgdelivery.Loader, incident, request, plan int64) {
	t.Helper()
	c = pgtest.NewCatalog(t)
	exec := func(sql string, args ...any) {
		_, err := c.Pool().Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	exec(`update applications set title_variable = 'title' where name = 'demo'`)
	for _, body := range []string{"old", "new"} {
		exec(`with v as (insert into templates (name, creator_id) values ('Words', $1) returning id),
			c as (insert into template_contents (template_id, application_id, mode, subject, body, email_html)
				select id, $2, 'email', 's', $3, '<b>' from v)
			insert into template_active (name_key, template_id) select 'words', id from v
			on conflict (name_key) do update set template_id = excluded.template_id`, c.Ann, c.Demo, body)
	}
	saved, err := pg.NewPlans(c.DB).Create(t.Context(), c.Draft("words"))
	require.NoError(t, err)
	plan = int64(saved)
	require.NoError(t, c.Pool().QueryRow(t.Context(),
		`with i as (insert into incidents (plan_id, application_id, created_at)
		values ($1, $2, '2026-11-20 08:00:00+00') returning id)
		insert into incident_contexts (incident_id, context) select id, '{"z": 1,  "a": 2}' from i returning incident_id`,
		plan, c.Demo).Scan(&incident))
	require.NoError(t, c.Pool().QueryRow(t.Context(),
		`insert into notification_requests (application_id, subject, body, email_html, template, context)
		values ($1, 's', 'b', '<p>', 'words', '{"k": 1}') returning id`, c.Demo).Scan(&request))
	return c, pgdelivery.NewLoader(c.DB), incident, request, plan
}

func TestDataOfIncidentsRequestsAndPlans(t *testing.T) {
	t.Parallel()
	_, w, incident, request, plan := newWords(t)

	found, err := w.Incidents(t.Context(), []incidents.ID{incidents.ID(incident), 999})
	require.NoError(t, err)
	require.Len(t, found, 1)
	i := found[incidents.ID(incident)]
	require.Equal(t, `{"z": 1,  "a": 2}`, string(i.Context), "as it was sent")
	require.True(t, i.CreatedAt.Equal(time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)))
	require.Equal(t, "demo", i.Application)
	require.Equal(t, "title", i.TitleVariable)
	require.Equal(t, plan, i.PlanID)

	requests, err := w.Requests(t.Context(), []int64{request, 999})
	require.NoError(t, err)
	require.Equal(t, map[int64]messages.RequestData{request: {
		Application: "demo", Subject: "s", Body: "b", EmailHTML: "<p>", Template: "words", Context: json.RawMessage(`{"k": 1}`),
	}}, requests)

	plans, err := w.Plans(t.Context(), []int64{plan, 999})
	require.NoError(t, err)
	require.Len(t, plans, 1)
	require.Equal(t, "words", plans[plan].Name)
	require.JSONEq(t, `{"demo":{"email_subject":"s"}}`, string(plans[plan].Tracking))
	require.Equal(t, []messages.StepPosition{{Step: 1, Position: 1}}, plans[plan].Dynamic)
}

func TestTextOfTemplates(t *testing.T) {
	t.Parallel()
	c, w, _, _, _ := newWords(t)
	key := func(template, application string, mode users.Mode) messages.TemplateKey {
		return messages.TemplateKey{Template: template, Application: application, Mode: mode}
	}
	full := messages.Found{Template: true, Application: true, Mode: true,
		Content: messages.TemplateContent{Subject: "s", Body: "new", EmailHTML: "<b>"}}
	want := map[messages.TemplateKey]messages.Found{
		key("words", "demo", users.Email):  full,
		key("WORDS ", "Demo", users.Email): full,
		key("words", "demo", users.SMS):    {Template: true, Application: true},
		key("words", "other", users.Email): {Template: true},
		key("gone", "demo", users.Email):   {},
	}
	var keys []messages.TemplateKey
	for k := range want {
		keys = append(keys, k)
	}
	got, err := w.Templates(t.Context(), keys)
	require.NoError(t, err)
	require.Equal(t, want, got)

	// A new version is used after the cache has expired.
	_, err = c.Pool().Exec(t.Context(), `update template_contents set body = 'newer' where body = 'new'`)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		got, err := w.Templates(t.Context(), []messages.TemplateKey{key("words", "demo", users.Email)})
		return err == nil && got[key("words", "demo", users.Email)].Content.Body == "newer"
	}, 5*time.Second, 50*time.Millisecond)
}

func TestDetours(t *testing.T) {
	t.Parallel()
	c, w, incident, _, _ := newWords(t)
	_, err := c.Pool().Exec(t.Context(),
		`insert into message_changes (message_id, change_type, old, new, description) values
		(5, 'target-change', 'manager|ops', 'ann', 'first'), (5, 'target-change', 'bob', 'ann', 'last'), (5, 'mode-change', 'sms', 'email', 'later'),
		(6, 'target-change', 'x', 'y', 'another''s'), (7, 'mode-change', 'sms', 'email', 'no target')`)
	require.NoError(t, err)
	got, err := w.Detours(t.Context(), []messages.ID{5, 7, 8})
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, messages.Change{At: got[5].At, Type: "target-change", Old: "bob", New: "ann",
		Description: "last"}, got[5])
	require.False(t, got[5].At.IsZero())
	_, err = c.Pool().Exec(t.Context(), `with entries as (
			insert into timeline_entries (incident_id, kind, text)
			values ($1, 'updated', 'news'), ($1, 'resolved', 'resolved by bob'), ($1, 'resolved', 'resolved by eve'), ($1, 'notice', 'telling ann'))
		insert into messages (id, bucket, incident_id, application_id, recipient, target, class, mode, purpose)
		select n.id, 1, $1, i.application_id, 'user:1', 'ann', 1, 'email', n.purpose
		from incidents i, (values (20, 'resolved-notice'), (21, 'owner-notice'), (22, 'primary')) n (id, purpose) where i.id = $1`, incident)
	require.NoError(t, err)
	got, err = w.Detours(t.Context(), []messages.ID{20, 21, 22})
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Equal(t, "resolved by eve", got[20].Description)
	require.Equal(t, "news", got[21].Description)
	got, err = w.Detours(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestRendererOverTheDatabase(t *testing.T) {
	t.Parallel()
	_, w, incident, request, plan := newWords(t)
	out, err := messages.NewRenderer(w).Render(t.Context(), []messages.Request{
		{MessageID: 27, IncidentID: incidents.ID(incident), PlanID: plan, Mode: users.Email, Template: "words",
			Target: "ann"},
		{MessageID: 28, RequestID: request, Mode: users.Email, Target: "ann"},
		{MessageID: 29, IncidentID: incidents.ID(incident), PlanID: plan, Mode: users.SMS, Template: "words",
			Target: "ann"},
		{MessageID: 30, IncidentID: incidents.ID(incident), PlanID: plan, Mode: users.Webhook, Template: "words",
			Target: "ann"},
	})
	require.NoError(t, err)
	require.Equal(t, "27 s", out[0].Subject)
	require.Equal(t, "new", out[0].Body)
	require.Equal(t, "[demo] s", out[1].Subject)
	require.Contains(t, out[2].Problem, "does not have mode sms")
	require.Equal(t, "[demo] words from demo", out[2].Body)
	require.Contains(t, out[3].Body, "z: 1\na: 2")
}
