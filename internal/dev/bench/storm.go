package bench

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iris-oncall/iris/internal/legacy/apiclient"
)

// A storm: how many senders post each group, how often each posts it, and how often a new incident comes meanwhile.
const (
	stormSenders = 2
	stormRounds  = 20
	stormNew     = 50 * time.Millisecond
)

// Storm is the result of a storm of known alerts.
type Storm struct {
	Deliveries int     `json:"deliveries"` // of known groups and of new ones
	Seconds    float64 `json:"seconds"`    // until the last delivery was answered
	PerSecond  float64 `json:"per_second"`
	New        int     `json:"new"` // incidents opened after the first round of every sender
	// Delay is the time from the POST of such a new incident until its whole e-mail arrived.
	Delay Percentiles `json:"delay_ms"`
}

// storm posts groups of alerts again and again, and new groups meanwhile. All deliveries of one group belong to one
// incident.
type storm struct {
	tally *tally
	post  poster // posts a group by its number and returns its incident

	deliveries   atomic.Int64
	firstRound   sync.WaitGroup // senders in their first round
	seconds      float64
	mu           sync.Mutex
	newIncidents []int64 // incidents of new groups
}

// alertGroups returns a poster that posts a group of alerts as Alertmanager does. Each group has one alert.
func alertGroups(c *apiclient.Client, app, key, plan string) poster {
	path := "/v0/webhooks/alertmanager?" + url.Values{"application": {app}, "key": {key}, "plan": {plan}}.Encode()
	begun := time.Now().UTC()
	return func(ctx context.Context, n int) (id int64, err error) {
		labels := map[string]string{"alertname": "DiskFull", "instance": "db-" + strconv.Itoa(n),
			"severity": "critical"}
		annotations := map[string]string{"summary": "/var on db-" + strconv.Itoa(n) + " is 96 % full"}
		err = c.Call(ctx, http.MethodPost, path, map[string]any{
			"version": "4", "receiver": "iris", "status": "firing", "truncatedAlerts": 0, "externalURL": "http://alertmanager.invalid:9093",
			"groupKey": fmt.Sprintf(`{}:{alertname="DiskFull", instance="db-%d"}`,
				n), "groupLabels": labels, "commonLabels": labels, "commonAnnotations": annotations,
			"alerts": []any{map[string]any{"status": "firing", "labels": labels, "annotations": annotations,
				"startsAt": begun,
				"endsAt":   "0001-01-01T00:00:00Z", "generatorURL": "http://prometheus.invalid:9090/graph", "fingerprint": fmt.Sprintf("%016x", n)}},
		}, &id)
		return id, err
	}
}

// run posts the first n groups in rounds from all senders, each with its share of the connections. It returns when the
// last delivery was answered, also of new groups.
func (s *storm) run(ctx context.Context, n, connections int) {
	begun, done := time.Now(), make(chan struct{})
	s.firstRound.Add(stormSenders)
	var senders, newGroups sync.WaitGroup
	for range stormSenders {
		senders.Go(func() {
			for round := range stormRounds {
				burst(ctx, s.tally, s.counted, n, max(1, connections/stormSenders))
				if round == 0 {
					s.firstRound.Done()
				}
			}
		})
	}
	newGroups.Go(func() { s.postNew(ctx, n, done) })
	senders.Wait()
	close(done)
	newGroups.Wait()
	s.seconds = time.Since(begun).Seconds()
}

// postNew posts new groups, with numbers after n, from the end of the first round until done.
func (s *storm) postNew(ctx context.Context, n int, done <-chan struct{}) {
	s.firstRound.Wait()
	var posts sync.WaitGroup
	defer posts.Wait()
	tick := time.NewTicker(stormNew)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-done:
			return
		case <-tick.C:
		}
		n++
		group := n
		posts.Go(func() {
			one(ctx, s.tally, func(ctx context.Context, group int) (int64, error) {
				id, err := s.counted(ctx, group)
				if err == nil {
					s.mu.Lock()
					defer s.mu.Unlock()
					s.newIncidents = append(s.newIncidents, id)
				}
				return id, err
			}, group)
		})
	}
}

// counted posts a group and counts the delivery if the server accepted it.
func (s *storm) counted(ctx context.Context, group int) (int64, error) {
	id, err := s.post(ctx, group)
	if err == nil {
		s.deliveries.Add(1)
	}
	return id, err
}

// result is valid after run, when the e-mails have arrived.
func (s *storm) result() *Storm {
	out := &Storm{Deliveries: int(s.deliveries.Load()), Seconds: thousandths(s.seconds), New: len(s.newIncidents),
		Delay: percentiles(s.tally.delays(s.newIncidents))}
	if s.seconds > 0 {
		out.PerSecond = thousandths(float64(out.Deliveries) / s.seconds)
	}
	return out
}
