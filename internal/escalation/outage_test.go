package escalation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
)

// In an outage of the vendors no page is sent. The plan must not run through its steps: each step waits as long as if
// its pages had been sent late. Only pages that failed for good end a step at once.
func TestAnOutageDoesNotRunThroughTheSteps(t *testing.T) {
	t.Parallel()
	wait := 10 * time.Minute
	plan := Plan{Steps: []Step{step(note(users.High, wait, 0)), step(note(users.High, wait, 0)),
		step(note(users.High, wait, 0))}}
	began := map[string][]time.Duration{}
	for name, observe := range map[string]func(*Rounds){
		"the pages are retried":              func(r *Rounds) { r.Unsettled = 1 },
		"the pages failed, but not for good": func(r *Rounds) { r.Unsettled, r.SettledAt = 0, r.At.Add(time.Second) },
		"the pages failed for good":          func(r *Rounds) { r.Unsettled, r.SettledAt, r.Lost = 0, r.At, true },
	} {
		p, now := Progress{}, noon
		for range 20 {
			d := Next(plan, p, now)
			for range d.Entered {
				began[name] = append(began[name], now.Sub(noon))
			}
			if d.Over != "" {
				break
			}
			p = d.Progress
			observe(&p.Notifications[0])
			p.Unsettled = p.Notifications[0].Unsettled
			if now = d.Due; p.Notifications[0].Lost {
				now = p.Notifications[0].At
			}
		}
	}
	late := maxDelay(users.High)
	require.Equal(t, map[string][]time.Duration{
		"the pages are retried":              {0, late + wait, 2 * (late + wait)},
		"the pages failed, but not for good": {0, wait + time.Second, 2 * (wait + time.Second)},
		"the pages failed for good":          {0, 0, 0},
	}, began)
}
