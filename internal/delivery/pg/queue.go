package pg

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Queue is the message queue: it implements delivery.Queue, delivery.Ledger and delivery.Rescuer. Each method is one
// transaction. It is safe for concurrent use.
type Queue struct {
	db *postgres.DB
}

// New returns the queue of a database.
func New(d *postgres.DB) *Queue { return &Queue{d} }

// Waiting finds the lanes with messages to be taken. See delivery.Queue.
func (q *Queue) Waiting(ctx context.Context, bs []int, low time.Time) (delivery.Found, error) {
	var found delivery.Found
	if len(bs) == 0 {
		return found, nil
	}
	err := q.db.Do(ctx, func(ctx context.Context, d *postgresdb.Queries) error {
		found = delivery.Found{}
		rows, err := d.WaitingLanes(ctx, postgresdb.WaitingLanesParams{Buckets: postgres.NonNil(bs), Low: low})
		if err != nil {
			return err
		}
		found.Waiting = make([]rate.Waiting, len(rows))
		for i, r := range rows {
			if i == 0 || r.AvailableAt.Before(found.Oldest) {
				found.Oldest = r.AvailableAt
			}
			found.Clock = r.Clock
			found.Waiting[i] = rate.Waiting{
				Lane: rate.Lane{
					Mode: users.Mode(r.Mode), Class: messages.Class(r.Class), Application: r.ApplicationID,
				},
				ApplicationName: r.Application,
				Bucket:          r.Bucket,
				DueIn:           r.AvailableAt.Sub(r.Clock),
			}
		}
		return nil
	})
	return found, err
}

// Take claims messages. See delivery.Queue.
func (q *Queue) Take(ctx context.Context, r delivery.TakeRequest) ([]delivery.Claimed, error) {
	p := postgresdb.TakeMessagesParams{ProcessID: r.ProcessID, Low: r.Low, ClaimUs: r.ClaimFor.Microseconds()}
	var touched buckets.Set
	for _, t := range r.Takes {
		if t.Max <= 0 || len(t.Buckets) == 0 {
			continue
		}
		p.LaneModes = append(p.LaneModes, string(t.Lane.Mode))
		p.LaneClasses = append(p.LaneClasses, int(t.Lane.Class))
		p.LaneApplications = append(p.LaneApplications, t.Lane.Application)
		p.LaneMost = append(p.LaneMost, t.Max)
		p.LaneEach = append(p.LaneEach, t.PerBucket())
		p.LaneWaitedUs = append(p.LaneWaitedUs, t.Waited.Microseconds())
		p.LaneOlderUs = append(p.LaneOlderUs, t.Older.Microseconds())
		p.LaneFirstUs = append(p.LaneFirstUs, t.FirstWaited.Microseconds())
		p.LaneFrom = append(p.LaneFrom, (len(p.LaneBuckets) + 1))
		for _, b := range t.Buckets {
			p.LaneBuckets = append(p.LaneBuckets, b)
			touched.Add(b)
		}
		p.LaneTo = append(p.LaneTo, len(p.LaneBuckets))
	}
	if len(p.LaneModes) == 0 {
		return nil, nil
	}
	p.LeaseBuckets, p.Epochs = pgbuckets.LeaseArrays(r.Leases, &touched)
	p.StandInBuckets = []int{}
	for _, l := range r.StandIns {
		if touched.Has(l.Bucket) && p.Epochs[l.Bucket] < 0 {
			p.LeaseBuckets = append(p.LeaseBuckets, l.Bucket)
			p.StandInBuckets = append(p.StandInBuckets, l.Bucket)
			p.Epochs[l.Bucket] = l.Epoch
		}
	}
	var out []delivery.Claimed
	err := q.db.Do(ctx, func(ctx context.Context, d *postgresdb.Queries) error {
		rows, err := d.TakeMessages(ctx, p)
		if err != nil {
			return err
		}
		out = make([]delivery.Claimed, len(rows))
		for i, row := range rows {
			out[i] = claimed(row)
		}
		return nil
	})
	return out, err
}

