package contract

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// stand replaces the parameters of a path by names of existing objects.
func stand(path string) string {
	for name, value := range map[string]string{"{id}": "1", "{username}": "bob", "{user}": "bob", "{app}": "demo", "{plan}": "pager", "{template}": "words",
		"{type}": "user", "{team}": "ops", "{mode}": "sms", "{role}": "primary"} {
		path = strings.ReplaceAll(path, name, value)
	}
	return regexp.MustCompile(`\{[a-z_]+\}`).ReplaceAllString(path, "x")
}

// everythingServed switches on the routes that are off by default.
func everythingServed(t *testing.T, more ...string) string {
	return configured(t, strings.Join(append(more, "webhooks: [alertmanager, grafana, rackspace, freshping]",
		"mobile: {activated: true, applications: [demo]}",
		`oncall: {bonus_url: "http://127.0.0.1:1/"}`, `auth: {oidc: [{name: corp, issuer: "http://127.0.0.1:1", client_id: iris}]}`), "\n")+"\n")
}

// knownOnly are the access rules of routes that need authentication.
var knownOnly = []string{"open", "any", "write", "self", "user", "own", "admin", "app", "team-admin", "member"}

// TestUnauthenticatedCallersAreRefused sends every operation of the document without credentials, and with wrong ones.
func TestUnauthenticatedCallersAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	s.keys["nix"] = "x"
	wrong := caller{name: "an application with a wrong key", app: "wrong"}
	s.keys["wrong"] = "y"
	s.exec("insert into applications (name) values ('wrong')")
	for _, o := range s.api.operations {
		var body any
		if o.method != get {
			body = m{}
		}
		path := stand(o.path)
		switch {
		case o.path == "/readyz/paging": // no processor runs, so nobody is paged
		case o.access == "public":
			a := s.do(anonymous, o.method, path, body)
			if !strings.HasPrefix(path, "/login") {
				require.NotContains(t, []int{401, 403}, a.status, a.what)
			}
		case o.access == "webhook" || o.access == "vendor" || o.access == "token":
			a := s.do(anonymous, o.method, path, body)
			require.Contains(t, []int{400, 401, 403}, a.status, a.what)
		case o.access == "session":
			a := s.do(anonymous, o.method, path, body)
			require.Contains(t, []int{302, 303, 401, 403}, a.status, a.what)
			if a.status < 400 {
				require.Contains(t, a.header.Get("Location"), "/login", a.what)
			}
		default:
			require.Contains(t, knownOnly, o.access)
			for _, c := range []caller{anonymous, {name: "an unknown application", app: "nix"}, wrong} {
				s.do(c, o.method, path, body).is(401)
			}
		}
	}
}

// TestReadOnlyPeopleChangeNothing sends every operation that changes something in the session of a read-only person.
func TestReadOnlyPeopleChangeNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	s.changesNothing()
}

// TestReadOnlyAdministratorsChangeNothing does so in the session of an administrator who may only read.
func TestReadOnlyAdministratorsChangeNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	s.exec("update users set admin = true where name = 'viewer'")
	s.changesNothing()
}

// changesNothing sends every operation that changes something as viewer.
func (s *server) changesNothing() {
	s.Helper()
	s.open()
	for _, o := range s.api.operations {
		if strings.HasPrefix(o.path, "/api/v0/ical_key/") || strings.HasPrefix(o.path, "/api/v0/notifications/") ||
			strings.Contains(o.path, "/calendar-feed") || strings.HasPrefix(o.path, "/v1/reminders/") {
			continue // read-only people may change their own keys and reminders
		}
		if strings.HasPrefix(o.path, "/sessions/") || strings.HasPrefix(o.path, "/v1/sessions") {
			continue // and end their own sessions
		}
		if strings.HasPrefix(o.path, "/v1/update-subscriptions") {
			continue // and subscribe to updates
		}
		if o.method == get || strings.HasPrefix(o.path, "/log") || strings.HasPrefix(o.path, "/account/") || o.access == "public" || o.access == "vendor" || o.access == "webhook" {
			continue
		}
		a := s.do(viewer, o.method, stand(o.path), m{})
		refused := []int{401, 403}
		if o.access == "session" {
			refused = append(refused, 400,
				404) // a page reads its form before it asks the API, which refuses the change
		}
		if strings.HasPrefix(o.path, "/v1/users/{") {
			refused = append(refused, 400) // read-only people change their own settings, so that the body is read first
		}
		require.Contains(s, refused, a.status, "%s: %s", a.what, a.body)
	}
}

// With anonymous reads on, only the routes that the predecessor served without credentials are open.
func TestAnonymousReads(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t, "compatibility: {anonymous_reads: true, oncall_anonymous_reads: true}"))
	s.open()
	for _, o := range s.api.operations {
		var body any
		if o.method != get {
			body = m{}
		}
		switch o.access {
		case "open":
			if o.path == "/api/v0/events/bonus" {
				continue // the request names a person who does not exist
			}
			if o.method == get {
				a := s.do(anonymous, o.method, stand(o.path), body)
				require.NotContains(t, []int{401, 403}, a.status, a.what)
				continue
			}
			fallthrough
		case "any", "write", "self", "user", "own", "admin", "app", "team-admin", "member":
			s.do(anonymous, o.method, stand(o.path), body).is(401)
		}
	}
}

// Sends every kind of credentials, right and wrong.
func TestCredentials(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.do(caller{name: "demo for bob", app: "demo", user: "bob"}, get, "/v0/modes", nil).
		refuses(401, "This application does not have the power to authenticate usernames", "")
	for _, header := range []string{"", "Basic eDp5", "hmac", "hmac "} {
		s.do(anonymous, get, "/v0/modes", nil, "Authorization", header).is(401)
	}
	s.do(anonymous, get, "/v0/modes", nil, "Authorization", "hmac nocolon").refuses(401, "Authentication failure", "")
	a := s.do(demo, get, "/v0/nowhere", nil).empty(404)
	for name, value := range map[string]string{"X-Frame-Options": "SAMEORIGIN", "X-Content-Type-Options": "nosniff", "X-XSS-Protection": "1; mode=block", "Content-Type": "application/json"} {
		require.Equal(t, value, a.header.Get(name), name)
	}
	s.do(demo, del, "/v0/modes", nil).empty(405)
	s.do(demo, get, "/v0/modes/", nil).is(200)
	s.do(bob, get, "/v0/modes", nil).is(200)
	a = s.do(bob, post, "/logout/", nil).is(302)
	require.Equal(t, "/login", a.header.Get("Location"))
	s.do(bob, get, "/v0/modes", nil).is(401)
}
