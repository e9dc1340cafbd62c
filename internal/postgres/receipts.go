package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// Receipts applies delivery receipts to messages. It is safe for concurrent use.
type Receipts struct{ db *DB }

// NewReceipts returns the adapter.
func NewReceipts(d *DB) *Receipts { return &Receipts{d} }

const (
	// receiptRetries is how often a mode is tried again after receipts like "busy" or "no answer".
	receiptRetries = 2
	// receiptPause is how long to leave somebody alone whose line was busy.
	receiptPause = 20 * time.Second
)

// Apply records a receipt and moves its message on: delivered, or on its way again if it was not delivered while its
// incident still waits for an answer in the same step, or failed. A receipt whose attempt is not recorded yet, or that cannot
// be applied at once, is kept; Match applies it later: vendors do not say it twice. Repeated receipts change nothing.
func (s *Receipts) Apply(ctx context.Context, r messages.Receipt) error {
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error { return applyReceipt(ctx, q, r, nil) })
	if err != nil && s.db.Do(ctx, func(q *db.Queries) error { return q.AddReceipt(ctx, keptReceipt(r, nil)) }) == nil {
		return nil
	}
	return err
}

// Match applies receipts that came before their attempts were recorded, and returns how many. One that cannot be applied
// holds up no other; the first error is returned.
func (s *Receipts) Match(ctx context.Context) (int, error) {
	var early []db.EarlyReceiptsRow
	if err := s.db.Do(ctx, func(q *db.Queries) (err error) {
		early, err = q.EarlyReceipts(ctx)
		return err
	}); err != nil {
		return 0, err
	}
	n := 0
	var failed error
	for _, e := range early {
		err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
			_, err := q.TakeEarlyReceipt(ctx, e.ID)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil // somebody else was quicker
			}
			if err != nil {
				return err
			}
			return applyReceipt(ctx, q, messages.Receipt{Vendor: e.Vendor, VendorMessageID: e.VendorMessageID, Status: e.Status,
				Outcome: messages.Outcome(e.Outcome), Delivered: e.Outcome == outcomeDelivered, Detail: e.Detail}, &e.At)
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

// outcomeDelivered is how a receipt of delivery is kept; attempts know only that it was sent.
const outcomeDelivered = "delivered"

// keptReceipt is a receipt as it is stored; at nil means now.
func keptReceipt(r messages.Receipt, at *time.Time) db.AddReceiptParams {
	kept := db.AddReceiptParams{At: at, Vendor: keepable(r.Vendor), VendorMessageID: keepable(r.VendorMessageID),
		Status: keepable(r.Status), Outcome: string(r.Outcome), Detail: keepable(r.Detail)}
	if r.Delivered {
		kept.Outcome = outcomeDelivered
	}
	return kept
}

func applyReceipt(ctx context.Context, q *db.Queries, r messages.Receipt, at *time.Time) error {
	kept := keptReceipt(r, at)
	a, err := q.ReceiptAttempt(ctx, db.ReceiptAttemptParams{Vendor: kept.Vendor, VendorMessageID: kept.VendorMessageID})
	if errors.Is(err, pgx.ErrNoRows) {
		return q.AddReceipt(ctx, kept)
	}
	if err != nil {
		return err
	}
	// Lock order: the incident, then the message.
	if a.IncidentID != 0 {
		if err := q.HoldIncidents(ctx, []int64{a.IncidentID}); err != nil {
			return err
		}
	}
	m, err := q.LockReceiptMessage(ctx, a.MessageID)
	if errors.Is(err, pgx.ErrNoRows) {
		return q.AddReceipt(ctx, kept) // it became history in between
	}
	if err != nil {
		return err
	}
	kept.MessageID = &a.MessageID
	if err := q.AddReceipt(ctx, kept); err != nil {
		return err
	}
	failed := r.Outcome == messages.OutcomeRejected || r.Outcome == messages.OutcomeUnavailable
	switch {
	case m.Attempt != a.Attempt || m.State != string(messages.Sent) && m.State != string(messages.Delivered):
		return nil // it has moved on without this attempt
	case r.Delivered:
		return q.ReceiptDelivered(ctx, a.MessageID)
	case !failed:
		return nil
	}
	return undelivered(ctx, q, r, a.MessageID, m)
}

// undelivered moves a message on that its vendor accepted and could not deliver.
func undelivered(ctx context.Context, q *db.Queries, r messages.Receipt, id int64, m db.LockReceiptMessageRow) error {
	said := strings.TrimSpace(r.Status + " " + r.Detail)
	told := db.ReceiptToldParams{MessageID: id, Old: m.State, New: string(messages.Failed),
		Why: fmt.Sprintf("The %s to %s was not delivered (%s).", m.Mode, m.Target, keepable(said))}
	if !m.Current {
		if err := q.ReceiptFailed(ctx, id); err != nil {
			return err
		}
		return q.ReceiptTold(ctx, told)
	}
	again := db.ReceiptTryAgainParams{MessageID: id, Refuse: true}
	if r.Outcome == messages.OutcomeUnavailable && int(m.ModeAttempt) <= receiptRetries {
		again.Refuse, again.RetryUs = false, receiptPause.Microseconds()
		told.Why += fmt.Sprintf(" It is tried again in %s.", receiptPause)
	} else {
		told.Why += " It is tried another way."
	}
	told.New = string(messages.Pending)
	if err := q.ReceiptTryAgain(ctx, again); err != nil {
		return err
	}
	return q.ReceiptTold(ctx, told)
}
