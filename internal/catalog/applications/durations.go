package applications

import "math"

// durationGrowth is the ratio of the upper bound of a Duration to its lower bound.
const durationGrowth = 1.07

// Duration is a length of time in a logarithmic scale, precise to 3.5 %: 0 is less than a second, and n > 0 is
// 1.07^(n-1) to 1.07^n seconds. The last one, 255, also holds everything above 330 days.
type Duration uint8

// DurationOf returns the Duration of seconds.
func DurationOf(seconds float64) Duration {
	if !(seconds >= 1) {
		return 0
	}
	return Duration(min(255, 1+math.Floor(math.Log(seconds)/math.Log(durationGrowth))))
}

// Seconds returns the middle of d.
func (d Duration) Seconds() float64 {
	if d == 0 {
		return 0
	}
	return math.Pow(durationGrowth, float64(d)-0.5)
}

// Durations counts lengths of time. The zero value is empty.
type Durations struct {
	counts [256]uint32
	all    int64
}

// Add counts one more.
func (d *Durations) Add(one Duration) {
	d.counts[one]++
	d.all++
}

// Len returns how many were counted.
func (d *Durations) Len() int64 { return d.all }

// Percentile returns the seconds that a share of the lengths does not exceed, interpolated between neighbours; -1 when
// d is empty.
func (d *Durations) Percentile(share float64) float64 {
	if d.all == 0 {
		return -1
	}
	rank := share * float64(d.all-1)
	below, above := d.at(int64(math.Floor(rank))), d.at(int64(math.Ceil(rank)))
	return below + (above-below)*(rank-math.Floor(rank))
}

// at returns the length at a place in their order.
func (d *Durations) at(place int64) float64 {
	for i, n := range d.counts {
		if place -= int64(n); place < 0 {
			return Duration(i).Seconds()
		}
	}
	return 0
}