func claimed(r postgresdb.TakeMessagesRow) delivery.Claimed {
	c := delivery.Claimed{
		ID: messages.ID(r.ID), Bucket: r.Bucket, IncidentID: incidents.ID(r.IncidentID), RequestID: r.RequestID,
		ApplicationID: r.ApplicationID, ApplicationName: r.Application, PlanID: r.PlanID,
		Step: r.Step, Position: r.Position, Recipient: messages.Recipient(r.Recipient),
		Purpose: messages.Purpose(r.Purpose), UserID: users.ID(r.UserID), Target: r.Target,
		Priority: users.Priority(r.Priority), Class: messages.Class(r.Class), Mode: r.Mode,
		Template: r.Template, Destination: r.Destination, Allowed: r.Allowed, Gone: r.Gone,
		Attempt: r.Attempt, ModeAttempt: r.ModeAttempt, KeyAttempt: r.KeyAttempt, Takes: r.Takes,
		Tried: modes(r.TriedModes), Refused: modes(r.RefusedModes), FallbackAsked: r.FallbackAsked,
		CreatedAt: r.CreatedAt, Age: postgres.Micros(r.AgeUs), InMode: postgres.Micros(r.InModeUs), Waited: postgres.Micros(r.WaitedUs),
		Expired: r.Expired, Batch: r.Batch, BatchSize: r.BatchSize, Override: r.Override, Sender: r.Sender,
	}
	if r.IncidentAt != nil {
		c.IncidentAt = *r.IncidentAt
	}
	return c
}

// Release puts taken messages back. See delivery.Queue. It decides under the lock of the incident: a restart of the
// escalation that comes later finds a cancelled message and pages anew, and one that came earlier has the message sent.
func (q *Queue) Release(ctx context.Context, processID string, ids []messages.ID) error {
	taken := numbers(ids)
	return q.db.InTx(ctx, func(ctx context.Context, d *postgresdb.Queries) error {
		if err := d.HoldIncidentsOf(ctx, taken); err != nil {
			return err
		}
		open, err := d.StillOpen(ctx, postgresdb.StillOpenParams{Ids: taken, State: string(messages.Taken),
			ProcessID: processID})
		if err != nil {
			return err
		}
		if err := d.ReleaseMessages(ctx, postgresdb.ReleaseMessagesParams{Ids: numbers(open), ProcessID: processID}); err != nil || len(open) == len(taken) {
			return err
		}
		cancelled, err := d.CancelTaken(ctx, postgresdb.CancelTakenParams{Ids: taken, ProcessID: processID})
		if err != nil {
			return err
		}
		return noteCancelled(ctx, d, cancelled)
	})
}

// noteCancelled writes on the timelines of incidents, one for each cancelled message, that messages were cancelled; 0 =
// no incident.
func noteCancelled(ctx context.Context, d *postgresdb.Queries, of []int64) error {
	counts := map[int64]int{}
	for _, id := range of {
		counts[id]++
	}
	delete(counts, 0)
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		e := escalation.CancelledEntry(counts[id], time.Time{})
		if err := pgincidents.AddEntry(ctx, d, id, e.Kind, "", e.Text); err != nil {
			return err
		}
	}
	return nil
}

// Turn changes taken messages without a vendor call. See delivery.Queue.
func (q *Queue) Turn(ctx context.Context, processID string, turns []stage.Turn) error {
	p := postgresdb.TurnMessagesParams{ProcessID: processID}
	for _, t := range turns {
		v := t.Verdict
		p.Ids = append(p.Ids, int64(t.ID))
		p.States = append(p.States, string(v.State))
		p.RetryUs = append(p.RetryUs, v.RetryIn.Microseconds())
		p.Modes = append(p.Modes, string(v.Mode))
		p.Tried = append(p.Tried, modeList(v.Tried))
		p.Refused = append(p.Refused, modeList(v.Refused))
		p.AskFallback = append(p.AskFallback, v.AskFallback)
		p.ForGood = append(p.ForGood, v.ForGood)
		p.Why = append(p.Why, postgres.CleanText(v.Why))
		p.Audits = append(p.Audits, postgres.CleanText(v.Audit))
	}
	hold := settling(turns)
	return q.db.InTx(ctx, func(ctx context.Context, d *postgresdb.Queries) error {
		if err := d.HoldIncidents(ctx, hold); err != nil {
			return err
		}
		return d.TurnMessages(ctx, p)
	})
}

