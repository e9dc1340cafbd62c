package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/directory"
	"github.com/iris-oncall/iris/internal/directory/ldap"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/metrics"
	pgpeople "github.com/iris-oncall/iris/internal/postgres/people"
)

// newLDAP returns a client of the configured servers. It opens no connection.
func newLDAP(l config.LDAP, s config.Sync) (*ldap.Client, error) {
	c := ldap.Config{
		URLs: l.URLs, StartTLS: l.StartTLS, Timeout: l.Timeout, Prefix: l.UserPrefix, Suffix: l.UserSuffix,
		BindUser: l.BindUser, BindPassword: l.BindPassword.Reveal(), BaseDN: l.BaseDN, LoginFilter: l.Filter, PeopleFilter: s.Filter,
		Attributes: ldap.Attributes{
			Name: l.NameAttribute, FullName: l.FullNameAttribute, Email: l.EmailAttribute, Phone: l.PhoneAttribute, Slack: l.SlackAttribute,
			Stable: l.IDAttribute,
		},
		Lists: ldap.ListConfig{
			BaseDN: s.Lists.BaseDN, Filter: s.Lists.Filter, Name: s.Lists.NameAttribute, Member: s.Lists.MemberAttribute,
		},
	}
	if l.CAFile != "" {
		raw, err := os.ReadFile(l.CAFile)
		if err != nil {
			return nil, fmt.Errorf("auth.ldap.ca_file: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(raw) {
			return nil, errors.New("auth.ldap.ca_file: it holds no certificate in PEM")
		}
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	}
	client, err := ldap.New(c)
	if err != nil {
		return nil, fmt.Errorf("auth.ldap: %w", err)
	}
	return client, nil
}

// directoryRules says what an entry of a directory means for us.
func directoryRules(s config.Sync) (directory.Rules, error) {
	if s.PhoneRegion != "" && !directory.KnownRegion(s.PhoneRegion) {
		return directory.Rules{}, fmt.Errorf("sync.phone_region: %q is no country whose phone numbers are known", s.PhoneRegion)
	}
	return directory.Rules{Region: s.PhoneRegion, Slack: s.SlackContact, PhotoURL: s.PhotoURL, Synced: s.From == directory.LDAP}, nil
}

// withDirectory lets people log in with the passwords of the directory, if one is configured for that.
func withDirectory(a *auth.Accounts, c config.API, store *pgpeople.DirectorySync, log *zap.Logger, reg prometheus.Registerer) (*auth.Accounts, error) {
	asked := newAskedPasswords(log, reg)
	if !c.LDAP.LogsIn() {
		return a, nil
	}
	rules, err := directoryRules(c.Sync)
	if err != nil {
		return nil, err
	}
	if asked.directory, err = newLDAP(c.LDAP, c.Sync); err != nil {
		return nil, err
	}
	return a.WithDirectory(asked, &newcomers{store: store, rules: rules, stores: c.LDAP.Import}), nil
}

// askedPasswords counts what the directory says of passwords and tells when it stops answering and when it answers again.
type askedPasswords struct {
	directory auth.Directory
	log       *zap.Logger
	away      atomic.Bool
	asked     *prometheus.CounterVec
}

func newAskedPasswords(log *zap.Logger, reg prometheus.Registerer) *askedPasswords {
	p := &askedPasswords{log: log.Named("directory"), asked: metrics.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "iris_app_directory_passwords_total", Help: "Passwords that the directory was asked about, by what it said.",
	}, []string{"outcome"}), []string{"right", "wrong", "unavailable"})}
	reg.MustRegister(p.asked)
	return p
}

// Check implements auth.Directory.
func (p *askedPasswords) Check(ctx context.Context, name, password string) (directory.Entry, error) {
	e, err := p.directory.Check(ctx, name, password)
	outcome := "right"
	switch {
	case fault.Is(err, fault.Unauthenticated):
		outcome = "wrong"
	case err != nil:
		outcome = "unavailable"
	}
	p.asked.WithLabelValues(outcome).Inc()
	switch gone := outcome == "unavailable"; {
	case gone && ctx.Err() != nil: // whoever asked has left, which says nothing of the directory
	case gone && !p.away.Swap(true):
		p.log.Error("the directory does not answer, only passwords of our own work", zap.Error(err))
	case !gone && p.away.Swap(false):
		p.log.Info("the directory answers again")
	}
	return e, err
}

// newcomers stores who logs in with the directory's password, and sees to it that nobody becomes somebody else.
type newcomers struct {
	store  *pgpeople.DirectorySync
	rules  directory.Rules
	stores bool // unset: only of people whom it renamed, and of them the name
}

// Arrive implements auth.Newcomers.
func (n *newcomers) Arrive(ctx context.Context, e directory.Entry) error {
	here, err := n.store.KnownAs(ctx, directory.LDAP, e.Stable, e.Name)
	if err != nil {
		return err
	}
	change, err := directory.Arrival(directory.LDAP, here, e, n.rules)
	switch {
	case fault.Is(err, fault.Conflict):
		return auth.ErrMixedUp
	case fault.Is(err, fault.Invalid):
		return nil // what the directory says cannot be used: what is known stays, and who is not here is a stranger
	case err != nil || change.Kind == "":
		return err
	case !n.stores && change.Rename == "":
		return nil
	case !n.stores: // only the name, so that they are found
		change = directory.Change{Kind: directory.Update, ID: change.ID, Name: change.Name, Source: change.Source, Rename: change.Rename}
	}
	err = n.store.Apply(ctx, change)
	switch {
	case fault.Is(err, fault.Invalid) && change.Rename != "":
		return auth.ErrMixedUp
	case fault.Is(err, fault.Invalid):
		return nil // another log-in of the same person was quicker; if not, they are a stranger
	}
	return err
}
