package login

import (
	"context"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/metrics"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/directories"
	usersdirectory "github.com/iris-oncall/iris/internal/users/directory"
	"github.com/iris-oncall/iris/internal/users/pg"
)

// WithDirectory adds the passwords of the LDAP directory to accounts, if a directory logs people in. It returns an
// error if the configuration of the directory is invalid.
func WithDirectory(accounts *auth.Accounts, c config.API, store *pg.DirectorySync, log *zap.Logger, reg prometheus.Registerer) (*auth.Accounts, error) {
	checked := newCheckedPasswords(log, reg)
	if !c.LDAP.LogsIn() {
		return accounts, nil
	}
	rules, err := directories.Rules(c.Sync)
	if err != nil {
		return nil, err
	}
	if checked.directory, err = directories.LDAP(c.LDAP, c.Sync); err != nil {
		return nil, err
	}
	return accounts.WithDirectory(checked, &newcomers{store: store, rules: rules, stores: c.LDAP.Import}), nil
}

// checkedPasswords counts the answers of the directory about passwords. It logs when the directory stops answering and
// when it answers again.
type checkedPasswords struct {
	directory auth.Directory
	log       *zap.Logger
	down      atomic.Bool // the directory did not answer the last time
	answers   *prometheus.CounterVec
}

func newCheckedPasswords(log *zap.Logger, reg prometheus.Registerer) *checkedPasswords {
	p := &checkedPasswords{log: log.Named("directory"), answers: metrics.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "iris_app_directory_passwords_total", Help: "Passwords that the directory checked, by its answer.",
	}, []string{"outcome"}), []string{"right", "wrong", "unavailable"})}
	reg.MustRegister(p.answers)
	return p
}

// Check implements auth.Directory.
func (p *checkedPasswords) Check(ctx context.Context, name, password string) (usersdirectory.Entry, error) {
	e, err := p.directory.Check(ctx, name, password)
	outcome := "right"
	switch {
	case fault.Is(err, fault.Unauthenticated):
		outcome = "wrong"
	case err != nil:
		outcome = "unavailable"
	}
	p.answers.WithLabelValues(outcome).Inc()
	switch down := outcome == "unavailable"; {
	case down && ctx.Err() != nil: // the client has gone, the directory may answer
	case down && !p.down.Swap(true):
		p.log.Error("directory does not answer: only local passwords work", zap.Error(err))
	case !down && p.down.Swap(false):
		p.log.Info("directory answers again")
	}
	return e, err
}

// newcomers stores people who log in with the directory's password. It never gives the account of one person to
// another.
type newcomers struct {
	store  *pg.DirectorySync
	rules  usersdirectory.Rules
	stores bool // false = only the new name of people whom the directory renamed
}

// Store implements auth.Entries.
func (n *newcomers) Store(ctx context.Context, e usersdirectory.Entry) error {
	here, err := n.store.KnownAs(ctx, usersdirectory.LDAP, e.Stable, e.Name)
	if err != nil {
		return err
	}
	change, err := usersdirectory.CompareLogin(usersdirectory.LDAP, here, e, n.rules)
	switch {
	case fault.Is(err, fault.Conflict):
		return auth.ErrNameConflict
	case fault.Is(err, fault.Invalid):
		return nil // the entry cannot be used: known people keep their data, unknown people stay unknown
	case err != nil || change.Kind == "":
		return err
	case !n.stores && change.Rename == "":
		return nil
	case !n.stores: // only the name, so that the log-in finds the user
		change = usersdirectory.Change{Kind: usersdirectory.Update, ID: change.ID, Name: change.Name,
			Source: change.Source, Rename: change.Rename}
	}
	err = n.store.Apply(ctx, change)
	switch {
	case fault.Is(err, fault.Invalid) && change.Rename != "":
		return auth.ErrNameConflict
	case fault.Is(err, fault.Invalid):
		return nil // another log-in of the same person may have stored it; if not, the person stays unknown
	}
	return err
}