// MarkSending begins attempts. See delivery.Ledger.
func (q *Queue) MarkSending(ctx context.Context, processID string, starts []stage.Start) (map[messages.ID]int, error) {
	p := postgresdb.MarkSendingParams{ProcessID: processID}
	for _, s := range starts {
		p.Ids = append(p.Ids, int64(s.ID))
		p.Vendors = append(p.Vendors, s.Vendor)
		p.Accounts = append(p.Accounts, s.Account)
		p.Destinations = append(p.Destinations, postgres.CleanText(s.Destination))
		p.IdempotencyKeys = append(p.IdempotencyKeys, s.Key)
		p.CallUs = append(p.CallUs, s.CallFor.Microseconds())
		p.Subjects = append(p.Subjects, postgres.CleanText(withoutTokens(s.Subject)))
		p.Bodies = append(p.Bodies, postgres.CleanText(withoutTokens(s.Body)))
		p.Htmls = append(p.Htmls, postgres.CleanText(withoutTokens(s.EmailHTML)))
		p.Problems = append(p.Problems, postgres.CleanText(s.Problem))
		p.Replaced = append(p.Replaced, s.Replaced)
	}
	var out map[messages.ID]int
	err := q.db.Do(ctx, func(ctx context.Context, d *postgresdb.Queries) error {
		rows, err := d.MarkSending(ctx, p)
		if err != nil {
			return err
		}
		out = make(map[messages.ID]int, len(rows))
		for _, r := range rows {
			out[messages.ID(r.ID)] = r.Attempt
		}
		return nil
	})
	return out, err
}

// StillOpen reads marked messages again. See delivery.Ledger.
func (q *Queue) StillOpen(ctx context.Context, processID string, ids []messages.ID) (map[messages.ID]bool, time.Time, error) {
	p := postgresdb.StillOpenParams{Ids: numbers(ids), State: string(messages.Sending), ProcessID: processID}
	var open map[messages.ID]bool
	var at time.Time
	err := q.db.DoOnConnection(ctx, func(ctx context.Context, d *postgresdb.Queries) error {
		at = time.Now()
		rows, err := d.StillOpen(ctx, p)
		open = make(map[messages.ID]bool, len(rows))
		for _, id := range rows {
			open[id] = true
		}
		return err
	})
	return open, at, err
}

// Record completes attempts. See delivery.Ledger.
func (q *Queue) Record(ctx context.Context, outcomes []stage.Outcome) ([]messages.ID, error) {
	var p postgresdb.RecordOutcomesParams
	turns := make([]stage.Turn, len(outcomes))
	for i, o := range outcomes {
		v := o.Verdict
		turns[i] = o.Turn
		p.Ids = append(p.Ids, int64(o.ID))
		p.Attempts = append(p.Attempts, o.Attempt)
		p.Outcomes = append(p.Outcomes, string(o.Result.Outcome))
		p.Details = append(p.Details, postgres.CleanText(o.Result.Detail))
		p.VendorIds = append(p.VendorIds, postgres.CleanText(o.Result.VendorMessageID))
		p.States = append(p.States, string(v.State))
		p.RetryUs = append(p.RetryUs, v.RetryIn.Microseconds())
		p.Modes = append(p.Modes, string(v.Mode))
		p.Tried = append(p.Tried, modeList(v.Tried))
		p.Refused = append(p.Refused, modeList(v.Refused))
		p.SameKey = append(p.SameKey, v.SameKey)
		p.AskFallback = append(p.AskFallback, v.AskFallback)
		p.ForGood = append(p.ForGood, v.ForGood)
		p.Unstarted = append(p.Unstarted, v.Unstarted)
		p.Processes = append(p.Processes, o.ProcessID)
		p.Why = append(p.Why, postgres.CleanText(v.Why))
		p.Audits = append(p.Audits, postgres.CleanText(v.Audit))
	}
	p.HoldIds = settling(turns)
	var moved []int64
	err := q.db.Do(ctx, func(ctx context.Context, d *postgresdb.Queries) (err error) {
		moved, err = d.RecordOutcomes(ctx, p)
		return err
	})
	if err != nil || len(moved) == len(outcomes) {
		return nil, err
	}
	var late []messages.ID
	for _, o := range outcomes {
		if !slices.Contains(moved, int64(o.ID)) {
			late = append(late, o.ID)
		}
	}
	return late, nil
}

