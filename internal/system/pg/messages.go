package pg

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/system"
)

// purgeFor is how long a purge goes on before it answers.
const purgeFor = 4 * time.Second

// Purge drops the pending messages that an operator selects and that exist now, a thousand at a time, for a few
// seconds. Each thousand has an entry in the audit log. Messages that a processor has taken meanwhile are not dropped.
// An unknown application is an Invalid fault.
func (o *Operations) Purge(ctx context.Context, f system.Purge, actor string) (done system.Purged, err error) {
	began, older, p := time.Now(), time.Duration(f.OlderThan)*time.Second, db.PurgePendingParams{OutOfBand: f.OutOfBand}
	if mode := string(f.Mode); mode != "" {
		p.Mode = &mode
	}
	if f.IncidentID != 0 {
		id := int64(f.IncidentID)
		p.IncidentID = &id
	}
	if f.Application != "" {
		err := o.db.Do(ctx, func(ctx context.Context, d *db.Queries) error {
			id, err := d.ApplicationNumber(ctx, postgres.Storable(f.Application))
			p.ApplicationID = &id
			return err
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return done, fault.Invalidf("application", "there is no application %.100q", f.Application)
		}
		if err != nil {
			return done, err
		}
	}
	for done.More = true; done.More && time.Since(began) < purgeFor; {
		p.OlderUs = (older + time.Since(began)).Microseconds()
		var found, dropped int
		err := o.db.InTx(ctx, func(ctx context.Context, d *db.Queries) (err error) {
			found, dropped, err = purge(ctx, d, p, f, actor)
			return err
		})
		if err != nil {
			return done, err
		}
		done.Dropped, done.More = done.Dropped+dropped, found > 0
	}
	return done, nil
}

// purge drops the next messages. It returns how many it found, and how many of them it dropped: processors took the
// others meanwhile.
func purge(ctx context.Context, d *db.Queries, p db.PurgePendingParams, f system.Purge, actor string) (found, dropped int, err error) {
	rows, err := d.PurgePending(ctx, p)
	if err != nil || len(rows) == 0 {
		return 0, 0, err
	}
	drop := db.DropPendingParams{Actor: postgres.CleanText(actor), Why: postgres.CleanText(f.Reason)}
	hold := []int64{}
	for _, r := range rows {
		drop.Ids = append(drop.Ids, int64(r.ID))
		if r.IncidentID != 0 {
			hold = append(hold, r.IncidentID)
		}
	}
	if err := d.HoldIncidents(ctx, hold); err != nil {
		return 0, 0, err
	}
	gone, err := d.DropPending(ctx, drop)
	if err != nil || len(gone) == 0 {
		return len(rows), 0, err
	}
	e := audit.Entry{Action: audit.MessagesPurged, Object: fmt.Sprintf("messages: %d", len(gone)), Detail: drop.Why}
	for _, c := range []audit.Change{{Field: "application", After: f.Application}, {Field: "mode", After: string(f.Mode)}} {
		if c.After != "" {
			e.Changes = append(e.Changes, c)
		}
	}
	if f.IncidentID != 0 {
		e.Changes = append(e.Changes, audit.Change{Field: "incident", After: fmt.Sprint(f.IncidentID)})
	}
	return len(rows), len(gone), auditlog.Write(ctx, d, e)
}

// Resend makes a settled message again, for the same recipient, by the same mode and with the same content, and adds
// entries to both messages, the timeline and the audit log. A message that cannot be sent again is a Conflict fault
// that says why.
func (o *Operations) Resend(ctx context.Context, id messages.ID, actor string) (made messages.ID, bucket int, err error) {
	err = o.db.InTx(ctx, func(ctx context.Context, d *db.Queries) error {
		was, err := d.MessageToResend(ctx, int64(id))
		if errors.Is(err, pgx.ErrNoRows) {
			return fault.New(fault.NotFound, "there is no such message")
		}
		if err != nil {
			return err
		}
		if err := system.MayResend(was.State, was.Purpose, was.Application); err != nil {
			return err
		}
		if was.IncidentID != nil {
			made, bucket, err = resendPage(ctx, d, was, actor)
		} else {
			made, bucket, err = resendNotification(ctx, d, was)
		}
		if err != nil {
			return err
		}
		note := db.NoteResendParams{IncidentID: (*int64)(was.IncidentID), Actor: postgres.CleanText(actor),
			Mode: string(was.Mode), Target: was.Target, State: string(was.State), Was: int64(id), ID: int64(made)}
		if err := d.NoteResend(ctx, note); err != nil {
			return err
		}
		return auditlog.Write(ctx, d, audit.Entry{Action: audit.MessageSentAgain,
			Object: fmt.Sprintf("message %d", id), Detail: fmt.Sprintf("as message %d", made)})
	})
	return made, bucket, err
}

func resendPage(ctx context.Context, d *db.Queries, was db.MessageToResendRow, actor string) (messages.ID, int, error) {
	now, err := d.LockForPage(ctx, *was.IncidentID)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && now.Over {
		return 0, 0, fault.Newf(fault.Conflict, "incident %d is over: its pages are not sent again", *was.IncidentID)
	}
	if err != nil {
		return 0, 0, err
	}
	row, err := d.ResendPage(ctx, db.ResendPageParams{IncidentID: int64(*was.IncidentID),
		Priority: (*string)(was.Priority), Actor: postgres.CleanText(actor), Stopped: !now.Open,
		ApplicationID: was.ApplicationID, PlanID: was.PlanID, Step: was.Step, MostTargets: int(incidents.MaxAddedTargets), Recipient: string(was.Recipient), UserID: (*int64)(was.UserID),
		Target: was.Target, Class: int(was.Class), Mode: string(was.Mode), Template: was.Template})
	if err != nil {
		return 0, 0, err
	}
	if row.Number > escalation.MaxAdded {
		return 0, 0, fault.Newf(fault.Conflict, "the incident has %d added pages already", escalation.MaxAdded)
	}
	return row.ID, row.Bucket, d.TouchPaged(ctx, db.TouchPagedParams{ID: *was.IncidentID, Stopped: !now.Open})
}

func resendNotification(ctx context.Context, d *db.Queries, was db.MessageToResendRow) (messages.ID, int, error) {
	gone := fault.New(fault.Conflict, "the notification of the message was deleted: send a new one")
	if was.RequestID == nil {
		return 0, 0, gone
	}
	row, err := d.ResendNotification(ctx, db.ResendNotificationParams{RequestID: *was.RequestID,
		ApplicationID: was.ApplicationID, Recipient: string(was.Recipient),
		UserID: (*int64)(was.UserID), Target: was.Target, Priority: (*string)(was.Priority), Class: int(was.Class), Mode: string(was.Mode), Template: was.Template})
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, 0, gone
	}
	return row.ID, row.Bucket, err
}
