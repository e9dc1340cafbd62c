package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/page"
)

// source is a sender of integrations of a type.
type source struct {
	described
	Recipe string // that reads its payloads; "" = the type alone says how
}

// described is a type of integrations, or a sender, in words.
type described struct {
	Type, Label, About string
	// Where says what to do in the sender. ADDRESS, WITHTOKEN, BASE and TOKEN stand for the address without and with
	// the token, the address of this server, and the token. Config is what is copied.
	Where, Config string
	// Payload is a delivery that opens an incident, for the command that tests the integration; "" = there is none.
	// Scheme is that of the Authorization header: "" = Bearer, "-" = the payload has the token.
	Payload, Scheme string
}

// known are the types in the order in which they are offered.
var known = []described{
	{"alertmanager", "Alertmanager", "Prometheus, Thanos, Mimir, Loki: groups of alerts by webhook.",
		"Add the receiver to alertmanager.yml, and name it in a route.", `receivers:
  - name: iris
    webhook_configs:
      - url: ADDRESS
        send_resolved: true
        http_config:
          authorization: {credentials: TOKEN}`,
		`{"version": "4", "groupKey": "test", "status": "firing", "receiver": "iris", "commonLabels": {"alertname": "Test", "severity": "warning"}, "alerts": [{"status": "firing", "labels": {"alertname": "Test", "severity": "warning"}, "annotations": {"summary": "Test of the integration"}, "fingerprint": "test"}]}`, ""},
	{"grafana", "Grafana", "Grafana Alerting, all versions, by a webhook contact point.",
		"In Grafana: Alerting, Contact points, New, integration Webhook.", `URL: ADDRESS
HTTP method: POST
Authorization header, scheme: Bearer
Authorization header, credentials: TOKEN`,
		`{"version": "1", "groupKey": "test", "status": "firing", "receiver": "iris", "commonLabels": {"alertname": "Test"}, "title": "Test of the integration", "alerts": [{"status": "firing", "labels": {"alertname": "Test"}, "annotations": {"summary": "Test of the integration"}, "fingerprint": "test"}]}`, ""},
	{intake.Generic, "Generic JSON", "Any program that can send JSON, a form or a text: scripts, cron jobs, CI, appliances.",
		"Send a POST with one of these. A sender that can set no header uses the address with the token.", `URL: ADDRESS
Header: Authorization: Bearer TOKEN

URL with the token: WITHTOKEN`,
		`{"dedup_key": "test", "title": "Test of the integration", "severity": "warning"}`, ""},
	{intake.PagerDuty, "PagerDuty client",
		"Programs that were made for PagerDuty's Events API; only their address and key change.",
		"Set the address of the Events API and the key. For an Alertmanager:", `global: {pagerduty_url: ADDRESS}
receivers:
  - name: iris
    pagerduty_configs: [{routing_key: TOKEN}]`,
		`{"routing_key": "TOKEN", "event_action": "trigger", "dedup_key": "test", "payload": {"summary": "Test of the integration", "source": "test", "severity": "warning"}}`, "-"},
	{intake.Opsgenie, "Opsgenie client", "Programs that were made for Opsgenie's Alert API, and its heartbeats.",
		"Set the address of the API and the key. For an Alertmanager:", `global: {opsgenie_api_url: BASE/}
receivers:
  - name: iris
    opsgenie_configs: [{api_key: TOKEN}]`,
		`{"message": "Test of the integration", "alias": "test", "priority": "P3"}`, "GenieKey"},
	{intake.Heartbeat, "Heartbeat", "Programs that say regularly that they work: backups, cron jobs, watchdogs. An incident opens when one stops.",
		"Add a heartbeat on the page of the integration, then call its address at the end of the job. Without a name it is the heartbeat named default.", `curl -fsS --retry 5 WITHTOKEN`, "", ""},
	{intake.Email, "E-mail", "Senders that can only send mails: storage, printers, old monitoring.",
		"Send the mails to this address. It is a secret: everybody who knows it can page people.", `TOKEN@DOMAIN`, "", ""},
	{"sns", "Amazon SNS and CloudWatch", "Alarms of CloudWatch, and every other message of a topic.",
		"Create an HTTPS subscription of the topic with this address. Iris confirms the subscription by itself. Add an OK action to each alarm, else nothing resolves its incident.", `WITHTOKEN`, "", ""},
	{"datadog", "Datadog", "Monitors of Datadog, by a webhook.",
		"In Datadog: Integrations, Webhooks, New. Then name @webhook-NAME in the message of the monitor. Do not tick “Encode as form”.", `URL: ADDRESS
Custom headers: {"Authorization": "Bearer TOKEN"}
Payload:
{"monitor_id": "$ALERT_ID", "cycle_key": "$ALERT_CYCLE_KEY", "transition": "$ALERT_TRANSITION", "alert_type": "$ALERT_TYPE", "priority": "$ALERT_PRIORITY",
 "scope": "$ALERT_SCOPE", "title": "$ALERT_TITLE", "text": "$TEXT_ONLY_MSG", "event_id": "$ID", "link": "$LINK", "snapshot": "$SNAPSHOT", "tags": "$TAGS",
 "hostname": "$HOSTNAME", "date": "$DATE"}`,
		`{"monitor_id": "1", "cycle_key": "test", "transition": "Triggered", "alert_type": "warning", "title": "Test of the integration"}`, ""},
	{"sentry", "Sentry", "Issues and metric alerts, by an internal integration.",
		"In Sentry: Settings, Developer Settings, New Internal Integration, with the alert rule action on and webhooks for issue. Then store its client secret here, so that signatures are checked.",
		`Webhook URL: WITHTOKEN`, `{"action": "created", "data": {"issue": {"id": "test", "title": "Test of the integration", "level": "warning"}}}`, ""},
	{"zabbix", "Zabbix", "Zabbix 6.0 or later, by a media type in deploy/zabbix.",
		"Import deploy/zabbix/iris.yaml (before Zabbix 6.4: iris-6.0.yaml) under Alerts, Media types. Set its parameter, give a user the media Iris, and create a trigger action for this user.", `Parameter address of the media type: ADDRESS
“Send to” of the media: TOKEN`, "", ""},
	{"uptime_kuma", "Uptime Kuma", "Monitors of Uptime Kuma, by a webhook.",
		"In Uptime Kuma: Settings, Notifications, Setup, type Webhook.", `Post URL: ADDRESS
Request body: Preset - application/json
Additional headers: {"Authorization": "Bearer TOKEN"}`,
		`{"msg": "Test of the integration", "monitor": {"id": 1, "name": "Test of the integration"}, "heartbeat": {"status": 0}}`, ""},
	{"nagios", "Nagios and Icinga", "Notifications by the script in deploy/nagios.",
		"Copy deploy/nagios/iris-notify to /usr/local/bin, and write the token to a file that only the monitoring user can read. The manual has the definitions of the commands.", `Address: ADDRESS
Content of /etc/nagios/iris.token: TOKEN`,
		`{"type": "PROBLEM", "host": "test", "service": "Test of the integration", "state": "WARNING"}`, ""},
}