// Sending lists messages that are being sent and whose claim has ended. See delivery.Rescuer.
func (q *Queue) Sending(ctx context.Context, processID string, bs []int) ([]delivery.Recovered, error) {
	var out []delivery.Recovered
	err := q.db.Do(ctx, func(ctx context.Context, d *postgresdb.Queries) error {
		rows, err := d.OverdueSending(ctx, postgresdb.OverdueSendingParams{ProcessID: processID,
			Buckets: postgres.NonNil(bs)})
		if err != nil {
			return err
		}
		out = make([]delivery.Recovered, len(rows))
		for i, r := range rows {
			out[i] = delivery.Recovered{
				ID: r.ID, IncidentID: incidents.ID(r.IncidentID), Bucket: r.Bucket,
				Mode: r.Mode, Attempt: r.Attempt,
			}
		}
		return nil
	})
	return out, err
}

// Doubt labels attempts as in doubt. See delivery.Rescuer.
func (q *Queue) Doubt(ctx context.Context, rs []delivery.Recovered) error {
	var p postgresdb.DoubtAttemptsParams
	for _, r := range rs {
		p.Ids = append(p.Ids, int64(r.ID))
		p.Attempts = append(p.Attempts, r.Attempt)
	}
	return q.db.Do(ctx, func(ctx context.Context, d *postgresdb.Queries) error { return d.DoubtAttempts(ctx, p) })
}

// NoteUnsent records that pages were not sent in time. See delivery.Rescuer.
func (q *Queue) NoteUnsent(ctx context.Context, bs []int, after time.Duration, low time.Time) ([]delivery.Unsent, error) {
	var out []delivery.Unsent
	err := q.db.Do(ctx, func(ctx context.Context, d *postgresdb.Queries) error {
		rows, err := d.NoteUnsent(ctx, postgresdb.NoteUnsentParams{Buckets: postgres.NonNil(bs),
			AfterUs: after.Microseconds(), Low: low})
		if err != nil {
			return err
		}
		out = make([]delivery.Unsent, len(rows))
		for i, r := range rows {
			out[i] = delivery.Unsent{
				ID: messages.ID(r.ID), IncidentID: incidents.ID(r.IncidentID), Mode: users.Mode(r.Mode), Application: r.Application,
				Age: postgres.FloatSeconds(r.AgeSeconds),
			}
		}
		return nil
	})
	return out, err
}

// Expire drops messages that are no longer of use. See delivery.Rescuer.
func (q *Queue) Expire(ctx context.Context, leases []buckets.Lease, processID string) (n int, err error) {
	err = q.db.Do(ctx, func(ctx context.Context, d *postgresdb.Queries) error {
		expired, err := d.ExpiredBuckets(ctx, pgbuckets.BucketNumbers(leases))
		if err != nil || len(expired) == 0 {
			return err
		}
		p := postgresdb.ExpireMessagesParams{ProcessID: processID}
		p.LeaseBuckets, p.Epochs = pgbuckets.LeaseArrays(leases, pgbuckets.SetOfBuckets(expired))
		rows, err := d.ExpireMessages(ctx, p)
		n = int(rows)
		return err
	})
	return n, err
}

var (
	_ delivery.Queue   = (*Queue)(nil)
	_ stage.Ledger     = (*Queue)(nil)
	_ delivery.Rescuer = (*Queue)(nil)
	_ delivery.Limits  = (*Limits)(nil)
)

// settling returns the incidents, each once and ascending, that have a message settled by turns.
func settling(turns []stage.Turn) []int64 {
	out := []int64{}
	for _, t := range turns {
		if t.IncidentID != 0 && t.Verdict.State != messages.Pending {
			out = append(out, int64(t.IncidentID))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func modes(names []string) []users.Mode {
	out := make([]users.Mode, len(names))
	for i, w := range names {
		out[i] = users.Mode(w)
	}
	return out
}

func modeList(ms []users.Mode) string {
	names := make([]string, len(ms))
	for i, m := range ms {
		names[i] = string(m)
	}
	return strings.Join(names, ",")
}

// withoutTokens removes the tokens of acknowledgement links from a text before it is stored. The vendor gets the text
// from memory; a copy of the database cannot be used to acknowledge.
func withoutTokens(s string) string {
	if !strings.Contains(s, "/ack/") {
		return s
	}
	return linkToken.ReplaceAllString(s, "/ack/...")
}

var linkToken = regexp.MustCompile(`/ack/[A-Za-z0-9_-]{16,}`)

func numbers(ids []messages.ID) []int64 {
	out := make([]int64, len(ids))
	for i, id := range ids {
		out[i] = int64(id)
	}
	return out
}
