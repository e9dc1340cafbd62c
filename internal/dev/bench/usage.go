package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/procfs"
)

// Usage says what the servers of the bench used from the first request until everything had arrived.
type Usage struct {
	Seconds     float64            `json:"seconds"` // length of this time
	Cores       int                `json:"cores"`
	BusySeconds float64            `json:"busy_seconds"` // of all cores, for all programs of the machine
	CPU         map[string]float64 `json:"cpu_seconds"`  // by process, user and system; "postgresql" only if the bench started it
	Batches     []Sum              `json:"batches"`      // rows per batch, by stage
	Statements  []Sum              `json:"statements"`   // seconds by statement, the largest total first
}

// Sum is the increase of a histogram.
type Sum struct {
	Name  string  `json:"name"`
	Count uint64  `json:"count"`
	Total float64 `json:"total"`
}

// Histograms of the servers.
const (
	statements    = "iris_postgres_query_seconds"
	openBatches   = "iris_postgres_open_batch_rows"
	escalated     = "iris_escalation_batch_incidents"
	deliveryBatch = "iris_delivery_batch_messages"
)

// reading is what the machine and the servers had used at one moment.
type reading struct {
	at   time.Time
	busy float64
	cpu  map[string]float64
	sums map[string]map[string]Sum // by histogram and label
}

// read reads the usage now. It leaves out processes that have ended.
func (s *stand) read(ctx context.Context, sink int) (reading, error) {
	r := reading{at: time.Now(), cpu: map[string]float64{}, sums: map[string]map[string]Sum{}}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return r, err
	}
	machine, err := fs.Stat()
	if err != nil {
		return r, err
	}
	t := machine.CPUTotal
	r.busy = t.User + t.Nice + t.System + t.IRQ + t.SoftIRQ + t.Steal
	names := map[int]string{os.Getpid(): "bench", sink: "sink"}
	for _, p := range s.servers() {
		names[p.Pid()] = p.name
	}
	all, err := fs.AllProcs()
	if err != nil {
		return r, err
	}
	r.addProcesses(all, names)
	for _, p := range s.servers() {
		if p.killed.Load() {
			continue
		}
		if err := r.addMetrics(ctx, p.admin); err != nil {
			return r, fmt.Errorf("metrics of %s: %w", p.name, err)
		}
	}
	return r, nil
}

// addProcesses adds the processor time of the named processes and of the PostgreSQL processes that the bench started.
func (r *reading) addProcesses(all procfs.Procs, names map[int]string) {
	stats := map[int]procfs.ProcStat{}
	for _, p := range all {
		if st, err := p.Stat(); err == nil {
			stats[p.PID] = st
		}
	}
	for pid, st := range stats {
		name := names[pid]
		for parent := st.PPID; name == "" && parent > 1 && st.Comm == "postgres"; parent = stats[parent].PPID {
			if parent == os.Getpid() {
				name = "postgresql"
			}
		}
		if name != "" {
			r.cpu[name] += st.CPUTime()
		}
	}
}

func (r *reading) addMetrics(ctx context.Context, admin string) error {
	resp, err := get(ctx, "http://"+admin+"/metrics")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	if err != nil {
		return err
	}
	for _, name := range []string{statements, openBatches, escalated, deliveryBatch} {
		family, ok := families[name]
		if !ok {
			continue
		}
		if r.sums[name] == nil {
			r.sums[name] = map[string]Sum{}
		}
		for _, m := range family.GetMetric() {
			label := ""
			for _, l := range m.GetLabel() {
				label = l.GetValue()
			}
			sum := r.sums[name][label]
			sum.Name = label
			sum.Count += m.GetHistogram().GetSampleCount()
			sum.Total += m.GetHistogram().GetSampleSum()
			r.sums[name][label] = sum
		}
	}
	return nil
}

// since returns the increase from before to r.
func (r reading) since(before reading) *Usage {
	u := &Usage{Seconds: thousandths(r.at.Sub(before.at).Seconds()), Cores: runtime.NumCPU(),
		BusySeconds: thousandths(r.busy - before.busy),
		CPU:         map[string]float64{}}
	for name, seconds := range r.cpu {
		u.CPU[name] = thousandths(seconds - before.cpu[name])
	}
	increase := func(histogram, name string) []Sum { // name "" = the label
		var out []Sum
		for label, after := range r.sums[histogram] {
			was := before.sums[histogram][label]
			if after.Count > was.Count {
				out = append(out, Sum{cmp.Or(name, label), after.Count - was.Count,
					thousandths(after.Total - was.Total)})
			}
		}
		slices.SortFunc(out, func(a, b Sum) int {
			return cmp.Or(cmp.Compare(b.Total, a.Total),
				strings.Compare(a.Name, b.Name))
		})
		return out
	}
	u.Batches = slices.Concat(increase(openBatches, "open"), increase(escalated, "escalate"),
		increase(deliveryBatch, ""))
	u.Statements = increase(statements, "")
	return u
}

// String returns the figures as lines of text, with the statements that took the most time.
func (u *Usage) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "processor   %.2f of %.2f s busy:", u.BusySeconds, u.Seconds*float64(u.Cores))
	for _, name := range slices.Sorted(maps.Keys(u.CPU)) {
		fmt.Fprintf(&b, " %s %.2f", name, u.CPU[name])
	}
	b.WriteString("\nbatches    ")
	for _, s := range u.Batches {
		fmt.Fprintf(&b, " %s %d of %.0f;", s.Name, s.Count, s.Total/float64(s.Count))
	}
	b.WriteString("\nstatements ")
	for _, s := range u.Statements[:min(len(u.Statements), 8)] {
		fmt.Fprintf(&b, " %s %d in %.2f s;", s.Name, s.Count, s.Total)
	}
	b.WriteString("\n")
	return b.String()
}
