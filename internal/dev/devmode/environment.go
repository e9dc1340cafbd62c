package devmode

import (
	"strings"

	"github.com/iris-oncall/iris/internal/kit/subprocess"
	"github.com/iris-oncall/iris/internal/program/config"
)

// environments has the environment of each server.
type environments struct{ api, processor []string }

// childEnvironment returns this process's environment with the settings of dev mode. Configured vendors are kept; the
// mailbox replaces the others.
func (s *Supervisor) childEnvironment(cfg *config.Config, databaseURL string, box vendorSettings) environments {
	base := map[string]string{
		"IRIS_DATABASE_URL": databaseURL,
		"IRIS_PUBLIC_URL":   s.public,
		"IRIS_ADMIN_ADDR":   "127.0.0.1:0",
		"IRIS_LOG_FORMAT":   "json",
	}
	if s.opt.ConfigFile != "" {
		base["IRIS_CONFIG"] = s.opt.ConfigFile
	}
	if subprocess.Getenv(s.opt.Environ, "IRIS_SHUTDOWN_TIMEOUT") == "" {
		base["IRIS_SHUTDOWN_TIMEOUT"] = (stopGrace - 2e9).String()
	}
	smtp, slack, twilio, webhook, push := cfg.Vendors()
	for _, v := range []struct {
		configured bool
		settings   map[string]string
	}{{smtp, box.smtp}, {slack, box.slack}, {twilio, box.twilio}, {webhook, box.webhook}, {push, box.push}} {
		if v.configured {
			continue
		}
		for name, value := range v.settings {
			base[name] = value
		}
	}
	ofAPI := map[string]string{"IRIS_HTTP_ADDR": s.addr, "IRIS_MAILBOX_URL": box.pages}
	if s.mail != "" {
		ofAPI["IRIS_INTAKE_SMTP_ADDR"], ofAPI["IRIS_INTAKE_SMTP_DOMAIN"] = s.mail, mailDomain
	}
	return environments{
		api: merge(s.opt.Environ, base, ofAPI),
		// Gossip uses a free port of this machine: peers find each other through the database.
		processor: merge(s.opt.Environ, base, map[string]string{"IRIS_GOSSIP_ADDR": "127.0.0.1:0"}),
	}
}

// merge sets variables in an environment. A variable also replaces its ..._FILE variant.
func merge(environ []string, over ...map[string]string) []string {
	values := map[string]string{}
	for _, m := range over {
		for name, value := range m {
			values[name] = value
		}
	}
	var out []string
	for _, e := range environ {
		name, _, _ := strings.Cut(e, "=")
		_, replaced := values[name]
		_, replacedFile := values[strings.TrimSuffix(name, "_FILE")]
		if !replaced && !(replacedFile && strings.HasSuffix(name, "_FILE")) {
			out = append(out, e)
		}
	}
	for name, value := range values {
		out = append(out, name+"="+value)
	}
	return out
}
