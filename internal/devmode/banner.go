package devmode

import (
	"fmt"
	"strings"

	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/devmode/demo"
)

// alertLine is a command that posts what Alertmanager would post. Every run is a new group, so that it opens a new incident.
func alertLine(public string) string {
	return `curl -sS -w '\n' -X POST '` + public + `/v0/webhooks/alertmanager?application=` + demo.Application + `&key=` + demo.Key + `&plan=` + demo.Plan + `'` +
		` -H 'Content-Type: application/json' -d '{"version":"4","groupKey":"demo-'$(date +%s)'","status":"firing","receiver":"iris",` +
		`"groupLabels":{"alertname":"DiskFull"},"commonLabels":{"alertname":"DiskFull","instance":"web-1"},` +
		`"commonAnnotations":{"summary":"disk of web-1 is 97% full"},"externalURL":"http://alertmanager.example.com",` +
		`"alerts":[{"status":"firing","labels":{"alertname":"DiskFull","instance":"web-1"},"annotations":{"summary":"disk of web-1 is 97% full"},` +
		`"startsAt":"'$(date -u +%Y-%m-%dT%H:%M:%SZ)'","endsAt":"0001-01-01T00:00:00Z","generatorURL":"","fingerprint":"demo'$(date +%s)'"}]}'`
}

// incidentLine is a command that posts an incident, signed when it runs: the signature covers the time, the method, the
// path and the body with the application's key.
func incidentLine(public string) string {
	const body = `{"plan":"` + demo.Plan + `","context":{"title":"checkout is slow","service":"shop","value":"2.4 s"}}`
	return `curl -sS -w '\n' -X POST '` + public + `/v0/incidents' -H 'Content-Type: application/json'` +
		` -H "Authorization: hmac ` + demo.Application + `:$(printf '%s' "$(($(date +%s)/5)) POST ` + pathOf(public) + `/v0/incidents "'` + body + `'` +
		` | openssl dgst -sha512 -hmac ` + demo.Key + ` -binary | openssl base64 -A | tr '+/' '-_')" -d '` + body + `'`
}

// pathOf returns the path under which a public URL serves us, "" for most.
func pathOf(public string) string {
	_, rest, _ := strings.Cut(public, "://")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return ""
}

// banner says what runs where and how to try it.
func (s *Supervisor) banner(cfg *config.Config, databaseURL string) {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("")
	line("Iris is running: one iris-api, %d message-processor%s. Ctrl-C stops everything and keeps the data.", s.opt.Processors, plural(s.opt.Processors))
	line("")
	line("  Web pages    %s/", s.public)
	if !s.opt.NoDemo {
		line("               log in as user %s, password %s", demo.User, demo.Password)
	}
	line("  Mailbox      %s/dev/mailbox", s.public)
	line("               what would leave this machine (e-mails, texts, calls, chat messages); as JSON at /dev/mailbox.json")
	if real := realVendors(cfg); real != "" {
		line("               configured instead of the mailbox: %s", real)
	}
	line("  API          %s/v0/", s.public)
	if !s.opt.NoDemo {
		line("               application %s, key %s", demo.Application, demo.Key)
		line("  Plan         %s: user %s at once by e-mail, text and Slack; the rest of the team a minute later", demo.Plan, demo.User)
	}
	line("  Database     %s", hidePassword(databaseURL, cfg.DatabaseURL() != ""))
	line("  Logs         %s", s.logDir)
	if s.opt.NoDemo {
		line("")
		line("No demo data was loaded. To begin, in another shell:")
		line("")
		if cfg.DatabaseURL() == "" {
			line("export IRIS_DATABASE_URL='%s'", databaseURL)
		}
		for _, command := range []string{
			"user add ann --admin --email ann@example.com --phone +15551234567", "team add ops --member ann", "app add watch",
		} {
			line("%s %s", s.command(), command)
		}
		line("")
		line("Then a template and a plan: docs/api.md has an example.")
	} else {
		line("")
		line("Post an alert, as Alertmanager would (or point one at the webhook address in this line):")
		line("")
		line("%s", alertLine(s.public))
		line("")
		line("Or an incident through the API, signed by openssl when you run it:")
		line("")
		line("%s", incidentLine(s.public))
	}
	line("")
	s.outMu.Lock()
	defer s.outMu.Unlock()
	fmt.Fprint(s.opt.Out, b.String())
}

// command is how our own program is called from a shell.
func (s *Supervisor) command() string {
	if strings.Contains(s.opt.Program, "/go-build") { // where `go run` puts it
		return "go run ./cmd/iris"
	}
	return s.opt.Program
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// realVendors lists the configured vendors, which send to the outside.
func realVendors(cfg *config.Config) string {
	var out []string
	smtp, slack, twilio, webhook, push := cfg.Vendors()
	for _, v := range []struct {
		on   bool
		name string
	}{{smtp, "e-mail"}, {slack, "Slack"}, {twilio, "texts and calls"}, {webhook, "webhooks"}, {push, "push messages"}} {
		if v.on {
			out = append(out, v.name)
		}
	}
	return strings.Join(out, ", ")
}

// hidePassword leaves the password of a configured database out; that of our own server is of use to nobody elsewhere.
func hidePassword(url string, configured bool) string {
	if !configured {
		return url
	}
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return "as configured"
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		user, _, _ := strings.Cut(rest[:at], ":")
		rest = user + "@" + rest[at+1:]
	}
	return scheme + "://" + rest
}
