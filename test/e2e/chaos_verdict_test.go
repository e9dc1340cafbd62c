package e2e

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
)

// verdict is the result of a run: figures and broken promises.
type verdict struct {
	figures []string // one line each
	broken  []string // broken promises, each with an example
}

// String formats the verdict for people.
func (v *verdict) String() string {
	out := "verdict:\n  " + strings.Join(v.figures, "\n  ")
	if len(v.broken) == 0 {
		return out + "\n  every promise was kept"
	}
	return out + "\n  BROKEN:\n  - " + strings.Join(v.broken, "\n  - ")
}

func (v *verdict) tell(format string, args ...any) {
	v.figures = append(v.figures, fmt.Sprintf(format, args...))
}

// fails records a broken promise, with the first ten cases of each kind.
func (v *verdict) fails(promise, format string, args ...any) {
	n := 0
	for _, b := range v.broken {
		if strings.HasPrefix(b, promise) {
			n++
		}
	}
	if n < 10 {
		v.broken = append(v.broken, promise+": "+fmt.Sprintf(format, args...))
	}
}

// page is a message with its final state in the database.
type page struct {
	id, incident           int64
	step, position, repeat int
	purpose, state, mode   string
	created                time.Time
	settled                *time.Time
}

// judge compares the data of vendors and database with the promises to the clients.
func (c *chaos) judge(seed uint64, length, drained time.Duration) *verdict {
	v := &verdict{}
	entries, attempts, pages := c.vendors.Log().Entries(), c.attempts(), c.pages()
	v.tell("seed %d, %s of faults, drained in %.1f s", seed, length, drained.Seconds())
	v.tell("%d incidents accepted, %d of them silenced; %d notifications; %d changes of the calendar; %d requests refused", len(c.accepted), len(c.silenced), len(c.notified), c.edits, c.refused)
	c.judgeCalls(v, entries, attempts)
	c.judgeP1(v, entries, pages)
	c.judgeNotifications(v, entries)
	c.judgeP3(v, entries, attempts, pages)
	c.judgeP4(v, entries, attempts)
	for _, l := range chaosRates {
		judgeP5(v, entries, l)
	}
	return v
}

// pages reads all messages of incidents from the queue and from history, in the order of creation.
func (c *chaos) pages() map[int64][]page {
	c.t.Helper()
	const columns = "id, incident_id, step, position, repeat, purpose, state, mode, created_at, settled_at"
	rows, err := c.db.Query(c.t.Context(), "select "+columns+
		" from messages where incident_id is not null union all select "+columns+
		" from message_history where incident_id is not null order by created_at, id")
	require.NoError(c.t, err)
	defer rows.Close()
	out := map[int64][]page{}
	for rows.Next() {
		var p page
		require.NoError(c.t, rows.Scan(&p.id, &p.incident, &p.step, &p.position, &p.repeat, &p.purpose, &p.state,
			&p.mode, &p.created, &p.settled))
		out[p.incident] = append(out[p.incident], p)
	}
	require.NoError(c.t, rows.Err())
	return out
}

// judgeCalls reports the numbers of calls that vendors received and of recorded attempts.
func (c *chaos) judgeCalls(v *verdict, entries []pretend.Entry, attempts map[int64][]attempt) {
	accepted, outcomes, doubts, late := 0, map[string]int{}, 0, 0
	for _, e := range entries {
		if e.Accepted {
			accepted++
		}
	}
	for _, list := range attempts {
		for _, a := range list {
			outcomes[cmp.Or(a.outcome, "none")]++
			if a.inDoubt {
				doubts++
			}
			if a.late {
				late++
			}
		}
	}
	v.tell("%d vendor calls seen, %d accepted; attempts by outcome %v, %d in doubt, %d late", len(entries), accepted,
		outcomes, doubts, late)
	c.reportSpeed(v, entries)
}

// reportSpeed reports how long accepted incidents waited for their first call, and what delayed the slowest one.
func (c *chaos) reportSpeed(v *verdict, entries []pretend.Entry) {
	var first []time.Duration
	var slowest pretend.Entry
	seen := map[int64]bool{}
	for _, e := range entries {
		at, ok := c.accepted[e.IncidentID]
		if !ok || seen[e.IncidentID] {
			continue
		}
		seen[e.IncidentID] = true
		first = append(first, max(e.At.Sub(at), 0))
		if have, ok := c.accepted[slowest.IncidentID]; !ok || e.At.Sub(at) > slowest.At.Sub(have) {
			slowest = e
		}
	}
	if len(first) == 0 {
		return
	}
	slices.Sort(first)
	v.tell("first call seen after the answer: half within %.2f s, nine of ten within %.2f s, the last %.2f s",
		first[len(first)/2].Seconds(), first[len(first)*9/10].Seconds(), first[len(first)-1].Seconds())
	at := c.accepted[slowest.IncidentID]
	v.tell("the slowest was incident %d, accepted %.1f s after the beginning; it and its message %d since then:",
		slowest.IncidentID, at.Sub(c.begun).Seconds(), slowest.MessageID)
	rows, err := c.db.Query(c.t.Context(), `
		select extract(epoch from at - $1)::float8, text from timeline_entries where incident_id = $2
		union all select extract(epoch from created_at - $1)::float8, 'the message was made' from messages where id = $3
		union all select extract(epoch from started_at - $1)::float8, 'attempt ' || attempt || ' by ' || mode || ' begins: ' || coalesce(outcome, 'none') || ' ' || detail from attempts
			where message_id = $3
		order by 1 limit 15`, at, slowest.IncidentID, slowest.MessageID)
	require.NoError(c.t, err)
	defer rows.Close()
	for rows.Next() {
		var since float64
		var text string
		require.NoError(c.t, rows.Scan(&since, &text))
		v.tell("  %+7.2f s %s", since, text)
	}
	require.NoError(c.t, rows.Err())
}

