package config

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// variable is an environment variable that sets a key. "smtp[0]" is the first element of a list.
type variable struct {
	name, path string
	secret     bool // NAME_FILE is a variable, too
}

// variables has every environment variable that sets a key, in the order of docs/configuration.md.
var variables = []variable{
	{"IRIS_DATABASE_URL", "database.url", true},
	{"IRIS_DATABASE_MAX_CONNECTIONS", "database.max_connections", false},
	{"IRIS_PUBLIC_URL", "public_url", false},
	{"IRIS_PHONE_REGION", "phone_region", false},
	{"IRIS_SECRET_KEY", "secret_key", true},
	{"IRIS_ADMIN_ADDR", "admin.addr", false},
	{"IRIS_LOG_LEVEL", "log.level", false},
	{"IRIS_LOG_FORMAT", "log.format", false},
	{"IRIS_MIGRATE", "migrate", false},
	{"IRIS_SHUTDOWN_TIMEOUT", "shutdown_timeout", false},
	{"IRIS_HTTP_ADDR", "http.addr", false},
	{"IRIS_MAILBOX_URL", "http.mailbox_url", false},
	{"IRIS_LDAP_BIND_PASSWORD", "auth.ldap.bind_password", true},
	{"IRIS_OIDC_CLIENT_SECRET", "auth.oidc[0].client_secret", true},
	{"IRIS_INTAKE_SMTP_ADDR", "intake.smtp.addr", false},
	{"IRIS_INTAKE_SMTP_DOMAIN", "intake.smtp.domain", false},
	{"IRIS_GOSSIP_ADDR", "gossip.addr", false},
	{"IRIS_GOSSIP_ADVERTISE", "gossip.advertise", false},
	{"IRIS_GOSSIP_KEY", "gossip.key", true},
	{"IRIS_SMTP_ADDR", "smtp[0].addr", false},
	{"IRIS_SMTP_FROM", "smtp[0].from", false},
	{"IRIS_SMTP_USERNAME", "smtp[0].username", false},
	{"IRIS_SMTP_PASSWORD", "smtp[0].password", true},
	{"IRIS_SMTP_TLS", "smtp[0].tls", false},
	{"IRIS_SMTP_CA_FILE", "smtp[0].ca_file", false},
	{"IRIS_SLACK_TOKEN", "slack[0].token", true},
	{"IRIS_SLACK_SIGNING_SECRET", "slack[0].signing_secret", true},
	{"IRIS_SLACK_API_URL", "slack[0].api_url", false},
	{"IRIS_TWILIO_ACCOUNT_SID", "twilio[0].account_sid", false},
	{"IRIS_TWILIO_AUTH_TOKEN", "twilio[0].auth_token", true},
	{"IRIS_TWILIO_FROM", "twilio[0].from", false},
	{"IRIS_TWILIO_API_URL", "twilio[0].api_url", false},
	{"IRIS_WEBHOOK_SECRET", "webhook[0].secrets[0]", true},
	{"IRIS_WEBHOOK_ALLOW_PRIVATE", "webhook[0].allow_private", false},
	{"IRIS_WEBHOOK_ALLOW_HTTP", "webhook[0].allow_http", false},
	{"IRIS_PUSH_CREDENTIALS", "push[0].credentials", true},
	{"IRIS_PUSH_API_URL", "push[0].api_url", false},
}

// otherVariables begin with IRIS_ but set no key.
var otherVariables = []string{
	"IRIS_CONFIG", "IRIS_STATE_DIR", "IRIS_POSTGRES", "IRIS_POSTGRES_REPOSITORY", "IRIS_IMPORT_FROM", "IRIS_IMPORT_PASSWORD",
}

// Variables returns the names of all environment variables that set a key.
func Variables() []string {
	names := make([]string, len(variables))
	for i, v := range variables {
		names[i] = v.name
	}
	return names
}

// overlay puts the values of the environment into values (a nested map as from YAML) and records their origin. An empty
// variable counts as not set.
func (l *loader) overlay(values map[string]any, environ []string) {
	env := make(map[string]string, len(environ))
	for _, e := range environ {
		if name, value, ok := strings.Cut(e, "="); ok && value != "" && strings.HasPrefix(name, "IRIS_") {
			env[name] = value
		}
	}
	for _, v := range variables {
		value, from := env[v.name], v.name
		if fileName := env[v.name+"_FILE"]; v.secret && fileName != "" {
			if value != "" {
				l.problem(v.name, "both %s and %s_FILE are set; remove one", v.name, v.name)
				l.broken[v.path] = true
				delete(env, v.name)
				delete(env, v.name+"_FILE")
				continue
			}
			from += "_FILE"
			l.broken[v.path] = true
			raw, err := os.ReadFile(fileName)
			if err != nil {
				l.problem(from, "%v", err)
				continue
			}
			if value = strings.TrimRight(string(raw), "\r\n"); value == "" {
				l.problem(from, "the file %s is empty", fileName)
				continue
			}
			delete(l.broken, v.path)
		}
		delete(env, v.name)
		delete(env, v.name+"_FILE")
		if value == "" {
			continue
		}
		if err := set(values, v.path, value); err != nil {
			l.problem(from, "%v", err)
			continue
		}
		l.origin[v.path] = from
	}
	for _, name := range otherVariables {
		delete(env, name)
	}
	l.unknownVariables(env)
}

// unknownVariables warns about the other variables, which are probably misspelt. Kubernetes sets variables for a
// service named iris.
func (l *loader) unknownVariables(env map[string]string) {
	var left []string
	for name := range env {
		if strings.Contains(name, "_SERVICE_") || strings.Contains(name, "_PORT") {
			continue
		}
		left = append(left, name)
	}
	slices.Sort(left)
	for _, name := range left {
		l.warning(name, "unknown environment variable, ignored%s", fault.DidYouMean(name, Variables()))
	}
}

// set stores value at path ("a.b", "a[0].b") in nested maps and lists, and creates missing ones.
func set(values map[string]any, path string, value any) error {
	key, rest, nested := strings.Cut(path, ".")
	name, first := strings.CutSuffix(key, "[0]")
	if !first {
		if !nested {
			values[name] = value
			return nil
		}
		if values[name] == nil {
			values[name] = map[string]any{}
		}
		inner, ok := values[name].(map[string]any)
		if !ok {
			return fmt.Errorf("cannot be set: %s is not a section in the file", name)
		}
		return set(inner, rest, value)
	}
	var list []any
	switch have := values[name].(type) {
	case nil:
	case []any:
		list = have
	case map[string]any: // a single account written without a dash
		list = []any{have}
	default:
		return fmt.Errorf("cannot be set: %s is not a list in the file", name)
	}
	if len(list) == 0 {
		list = []any{nil}
	}
	if !nested {
		list[0] = value
		values[name] = list
		return nil
	}
	inner, ok := list[0].(map[string]any)
	if list[0] != nil && !ok {
		return fmt.Errorf("cannot be set: the first of %s is not a section in the file", name)
	}
	if inner == nil {
		inner = map[string]any{}
	}
	list[0] = inner
	values[name] = list
	return set(inner, rest, value)
}
