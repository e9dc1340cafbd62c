package pg

import (
	"context"
	"errors"

	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
)

// TakeOver imports an external calendar into a role of a team, as one change of the team's calendar. With rehearse the
// change is rolled back at the end.
func (s *Shifts) TakeOver(ctx context.Context, c editing.ExternalCalendar, by oncall.By, rehearse bool) (editing.CalendarImport, error) {
	var plan editing.CalendarImport
	err := s.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if _, err := q.LockTeam(ctx, c.TeamID); err != nil {
			return err
		}
		known, err := takenOver(ctx, q, c)
		if err != nil {
			return err
		}
		now, err := q.ServerClock(ctx)
		if err != nil {
			return err
		}
		plan = editing.ImportShifts(now, c, known)
		if plan.Changes, err = store(ctx, q, plan.Changes); err != nil {
			return err
		}
		if err := noteTaken(ctx, q, c, plan); err != nil {
			return err
		}
		if rehearse {
			return errRehearsed
		}
		if c.Subscription != 0 && len(plan.Add)+len(plan.Update)+len(plan.Delete) == 0 {
			return nil // most readings of a subscribed calendar change nothing
		}
		profile, err := q.OncallTeamByID(ctx, c.TeamID)
		if err != nil {
			return err
		}
		return auditlog.WriteOncall(ctx, q, by.Owner, profile.Name, "calendar_imported", map[string]any{
			"role": c.Role, "created": len(plan.Add), "changed": len(plan.Update), "deleted": len(plan.Delete), "kept": len(plan.Kept),
		})
	})
	if errors.Is(err, errRehearsed) {
		err = nil
	}
	return plan, err
}

func takenOver(ctx context.Context, q *db.Queries, c editing.ExternalCalendar) ([]editing.ImportedOccurrence, error) {
	rows, err := q.TakenShifts(ctx, db.TakenShiftsParams{
		TeamID: c.TeamID, Role: c.Role, Uids: postgres.NonNil(postgres.Convert(c.UIDs,
			postgres.Storable)), Since: c.Since, SubscriptionID: postgres.NullID(c.Subscription),
	})
	out := make([]editing.ImportedOccurrence, len(rows))
	for i, r := range rows {
		out[i].Occurrence = editing.Occurrence{UID: r.Uid, Occurs: r.OccursAt.UTC(), User: r.UserID}
		if r.StartsAt == nil || r.EndsAt == nil || r.Edited == nil {
			continue
		}
		shift := shiftOf(db.ChosenShiftsRow{
			ID: oncall.ShiftID(r.ShiftID), TeamID: c.TeamID, Role: c.Role, UserID: r.UserID, ScheduleID: r.ScheduleID, CoversID: r.CoversID,
			LinkID: r.LinkID, StartsAt: *r.StartsAt, EndsAt: *r.EndsAt, Note: r.Note, Edited: *r.Edited,
		})
		out[i].Shift = &shift
	}
	return out, err
}

func noteTaken(ctx context.Context, q *db.Queries, c editing.ExternalCalendar, plan editing.CalendarImport) error {
	for i, t := range plan.Added {
		err := q.NoteTakenShift(ctx, db.NoteTakenShiftParams{
			TeamID: c.TeamID, Role: c.Role, Uid: postgres.Storable(t.UID), OccursAt: t.Occurs, UserID: t.User, ShiftID: int64(plan.Add[i].ID),
			SubscriptionID: postgres.NullID(c.Subscription),
		})
		if err != nil {
			return err
		}
	}
	for _, t := range plan.Dropped {
		err := q.ForgetTakenShift(ctx, db.ForgetTakenShiftParams{
			TeamID: c.TeamID, Role: c.Role, Uid: postgres.Storable(t.UID), OccursAt: t.Occurs, UserID: t.User,
		})
		if err != nil {
			return err
		}
	}
	return nil
}
