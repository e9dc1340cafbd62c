package e2e

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
)

// attempt is a vendor call as the database recorded it.
type attempt struct {
	number  int
	outcome string
	inDoubt bool
	late    bool
	process string
}

// limit is a configured rate. The checker compares the vendors' log with it.
type limit struct {
	mode        string
	application string // "" = of all applications together
	rate        float64
	burst       float64
}

// check compares the vendors' log with the promises P1 to P5. The incidents in delivered must have reached somebody.
func (s *stage) check(delivered []int64, limits ...limit) {
	s.t.Helper()
	entries := s.vendors.Log().Entries()
	attempts := s.attempts()
	s.checkP1(entries, delivered)
	s.checkP2P3(entries, attempts)
	s.checkP4(entries, attempts)
	for _, l := range limits {
		s.checkP5(entries, l)
	}
}

// attempts reads every recorded vendor call from the queue and from history, by message.
func (s *stage) attempts() map[int64][]attempt {
	s.t.Helper()
	rows, err := s.db.Query(s.t.Context(), `
		select message_id, attempt, coalesce(outcome, ''), in_doubt, late, process_id from attempts
		union all
		select h.id, (a ->> 'attempt')::int, coalesce(a ->> 'outcome', ''), coalesce((a ->> 'in_doubt')::boolean, false),
			coalesce((a ->> 'late')::boolean, false), coalesce(a ->> 'process_id', '')
		from message_history h, jsonb_array_elements(h.attempts) a
		order by 1, 2`)
	require.NoError(s.t, err)
	defer rows.Close()
	out := map[int64][]attempt{}
	for rows.Next() {
		var id int64
		var a attempt
		require.NoError(s.t, rows.Scan(&id, &a.number, &a.outcome, &a.inDoubt, &a.late, &a.process))
		out[id] = append(out[id], a)
	}
	require.NoError(s.t, rows.Err())
	return out
}

// checkP1 checks that every accepted incident reached somebody.
func (s *stage) checkP1(entries []pretend.Entry, delivered []int64) {
	s.t.Helper()
	reached := map[int64]bool{}
	for _, e := range entries {
		if e.Accepted {
			reached[e.IncidentID] = true
		}
	}
	var missing []int64
	for _, id := range delivered {
		if !reached[id] {
			missing = append(missing, id)
		}
	}
	require.Empty(s.t, missing, "P1: incidents that nobody heard of")
}

// retryable are the outcomes after which a message may be tried again.
var retryable = []string{"unavailable", "throttled", "unknown", "rejected", "cancelled"}

// twice counts the decisions that made more than one message.
const twice = `select count(*) from (
	select 1 from (
		select incident_id, reopen_count, step, repeat, position, recipient, purpose from messages where incident_id is not null
		union all
		select incident_id, reopen_count, step, repeat, position, recipient, purpose from message_history where incident_id is not null) m
	group by incident_id, reopen_count, step, repeat, position, recipient, purpose having count(*) > 1) twice`

// checkP2P3 checks that a message exists once per decision and that every call at a vendor was recorded. A second call
// must follow a failure or an attempt in doubt. This also covers P2: messages of a process that lost its lease would
// violate the unique key.
func (s *stage) checkP2P3(entries []pretend.Entry, attempts map[int64][]attempt) {
	s.t.Helper()
	require.Zero(s.t, s.count(twice), "P3: a message exists twice")
	calls, accepted := map[int64]int{}, map[int64]int{}
	for _, e := range entries {
		if e.MessageID == 0 {
			continue
		}
		calls[e.MessageID]++
		if e.Accepted {
			accepted[e.MessageID]++
		}
	}
	for id, n := range calls {
		list := attempts[id]
		require.LessOrEqual(s.t, n, len(list), "P3: message %d was sent %d times with %d attempts recorded", id, n,
			len(list))
		doubts := 0
		for i, a := range list {
			if a.inDoubt || a.outcome == "unknown" {
				doubts++
			}
			if i < len(list)-1 {
				require.True(s.t, a.inDoubt || a.late || slices.Contains(retryable, a.outcome),
					"P3: message %d was tried again after attempt %d ended as %q", id, a.number, a.outcome)
			}
		}
		require.LessOrEqual(s.t, accepted[id]-1, doubts,
			"P3: message %d was delivered %d times, but only %d attempts are labelled in doubt", id, accepted[id], doubts)
	}
}

// notices returns the messages that are notices: they are no pages, so an acknowledgement or resolve does not stop
// them.
func (s *stage) notices() map[int64]bool {
	s.t.Helper()
	rows, err := s.db.Query(s.t.Context(),
		`select id from messages where purpose like '%-notice' union all select id from message_history where purpose like '%-notice'`)
	require.NoError(s.t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(s.t, err)
	out := map[int64]bool{}
	for _, id := range ids {
		out[id] = true
	}
	return out
}

// checkP4 checks that no vendor call starts more than a second after the answer to an acknowledgement or resolution.
func (s *stage) checkP4(entries []pretend.Entry, attempts map[int64][]attempt) {
	s.t.Helper()
	rows, err := s.db.Query(s.t.Context(),
		`select incident_id, max(at) from timeline_entries t where kind in ('acknowledged', 'resolved')
		and not exists (select 1 from timeline_entries r where r.incident_id = t.incident_id and r.kind = 'reopened') group by incident_id`)
	require.NoError(s.t, err)
	defer rows.Close()
	silent := map[int64]time.Time{}
	for rows.Next() {
		var id int64
		var at time.Time
		require.NoError(s.t, rows.Scan(&id, &at))
		silent[id] = at
	}
	require.NoError(s.t, rows.Err())
	notices := s.notices()
	for _, e := range entries {
		at, ok := silent[e.IncidentID]
		if !ok || notices[e.MessageID] || !e.At.After(at.Add(time.Second)) {
			continue
		}
		labelled := slices.ContainsFunc(attempts[e.MessageID], func(a attempt) bool { return a.late || a.inDoubt })
		require.True(s.t, labelled, "P4: message %d of incident %d started %s after the acknowledgement", e.MessageID,
			e.IncidentID, e.At.Sub(at))
	}
}

// jitter is the time in seconds that loopback and the scheduler of a busy machine may add between the start of a call
// and the vendor's clock.
const jitter = 0.25

// calls returns the start times of the calls under the limit, in order.
func (l limit) calls(entries []pretend.Entry) []time.Time {
	var at []time.Time
	for _, e := range entries {
		if e.Mode == l.mode && (l.application == "" || l.application == e.Application) {
			at = append(at, e.At)
		}
	}
	slices.SortFunc(at, time.Time.Compare)
	return at
}

// checkP5 checks that every window of W seconds has at most rate x W + burst + rate x jitter calls.
func (s *stage) checkP5(entries []pretend.Entry, l limit) {
	s.t.Helper()
	at := l.calls(entries)
	for i := range at {
		for j := i; j < len(at); j++ {
			window := at[j].Sub(at[i]).Seconds()
			require.LessOrEqual(s.t, float64(j-i+1), l.rate*(window+jitter)+max(l.burst, 1), "P5: %s calls in %.3f s",
				l.mode, window)
		}
	}
}
