package pg

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
)

// Timeline returns everything that happened to an incident in the order it happened: the recorded
// decisions, every vendor call with its outcome, and the vendors' receipts. Entries made from calls and receipts have
// no ID. It is empty for an incident that does not exist.
func (i *Incidents) Timeline(ctx context.Context, id incidents.ID) ([]incidents.Entry, error) {
	var out []incidents.Entry
	err := i.db.Do(ctx, func(ctx context.Context, q *db.Queries) error {
		out = nil
		entries, err := q.TimelineEntries(ctx, id)
		if err != nil {
			return err
		}
		for _, e := range entries {
			out = append(out, incidents.Entry(e))
		}
		receipts, err := q.TimelineReceipts(ctx, int64(id))
		if err != nil {
			return err
		}
		first := map[messages.ID]time.Time{} // of a message's receipts
		for _, r := range receipts {
			if r.MessageID != nil && first[*r.MessageID].IsZero() {
				first[*r.MessageID] = r.At
			}
		}
		calls, err := timelineCalls(ctx, q, int64(id), first)
		if err != nil {
			return err
		}
		out = append(out, calls...)
		for _, r := range receipts {
			out = append(out, incidents.Entry{At: r.At, Kind: incidents.EntryDelivery, Text: receiptText(r)})
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b incidents.Entry) int { return a.At.Compare(b.At) })
	return out, err
}

// timelineCalls returns the calls of vendors. A vendor may report on a message before its answer to the call was
// stored: the call is then as old as that first receipt, because the vendor had accepted the message by then.
func timelineCalls(ctx context.Context, q *db.Queries, id int64, receipts map[messages.ID]time.Time) ([]incidents.Entry, error) {
	var out []incidents.Entry
	calls, err := q.TimelineAttempts(ctx, id)
	if err != nil {
		return nil, err
	}
	seen := map[messages.ID]bool{}
	add := func(target string, a messages.Attempt) {
		at := a.StartedAt
		if !a.FinishedAt.IsZero() {
			at = a.FinishedAt
		}
		if r, ok := receipts[a.MessageID]; ok && a.Outcome == messages.OutcomeSent && r.After(a.StartedAt) && r.Before(at) {
			at = r
		}
		out = append(out, incidents.Entry{At: at, Kind: incidents.EntryDelivery, Text: callText(target, a)})
	}
	for _, c := range calls {
		seen[c.MessageID] = true
		add(c.Target, attempt(db.Attempt{
			MessageID: c.MessageID, Attempt: c.Attempt, Mode: c.Mode, Vendor: c.Vendor, Account: c.Account,
			StartedAt: c.StartedAt, FinishedAt: c.FinishedAt, Outcome: c.Outcome, InDoubt: c.InDoubt, Late: c.Late, Detail: c.Detail,
		}))
	}
	past, err := q.TimelineHistory(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, p := range past {
		if seen[p.ID] { // it is being moved
			continue
		}
		attempts, err := pastAttempts(p.Attempts)
		if err != nil {
			return nil, err
		}
		for _, a := range attempts {
			add(p.Target, a)
		}
	}
	return out, nil
}

var outcomeText = map[messages.Outcome]string{
	"":                          "on its way",
	messages.OutcomeSent:        "accepted by the vendor",
	messages.OutcomeRejected:    "refused for good",
	messages.OutcomeThrottled:   "the vendor asks to come back later",
	messages.OutcomeUnavailable: "the vendor is not available, will be tried again",
	messages.OutcomeUnknown:     "no definite answer",
	messages.OutcomeCancelled:   "not sent after all",
}

// callText returns the text of a vendor call: "sms to ann by twilio: accepted by the vendor".
func callText(target string, a messages.Attempt) string {
	vendor := a.Vendor
	if a.Account != "" && a.Account != a.Vendor {
		vendor += " (" + a.Account + ")"
	}
	outcome, known := outcomeText[a.Outcome]
	if !known {
		outcome = string(a.Outcome)
	}
	text := fmt.Sprintf("%s to %s by %s: %s", a.Mode, target, vendor, outcome)
	if a.Number > 1 {
		text = fmt.Sprintf("%s to %s by %s, attempt %d: %s", a.Mode, target, vendor, a.Number, outcome)
	}
	if a.InDoubt {
		text += ", in doubt: it may have arrived"
	}
	if a.Late {
		text += ", recorded late by a process that had lost its claim"
	}
	if a.Detail != "" && a.Outcome != messages.OutcomeSent {
		text += " (" + a.Detail + ")"
	}
	return text
}

func receiptText(r db.TimelineReceiptsRow) string {
	text := fmt.Sprintf("%s to %s: %s says %s", r.Mode, r.Target, r.Vendor, r.Status)
	if r.Detail != "" {
		text += " (" + r.Detail + ")"
	}
	return text
}