// judgeP1 checks that every step of every accepted incident that nobody silenced reached a vendor, in order and not too
// early; and that no step began before the previous one was over.
func (c *chaos) judgeP1(v *verdict, entries []pretend.Entry, pages map[int64][]page) {
	left := map[int64]pretend.Entry{} // the first accepted call of a message
	begun := map[int64]time.Time{}    // the first call of any kind
	for _, e := range entries {
		if at, ok := begun[e.MessageID]; !ok || e.At.Before(at) {
			begun[e.MessageID] = e.At
		}
		if have, ok := left[e.MessageID]; e.Accepted && (!ok || e.AnsweredAt.Before(have.AnsweredAt)) {
			left[e.MessageID] = e
		}
	}
	excused := c.escalatedLate()
	whole := 0
	for id := range c.accepted {
		steps := c.stepsOf(id)
		if len(steps) == 0 {
			v.fails("P1", "incident %d is gone", id)
			continue
		}
		if _, silenced := c.silenced[id]; !silenced {
			whole++
			judgeWhole(v, id, steps, pages[id], left)
		}
		if !excused[id] {
			judgeOrder(v, id, steps, pages[id], left, begun)
		}
	}
	v.tell("P1: %d incidents went through all their steps, %d of them past a vendor that was away", whole, len(excused))
}

// planned is a notification of a step in an incident's plan.
type planned struct{ step, position, repeat, wait int }

func (c *chaos) stepsOf(incident int64) []planned {
	c.t.Helper()
	rows, err := c.db.Query(c.t.Context(),
		`select n.step, n.position, n.repeat, n.wait_seconds from incidents i join plan_notifications n on n.plan_id = i.plan_id
		where i.id = $1 order by 1, 2`, incident)
	require.NoError(c.t, err)
	defer rows.Close()
	var out []planned
	for rows.Next() {
		var n planned
		require.NoError(c.t, rows.Scan(&n.step, &n.position, &n.repeat, &n.wait))
		out = append(out, n)
	}
	require.NoError(c.t, rows.Err())
	return out
}

// escalatedLate returns the incidents whose timeline says that a step began before the messages of the previous step
// were sent.
func (c *chaos) escalatedLate() map[int64]bool {
	c.t.Helper()
	rows, err := c.db.Query(c.t.Context(), "select distinct incident_id from timeline_entries where kind = 'late'")
	require.NoError(c.t, err)
	defer rows.Close()
	out := map[int64]bool{}
	for rows.Next() {
		var id int64
		require.NoError(c.t, rows.Scan(&id))
		out[id] = true
	}
	require.NoError(c.t, rows.Err())
	return out
}

// judgeWhole checks that every repeat of every notification was made, and that each message was sent, or replaced by
// one to another person.
func judgeWhole(v *verdict, id int64, steps []planned, pages []page, left map[int64]pretend.Entry) {
	type round struct{ step, position, repeat int }
	reached := map[round]bool{}
	for _, p := range pages {
		_, gone := left[p.id]
		if gone {
			reached[round{p.step, p.position, p.repeat}] = true
		}
		if (p.state == "sent" || p.state == "delivered") && !gone {
			v.fails("P8", "message %d of incident %d counts as %s, and no vendor has it", p.id, id, p.state)
		}
	}
	for _, n := range steps {
		for r := 0; r <= n.repeat; r++ {
			if !reached[round{n.step, n.position, r}] {
				v.fails("P1", "incident %d: nobody heard of round %d of notification %d of step %d", id, r, n.position,
					n.step)
			}
		}
	}
}

