package bench

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/iris-oncall/iris/internal/delivery/pg"
)

// sampleEvery is the time between two samples of a long run.
const sampleEvery = time.Minute

// Sample is the state of the bench's own servers at one moment of a long run. In a run that can last, no figure but
// Finished grows from sample to sample, and Finished stops when the first messages are old enough for history.
type Sample struct {
	Seconds float64 `json:"seconds"` // since the first POST
	// Delivered is the number of units that have arrived.
	Delivered int `json:"delivered"`
	// Waiting is the number of messages that are not settled, OldestSeconds the age of the oldest of them.
	Waiting       int     `json:"waiting"`
	OldestSeconds float64 `json:"oldest_seconds"`
	// Finished is the number of settled messages that are not in history yet, SettledSeconds how long ago the first of
	// them settled.
	Finished       int     `json:"finished"`
	SettledSeconds float64 `json:"settled_seconds"`
	// Memory is the resident memory of each process, in MiB.
	Memory map[string]int `json:"memory_mib"`
}

// sample reads one sample and prints it.
func (r *run) sample(ctx context.Context, p progress) error {
	size, err := pg.NewBench(r.stand.db).Size(ctx)
	if err != nil {
		return err
	}
	s := Sample{Seconds: thousandths(time.Since(r.before.at).Seconds()), Delivered: p.reached, Waiting: size.Waiting,
		OldestSeconds: thousandths(size.Oldest.Seconds()), Finished: size.Finished, SettledSeconds: thousandths(size.Settled.Seconds()),
		Memory: map[string]int{}}
	for _, server := range r.stand.servers() {
		proc, err := procfs.NewProc(server.Pid())
		if err != nil {
			continue // the process was killed
		}
		if stat, err := proc.Stat(); err == nil {
			s.Memory[server.name] = stat.ResidentMemory() >> 20
		}
	}
	r.samples = append(r.samples, s)
	fmt.Fprintln(r.Out, s)
	return nil
}

// String returns the sample as a line of text.
func (s Sample) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "after %.0f s: %d delivered; %d waiting, the oldest for %.2f s; %d finished, the first %.0f s ago; MiB:",
		s.Seconds, s.Delivered, s.Waiting, s.OldestSeconds, s.Finished, s.SettledSeconds)
	for _, name := range slices.Sorted(maps.Keys(s.Memory)) {
		fmt.Fprintf(&b, " %s %d", name, s.Memory[name])
	}
	return b.String()
}
