package login

import (
	"context"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/directory"
	"github.com/iris-oncall/iris/internal/directory/connect"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/metrics"
	pgpeople "github.com/iris-oncall/iris/internal/postgres/people"
)

// WithDirectory lets people log in with the passwords of the directory, if one is configured for that.
func WithDirectory(a *auth.Accounts, c config.API, store *pgpeople.DirectorySync, log *zap.Logger, reg prometheus.Registerer) (*auth.Accounts, error) {
	asked := newAskedPasswords(log, reg)
	if !c.LDAP.LogsIn() {
		return a, nil
	}
	rules, err := connect.Rules(c.Sync)
	if err != nil {
		return nil, err
	}
	if asked.directory, err = connect.LDAP(c.LDAP, c.Sync); err != nil {
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

// Store implements auth.Entries.
func (n *newcomers) Store(ctx context.Context, e directory.Entry) error {
	here, err := n.store.KnownAs(ctx, directory.LDAP, e.Stable, e.Name)
	if err != nil {
		return err
	}
	change, err := directory.Arrival(directory.LDAP, here, e, n.rules)
	switch {
	case fault.Is(err, fault.Conflict):
		return auth.ErrNameConflict
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
		return auth.ErrNameConflict
	case fault.Is(err, fault.Invalid):
		return nil // another log-in of the same person was quicker; if not, they are a stranger
	}
	return err
}
