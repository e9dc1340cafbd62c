package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// Print writes the figures for people.
func (r Result) Print(w io.Writer) {
	fmt.Fprintf(w, "posted      %8d\n", r.Posted)
	fmt.Fprintf(w, "accepted    %8d  in %.3f s (p50 %.1f ms, p99 %.1f ms)\n", r.Accepted, r.AcceptSeconds,
		r.Accept.P50, r.Accept.P99)
	fmt.Fprintf(w, "delivered   %8d  in %.3f s, %.0f/s\n", r.Delivered, r.LastDeliverySeconds, r.DeliveriesPerSecond)
	fmt.Fprintf(w, "lost        %8d\n", r.Lost)
	fmt.Fprintf(w, "duplicates  %8d\n", r.Duplicates)
	fmt.Fprintf(w, "latency     p50 %.1f ms, p95 %.1f ms, p99 %.1f ms, max %.1f ms\n",
		r.Latency.P50, r.Latency.P95, r.Latency.P99, r.Latency.Max)
	for _, why := range slices.Sorted(maps.Keys(r.Refused)) {
		fmt.Fprintf(w, "refused     %8d  %s\n", r.Refused[why], why)
	}
	if r.Unanswered > 0 {
		fmt.Fprintf(w, "no answer   %8d\n", r.Unanswered)
	}
	if r.Strays > 0 {
		fmt.Fprintf(w, "strays      %8d  of requests without an answer, or of other clients\n", r.Strays)
	}
	if s := r.Storm; s != nil {
		fmt.Fprintf(w, "storm       %8d deliveries in %.3f s, %.0f/s; %d new incidents meanwhile, from the POST to the e-mail: p50 %.1f ms, p99 %.1f ms, max %.1f ms\n",
			s.Deliveries, s.Seconds, s.PerSecond, s.New, s.Delay.P50, s.Delay.P99, s.Delay.Max)
	}
	if r.Killed != nil {
		fmt.Fprintf(w, "killed      %8d  every bucket owned again after %.2f s, %d attempts in doubt\n", *r.Killed,
			*r.ReownedSeconds, *r.InDoubt)
	}
	if r.Usage != nil {
		fmt.Fprint(w, r.Usage)
	}
}

// Save writes the figures to a file, as JSON.
func (r Result) Save(file string) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(raw, '\n'), 0o644)
}
