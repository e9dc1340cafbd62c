package jobs

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/metrics"
	"github.com/iris-oncall/iris/internal/users/directory"
	"github.com/iris-oncall/iris/internal/users/pg"
)

const (
	syncTick  = 5 * time.Second
	syncRetry = 5 * time.Minute // pause after a failure
	// syncWithin bounds a run, including the time to wait for a slow directory.
	syncWithin = 10 * time.Minute
	// SyncActor names this job in the audit log.
	SyncActor = "directory sync"
)

// DirectorySync updates people from a directory. Only the owner of bucket 0 does it, and the lease of that bucket
// fences its writes. The time of the last run is in the database.
type DirectorySync struct {
	syncer *directory.Syncer // nil = no directory is configured
	source string
	every  time.Duration
	store  *pg.DirectorySync
	holder Leases
	log    *zap.Logger

	runs     *prometheus.CounterVec
	changes  *prometheus.CounterVec
	problems prometheus.Gauge
	unusable int    // entries of the last run that could not be used
	stopped  string // why the last run changed nothing; logged when it changes
}

// NewDirectorySync returns the job, which syncs from source (directory.LDAP or directory.Slack) at the interval every.
// With a nil syncer, no directory is configured and the job does nothing.
func NewDirectorySync(syncer *directory.Syncer, source string, every time.Duration, store *pg.DirectorySync, e Engine) *DirectorySync {
	return &DirectorySync{
		syncer: syncer, source: source, every: every, store: store, holder: e.Leases, log: e.Log.Named("directory"),
		runs: metrics.Start(promauto.With(e.Registerer).NewCounterVec(prometheus.CounterOpts{
			Name: "iris_app_directory_syncs_total", Help: "Runs of the directory sync, by outcome.",
		}, []string{"outcome"}), []string{"done", "stopped", "failed"}),
		changes: metrics.Start(promauto.With(e.Registerer).NewCounterVec(prometheus.CounterOpts{
			Name: "iris_app_directory_changes_total", Help: "People and mailing lists that the directory sync changed, by kind of change.",
		}, []string{"of", "kind"}), []string{"person", "list"},
			[]string{string(directory.Add), string(directory.Update), string(directory.Adopt),
				string(directory.SwitchOn), string(directory.SwitchOff)}),
		problems: promauto.With(e.Registerer).NewGauge(prometheus.GaugeOpts{
			Name: "iris_app_directory_problems", Help: "Entries of the directory that the last run of this process could not use.",
		}),
	}
}

// Run checks whether a run is due until ctx ends.
func (d *DirectorySync) Run(ctx context.Context) error {
	if d.syncer == nil {
		<-ctx.Done()
		return nil
	}
	return repeat(ctx, syncTick, d.pass, func(err error) {
		d.log.Error("directory sync failed, retrying later", zap.Error(err))
	})
}

// pass reads the directory if a run is due and this process owns bucket 0.
func (d *DirectorySync) pass(ctx context.Context) error {
	leases := d.holder.Leases()
	if len(leases) == 0 || leases[0].Bucket != 0 {
		return nil
	}
	due, err := d.store.Due(ctx, d.source, d.every, syncRetry)
	if err != nil || !due {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, syncWithin)
	defer cancel()
	report, err := d.syncer.Run(limited, d.store.Fenced(d.holder.ProcessID(), leases[0]), directory.Options{})
	d.count(report)
	var lost *buckets.LostError
	if errors.As(err, &lost) || ctx.Err() != nil {
		return nil // the new owner of the bucket continues
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
	if err == nil { // repeat logs errors
		d.logReport(report)
	}
	return cmp.Or(err, d.store.Note(ctx, d.source, problem))
}

func (d *DirectorySync) count(r directory.Report) {
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

// logReport logs the changes of a run, and problems that are new.
func (d *DirectorySync) logReport(r directory.Report) {
	if r.Stopped != "" && r.Stopped != d.stopped {
		d.log.Error("directory sync stopped, nothing was changed", zap.String("reason", r.Stopped))
	}
	d.stopped = r.Stopped
	if r.Stopped == "" && len(r.Changes)+len(r.Lists) > 0 {
		d.log.Info("directory sync done", zap.Int("people", len(r.Changes)), zap.Int("lists", len(r.Lists)),
			zap.Duration("took", r.Took))
	}
	if n := len(r.Problems); n > d.unusable {
		first := r.Problems[0]
		for _, p := range r.Problems { // an entry with an error is reported first
			if first.Err == nil && p.Err != nil {
				first = p
			}
		}
		d.log.Warn("directory entries cannot be used", zap.Int("entries", n), zap.String("name", first.Name),
			zap.String("reason", first.Text), zap.Error(first.Err))
	}
	d.unusable = len(r.Problems)
	d.problems.Set(float64(d.unusable))
}
