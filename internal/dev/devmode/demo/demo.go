package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/heartbeats"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/program/operator"
	"github.com/iris-oncall/iris/internal/users"
)

// Names and credentials of the demo data. devmode prints them.
const (
	User        = "demo"
	Password    = "demo"
	Application = "demo"
	Key         = "demo-key"
	Plan        = "demo-plan"

	teamName     = "demo"
	templateName = "demo-template"
)

// people returns the demo user, who has a mode of their own for each priority, and team members with the default modes.
// The phone numbers are from the range that is reserved for fiction.
func people() []operator.NewUser {
	person := func(name, full, number string) operator.NewUser {
		return operator.NewUser{Name: name, FullName: full, Contacts: map[users.Mode]string{
			users.Email: name + "@example.com", users.SMS: number, users.Call: number, users.Slack: "@" + name,
		}}
	}
	demo := person(User, "Demo User", "+12025550100")
	demo.Admin, demo.Password, demo.AnyPassword = true, Password, true
	demo.Modes = map[users.Priority]users.Mode{
		users.Urgent: users.Call, users.High: users.SMS, users.Medium: users.Slack, users.Low: users.Email,
	}
	return []operator.NewUser{
		demo,
		person("ana", "Ana Lopes", "+12025550101"),
		person("ben", "Ben Okafor", "+12025550102"),
		person("chloe", "Chloe Martin", "+12025550103"),
	}
}

// plan pages the demo user in three modes at once. After a minute it pages the other members, with different
// priorities.
func plan() escalation.PlanContent {
	to := func(name string, p users.Priority, wait time.Duration) escalation.Notification {
		return escalation.Notification{
			Target: &escalation.Target{Role: "user", Name: name}, Priority: p, Template: templateName, Wait: wait,
		}
	}
	return escalation.PlanContent{
		Name: Plan, Description: "The demo user at once by e-mail, text and Slack; the rest of the team a minute later.",
		ThresholdWindow: 15 * time.Minute, ThresholdCount: 10, AggregationWindow: 5 * time.Minute, AggregationReset: 5 * time.Minute,
		Steps: []escalation.Step{
			{Notifications: []escalation.Notification{
				to(User, users.Low, time.Minute), to(User, users.High, time.Minute), to(User, users.Medium,
					time.Minute),
			}},
			{Notifications: []escalation.Notification{
				to("ana", users.Urgent, 5*time.Minute), to("ben", users.High, 5*time.Minute), to("chloe", users.Medium,
					5*time.Minute),
			}},
		},
	}
}

// templateDraft returns a template for the incidents of both printed commands: the one of Alertmanager and the signed
// one.
func templateDraft() messages.NewTemplate {
	const subject = `{{ iris.title }}{% if alerts and status %} is {{ status }}{% endif %}`
	const body = `{% if alerts %}{{ iris.title }}
{% for alert in alerts %}
- {{ alert.labels.alertname }}{% if alert.labels.instance %} on {{ alert.labels.instance }}{% endif %}: {{ alert.status }} since {{ alert.startsAt }}
{%- endfor %}
{% else %}{{ iris.title }}
{% if service %}service: {{ service }}
{% endif %}{% if value %}value: {{ value }}
{% endif %}{% endif %}`
	const html = `<h2>{{ iris.title | e }}{% if alerts and status %} is {{ status | e }}{% endif %}</h2>
{% if alerts %}<ul>{% for alert in alerts %}
<li>{{ alert.labels.alertname | e }}{% if alert.labels.instance %} on {{ alert.labels.instance | e }}{% endif %}: {{ alert.status | e }}</li>{% endfor %}
</ul>{% else %}<p>{% if service %}service: {{ service | e }}<br>{% endif %}{% if value %}value: {{ value | e }}{% endif %}</p>{% endif %}`
	const short = `{{ iris.title }}{% if not alerts %}{% if service %} ({{ service }}{% if value %}: {{ value }}{% endif %}){% endif %}{% endif %}`
	content := func(mode users.Mode, subject, body, html string) messages.TemplateText {
		return messages.TemplateText{Application: Application, Mode: mode, TemplateContent: messages.TemplateContent{
			Subject: subject, Body: body, EmailHTML: html,
		}}
	}
	return messages.NewTemplate{Name: templateName, Texts: []messages.TemplateText{
		content(users.Email, subject, body, html), content(users.SMS, "", short, ""),
		content(users.Slack, subject, body, ""), content(users.Call, "", short, ""),
	}}
}

