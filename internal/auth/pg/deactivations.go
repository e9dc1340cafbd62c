package pg

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/auth/scim"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/users/directory"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

var errNotHeld = fault.New(fault.NotFound, "there is no such held deactivation")

// deactivate switches a person off, or holds the deactivation for an administrator. A held one stays held if the
// directory repeats it.
func (t change) deactivate(ctx context.Context, id int64, u users.User) error {
	if !u.Active {
		return nil
	}
	if err := keepAdmin(ctx, t.q, u); err != nil {
		return err
	}
	if err := t.q.LockScimDeactivations(ctx, t.c.ID); err != nil {
		return err
	}
	if waits, err := t.q.DeactivationHeld(ctx, id); err != nil || waits {
		return err
	}
	if err := t.q.ForgetScimDeactivations(ctx, t.c.ID); err != nil {
		return err
	}
	recent, err := t.q.RecentScimDeactivations(ctx, t.c.ID)
	if err != nil {
		return err
	}
	held := t.p.Holds(int(recent))
	if err := t.q.AddScimDeactivation(ctx, db.AddScimDeactivationParams{ConnectionID: t.c.ID, ScimUserID: id, Held: held}); err != nil {
		return err
	}
	if held {
		return scimNote(ctx, t.q, author(t.c), audit.DeactivationHeld, "user "+u.Name,
			"too many in an hour: an administrator confirms or rejects it")
	}
	return switchOff(ctx, t.q, u, author(t.c))
}

func switchOff(ctx context.Context, q *db.Queries, u users.User, actor string) error {
	_, err := pgusers.ApplyChange(ctx, q, actor, directory.Change{Kind: directory.SwitchOff, ID: u.ID, Name: u.Name,
		Source: directorySource})
	return err
}

// keepAdmin refuses the deactivation of the last active administrator. Until the transaction ends, no other
// administrator is deactivated.
func keepAdmin(ctx context.Context, q *db.Queries, u users.User) error {
	if !u.Admin {
		return nil
	}
	last, err := pgusers.LastAdmin(ctx, q, u)
	if last {
		err = scim.ErrLastAdmin
	}
	return err
}

// activate takes a held deactivation back, or switches a person on whom a directory switched off. A person whom
// somebody switched off by hand stays off.
func (t change) activate(ctx context.Context, id int64, u users.User) error {
	dropped, err := t.q.DropHeldDeactivation(ctx, id)
	if err != nil {
		return err
	}
	if dropped > 0 {
		return scimNote(ctx, t.q, author(t.c), audit.DeactivationWithdrawn, "user "+u.Name, "")
	}
	off, err := t.q.DirectorySwitchedOff(ctx, u.ID)
	if err != nil || !off {
		return err
	}
	_, err = pgusers.ApplyChange(ctx, t.q, author(t.c), directory.Change{Kind: directory.SwitchOn, ID: u.ID,
		Name: u.Name, Source: directorySource})
	return err
}

// Held returns at most so many held deactivations with a larger number than after, by number.
func (s *Store) Held(ctx context.Context, after int64, most int) ([]scim.Held, error) {
	rows, err := postgres.Query(ctx, s.db, (*db.Queries).HeldDeactivations,
		db.HeldDeactivationsParams{After: after, Most: most})
	return postgres.Convert(rows, func(r db.HeldDeactivationsRow) scim.Held {
		return scim.Held{ID: r.ID, Connection: r.Connection, User: r.UserName, RequestedAt: r.RequestedAt.UTC()}
	}), err
}

// Decide carries out a held deactivation, or rejects it. An unknown one is a NotFound fault.
func (s *Store) Decide(ctx context.Context, id int64, confirm bool, actor string) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		held, err := q.LockHeldDeactivation(ctx, id)
		if errors.Is(err, pgx.ErrNoRows) {
			return errNotHeld
		}
		if err != nil {
			return err
		}
		found, err := q.UserByID(ctx, held.UserID)
		if err != nil {
			return err
		}
		u := pgusers.UserOf(db.UserByNameRow(found))
		if !confirm {
			return reject(ctx, q, held, u, actor)
		}
		if err := keepAdmin(ctx, q, u); err != nil {
			return err
		}
		if err := q.ConfirmHeldDeactivation(ctx, id); err != nil {
			return err
		}
		if err := scimNote(ctx, q, actor, audit.DeactivationConfirmed, "user "+u.Name, ""); err != nil {
			return err
		}
		return switchOff(ctx, q, u, actor)
	})
}

// reject keeps a person active. The directory sees the person as active again.
func reject(ctx context.Context, q *db.Queries, held db.LockHeldDeactivationRow, u users.User, actor string) error {
	if _, err := q.DropHeldDeactivation(ctx, held.ScimUserID); err != nil {
		return err
	}
	if err := scimNote(ctx, q, actor, audit.DeactivationRejected, "user "+u.Name, ""); err != nil {
		return err
	}
	row, err := q.LockScimUser(ctx, db.LockScimUserParams{ID: held.ScimUserID, ConnectionID: held.ConnectionID})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // the directory deleted the person
	}
	if err != nil {
		return err
	}
	r, err := userOf(row)
	if err != nil {
		return err
	}
	r.Document["active"] = true
	raw, err := json.Marshal(r.Document)
	if err != nil {
		return err
	}
	_, err = q.SetScimUser(ctx, db.SetScimUserParams{ID: row.ID, UserName: row.UserName, ExternalID: row.ExternalID,
		Attributes: raw})
	return err
}
