package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/buckets"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/pg"
	"github.com/iris-oncall/iris/internal/users"
)

// Expire ends the swap requests of a team that have expired, and queues notices. The next Notify makes their messages.
func (r *Reminders) Expire(ctx context.Context, processID string, lease buckets.Lease, team int64) (Result, error) {
	return r.ofTeam(ctx, processID, lease, func(ctx context.Context, q *db.Queries) (Result, []messages.Notification, error) {
		over, err := q.TeamsWithOverSwaps(ctx, db.TeamsWithOverSwapsParams{TeamID: &team, MaxRows: 1})
		if err != nil || len(over) == 0 {
			return Result{}, nil, err
		}
		return Result{}, nil, pg.ExpireSwaps(ctx, q, team)
	})
}

// notifyPersonally makes the messages of one personal notice, in the modes that the people prefer. People who are
// switched off get no message. People whose settings already notify them of the same change get no second one.
func (r *Reminders) notifyPersonally(ctx context.Context, q *db.Queries, team int64, n db.NoticesOfTeamRow) ([]messages.Notification, error) {
	facts, err := noticeFacts(ctx, q, n.Facts)
	if err != nil {
		return nil, err
	}
	readers, app, err := r.concerned(ctx, q, team, n)
	if err != nil || len(readers) == 0 {
		return nil, err
	}
	by := "Somebody" // the user was deleted
	if n.ByID != nil {
		names, err := shownNames(ctx, q, []int64{*n.ByID})
		if err != nil {
			return nil, err
		}
		by = names[*n.ByID]
	}
	kind := oncall.NoticeKind(n.Kind)
	var out []messages.Notification
	for _, reader := range readers {
		text, ok := oncall.PersonalNotice{
			Kind: kind, Team: n.Team, Reader: reader.ID, By: by, Facts: facts, Note: n.Note, Zone: postgres.Location(reader.TimeZone), Link: r.answers,
		}.Text()
		if !ok {
			continue
		}
		choice, reachable := users.Choose(reader, kind.Priority(), app)
		if !reachable {
			choice.Mode = choice.Wanted // delivery records on the message why nobody could be reached
		}
		to := recipient(reader.ID, reader.Name, choice.Mode)
		if choice.Changed() {
			to.Changed, to.Changes = true, []messages.Change{messages.ModeFailure(choice.Wanted, choice.Mode)}
		}
		out = append(out, r.notification(text, noticeLife, to))
	}
	return out, nil
}

// concerned returns the people who get a personal notice, in the order of the notice, and the modes that the
// application may use.
func (r *Reminders) concerned(ctx context.Context, q *db.Queries, team int64, n db.NoticesOfTeamRow) ([]users.Responder, users.AppModes, error) {
	notified := map[int64]bool{}
	if n.Unless != nil {
		readers, err := q.NoticeReaders(ctx, db.NoticeReadersParams{TeamID: team, Kind: *n.Unless, Roles: n.Roles,
			UserIds: n.UserIds})
		if err != nil {
			return nil, users.AppModes{}, err
		}
		for _, reader := range readers {
			notified[int64(reader.UserID)] = true
		}
	}
	keys := postgres.Convert(n.UserIds, func(id int64) users.ResponderKey {
		return users.ResponderKey{User: users.ID(id), Application: r.application}
	})
	found, err := pgescalation.RespondersOf(ctx, q, keys)
	if err != nil {
		return nil, users.AppModes{}, err
	}
	apps, err := pgescalation.ApplicationsOf(ctx, q, []int64{r.application})
	var out []users.Responder
	for _, k := range keys {
		if p, ok := found[k]; ok && p.Active && !notified[int64(k.User)] {
			out = append(out, p)
		}
	}
	return out, apps[r.application].Modes, err
}
