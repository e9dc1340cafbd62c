package applications

import (
	"maps"
	"math"
	"time"

	"github.com/iris-oncall/iris/internal/users"
)

// Points is the number of points in time of every figure: the full hour, and 1 to 6 weeks before it.
const Points = 7

// Week is the distance between two points.
const Week = 7 * 24 * time.Hour

// Weekly counts events by week, the latest first. Index 0 is the week that ends at Statistics.Hour. The last index has
// all older events.
type Weekly [Points + 1]int64

// Total is the count at a point, since the beginning.
func (w Weekly) Total(point int) int64 {
	var n int64
	for _, c := range w[point:] {
		n += c
	}
	return n
}

// Statistics are the counts as of an hour, from which the figures of all points follow.
type Statistics struct {
	Hour time.Time
	// How many existed at each point.
	Plans, Users, Applications [Points]int64
	// Medians of the seconds from opening to acknowledging, of the incidents opened in the week before each point;
	// negative = unknown.
	ClaimMedian [Points]float64
	ByID        map[int64]*Figures // by the number of the application
}

// NewStatistics returns empty statistics as of an hour; the medians are unknown.
func NewStatistics(hour time.Time) Statistics {
	return Statistics{Hour: hour, ClaimMedian: unknownMedians(), ByID: map[int64]*Figures{}}
}

func unknownMedians() (m [Points]float64) {
	for i := range m {
		m[i] = -1
	}
	return m
}

// Figures are the counts of one application.
type Figures struct {
	Incidents Weekly
	Claimed   Weekly // of those, the ones with an owner
	High      Weekly // of those, the ones whose plan pages with priority high or urgent
	// ClaimMedian is as in Statistics.
	ClaimMedian [Points]float64
	CallRetries Weekly
	Modes       map[users.Mode]*Delivered
}

// Delivered counts messages in one mode by outcome.
type Delivered struct {
	Sent      Weekly // accepted by their vendor; of the mode drop: dropped
	Delivered Weekly // of those, the ones with a receipt of arrival or an answer
	Failed    Weekly // refused in the end
	Tried     Weekly // all for which a vendor was called
}

// Of returns the figures of an application; it adds empty ones if there are none.
func (s *Statistics) Of(application int64) *Figures {
	f := s.ByID[application]
	if f == nil {
		f = &Figures{ClaimMedian: unknownMedians(), Modes: map[users.Mode]*Delivered{}}
		s.ByID[application] = f
	}
	return f
}

// Figures returns the figures of an application; without figures they are empty. It changes nothing, because requests
// share the statistics.
func (s *Statistics) Figures(application int64) *Figures {
	out := &Figures{ClaimMedian: unknownMedians()}
	if have := s.ByID[application]; have != nil {
		*out = *have
	}
	modes := out.Modes
	out.Modes = map[users.Mode]*Delivered{}
	maps.Copy(out.Modes, modes)
	return out
}

// At is a point in time: 0 is the hour of the statistics, and each further point is a week earlier.
func (s *Statistics) At(point int) time.Time { return s.Hour.Add(-time.Duration(point) * Week) }

// Mode returns the counts of a mode; it adds empty ones if there are none.
func (f *Figures) Mode(m users.Mode) *Delivered {
	d := f.Modes[m]
	if d == nil {
		d = &Delivered{}
		f.Modes[m] = d
	}
	return d
}

// All returns the sum of the figures of all applications, without medians, which cannot be added.
func (s *Statistics) All() *Figures {
	sum := &Figures{ClaimMedian: s.ClaimMedian, Modes: map[users.Mode]*Delivered{}}
	for _, f := range s.ByID {
		sum.Incidents.add(f.Incidents)
		sum.Claimed.add(f.Claimed)
		sum.High.add(f.High)
		sum.CallRetries.add(f.CallRetries)
		for mode, d := range f.Modes {
			to := sum.Mode(mode)
			to.Sent.add(d.Sent)
			to.Delivered.add(d.Delivered)
			to.Failed.add(d.Failed)
			to.Tried.add(d.Tried)
		}
	}
	return sum
}

func (w *Weekly) add(o Weekly) {
	for i := range w {
		w[i] += o[i]
	}
}

// Sent returns the number of messages of all modes that were sent, by week. Messages of the mode drop do not count.
func (f *Figures) Sent() Weekly {
	var w Weekly
	for mode, d := range f.Modes {
		if mode != users.Drop {
			w.add(d.Sent)
		}
	}
	return w
}

// Percent returns n in percent of all, rounded to two decimals; false if all is not positive.
func Percent(n, all int64) (float64, bool) {
	if all <= 0 {
		return 0, false
	}
	return math.Round(float64(n)/float64(all)*10000) / 100, true
}

// Shares returns the outcomes of a mode's messages in the week before a point, in percent of those that were tried:
// success, failure, and others. A message succeeded if its vendor accepted it; a call must have been answered. known is
// false if no message was tried.
func (d *Delivered) Shares(mode users.Mode, point int) (success, fail, other float64, known bool) {
	good := d.Sent[point]
	if mode == users.Call {
		good = d.Delivered[point]
	}
	all := max(d.Tried[point], good+d.Failed[point])
	success, known = Percent(good, all)
	fail, _ = Percent(d.Failed[point], all)
	other, _ = Percent(all-good-d.Failed[point], all)
	return success, fail, other, known
}