// SeedUser adds only the demo user, without contacts, so that a newcomer can add everything else in the console. It
// changes nothing if the user exists.
func SeedUser(ctx context.Context, o *operator.Operator) error {
	u := people()[0]
	u.Contacts, u.Modes = nil, nil
	return ignoreConflict(o.AddUser(ctx, u))
}

// Seed writes the demo data. It changes nothing if the demo plan, which is written last, exists: people may have edited
// the data. Objects of an interrupted Seed are kept and the others added.
func Seed(ctx context.Context, o *operator.Operator, s *operator.Senders) error {
	done, err := o.HasPlan(ctx, Plan)
	if err == nil && !done {
		err = seed(ctx, o)
	}
	if err != nil {
		return err
	}
	return seedIntegrations(ctx, s)
}

// seedIntegrations adds one integration of each type, unless there is any. Its token is "demo-" and the type.
func seedIntegrations(ctx context.Context, s *operator.Senders) error {
	there, err := s.List(ctx)
	if err != nil || len(there) > 0 {
		return err
	}
	for _, kind := range sources.Types() {
		name := "demo-" + kind
		_, err := s.Add(ctx, operator.NewIntegration{Application: Application, Token: name,
			Content: intake.Content{Name: name, Type: kind, DefaultPlan: Plan, Enabled: true}})
		if err != nil {
			return fmt.Errorf("integration %s: %w", name, err)
		}
	}
	// It waits for its first ping.
	err = s.AddHeartbeat(ctx, "demo-heartbeat", heartbeats.Content{Name: heartbeats.DefaultName, Every: time.Minute,
		Grace:       10 * time.Second,
		Description: "Ping it once a minute, then stop."}, "")
	if err != nil {
		return fmt.Errorf("heartbeat: %w", err)
	}
	return nil
}

func seed(ctx context.Context, o *operator.Operator) error {
	for _, p := range people() {
		if err := ignoreConflict(o.AddUser(ctx, p)); err != nil {
			return fmt.Errorf("user %s: %w", p.Name, err)
		}
	}
	team := operator.NewTeam{Name: teamName, Description: "The demo team",
		Members: []string{User, "ana", "ben", "chloe"}, Manager: "ana"}
	if err := ignoreConflict(o.AddTeam(ctx, team)); err != nil {
		return fmt.Errorf("team: %w", err)
	}
	for _, c := range calendars(time.Now()) {
		if err := ignoreConflict(o.AddCalendar(ctx, c)); err != nil {
			return fmt.Errorf("calendar of team %s: %w", c.Team.Name, err)
		}
	}
	demo := operator.NewApplication{
		Name: Application, Key: Key, Variables: []string{"title", "service",
			"value"}, TitleVariable: "title", ActsForUsers: true,
	}
	_, err := o.AddApplication(ctx, demo)
	if fault.Is(err, fault.Conflict) {
		err = o.ConfigureApplication(ctx, demo)
	}
	if err != nil {
		return fmt.Errorf("application: %w", err)
	}
	exists, err := o.HasTemplate(ctx, templateName)
	if err == nil && !exists {
		err = o.SaveTemplate(ctx, User, templateDraft())
	}
	if err != nil {
		return fmt.Errorf("template: %w", err)
	}
	if err := o.SavePlan(ctx, User, plan()); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	return nil
}

// ignoreConflict drops the error of an object that exists already.
func ignoreConflict(err error) error {
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}
