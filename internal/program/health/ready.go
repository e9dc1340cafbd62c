package health

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

// DatabaseCheck fails if the database does not answer, has the wrong schema, or could not store something lately. A
// database with a full disk still answers reads.
func DatabaseCheck(db *postgres.DB) Check {
	return Check{"database", func(ctx context.Context) error {
		if err := db.CheckSchema(ctx); err != nil {
			return err
		}
		return db.Shortage()
	}}
}

// MembersReader reads the members of the cluster. *engine.Cluster implements it.
type MembersReader interface {
	Members(ctx context.Context) ([]buckets.MemberState, error)
}

// ModesCheck reports a Concern for each live member that has no vendor for a mode which others serve. They send its
// messages of that mode, a little later. If self is a process id, it looks at that member only. The gauge names the
// members.
func ModesCheck(r MembersReader, self string, reg prometheus.Registerer) Check {
	gauge := promauto.With(reg).NewGaugeVec(prometheus.GaugeOpts{
		Name: "iris_app_mode_lacking", Help: "Live processors of a host that have no vendor for a mode which other processors serve.",
	}, []string{"host", "mode"})
	return Check{"modes", func(ctx context.Context) error {
		members, err := r.Members(ctx)
		if err != nil {
			return err
		}
		gauge.Reset()
		var texts []string
		for _, l := range buckets.Lacks(members) {
			if self != "" && l.Member.ProcessID != self {
				continue
			}
			gauge.WithLabelValues(l.Member.Host, l.Mode).Inc()
			texts = append(texts, fmt.Sprintf("processor %.8s on %s has no vendor for %s, and others send its messages: give it their vendor settings and restart it",
				l.Member.ProcessID, l.Member.Host, l.Mode))
		}
		if len(texts) == 0 {
			return nil
		}
		return Concern(strings.Join(texts, "; "))
	}}
}

// takeoverTime is how long buckets may have no live owner before incidents count as not paged. A takeover from a dead
// processor needs some seconds. The server accepts incidents meanwhile: they are paged after the takeover.
const takeoverTime = 10 * time.Second

// Cluster reads the members and the ownership of buckets. *engine.Cluster implements it.
type Cluster interface {
	Members(ctx context.Context) ([]buckets.MemberState, error)
	BucketsWithoutLiveOwner(ctx context.Context) (int, error)
}

// MembersCheck fails if no processor is alive, or if a bucket has had no live owner for takeoverTime: incidents would
// not be paged. Within takeoverTime it reports a Concern. Its gauges are right when every processor is dead: iris-api
// exports them.
func MembersCheck(c Cluster, reg prometheus.Registerer) Check {
	living := promauto.With(reg).NewGauge(prometheus.GaugeOpts{Name: "iris_app_live_processors",
		Help: "Message processors with a fresh heartbeat."})
	unowned := promauto.With(reg).NewGauge(prometheus.GaugeOpts{
		Name: "iris_app_buckets_without_owner", Help: "Buckets that no live processor owns: their incidents do not escalate.",
	})
	var owned time.Time // when all buckets last had an owner
	return Check{"processors", func(ctx context.Context) error {
		members, err := c.Members(ctx)
		if err != nil {
			return err
		}
		live := 0
		for _, m := range members {
			if m.Age < buckets.DefaultLimits().Fresh {
				live++
			}
		}
		living.Set(float64(live))
		orphans, err := c.BucketsWithoutLiveOwner(ctx)
		if err != nil {
			return err
		}
		unowned.Set(float64(orphans))
		if live == 0 {
			return errors.New("no message-processor is alive, nobody is paged: start one")
		}
		switch {
		case orphans == 0:
			owned = time.Now()
		case time.Since(owned) < takeoverTime:
			return Concern(fmt.Sprintf("%d of %d buckets are changing their owner", orphans, buckets.Count))
		default:
			return fmt.Errorf("%d of %d buckets have no live owner: their incidents are not escalated", orphans,
				buckets.Count)
		}
		return nil
	}}
}
