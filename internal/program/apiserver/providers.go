// This file builds the log-in with accounts of identity providers from the configuration.

package apiserver

import (
	"fmt"
	"os"

	"github.com/go-chi/chi/v5"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/auth/signon"
	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/auth/sso/oidc"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
)

// SignOn returns the parts of the log-in.
func SignOn(c config.API, s *server.Stores, log *zap.Logger) (signon.Deps, error) {
	rules := rules(c)
	out := signon.Deps{Keys: s.Keys, Sessions: pg.NewProviderSessions(s.DB, s.Keys), PublicURL: c.PublicURL}
	if len(c.Proxy.Networks) > 0 {
		out.Proxy = signon.Proxy{Name: config.ProxyName, Subject: c.Proxy.SubjectHeader, User: c.Proxy.NameHeader,
			Email:  c.Proxy.EmailHeader,
			Groups: c.Proxy.GroupsHeader, LogoutURL: c.Proxy.LogoutURL}
	}
	for _, p := range c.OIDC {
		provider, err := NewProvider(p, c.PublicURL, log)
		if err != nil {
			return out, err
		}
		out.Choices = append(out.Choices, signon.Choice{Name: p.Name, Label: p.Label, Issuer: p.Issuer,
			Provider: provider})
	}
	out.Admit = sso.New(pg.New(s.DB), rules, log).Admit
	return out, nil
}

// NewProvider returns a client of a configured provider. It does not connect.
func NewProvider(p config.OIDC, publicURL string, log *zap.Logger) (*oidc.Provider, error) {
	ca := ""
	if p.CAFile != "" {
		raw, err := os.ReadFile(p.CAFile)
		if err != nil {
			return nil, fmt.Errorf("provider %s: %w", p.Name, err)
		}
		ca = string(raw)
	}
	return oidc.New(oidc.Config{
		Name: p.Name, Issuer: p.Issuer, ClientID: p.ClientID, ClientSecret: p.ClientSecret.Reveal(), Scopes: p.Scopes, CA: ca,
		RedirectURL: publicURL + "/login/sso/" + p.Name +
			"/callback", NameClaim: p.NameClaim, GroupsClaim: p.GroupsClaim,
		RequiredClaims: p.RequiredClaims,
	}, log)
}

// rules returns the rules of each provider, by name.
func rules(c config.API) map[string]sso.Rules {
	out := map[string]sso.Rules{config.ProxyName: rulesOf(c.Proxy.Rights)}
	for _, p := range c.OIDC {
		out[p.Name] = rulesOf(p.Rights)
	}
	return out
}

// SCIM returns the edge for directories that push people.
func SCIM(c config.API, s *server.Stores, log *zap.Logger) interface{ Routes(r chi.Router) } {
	return newSCIM(c, s, rules(c), log)
}

func rulesOf(r config.Rights) sso.Rules {
	out := sso.Rules{Import: !r.LinkOnly, TrustEmail: r.TrustEmail, Admins: r.Roles.Admin, ReadOnly: r.Roles.ReadOnly}
	for _, t := range r.Teams {
		out.Teams = append(out.Teams, sso.TeamRule{Group: t.Group, Team: t.Team})
	}
	return out
}
