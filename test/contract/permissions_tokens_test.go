package contract

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/iris-oncall/iris/internal/auth/tokens"
)

// personal are the operations that need a person, so that the service tokens of the administrators may not do them:
// Iris lets only people see and change the keys of applications and what depends on them.
var personal = map[string]bool{
	"DELETE /v0/applications/spare": true, "GET /v0/applications/demo/key": true, "GET /v0/applications/demo/secondary": true,
	"POST /v0/applications/demo/secondary": true, "POST /v0/applications/demo/rekey": true, "PUT /v0/applications/demo/incident_emails": true,
	"PUT /v0/applications/demo/rename": true,
}

// apis are the paths on which tokens are credentials. others have other credentials, or are about tokens: see
// TestServiceTokens and TestTokensOnEveryAPI.
var (
	apis   = regexp.MustCompile(`^/(v0|v1)/`)
	others = regexp.MustCompile(`^/(v0/webhooks|v1/hooks|v1/tokens|v1/service-tokens)`)
)

// Sends every request of the APIs with tokens: personal ones of each scope, and service tokens. The table of rights
// gives the answer: a token has the rights of its person or team as far as its scopes go.
func TestTokensOnEveryRoute(t *testing.T) {
	t.Parallel()
	s := newForRights(t)
	type bearer struct {
		caller
		mark func(r right) byte
	}
	column := func(of caller) int {
		return slices.IndexFunc(columns, func(c caller) bool { return c.name == of.name })
	}
	var bearers []bearer
	for _, scope := range []tokens.Scope{tokens.Read, tokens.Incidents, tokens.Oncall, tokens.Config, tokens.Admin} {
		as, _ := s.token(bob, string(scope))
		bearers = append(bearers, bearer{as, func(r right) byte {
			if address, _ := url.Parse(s.named(r.path)); (tokens.Scopes{scope}).Allow(r.method, address.Path) != nil {
				return '3'
			}
			return r.who[column(bob)]
		}})
	}
	as, _ := s.token(admin, "admin")
	bearers = append(bearers, bearer{as, func(r right) byte { return r.who[column(admin)] }})
	as, _ = s.serviceToken(admin, "", "admin")
	bearers = append(bearers, bearer{as, func(r right) byte {
		switch {
		case personal[r.method+" "+r.path]:
			return '1'
		case strings.HasPrefix(r.path, "/v1/sessions"), strings.HasPrefix(r.path, "/v1/update-subscriptions"),
			strings.HasPrefix(r.path, "/v0/response/"):
			return '3' // it has no sessions and subscriptions, and answers of people are passed on by relays
		case strings.HasPrefix(r.path, "/v1/applications/demo/key"), strings.HasPrefix(r.path, "/v1/applications/demo/secondary-key"):
			return '3' // keys of applications are for people
		}
		return r.who[column(admin)]
	}})
	for _, r := range s.marked(rights()) {
		if !apis.MatchString(r.path) || others.MatchString(r.path) {
			continue
		}
		if r.before != nil {
			r.before(s)
		}
		for _, b := range bearers {
			s.askAs(r, b.caller, b.mark(r))
		}
	}
}
