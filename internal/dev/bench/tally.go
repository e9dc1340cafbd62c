package bench

import (
	"math"
	"slices"
	"sync"
	"time"
)

// delivery is an e-mail that the sink received.
type delivery struct {
	At         time.Time // when the whole e-mail had arrived
	MessageID  int64     // id of the message
	IncidentID int64     // id of the incident; 0 = out of band
	Marker     int       // number in the subject, for out-of-band notifications; -1 = none
}

// post is the outcome of a request.
type post struct {
	sent     time.Time
	answered time.Time
	accepted bool
}

// tally counts what was posted and what arrived, by unit of work: incidents have an id, notifications a number in their
// subject. It is safe for concurrent use.
type tally struct {
	planned   int
	incidents bool
	// single: each unit is one message, as with the bench's own plan; a second message of a unit is then a duplicate.
	single bool

	mu         sync.Mutex
	first      time.Time // first post
	posts      map[int64]post
	posted     int
	accepted   int
	unknown    int // requests without an answer
	refused    map[string]int
	deliveries map[int64][]delivery // by unit
	strays     map[int64][]delivery // of units that are not known to be accepted
	arrived    int
	reached    int // accepted units with a delivery
	last       time.Time
}

func newTally(planned int, incidents, single bool) *tally {
	return &tally{
		planned: planned, incidents: incidents, single: single, posts: map[int64]post{}, refused: map[string]int{},
		deliveries: map[int64][]delivery{}, strays: map[int64][]delivery{},
	}
}

// sending records that a request is sent.
func (t *tally) sending(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.posted++
	if t.first.IsZero() || at.Before(t.first) {
		t.first = at
	}
}

// accept records a 2xx answer for a unit. Later answers for the unit change nothing.
func (t *tally) accept(unit int64, sent, answered time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.posts[unit].accepted {
		return
	}
	t.accepted++
	t.posts[unit] = post{sent: sent, answered: answered, accepted: true}
	if early := t.strays[unit]; len(early) > 0 {
		delete(t.strays, unit)
		t.deliveries[unit] = early
		t.reached++
	}
}

// refuse records an answer that is not 2xx, by its text.
func (t *tally) refuse(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused[why]++
}

// noAnswer records a request whose outcome is unknown.
func (t *tally) noAnswer() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unknown++
}

// deliver records an e-mail.
func (t *tally) deliver(d delivery) {
	unit := d.IncidentID
	if !t.incidents {
		unit = int64(d.Marker)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.arrived++
	if d.At.After(t.last) {
		t.last = d.At
	}
	if !t.posts[unit].accepted {
		t.strays[unit] = append(t.strays[unit], d)
		return
	}
	if len(t.deliveries[unit]) == 0 {
		t.reached++
	}
	t.deliveries[unit] = append(t.deliveries[unit], d)
}

// progress is a snapshot of the counts.
type progress struct {
	posted, accepted, reached, arrived int
	quiet                              time.Duration // since the last delivery or, before any, the first post
}

func (t *tally) progress(now time.Time) progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := progress{posted: t.posted, accepted: t.accepted, reached: t.reached, arrived: t.arrived}
	if since := t.last; !since.IsZero() || !t.first.IsZero() {
		if since.IsZero() {
			since = t.first
		}
		p.quiet = now.Sub(since)
	}
	return p
}

