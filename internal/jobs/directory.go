package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/directory"
	"github.com/iris-oncall/iris/internal/metrics"
	pgpeople "github.com/iris-oncall/iris/internal/postgres/people"
)

const (
	syncTick  = 5 * time.Second
	syncAgain = 5 * time.Minute // after a failure
	// syncWithin bounds a run, waiting for a slow directory included.
	syncWithin = 10 * time.Minute
	// SyncActor names this job in the audit log.
	SyncActor = "directory sync"
)

// DirectorySync brings people in step with a directory now and then. Of all processes the one that holds bucket 0 does it,
// and stores behind that bucket's fence, so that no two do. When it was done last is in the database.
type DirectorySync struct {
	syncer *directory.Syncer // nil = no directory is configured
	source string
	every  time.Duration
	store  *pgpeople.DirectorySync
	holder Leases
	log    *zap.Logger

	runs     *prometheus.CounterVec
	changes  *prometheus.CounterVec
	problems prometheus.Gauge
	leftOut  int    // entries, as of the last run
	told     string // why the directory is not believed, as it was told last
}

// NewDirectorySync returns the job. A nil syncer means that no directory is configured: then it does nothing.
func NewDirectorySync(syncer *directory.Syncer, c config.Sync, store *pgpeople.DirectorySync, e Engine) *DirectorySync {
	d := &DirectorySync{
		syncer: syncer, source: c.From, every: c.Every, store: store, holder: e.Leases, log: e.Log.Named("directory"),
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
	e.Registerer.MustRegister(d.runs, d.changes, d.problems)
	return d
}

// Run looks every now and then whether it is time, until ctx ends.
func (d *DirectorySync) Run(ctx context.Context) error {
	if d.syncer == nil {
		<-ctx.Done()
		return nil
	}
	return repeat(ctx, syncTick, d.pass, func(err error) {
		d.log.Error("people cannot be brought in step with the directory, trying again later", zap.Error(err))
	})
}

// pass asks the directory when it is time and this process is the one to do it.
func (d *DirectorySync) pass(ctx context.Context) error {
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

// tell logs what a person should know.
func (d *DirectorySync) tell(r directory.Report, err error) {
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
