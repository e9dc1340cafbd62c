package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
)

// fault is a fault of one part, with its start and length.
type fault struct {
	at, length time.Duration
	what       string
	begin, end func()
}

// foresee draws the faults from the seed. A part does not get two faults at a time.
func (c *chaos) foresee(length time.Duration) []fault {
	var faults []fault
	busy := map[string]time.Duration{}
	for at := time.Second; at < length-2*time.Second; at += c.between(300*time.Millisecond, 2500*time.Millisecond) {
		f, where := c.draw()
		f.at = at
		if busy[where] > at {
			continue
		}
		f.length = min(f.length, length-at)
		busy[where] = at + f.length + 500*time.Millisecond
		faults = append(faults, f)
	}
	return faults
}

func (c *chaos) between(least, most time.Duration) time.Duration {
	return least + time.Duration(c.random.Int64N(int64(most-least)))
}

// draw chooses a fault at random and returns the part that it breaks.
func (c *chaos) draw() (fault, string) {
	i := c.random.IntN(len(c.slots))
	s, place := c.slots[i], fmt.Sprintf("processor %d", i+1)
	switch n := c.random.IntN(100); {
	case n < 16:
		return fault{length: c.between(200*time.Millisecond, 5*time.Second), what: "SIGKILL of " + place,
			begin: func() { s.running.signal(syscall.SIGKILL) }, end: func() { c.revive(s) }}, place
	case n < 22:
		return fault{length: c.between(3*time.Second, 6*time.Second), what: "SIGTERM of " + place,
			begin: func() { s.running.signal(syscall.SIGTERM) }, end: func() { c.revive(s) }}, place
	case n < 38:
		return fault{
			length: c.between(100*time.Millisecond, 9*time.Second), what: "SIGSTOP of " + place,
			begin: func() { s.running.signal(syscall.SIGSTOP) }, end: func() { s.running.signal(syscall.SIGCONT) },
		}, place
	case n < 50:
		return fault{length: c.between(500*time.Millisecond, 9*time.Second), what: "database cut off from " + place,
			begin: s.database.cut, end: s.database.mend}, place
	case n < 58:
		return fault{length: c.between(time.Second, 9*time.Second), what: "gossip cut off from " + place,
			begin: s.gossip.cut, end: s.gossip.mend}, "gossip " + place
	case n < 64:
		return fault{what: "PostgreSQL crashes and restarts",
			begin: func() { require.NoError(c.t, c.pg.Restart(c.t.Context(), true)) }, end: func() {}}, "database"
	case n < 69:
		return fault{length: c.between(200*time.Millisecond, 3*time.Second), what: "database cut off from iris-api",
			begin: c.wire.cut, end: c.wire.mend}, "api"
	case n < 74:
		return fault{what: "SIGKILL of iris-api", begin: c.restartAPI, end: func() {}}, "api"
	default:
		return c.drawVendor()
	}
}

// drawVendor chooses a vendor and its fault.
func (c *chaos) drawVendor() (fault, string) {
	behaviours := []pretend.Behaviour{
		{Do: pretend.Fine, DelayMS: 800}, {Do: pretend.Hang, Times: 10}, {Do: pretend.HangAfter,
			Times: 10}, {Do: pretend.BreakBefore}, {Do: pretend.BreakAfter, Times: 20},
		{Do: pretend.Fail}, {Do: pretend.Garbage, Times: 10}, {Do: pretend.Throttle,
			RetryAfter: 2}, {Do: pretend.RefuseConnections}, {Do: pretend.Reject, Times: 3},
	}
	b := behaviours[c.random.IntN(len(behaviours))]
	name, behave := "mail server", c.vendors.SMTP.Behave
	if c.random.IntN(3) == 0 {
		name, behave = "Twilio", c.vendors.Twilio.Behave
	}
	return fault{
		length: c.between(time.Second, 6*time.Second), what: fmt.Sprintf("%s: %s", name, b.Do),
		begin: func() { behave(b) }, end: func() { behave() },
	}, name
}

// endure starts and ends the faults at their times, until length is over.
func (c *chaos) endure(faults []fault, length time.Duration) {
	type event struct {
		at time.Duration
		do func()
	}
	events := []event{{at: length, do: func() {}}}
	for _, f := range faults {
		events = append(events, event{f.at, f.begin}, event{f.at + f.length, f.end})
	}
	slices.SortStableFunc(events, func(a, b event) int { return int(a.at - b.at) })
	for _, e := range events {
		wait := time.NewTimer(time.Until(c.begun.Add(e.at)))
		select {
		case <-wait.C:
		case <-c.t.Context().Done():
			require.Fail(c.t, "the storm was cut short")
		}
		e.do()
	}
}

// revive starts a processor in a slot whose processor has died or is about to die.
func (c *chaos) revive(s *slot) {
	select {
	case <-s.running.done:
	case <-time.After(20 * time.Second):
		require.Fail(c.t, "a processor does not stop")
	}
	s.running = c.addProcessor(s.env...)
}

// restartAPI kills iris-api if it runs, and starts it again at the same address.
func (c *chaos) restartAPI() {
	c.api.signal(syscall.SIGKILL)
	<-c.api.done
	c.api = start(c.t, "api", filepath.Join(bin, "iris-api"), c.apiEnv)
}

// heal ends all current faults.
func (c *chaos) heal() {
	c.wire.mend()
	c.vendors.SMTP.Behave()
	c.vendors.Twilio.Behave()
	for _, s := range c.slots {
		s.database.mend()
		s.gossip.mend()
		s.running.signal(syscall.SIGCONT)
		select {
		case <-s.running.done:
			c.revive(s)
		default:
		}
	}
}
