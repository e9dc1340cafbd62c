package devmode

import (
	"fmt"
	"strings"

	"github.com/iris-oncall/iris/internal/dev/devmode/demo"
	"github.com/iris-oncall/iris/internal/program/config"
)

// alertLine returns a command that posts what Alertmanager posts. Each run has a new group, so it opens a new incident.
func alertLine(public string) string {
	return `curl -sS -w '\n' -X POST '` + public + `/v0/webhooks/alertmanager?application=` + demo.Application +
		`&key=` + demo.Key + `&plan=` + demo.Plan + `'` +
		` -H 'Content-Type: application/json' -d '{"version":"4","groupKey":"demo-'$(date +%s)'","status":"firing","receiver":"iris",` +
		`"groupLabels":{"alertname":"DiskFull"},"commonLabels":{"alertname":"DiskFull","instance":"web-1"},` +
		`"commonAnnotations":{"summary":"disk of web-1 is 97% full"},"externalURL":"http://alertmanager.example.com",` +
		`"alerts":[{"status":"firing","labels":{"alertname":"DiskFull","instance":"web-1"},"annotations":{"summary":"disk of web-1 is 97% full"},` +
		`"startsAt":"'$(date -u +%Y-%m-%dT%H:%M:%SZ)'","endsAt":"0001-01-01T00:00:00Z","generatorURL":"","fingerprint":"demo'$(date +%s)'"}]}'`
}

// integrationLines returns a command for each of four demo integrations. Run again, the first three update their
// incidents. The last one pings a heartbeat: its incident opens when no further ping comes.
func integrationLines(public string) []string {
	const post = `curl -sS -w '\n' -H 'Content-Type: application/json' `
	return []string{
		post + public + `/v2/enqueue -d '{"routing_key":"demo-pagerduty","event_action":"trigger","dedup_key":"disk/db7","payload":{"summary":"Disk 95 % on db7","source":"db7","severity":"critical"}}'`,
		post + public + `/v2/alerts -H 'Authorization: GenieKey demo-opsgenie' -d '{"message":"Queue is full","alias":"queue","priority":"P2"}'`,
		post + public + `/v1/hooks/generic/demo-generic -d '{"id":"job-17","title":"Backup failed","severity":"high"}'`,
		`curl -sS -w '\n' ` + public + `/v1/hooks/heartbeat/demo-heartbeat`,
	}
}

// mailDomain is the domain of the addresses of integrations.
const mailDomain = "localhost"

// mailLine returns a command that sends an alert mail to the SMTP server at an address.
func mailLine(addr string) string {
	return `printf 'From: you@example.com\nSubject: Disk of web-1 is full\n\n/var is 97%% full\n' | curl -sS smtp://` +
		addr +
		` --mail-from you@example.com --mail-rcpt demo-email@` + mailDomain + ` --crlf -T -`
}

// incidentLine returns a command that posts an incident and signs it when it runs. The signature covers the time, the
// method, the path and the body.
func incidentLine(public string) string {
	const body = `{"plan":"` + demo.Plan + `","context":{"title":"checkout is slow","service":"shop","value":"2.4 s"}}`
	return `curl -sS -w '\n' -X POST '` + public + `/v0/incidents' -H 'Content-Type: application/json'` +
		` -H "Authorization: hmac ` + demo.Application + `:$(printf '%s' "$(($(date +%s)/5)) POST ` + pathOf(public) +
		`/v0/incidents "'` + body + `'` +
		` | openssl dgst -sha512 -hmac ` + demo.Key + ` -binary | openssl base64 -A | tr '+/' '-_')" -d '` + body + `'`
}

// pathOf returns the path of the public URL, usually "".
func pathOf(public string) string {
	_, rest, _ := strings.Cut(public, "://")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return ""
}

// banner prints the addresses and how to try Iris.
func (s *Supervisor) banner(cfg *config.Config, databaseURL string) {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("")
	line("Iris is running: one iris-api, %d message-processor%s. Ctrl-C stops everything and keeps the data.",
		s.opt.Processors, plural(s.opt.Processors))
	line("")
	line("  Web pages    %s/", s.public)
	own := cfg.DatabaseURL() == ""
	if !s.opt.NoDemo || own {
		line("               log in as user %s, password %s", demo.User, demo.Password)
	}
	line("  Mailbox      %s/dev/mailbox", s.public)
	line("               all messages that Iris sends (e-mails, texts, calls, chat messages); as JSON at /dev/mailbox.json")
	if real := realVendors(cfg); real != "" {
		line("               configured vendors that really send: %s", real)
	}
	line("  API          %s/v0/", s.public)
	if !s.opt.NoDemo {
		line("               application %s, key %s", demo.Application, demo.Key)
		line("  Plan         %s: user %s at once by e-mail, text and Slack; the rest of the team a minute later",
			demo.Plan, demo.User)
	}
	line("  Database     %s", hidePassword(databaseURL, cfg.DatabaseURL() != ""))
	line("  Logs         %s", s.logDir)
	if s.opt.NoDemo {
		line("")
		if own {
			line("There is no demo data. The home page has the first steps. For other commands, in another shell:")
			line("")
			line("export IRIS_DATABASE_URL='%s'", databaseURL)
			line("%s user add ann --email ann@example.com --phone +15551234567", s.command())
		} else {
			line("There is no demo data. Add an administrator in another shell, then log in. The home page has the first steps.")
			line("")
			line("%s user add ann --admin --email ann@example.com --phone +15551234567", s.command())
		}
	} else {
		line("")
		line("Post an alert as Alertmanager does (or configure an Alertmanager with this webhook address):")
		line("")
		line("%s", alertLine(s.public))
		line("")
		line("Or as the clients of PagerDuty, of Opsgenie, or with any JSON do; or ping a heartbeat, which opens an incident 70 s after its last ping:")
		line("")
		for _, command := range integrationLines(s.public) {
			line("%s", command)
		}
		line("")
		if s.mail != "" {
			line("Or send a mail:")
			line("")
			line("%s", mailLine(s.mail))
			line("")
		}
		line("Or post an incident through the API, signed by openssl:")
		line("")
		line("%s", incidentLine(s.public))
	}
	line("")
	s.outMu.Lock()
	defer s.outMu.Unlock()
	fmt.Fprint(s.opt.Out, b.String())
}

// command returns the command that runs this program in a shell.
func (s *Supervisor) command() string {
	if strings.Contains(s.opt.Program, "/go-build") { // the program of `go run`
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

// realVendors lists the configured vendors, which really send.
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

// hidePassword removes the password from the URL of a configured database. The password of dev mode's own server is
// shown: it is useless elsewhere.
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