// offered returns the types that this server knows.
func offered() (out []source) {
	types := sources.Types()
	for _, s := range known {
		if slices.Contains(types, s.Type) {
			out = append(out, source{described: s})
		}
	}
	for _, t := range types {
		if !slices.ContainsFunc(out, func(s source) bool { return s.Type == t }) {
			out = append(out, source{described: described{Type: t, Label: t, About: "Deliveries of " + t + ".",
				Where: "Send deliveries to this address.", Config: "ADDRESS\nAuthorization: Bearer TOKEN"}})
		}
	}
	return out
}

// bySender returns the senders whose payloads a recipe reads, of integrations of a type.
func (h Handlers) bySender(r *http.Request, kind string) (out []source) {
	for _, one := range h.recipes(r) {
		if of, ok := recipeSource(one, kind); ok {
			out = append(out, of)
		}
	}
	return out
}

// matching returns the senders with a text in their name or description, ignoring case.
func matching(all []source, text string) []source {
	text = strings.ToLower(text)
	return slices.DeleteFunc(all, func(s source) bool {
		return !strings.Contains(strings.ToLower(s.Label+" "+s.About+" "+s.Recipe), text)
	})
}

// recipes returns the recipes. If they cannot be read, there are none: pages only offer them.
func (h Handlers) recipes(r *http.Request) []integrations.Recipe {
	found, _ := h.Integrations.Recipes.Do(r.Context(), page.Actor(r), operation.Paging{Limit: page.Longest})
	return found.Items
}

// recipeSource describes the sender of a recipe; false = it reads no payloads of the type.
func recipeSource(of integrations.Recipe, kind string) (source, bool) {
	out := source{described{Type: kind, Label: of.Label, About: of.About, Config: string(of.Setup)}, of.Name}
	mail := kind == intake.Email
	if mail {
		out.Config = cmp.Or(string(of.MailSetup), "TOKEN@DOMAIN")
	}
	for _, s := range of.Samples {
		if !mail && out.Payload == "" && strings.HasPrefix(s.Body, "{") {
			out.Payload = strings.ReplaceAll(s.Body, "'", `'\''`)
		}
	}
	return out, mail && of.Mail || kind == intake.Generic && of.Webhook
}

// source describes the sender of integrations of a type that name a recipe; "" = none. A type or recipe without About is
// unknown.
func (h Handlers) source(r *http.Request, kind, recipe string) source {
	for _, one := range h.recipes(r) {
		if of, ok := recipeSource(one, kind); ok && one.Name == recipe {
			return of
		}
	}
	return sourceOf(kind)
}

// sourceOf returns a type; one without About is unknown.
func sourceOf(kind string) source {
	for _, s := range offered() {
		if s.Type == kind {
			return s
		}
	}
	return source{described: described{Type: kind, Label: kind}}
}

// setup is how a sender is configured. Test is a command that opens an incident; "" = there is none. Missing says what
// the server lacks.
type setup struct{ Where, Config, Test, Missing string }

// setup returns the set-up of the sender of an integration. Without a token, TOKEN stands for it.
func (h Handlers) setup(s source, token string) setup {
	kind := s.Type
	if token == "" {
		token = "TOKEN"
	}
	path, withToken := intake.Address(kind, token)
	address := h.PublicURL + path
	fill := strings.NewReplacer("ADDRESS", address, "WITHTOKEN", h.PublicURL+withToken, "BASE", h.PublicURL, "TOKEN",
		token, "@DOMAIN", "@"+h.MailDomain).Replace
	out := setup{Where: cmp.Or(s.Where, s.About), Config: fill(s.Config)}
	if kind == intake.Email && h.MailDomain == "" {
		out.Missing = "This server receives no mails: an operator must set intake.smtp.addr and intake.smtp.domain first."
		out.Config = strings.ReplaceAll(s.Config, "TOKEN", token)
	}
	if s.Payload != "" {
		header := fmt.Sprintf(` -H "Authorization: %s %s"`, cmp.Or(s.Scheme, "Bearer"), token)
		if s.Scheme == "-" {
			header = ""
		}
		out.Test = fmt.Sprintf(`curl -fsS%s -H "Content-Type: application/json" %s -d '%s'`, header, address,
			fill(s.Payload))
	}
	return out
}
