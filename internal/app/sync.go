package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/directory"
	"github.com/iris-oncall/iris/internal/metrics"
	pgpeople "github.com/iris-oncall/iris/internal/postgres/people"
	"github.com/iris-oncall/iris/internal/vendors/slack"
)

// newSyncer returns what brings people in step with the configured directory; nil = none is configured.
func newSyncer(s config.Sync, l config.LDAP, workspaces []config.Slack) (*directory.Syncer, error) {
	if s.From == "" {
		return nil, nil
	}
	rules, err := directoryRules(s)
	if err != nil {
		return nil, err
	}
	c := directory.Config{Source: s.From, Rules: rules, MaxGone: s.MaxGonePercent}
	for _, p := range s.Presets {
		c.Presets = append(c.Presets, directory.Entry{Name: p.Name, FullName: p.FullName, Email: p.Email, Phone: p.Phone, SlackName: p.Slack})
	}
	if s.From == directory.Slack {
		a := workspaces[0]
		v, err := slack.New(slack.Config{Account: a.Account.Account, Token: a.Token.Reveal(), APIURL: a.APIURL, Timeout: a.Timeout})
		if err != nil {
			return nil, err
		}
		return directory.NewSyncer(v, nil, c), nil
	}
	client, err := newLDAP(l, s)
	if err != nil {
		return nil, err
	}
	if s.Lists.Filter == "" {
		return directory.NewSyncer(client, nil, c), nil
	}
	return directory.NewSyncer(client, client, c), nil
}

const (
	syncTick  = 5 * time.Second
	syncAgain = 5 * time.Minute // after a failure
	// syncWithin bounds a run, waiting for a slow directory included.
	syncWithin = 10 * time.Minute
	syncActor  = "directory sync"
)

// directorySync brings people in step with a directory now and then. Of all processes the one that holds bucket 0 does it,
// and stores behind that bucket's fence, so that no two do. When it was done last is in the database.
type directorySync struct {
	syncer *directory.Syncer // nil = no directory is configured
	source string
	every  time.Duration
	store  *pgpeople.DirectorySync
	holder delivery.Leases
	log    *zap.Logger

	runs     *prometheus.CounterVec
	changes  *prometheus.CounterVec
	problems prometheus.Gauge
	leftOut  int    // entries, as of the last run
	told     string // why the directory is not believed, as it was told last
}

func newDirectorySync(syncer *directory.Syncer, c config.Sync, store *pgpeople.DirectorySync, b beside) *directorySync {
	d := &directorySync{
		syncer: syncer, source: c.From, every: c.Every, store: store, holder: b.holder, log: b.log.Named("directory"),
		runs: metrics.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_app_directory_syncs_total", Help: "Times that people were to be brought in step with the directory, by outcome.",
		}, []string{"outcome"}), []string{"done", "stopped", "failed"}),
		changes: metrics.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_app_directory_changes_total", Help: "People and mailing lists that changed with the directory, by what happened.",
		}, []string{"of", "kind"}), []string{"person", "list"},
			[]string{string(directory.Add), string(directory.Update), string(directory.Adopt), string(directory.SwitchOn), string(directory.SwitchOff)}),
		problems: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "iris_app_directory_problems", Help: "Entries of the directory that could not be used in this process's last run.",
		}),
	}
	b.reg.MustRegister(d.runs, d.changes, d.problems)
	return d
}

// run looks every now and then whether it is time, until ctx ends.
func (d *directorySync) run(ctx context.Context) error {
	if d.syncer == nil {
		<-ctx.Done()
		return nil
	}
	return repeat(ctx, syncTick, d.pass, func(err error) {
		d.log.Error("people cannot be brought in step with the directory, trying again later", zap.Error(err))
	})
}

