package bench

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/iris-oncall/iris/internal/legacy/apiclient"
)

// poster posts one unit of work and returns its id; n numbers the units of a run.
type poster func(ctx context.Context, n int) (unit int64, err error)

// incidents returns a poster of incidents on a plan.
func incidents(c *apiclient.Client, plan string) poster {
	return func(ctx context.Context, n int) (int64, error) {
		return c.OpenIncident(ctx, apiclient.Incident{Plan: plan, Context: map[string]any{
			"marker": n, "title": "disk almost full on db-" + strconv.Itoa(n%97), "severity": "critical",
			"labels": map[string]any{"instance": "db-" + strconv.Itoa(n%97), "job": "node", "mountpoint": "/var"},
			"values": []int{n % 7, n % 11, n % 13},
		}})
	}
}

// notifications returns a poster of out-of-band e-mails to an address.
func notifications(c *apiclient.Client, to string) poster {
	return func(ctx context.Context, n int) (int64, error) {
		return int64(n), c.Notify(ctx, apiclient.Notification{
			Target: apiclient.Target{Role: "literal_target", Target: to}, Mode: "email", Subject: subject(n),
			Body: "The nightly job number " + strconv.Itoa(n) + " is done.",
		})
	}
}

// loadClient returns an HTTP client that keeps up to this number of idle connections.
func loadClient(connections int) *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = connections, connections
	t.Proxy = nil
	return &http.Client{Transport: t, Timeout: 30 * time.Second}
}

// burst posts n units as fast as the server accepts them.
func burst(ctx context.Context, t *tally, post poster, n, connections int) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			for i := int(next.Add(1)); i <= n && ctx.Err() == nil; i = int(next.Add(1)) {
				one(ctx, t, post, i)
			}
		})
	}
	wg.Wait()
}

// steady posts n units at a rate. A slow answer does not delay the next request, up to the number of connections.
func steady(ctx context.Context, t *tally, post poster, perSecond float64, n, connections int) {
	var group errgroup.Group
	group.SetLimit(connections)
	defer func() { _ = group.Wait() }() // no function returns an error
	begun := time.Now()
	for i := 1; i <= n; i++ {
		due := begun.Add(time.Duration(math.Round(float64(i-1) / perSecond * float64(time.Second))))
		if !sleep(ctx, time.Until(due)) {
			return
		}
		group.Go(func() error {
			one(ctx, t, post, i)
			return nil
		})
	}
}

// maxSheds is how often a unit is posted to a server that answers "try again later".
const maxSheds = 20

// one posts a unit. It waits as long as the server asks. It does not repeat a request without an answer, because the
// server may have handled it.
func one(ctx context.Context, t *tally, post poster, n int) {
	sent := time.Now()
	t.sending(sent)
	for try := 1; ; try++ {
		unit, err := post(ctx, n)
		if err == nil {
			t.accept(unit, sent, time.Now())
			return
		}
		refused, answered := apiclient.Refused(err)
		if !answered {
			t.noAnswer()
			return
		}
		shed := refused.Status == http.StatusTooManyRequests || refused.Status == http.StatusServiceUnavailable
		if !shed || try == maxSheds || !sleep(ctx, max(refused.RetryAfter, 50*time.Millisecond)) {
			t.refuse(refused.Error())
			return
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