// Percentiles are percentiles of a duration in milliseconds.
type Percentiles struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Result is the result of a measurement. Seconds count from the first POST.
type Result struct {
	Posted    int `json:"posted"`
	Accepted  int `json:"accepted"`
	Delivered int `json:"delivered"` // accepted and arrived at least once
	Lost      int `json:"lost"`      // accepted and never arrived
	// Duplicates are further e-mails of the same message or, with the bench's own plan, of the same incident.
	Duplicates          int         `json:"duplicates"`
	AcceptSeconds       float64     `json:"accept_seconds"` // until the last acceptance
	LastDeliverySeconds float64     `json:"last_delivery_seconds"`
	Latency             Percentiles `json:"latency_ms"` // from the answer to the POST until the whole e-mail arrived
	Accept              Percentiles `json:"accept_ms"`  // from the POST to its answer
	DeliveriesPerSecond float64     `json:"deliveries_per_second"`
	// Refused counts answers that are not 2xx, by text. Unanswered counts requests without an answer. Strays counts
	// e-mails of units that are not known to be accepted.
	Refused    map[string]int `json:"refused,omitempty"`
	Unanswered int            `json:"unanswered,omitempty"`
	Strays     int            `json:"strays,omitempty"`
	// Killed, ReownedSeconds and InDoubt are set with KillHalf. ReownedSeconds is the time from the kill until every
	// bucket had a live owner, -1 = never. InDoubt counts attempts whose outcome is unknown.
	Killed         *int     `json:"killed,omitempty"`
	ReownedSeconds *float64 `json:"reowned_seconds,omitempty"`
	InDoubt        *int     `json:"in_doubt,omitempty"`
	LostIDs        []int64  `json:"lost_ids,omitempty"` // of the first lost units

	Storm *Storm `json:"storm,omitempty"` // set with Options.Storm

	Usage   *Usage   `json:"usage,omitempty"`   // of servers that the bench started
	Samples []Sample `json:"samples,omitempty"` // of servers that the bench started, one a minute
}

// maxLostIDs is the maximum length of LostIDs.
const maxLostIDs = 20

func (t *tally) result() Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := Result{Posted: t.posted, Accepted: t.accepted, Unanswered: t.unknown, Refused: t.refused}
	var latency, accept []float64
	var lastAccept, last time.Time
	for unit, p := range t.posts {
		accept = append(accept, milliseconds(p.answered.Sub(p.sent)))
		if p.answered.After(lastAccept) {
			lastAccept = p.answered
		}
		ds := t.deliveries[unit]
		if len(ds) == 0 {
			r.Lost++
			r.LostIDs = append(r.LostIDs, unit)
			continue
		}
		r.Delivered++
		r.Duplicates += t.duplicates(ds)
		begun := slices.MinFunc(ds, func(a, b delivery) int { return a.At.Compare(b.At) }).At
		latency = append(latency, max(0, milliseconds(begun.Sub(p.answered))))
		if begun.After(last) {
			last = begun
		}
	}
	for _, ds := range t.strays {
		r.Strays += len(ds)
	}
	slices.Sort(r.LostIDs)
	r.LostIDs = r.LostIDs[:min(len(r.LostIDs), maxLostIDs)]
	r.Latency, r.Accept = percentiles(latency), percentiles(accept)
	if !lastAccept.IsZero() {
		r.AcceptSeconds = thousandths(lastAccept.Sub(t.first).Seconds())
	}
	if !last.IsZero() {
		seconds := last.Sub(t.first).Seconds()
		r.LastDeliverySeconds = thousandths(seconds)
		if seconds > 0 {
			r.DeliveriesPerSecond = thousandths(float64(r.Delivered) / seconds)
		}
	}
	return r
}

// delays returns the milliseconds from the first POST of each unit to its first e-mail. A unit without an e-mail is
// left out.
func (t *tally) delays(units []int64) (out []float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, unit := range units {
		if ds := t.deliveries[unit]; len(ds) > 0 {
			out = append(out, milliseconds(ds[0].At.Sub(t.posts[unit].sent)))
		}
	}
	return out
}

func (t *tally) duplicates(ds []delivery) int {
	if t.single {
		return len(ds) - 1
	}
	seen := map[int64]bool{}
	for _, d := range ds {
		seen[d.MessageID] = true
	}
	return len(ds) - len(seen)
}

// thousandths rounds to three decimals.
func thousandths(x float64) float64 { return math.Round(x*1000) / 1000 }

func milliseconds(d time.Duration) float64 {
	return thousandths(float64(d) / float64(time.Millisecond))
}

// percentiles sorts ms and returns its percentiles by nearest rank.
func percentiles(ms []float64) Percentiles {
	if len(ms) == 0 {
		return Percentiles{}
	}
	slices.Sort(ms)
	at := func(p float64) float64 { return ms[min(len(ms)-1, max(0, int(p*float64(len(ms))+0.9999999)-1))] }
	return Percentiles{P50: at(0.50), P95: at(0.95), P99: at(0.99), Max: ms[len(ms)-1]}
}
