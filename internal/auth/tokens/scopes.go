package tokens

import (
	"regexp"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Scope is a group of requests that a token allows. A scope only narrows: the person or team must have the right too.
type Scope string

// The scopes. Each includes Read.
const (
	Read      Scope = "read"      // read everything except secrets
	Incidents Scope = "incidents" // change incidents and silences, send notifications
	Oncall    Scope = "oncall"    // change calendars and teams
	Config    Scope = "config"    // change plans, templates, applications, integrations and heartbeats
	Admin     Scope = "admin"     // everything that the person or team may do. Without it an administrator has the rights of other people.
)

const allScopes = "read, incidents, oncall, config, admin"

// Scopes are the scopes of a token.
type Scopes []Scope

// ParseScopes returns the scopes with these names, sorted and without repetitions.
func ParseScopes(names []string) (Scopes, error) {
	if len(names) > maxScopes {
		return nil, fault.Invalidf("scopes", "scopes may have at most %d entries", maxScopes)
	}
	scopes := Scopes{}
	for _, name := range names {
		switch s := Scope(name); s {
		case Read, Incidents, Oncall, Config, Admin:
			scopes = append(scopes, s)
		default:
			return nil, fault.Invalidf("scopes", "there is no scope %.40q; the scopes are %s", name, allScopes)
		}
	}
	slices.Sort(scopes)
	return slices.Compact(scopes), nil
}

// Has reports whether the scopes include s.
func (s Scopes) Has(one Scope) bool {
	return one == Read && len(s) > 0 || slices.Contains(s, one) || slices.Contains(s, Admin)
}

// OnlyRead reports whether the scopes allow no change.
func (s Scopes) OnlyRead() bool {
	return !slices.ContainsFunc(s, func(one Scope) bool { return one != Read })
}

// Allow returns a Forbidden fault that names the missing scope if the scopes do not allow a request. path is decoded.
func (s Scopes) Allow(method, path string) error {
	if needed := Needed(method, path); !s.Has(needed) {
		return fault.Newf(fault.Forbidden, "This token lacks the scope %s", needed)
	}
	return nil
}

// changes are the scopes of changes below a path. Changes elsewhere need Admin: those of people, contacts, feed keys,
// tokens, and those that a later release adds.
var changes = [...]struct {
	path  string
	scope Scope
}{
	{"/v0/incidents", Incidents},
	{"/v0/notifications", Incidents},
	{"/v1/incidents", Incidents},
	{"/v1/notifications", Incidents},
	{"/v1/reviews", Incidents},
	{"/v1/silences", Incidents},
	{"/pagerduty/incidents", Incidents},

	{"/api/v0/events", Oncall},
	{"/api/v0/schedules", Oncall},
	{"/api/v0/teams", Oncall},
	{"/v1/events", Oncall},
	{"/v1/rotations", Oncall},
	{"/v1/swap-requests", Oncall},
	{"/v1/teams", Oncall},
	{"/v1/unavailability", Oncall},

	{"/v0/applications", Config},
	{"/v0/categories", Config},
	{"/v0/plans", Config},
	{"/v0/templates", Config},
	{"/v1/applications", Config},
	{"/v1/integrations", Config},
	{"/v1/plans", Config},
	{"/v1/templates", Config},
}

// Needed returns the scope that a request needs.
func Needed(method, path string) Scope {
	path = strings.TrimSuffix(path, "/")
	if secret(path) {
		return Admin
	}
	if path == "/v1/tokens/current" { // every token may read and revoke itself
		return Read
	}
	if method == "GET" || method == "HEAD" || method == "OPTIONS" {
		return Read
	}
	if administrators(path) {
		return Admin
	}
	for _, c := range changes {
		if rest, ok := strings.CutPrefix(path, c.path); ok && (rest == "" || rest[0] == '/') {
			return c.scope
		}
	}
	return Admin
}

// administrators reports whether a path is about the administrators of a team. Who becomes one can create tokens of the
// team with any scope.
func administrators(path string) bool {
	rest, ok := strings.CutPrefix(path, "/api/v0/teams/")
	if !ok {
		rest, ok = strings.CutPrefix(path, "/v1/teams/")
	}
	segments := strings.Split(rest, "/")
	return ok && len(segments) > 1 && segments[1] == "admins"
}

// feed matches the paths of calendar feeds. Who has the key of a feed can read a calendar without a log-in.
var feed = regexp.MustCompile(`^/v1/(calendar-feeds/|(users|teams)/.+/calendar-feeds?$)`)

// secret reports whether the answer of a path has a secret: keys of applications and feeds, or payloads of senders.
func secret(path string) bool {
	switch {
	case strings.HasPrefix(path, "/v0/applications/"):
		return strings.HasSuffix(path, "/key") || strings.HasSuffix(path, "/secondary") ||
			strings.HasSuffix(path, "/rekey")
	case strings.HasPrefix(path, "/v1/applications/"):
		return strings.HasSuffix(path, "/key") || strings.HasSuffix(path, "/secondary-key") ||
			strings.HasSuffix(path, "/key/rotate")
	case strings.HasPrefix(path, "/v1/integrations/"):
		return strings.HasSuffix(path, "/payloads") || strings.HasSuffix(path, "/preview")
	}
	return strings.HasPrefix(path, "/api/v0/ical_key") || feed.MatchString(path)
}
