// This file builds the log-in with the accounts that Iris keeps, and with the passwords of the directory.

package apiserver

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/accounts"
	pagesauth "github.com/iris-oncall/iris/internal/auth/pages"
	"github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/auth/servicetokens"
	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/login"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/users"
)

// newAccounts returns the log-in with passwords, those of Iris and those of the directory, and the parts of the pages
// about it.
func newAccounts(c config.API, s *server.Stores, log *zap.Logger, reg prometheus.Registerer) (*auth.Accounts, pagesauth.Deps, error) {
	passwords := auth.NewPasswords()
	out := auth.NewAccounts(s.Users, passwords)
	if c.Compatibility.DisableAuth {
		out = out.WithAnyPassword()
	}
	parts := pagesauth.Deps{
		Factors: factors(c, s), Mails: func(ctx context.Context) (bool, error) {
			return mails(ctx,
				s)
		}, Pause: time.Second,
		Invitations: invitations(c, s, passwords), Tokens: s.Tokens,
		Passwords: accounts.Passwords{Store: s.Users, Hasher: passwords},
		Resets:    resets(c, s, passwords),
	}
	out, err := login.WithDirectory(out, c, s.DirectorySync("log-in with the directory's password"), log, reg)
	return out, parts, err
}

// accessOperations returns the operations of the wing auth. current returns the token of the session of a request.
func accessOperations(c config.API, s *server.Stores, current func(context.Context) string) pagesauth.Operations {
	return pagesauth.Operations{
		Sessions:    auth.NewSessions(s.Sessions, s.Users, current),
		Tokens:      tokens.NewTokens(s.Tokens, s.Tokens, s.Grants, c.Tokens.PersonalMaxLife),
		Services:    servicetokens.NewServices(s.Tokens, s.Owners, s.Teams, c.Tokens.ServiceMaxLife),
		Connections: connections(c, s),
		Links:       sso.NewLinks(pg.New(s.DB), config.Issuers(c.OIDC)),
		Accounts:    accounts.NewAdministration(s.Users, invitations(c, s, nil), resets(c, s, nil), factors(c, s)),
		Audit:       auth.NewAuditLog(s.Audit.List),
	}
}

// mails reports whether a processor sends mails. If that is not known, it is assumed.
func mails(ctx context.Context, s *server.Stores) (bool, error) {
	served, known, err := s.Served.Served(ctx)
	return !known || slices.Contains(served, users.Email), err
}

// factors returns the second factors of log-ins with a password.
func factors(c config.API, s *server.Stores) *accounts.Factors {
	issuer := "Iris"
	if u, err := url.Parse(c.PublicURL); err == nil && u.Hostname() != "" {
		issuer += " (" + u.Hostname() + ")"
	}
	return accounts.NewFactors(pg.NewFactors(s.DB), s.Keys, accounts.Policy(c.SecondFactor), issuer)
}

// resets returns the links of passwords; without a hasher, they cannot be used.
func resets(c config.API, s *server.Stores, passwords accounts.Hasher) accounts.Resets {
	return accounts.Resets{Store: pg.NewResets(s.DB), Mail: pg.NewMail(s.Applications, s.Notifications), Keys: s.Keys,
		Passwords: passwords, PublicURL: c.PublicURL}
}

// invitations returns the invitations; without a hasher, they cannot be accepted.
func invitations(c config.API, s *server.Stores, passwords accounts.Hasher) accounts.Invitations {
	store := pg.NewInvitations(s.DB)
	return accounts.Invitations{InvitationStore: store, Links: store,
		Mail: pg.NewMail(s.Applications, s.Notifications), Keys: s.Keys,
		Mails: func(ctx context.Context) (bool, error) {
			return mails(ctx,
				s)
		}, Passwords: passwords, PublicURL: c.PublicURL}
}