// judgeOrder checks that the first call of a step begins after every message of the previous step was sent and its wait
// is over. Messages that finally failed do not count.
func judgeOrder(v *verdict, id int64, steps []planned, pages []page, left map[int64]pretend.Entry, begun map[int64]time.Time) {
	const clocks = 20 * time.Millisecond // the database and the vendors read the same clock at different moments
	wait := map[[2]int]time.Duration{}
	for _, n := range steps {
		wait[[2]int{n.step, n.position}] = time.Duration(n.wait) * time.Second
	}
	due := map[int]time.Time{}
	for _, p := range pages {
		if e, ok := left[p.id]; ok && p.purpose == "primary" {
			if at := e.AnsweredAt.Add(wait[[2]int{p.step, p.position}]); at.After(due[p.step+1]) {
				due[p.step+1] = at
			}
		}
	}
	for _, p := range pages {
		if at, ok := begun[p.id]; ok && at.Add(clocks).Before(due[p.step]) {
			v.fails("P1", "incident %d: step %d began %.3f s before it was due", id, p.step,
				due[p.step].Sub(at).Seconds())
		}
	}
}

// nightText matches the text of a notification.
var nightText = regexp.MustCompile(`word \d+ of the night`)

// judgeNotifications checks that every notification that got a 2xx reached somebody.
func (c *chaos) judgeNotifications(v *verdict, entries []pretend.Entry) {
	heard := map[string]bool{}
	for _, e := range entries {
		if words := nightText.FindString(e.Subject + "\n" + e.Body); e.Accepted && words != "" { // in any mode
			heard[words] = true
		}
	}
	for words := range c.notified {
		if !heard[words] {
			v.fails("P1", "nobody heard of the notification %q", words)
		}
	}
}

// judgeP3 checks that a message exists once per decision and that every call at a vendor was recorded. A second call
// must follow a failure or an attempt in doubt; a second delivery must be labelled.
func (c *chaos) judgeP3(v *verdict, entries []pretend.Entry, attempts map[int64][]attempt, pages map[int64][]page) {
	if n := c.count(twice); n > 0 {
		v.fails("P3", "%d messages exist twice", n)
	}
	calls, accepted := map[int64]int{}, map[int64]int{}
	for _, e := range entries {
		if calls[e.MessageID]++; e.Accepted {
			accepted[e.MessageID]++
		}
	}
	again := 0
	for id, n := range calls {
		if id == 0 {
			continue // the vendor refused the call before it read the message
		}
		list, doubts := attempts[id], 0
		if n > len(list) {
			v.fails("P3", "message %d was sent %d times with %d attempts on record", id, n, len(list))
		}
		for i, a := range list {
			if a.inDoubt || a.outcome == "unknown" {
				doubts++
			}
			if i < len(list)-1 && !a.inDoubt && !a.late && !slices.Contains(retryable, a.outcome) {
				v.fails("P3", "message %d was tried again after attempt %d ended as %q", id, a.number, a.outcome)
			}
		}
		if accepted[id] > 1 {
			again++
		}
		if accepted[id]-1 > doubts {
			v.fails("P3", "message %d was delivered %d times, and %d attempts are labelled in doubt", id, accepted[id],
				doubts)
		}
	}
	total := 0
	for _, list := range pages {
		total += len(list)
	}
	v.tell("P3: %d messages of incidents, %d messages delivered more than once, all of them labelled in doubt", total,
		again)
}

// judgeP4 checks that no call begins more than a second after the answer to an acknowledgement, except labelled calls.
func (c *chaos) judgeP4(v *verdict, entries []pretend.Entry, attempts map[int64][]attempt) {
	labelled := 0
	var longest time.Duration
	notices := c.notices()
	for _, e := range entries {
		at, ok := c.silenced[e.IncidentID]
		if !ok || notices[e.MessageID] || !e.At.After(at) {
			continue
		}
		late := e.At.Sub(at)
		if late <= time.Second {
			longest = max(longest, late)
			continue
		}
		if slices.ContainsFunc(attempts[e.MessageID], func(a attempt) bool { return a.late || a.inDoubt }) {
			labelled++
			continue
		}
		v.fails("P4", "message %d of incident %d started %.3f s after the acknowledgement", e.MessageID, e.IncidentID,
			late.Seconds())
	}
	v.tell("P4: the last call within the second began %.3f s after an acknowledgement was answered; %d calls of frozen processes came later, labelled", longest.Seconds(), labelled)
}

// judgeP5 checks that no window has more calls than the rate allows.
func judgeP5(v *verdict, entries []pretend.Entry, l limit) {
	at := l.calls(entries)
	worst := 0.0
	for i := range at {
		for j := i; j < len(at); j++ {
			worst = max(worst, float64(j-i+1)-l.rate*at[j].Sub(at[i]).Seconds())
		}
	}
	name := l.mode
	if l.application != "" {
		name += " of " + l.application
	}
	v.tell("P5: %d calls by %s, in the fullest window %.2f more than %g a second (%.2f are allowed)", len(at), name,
		worst, l.rate, max(l.burst, 1)+l.rate*jitter)
	if worst > max(l.burst, 1)+l.rate*jitter {
		v.fails("P5", "%.2f calls by %s too many in a window", worst-max(l.burst, 1)-l.rate*jitter, name)
	}
}
