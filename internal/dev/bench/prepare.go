package bench

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/iris-oncall/iris/internal/auth"
	pgauth "github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/legacy/apiclient"
	"github.com/iris-oncall/iris/internal/users"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

// NamePrefix begins the names of all objects of a bench.
const NamePrefix = "bench-"

// pendingCap is far above any load: the bench measures the queue, not the limit on pending messages.
const pendingCap = 10_000_000

// prepare creates a user and an application. Their names are random, so that runs on the same database stay separate.
func (s *stand) prepare(ctx context.Context, secretKey string) error {
	inst, err := pgauth.LoadInstallation(ctx, s.db, secretKey, nil)
	if err != nil {
		return err
	}
	s.app = NamePrefix + buckets.NewProcessID()[:10]
	s.password = rand.Text()
	hash, err := auth.NewPasswords().Hash(ctx, s.password)
	if err != nil {
		return err
	}
	people := pgusers.NewUsers(s.db)
	user, err := people.Create(ctx, pgusers.NewUser{
		Name: s.app, FullName: "Bench", Admin: true, PasswordHash: hash, Contacts: map[users.Mode]string{users.Email: s.app + "@bench.invalid"},
	})
	if err != nil {
		return err
	}
	for _, p := range users.Priorities {
		if err := people.SetMode(ctx, user.ID, p, users.Email); err != nil {
			return err
		}
	}
	apps := pg.NewApplications(s.db, inst.Keys)
	id, key, err := apps.Create(ctx, s.app)
	if err != nil {
		return err
	}
	s.key = key
	app, err := apps.ByName(ctx, s.app)
	if err != nil {
		return err
	}
	app.AllowAuthenticatingUsers, app.PendingCap = true, pendingCap
	if err := apps.SetFlags(ctx, app); err != nil {
		return err
	}
	settings, err := apps.Settings(ctx, id)
	if err != nil {
		return err
	}
	settings.Variables = []string{"marker", "title", "severity", "labels", "values"}
	settings.TitleVariable = "title"
	return apps.SetSettings(ctx, id, settings)
}

// body is a template with the features that alert templates use: conditions, loops, filters, the iris variables.
var body = strings.Join([]string{
	"{{ title }} (incident {{ iris.incident_id }}, plan {{ iris.plan }})",
	"{% if severity == 'critical' %}This is critical.{% else %}Severity: {{ severity|default('unknown') }}{% endif %}",
	"{% for name, value in labels|dictsort %}  {{ name|upper }} = {{ value }}",
	"{% endfor %}{% for v in values if v > 3 %}high value {{ loop.index }}: {{ v }}",
	"{% endfor %}Iris number {{ marker }}",
}, "\n")

// makePlan creates a template and a plan through the API: one step, one e-mail to the bench's user.
func (s *stand) makePlan(ctx context.Context) error {
	c, err := apiclient.New(apiclient.Config{URL: s.url, App: s.app, Key: s.key, User: s.app})
	if err != nil {
		return err
	}
	s.plan = s.app
	_, err = c.CreateTemplate(ctx, apiclient.Template{Name: s.plan, Creator: s.app, Content: map[string]map[string]apiclient.Text{
		s.app: {"email": {Subject: "{{ severity|upper }}: {{ title }}", Body: body}},
	}})
	if err != nil {
		return fmt.Errorf("make the template: %w", err)
	}
	_, err = c.CreatePlan(ctx, apiclient.Plan{
		Name: s.plan, Creator: s.app, Description: "made by iris bench", ThresholdWindow: 60, ThresholdCount: 1_000_000,
		AggregationWindow: 300, AggregationReset: 300,
		Steps: [][]apiclient.PlanNotification{{{
			Target: apiclient.Target{Role: "user", Target: s.app}, Priority: "high", Template: s.plan, Wait: 300,
		}}},
	})
	if err != nil {
		return fmt.Errorf("make the plan: %w", err)
	}
	return nil
}
