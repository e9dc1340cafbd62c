// Package local builds the log-in with the accounts that Iris keeps, and with the passwords of the directory. Package site calls it.
package local

import (
	"net/url"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/accounts"
	api "github.com/iris-oncall/iris/internal/api/accounts"
	"github.com/iris-oncall/iris/internal/app/server"
	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/login"
	pgaccounts "github.com/iris-oncall/iris/internal/postgres/accounts"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// Passwords returns the log-in with passwords, those of Iris and those of the directory.
func Passwords(c config.API, s *server.Stores, log *zap.Logger, reg prometheus.Registerer) (*auth.Accounts, error) {
	out := auth.NewAccounts(s.Users, auth.NewPasswords())
	if c.Compatibility.DisableAuth {
		out = out.WithAnyPassword()
	}
	return login.WithDirectory(out, c, s.DirectorySync("log-in with the directory's password"), log, reg)
}

// Factors returns the second factors of log-ins with a password.
func Factors(c config.API, s *server.Stores) *accounts.Factors {
	issuer := "Iris"
	if u, err := url.Parse(c.PublicURL); err == nil && u.Hostname() != "" {
		issuer += " (" + u.Hostname() + ")"
	}
	return accounts.NewFactors(pgaccounts.NewFactors(s.DB), s.Keys, accounts.Policy(c.SecondFactor), issuer)
}

// Routes returns the routes of /v1 about accounts that Iris keeps.
func Routes(c config.API, s *server.Stores) []routing.Route {
	return api.Routes(api.Deps{People: s.Users, Factors: Factors(c, s)})
}
