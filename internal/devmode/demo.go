package devmode

import (
	"context"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/operator"
	"github.com/iris-oncall/iris/internal/users"
)

// The demo data as the printed lines name it.
const (
	DemoUser        = "demo"
	DemoPassword    = "demo"
	DemoApplication = "demo"
	DemoKey         = "demo-key"
	DemoPlan        = "demo-plan"
	demoTeam        = "demo"
	demoTemplate    = "demo-template"
)

// demoPeople are the demo user, who chose a mode for each priority that the plan uses, and team mates with the defaults.
// The numbers are of the range reserved for stories.
func demoPeople() []operator.NewUser {
	person := func(name, full, number string) operator.NewUser {
		return operator.NewUser{Name: name, FullName: full, Contacts: map[users.Mode]string{
			users.Email: name + "@example.com", users.SMS: number, users.Call: number, users.Slack: "@" + name,
		}}
	}
	demo := person(DemoUser, "Demo User", "+12025550100")
	demo.Admin, demo.Password, demo.AnyPassword = true, DemoPassword, true
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

// demoPlan pages the demo user in three ways at once, and after a minute everybody else in a way that wakes them less or more.
func demoPlan() escalation.PlanContent {
	to := func(name string, p users.Priority, wait time.Duration) escalation.Notification {
		return escalation.Notification{
			Target: &escalation.Target{Role: "user", Name: name}, Priority: p, Template: demoTemplate, Wait: wait,
		}
	}
	return escalation.PlanContent{
		Name: DemoPlan, Description: "The demo user at once by e-mail, text and Slack; the rest of the team a minute later.",
		ThresholdWindow: 15 * time.Minute, ThresholdCount: 10, AggregationWindow: 5 * time.Minute, AggregationReset: 5 * time.Minute,
		Steps: []escalation.Step{
			{Notifications: []escalation.Notification{
				to(DemoUser, users.Low, time.Minute), to(DemoUser, users.High, time.Minute), to(DemoUser, users.Medium, time.Minute),
			}},
			{Notifications: []escalation.Notification{
				to("ana", users.Urgent, 5*time.Minute), to("ben", users.High, 5*time.Minute), to("chloe", users.Medium, 5*time.Minute),
			}},
		},
	}
}

// demoWords say what Alertmanager posts as well as what the signed example posts.
func demoWords() messages.TemplateDraft {
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
	words := func(mode users.Mode, subject, body, html string) messages.TemplateWords {
		return messages.TemplateWords{Application: DemoApplication, Mode: mode, TemplateContent: messages.TemplateContent{
			Subject: subject, Body: body, EmailHTML: html,
		}}
	}
	return messages.TemplateDraft{Name: demoTemplate, Words: []messages.TemplateWords{
		words(users.Email, subject, body, html), words(users.SMS, "", short, ""),
		words(users.Slack, subject, body, ""), words(users.Call, "", short, ""),
	}}
}

// Seed loads the demo data unless the demo plan, which comes last, exists already: what people changed since stays. It
// completes what an interrupted start left unfinished.
func Seed(ctx context.Context, o *operator.Operator) error {
	if done, err := o.HasPlan(ctx, DemoPlan); done || err != nil {
		return err
	}
	for _, p := range demoPeople() {
		if err := added(o.AddUser(ctx, p)); err != nil {
			return fmt.Errorf("user %s: %w", p.Name, err)
		}
	}
	team := operator.NewTeam{Name: demoTeam, Description: "The demo team", Members: []string{DemoUser, "ana", "ben", "chloe"}, Manager: "ana"}
	if err := added(o.AddTeam(ctx, team)); err != nil {
		return fmt.Errorf("team: %w", err)
	}
	for _, c := range demoCalendars(time.Now()) {
		if err := added(o.AddCalendar(ctx, c)); err != nil {
			return fmt.Errorf("calendar of team %s: %w", c.Team.Name, err)
		}
	}
	demo := operator.NewApplication{
		Name: DemoApplication, Key: DemoKey, Variables: []string{"title", "service", "value"}, TitleVariable: "title", ActsForUsers: true,
	}
	_, err := o.AddApplication(ctx, demo)
	if fault.Is(err, fault.Conflict) {
		err = o.ConfigureApplication(ctx, demo)
	}
	if err != nil {
		return fmt.Errorf("application: %w", err)
	}
	there, err := o.HasTemplate(ctx, demoTemplate)
	if err == nil && !there {
		err = o.SaveTemplate(ctx, DemoUser, demoWords())
	}
	if err != nil {
		return fmt.Errorf("template: %w", err)
	}
	if err := o.SavePlan(ctx, DemoUser, demoPlan()); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	return nil
}

// added takes "exists already" for done.
func added(err error) error {
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}
