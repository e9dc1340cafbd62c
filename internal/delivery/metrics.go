package delivery

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/iris-oncall/iris/internal/delivery/account"
	kitmetrics "github.com/iris-oncall/iris/internal/kit/metrics"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

type metrics struct {
	attempts  *prometheus.CounterVec   // by vendor, mode and outcome
	calls     *prometheus.HistogramVec // seconds of vendor calls, by vendor
	first     prometheus.Histogram     // from incident to its message's first vendor call
	waited    *prometheus.HistogramVec // from message to its first vendor call, by mode
	age       *prometheus.GaugeVec     // of the oldest waiting message of our buckets, by mode
	lanes     *prometheus.GaugeVec     // lanes with work, by mode
	inFlight  *prometheus.GaugeVec     // messages between take and record, by mode
	inDoubt   prometheus.Counter
	lateSlots *prometheus.CounterVec // by limit's kind
	lateDone  prometheus.Counter
	unsent    *prometheus.CounterVec // by mode
	notBegun  *prometheus.CounterVec // by mode
	turned    *prometheus.CounterVec // by mode and next state
	unwritten prometheus.GaugeFunc
	problems  prometheus.Counter
	failures  *prometheus.CounterVec // by stage
	batches   *prometheus.HistogramVec
}

func newMetrics(r prometheus.Registerer, unwritten func() float64, vendors []messages.Vendor) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "iris_delivery_" + name, Help: help}, labels)
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "iris_delivery_" + name, Help: help}, labels)
	}
	times := []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
	m := &metrics{
		attempts: counter("attempts_total", "Vendor calls by outcome.", "vendor", "mode", "outcome"),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "iris_delivery_call_seconds", Help: "Time of vendor calls.", Buckets: times}, []string{"vendor"}),
		first: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "iris_delivery_incident_to_first_call_seconds", Buckets: times,
			Help: "Time from the opening of an incident to the first vendor call of a message of its first step."}),
		waited: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "iris_delivery_message_to_first_call_seconds", Buckets: times,
			Help: "Time from the making of a message to its first vendor call."}, []string{"mode"}),
		age: gauge("queue_oldest_seconds", "Age of the oldest message that waits in this process's buckets.",
			"mode"),
		lanes: gauge("queue_lanes", "Applications and classes with waiting messages in this process's buckets.",
			"mode"),
		inFlight: gauge("in_flight_messages", "Messages that were taken and not yet recorded.", "mode"),
		inDoubt: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "iris_delivery_in_doubt_total", Help: "Attempts in doubt: it is not known whether the message arrived."}),
		lateSlots: counter("late_slots_total", "Slots of rate limits given up because they could not be used in time.",
			"limit"),
		unsent: counter("unsent_total",
			"Pages that had not been sent 30 s after they became due, by the mode of that moment.", "mode"),
		notBegun: counter("not_begun_total",
			"Marked messages whose call was not begun, by mode: each is tried again.", "mode"),
		lateDone: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "iris_delivery_late_outcomes_total", Help: "Outcomes recorded after another process had taken over the message."}),
		turned: counter("turned_total", "Taken messages that were moved on without a vendor call.", "mode", "to"),
		unwritten: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "iris_delivery_unrecorded_outcomes", Help: "Outcomes that wait to be stored."}, unwritten),
		problems: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "iris_delivery_plain_text_total", Help: "Messages sent with the built-in text because their template failed."}),
		failures: counter("failures_total", "Failed steps of delivery by stage.", "stage"),
		batches: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "iris_delivery_batch_messages", Help: "Messages per database statement by stage.",
			Buckets: []float64{1, 2, 5, 10, 20, 50, 100, 200, 500}}, []string{"stage"}),
	}
	m.startAtZero(vendors)
	if r != nil {
		r.MustRegister(m.attempts, m.calls, m.first, m.waited, m.age, m.lanes, m.inFlight, m.inDoubt, m.lateSlots,
			m.notBegun, m.unsent,
			m.lateDone, m.turned, m.unwritten, m.problems, m.failures, m.batches)
	}
	return m
}

// startAtZero creates the series of the configured vendors and modes, so that the first failure shows as an increase.
func (m *metrics) startAtZero(vendors []messages.Vendor) {
	var modes []string
	for _, mode := range users.Modes {
		modes = append(modes, string(mode))
	}
	outcomes := []string{string(messages.OutcomeSent), string(messages.OutcomeRejected),
		string(messages.OutcomeThrottled),
		string(messages.OutcomeUnavailable), string(messages.OutcomeUnknown), string(messages.OutcomeCancelled)}
	for _, v := range vendors {
		for _, mode := range v.Modes() {
			kitmetrics.Start(m.attempts, []string{v.Name()}, []string{string(mode)}, outcomes)
		}
	}
	kitmetrics.Start(m.unsent, modes)
	kitmetrics.Start(m.notBegun, modes)
	kitmetrics.Start(m.turned, modes, []string{"mode", string(messages.Pending), string(messages.Failed),
		string(messages.Cancelled), string(messages.Dropped)})
	kitmetrics.Start(m.lateSlots, []string{"call", "mode", "account", "app"})
	kitmetrics.Start(m.failures, []string{"find", "pauses", "rescue", "note unsent pages", "expire", "take", "render",
		"pause", "reserve", "mark", "reread",
		"record", "turn", "release", "reach"})
}

// called notes that a vendor call began.
func (m *metrics) called(c Claimed, since time.Duration) {
	if c.Attempt > 0 {
		return
	}
	age := c.Age + since
	m.waited.WithLabelValues(string(c.Mode)).Observe(age.Seconds())
	if !c.IncidentAt.IsZero() && c.Step == 1 {
		m.first.Observe((c.CreatedAt.Sub(c.IncidentAt) + age).Seconds())
	}
}

func (m *metrics) done(o *account.Outlet, r messages.Result, took time.Duration) {
	m.attempts.WithLabelValues(o.Vendor.Name(), string(o.Mode), string(r.Outcome)).Inc()
	m.calls.WithLabelValues(o.Vendor.Name()).Observe(took.Seconds())
}

func (m *metrics) queues(found Found, depth map[users.Mode]int) {
	for _, mode := range users.Modes {
		m.lanes.WithLabelValues(string(mode)).Set(float64(depth[mode]))
	}
	oldest := map[users.Mode]time.Duration{}
	for _, w := range found.Waiting {
		oldest[w.Mode] = max(oldest[w.Mode], -w.DueIn)
	}
	for _, mode := range users.Modes {
		m.age.WithLabelValues(string(mode)).Set(oldest[mode].Seconds())
	}
}