// pass asks the directory when it is time and this process is the one to do it.
func (d *directorySync) pass(ctx context.Context) error {
	leases := d.holder.Leases()
	if len(leases) == 0 || leases[0].Bucket != 0 {
		return nil
	}
	due, err := d.store.Due(ctx, d.source, d.every, syncAgain)
	if err != nil || !due {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, syncWithin)
	defer cancel()
	report, err := d.syncer.Run(limited, d.store.Fenced(d.holder.ProcessID(), leases[0]), directory.Options{})
	d.count(report)
	var lost *buckets.LostError
	if errors.As(err, &lost) || ctx.Err() != nil {
		return nil // the bucket has moved on; its new owner goes on from here
	}
	problem := report.Stopped
	outcome := "done"
	switch {
	case err != nil:
		outcome, problem = "failed", "the directory or the database failed, see the log"
	case problem != "":
		outcome = "stopped"
	}
	d.runs.WithLabelValues(outcome).Inc()
	d.tell(report, err)
	if noteErr := d.store.Note(ctx, d.source, problem); err == nil {
		err = noteErr
	}
	return err
}

func (d *directorySync) count(r directory.Report) {
	if r.Stopped != "" {
		return
	}
	for _, c := range r.Changes {
		d.changes.WithLabelValues("person", string(c.Kind)).Inc()
	}
	for _, c := range r.Lists {
		d.changes.WithLabelValues("list", string(c.Kind)).Inc()
	}
}

// tell logs what a person should know.
func (d *directorySync) tell(r directory.Report, err error) {
	if err != nil {
		return // told once by whoever repeats us
	}
	if r.Stopped != "" && r.Stopped != d.told {
		d.log.Error("the directory is not believed, nothing was changed", zap.String("reason", r.Stopped))
	}
	d.told = r.Stopped
	if r.Stopped == "" && len(r.Changes)+len(r.Lists) > 0 {
		d.log.Info("brought in step with the directory", zap.Int("people", len(r.Changes)), zap.Int("lists", len(r.Lists)), zap.Duration("took", r.Took))
	}
	if n := len(r.Problems); n > d.leftOut {
		first := r.Problems[0]
		for _, p := range r.Problems { // what is our own fault matters more
			if first.Err == nil && p.Err != nil {
				first = p
			}
		}
		d.log.Warn("entries of the directory cannot be used", zap.Int("entries", n), zap.String("name", first.Name), zap.String("reason", first.Text), zap.Error(first.Err))
	}
	d.leftOut = len(r.Problems)
	d.problems.Set(float64(d.leftOut))
}

// DirectoryProblem says what is wrong with the configured directory that the configuration itself cannot see: filters and
// countries; nil = nothing. It asks nobody.
func DirectoryProblem(l config.LDAP, s config.Sync, workspaces []config.Slack) error {
	if _, err := directoryRules(s); err != nil {
		return err
	}
	if len(l.URLs) > 0 {
		if _, err := newLDAP(l, s); err != nil {
			return err
		}
	}
	_, err := newSyncer(s, l, workspaces)
	return err
}

// SyncDirectory brings people in step with the configured directory at once. See directory.Syncer.Run.
func SyncDirectory(ctx context.Context, c config.Directory, o directory.Options) (directory.Report, error) {
	syncer, err := newSyncer(c.Sync, c.LDAP, c.Slack)
	if err != nil {
		return directory.Report{}, err
	}
	db, err := openDatabase(ctx, c.Common, "iris", 2, prometheus.NewRegistry(), zap.NewNop())
	if err != nil {
		return directory.Report{}, err
	}
	defer db.Close()
	if _, err := tryDatabase(ctx, db, c.Common, zap.NewNop()); err != nil {
		return directory.Report{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, syncWithin)
	defer cancel()
	store := pgpeople.NewDirectorySync(db, operatorName)
	report, err := syncer.Run(ctx, store, o)
	if err != nil || o.DryRun || report.Stopped != "" {
		return report, err
	}
	if err := store.Note(ctx, c.Sync.From, ""); err != nil {
		return report, fmt.Errorf("it is done, but that could not be noted: %w", err)
	}
	return report, nil
}
