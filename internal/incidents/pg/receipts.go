package pg

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
)

// Receipts applies delivery receipts to messages. It is safe for concurrent use.
type Receipts struct{ db *postgres.DB }

// NewReceipts returns the adapter.
func NewReceipts(d *postgres.DB) *Receipts { return &Receipts{d} }

// Apply records a receipt and changes the state of its message: delivered; or pending again, if it was not delivered
// and its incident is still in the same step; or failed. A receipt whose attempt is not recorded yet, or that cannot be
// applied at once, is kept and applied by Match, because vendors send it only once. Repeated receipts change nothing. A
// message in history gets its state and is not sent again. known reports whether the receipt's message exists.
func (s *Receipts) Apply(ctx context.Context, r messages.Receipt) (known bool, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		known, err = applyReceipt(ctx, q, r, nil)
		return err
	})
	if err != nil && postgres.Exec(ctx, s.db, (*postgresdb.Queries).AddReceipt, keptReceipt(r, nil)) == nil {
		return true, nil
	}
	return known, err
}

// Match applies receipts that came before their attempts were recorded, and returns how many. A receipt that
// fails does not stop the others; the first error is returned.
func (s *Receipts) Match(ctx context.Context) (int, error) {
	early, err := postgres.Read(ctx, s.db, (*postgresdb.Queries).EarlyReceipts)
	if err != nil {
		return 0, err
	}
	n := 0
	var failed error
	for _, e := range early {
		err := s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
			_, err := q.TakeEarlyReceipt(ctx, e.ID)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil // another process was faster
			}
			if err != nil {
				return err
			}
			_, err = applyReceipt(ctx, q, messages.Receipt{Vendor: e.Vendor, VendorMessageID: e.VendorMessageID,
				Status:  e.Status,
				Outcome: messages.Outcome(e.Outcome), Delivered: e.Outcome == outcomeDelivered, Detail: e.Detail},
				&e.At)
			return err
		})
		if err == nil {
			n++
		} else if failed == nil {
			failed = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return n, failed
}

// outcomeDelivered is the stored outcome of a receipt of delivery; attempts have only "sent".
const outcomeDelivered = "delivered"

// keptReceipt is a receipt as it is stored; at nil means now.
func keptReceipt(r messages.Receipt, at *time.Time) postgresdb.AddReceiptParams {
	kept := postgresdb.AddReceiptParams{At: at, Vendor: keepable(r.Vendor),
		VendorMessageID: keepable(r.VendorMessageID),
		Status:          keepable(r.Status), Outcome: string(r.Outcome), Detail: keepable(r.Detail)}
	if r.Delivered {
		kept.Outcome = outcomeDelivered
	}
	return kept
}

func applyReceipt(ctx context.Context, q *postgresdb.Queries, r messages.Receipt, at *time.Time) (known bool, err error) {
	kept := keptReceipt(r, at)
	a, err := q.ReceiptAttempt(ctx, postgresdb.ReceiptAttemptParams{Vendor: kept.Vendor,
		VendorMessageID: kept.VendorMessageID})
	if errors.Is(err, pgx.ErrNoRows) {
		return historyReceipt(ctx, q, r, kept)
	}
	if err != nil {
		return false, err
	}
	// Lock order: the incident, then the message.
	if a.IncidentID != 0 {
		if err := q.HoldIncidents(ctx, []int64{a.IncidentID}); err != nil {
			return false, err
		}
	}
	m, err := q.LockReceiptMessage(ctx, int64(a.MessageID))
	if errors.Is(err, pgx.ErrNoRows) {
		return historyReceipt(ctx, q, r, kept) // it was moved there in between
	}
	if err != nil {
		return false, err
	}
	kept.MessageID = &a.MessageID
	if err := q.AddReceipt(ctx, kept); err != nil {
		return false, err
	}
	switch {
	case m.Attempt != a.Attempt || m.State != messages.Sent && m.State != messages.Delivered:
		return true, nil // a later attempt changed the message
	case r.Delivered:
		return true, q.ReceiptDelivered(ctx, int64(a.MessageID))
	case !r.NotDelivered():
		return true, nil
	}
	return true, undelivered(ctx, q, r, int64(a.MessageID), m)
}

// historyReceipt applies a receipt to a message that may be history by now.
func historyReceipt(ctx context.Context, q *postgresdb.Queries, r messages.Receipt, kept postgresdb.AddReceiptParams) (known bool, err error) {
	h, err := q.ReceiptHistory(ctx, postgresdb.ReceiptHistoryParams{Vendor: kept.Vendor,
		VendorMessageID: kept.VendorMessageID})
	if errors.Is(err, pgx.ErrNoRows) {
		return false, q.AddReceipt(ctx, kept)
	}
	if err != nil {
		return false, err
	}
	kept.MessageID = &h.MessageID
	if err := q.AddReceipt(ctx, kept); err != nil {
		return false, err
	}
	state := messages.Delivered
	switch {
	case r.NotDelivered():
		state = messages.Failed
	case !r.Delivered:
		return true, nil
	}
	m, err := q.ReceiptOfHistory(ctx, postgresdb.ReceiptOfHistoryParams{MessageID: int64(h.MessageID),
		CreatedAt: h.CreatedAt, Attempt: h.Attempt, State: string(state)})
	if errors.Is(err, pgx.ErrNoRows) {
		return true, nil // repeated
	}
	if err != nil || state == messages.Delivered {
		return true, err
	}
	return true, q.NoteReceiptOfHistory(ctx, postgresdb.NoteReceiptOfHistoryParams{MessageID: int64(h.MessageID),
		IncidentID: m.IncidentID, State: string(state),
		Why: fmt.Sprintf("The %s to %s was not delivered after all (%s).", m.Mode, m.Target,
			keepable(strings.TrimSpace(r.Status+" "+r.Detail)))})
}

// undelivered changes a message that its vendor accepted and could not deliver: to pending or to failed.
func undelivered(ctx context.Context, q *postgresdb.Queries, r messages.Receipt, id int64, m postgresdb.LockReceiptMessageRow) error {
	said := strings.TrimSpace(r.Status + " " + r.Detail)
	wanted := messages.Wanted{OfIncident: m.OfIncident, Open: m.Open, Step: m.Step,
		CurrentStep: m.CurrentStep, Repeated: m.Repeated}
	next := r.Undelivered(wanted.Holds(), m.ModeAttempt)
	note := postgresdb.NoteReceiptParams{MessageID: id, Old: string(m.State), New: string(messages.Pending),
		Why: fmt.Sprintf("The %s to %s was not delivered (%s).", m.Mode, m.Target, keepable(said))}
	var err error
	switch again := (postgresdb.ReceiptTryAgainParams{MessageID: id, Refuse: true}); {
	case next.Failed:
		note.New = string(messages.Failed)
		err = q.ReceiptFailed(ctx, id)
	case next.Retry > 0:
		note.Why += fmt.Sprintf(" It is tried again in %s.", humanize.Duration(next.Retry))
		again.Refuse, again.RetryUs = false, next.Retry.Microseconds()
		err = q.ReceiptTryAgain(ctx, again)
	default:
		note.Why += " It is tried another way."
		err = q.ReceiptTryAgain(ctx, again)
	}
	if err != nil {
		return err
	}
	return q.NoteReceipt(ctx, note)
}
