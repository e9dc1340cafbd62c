// This file stores the accounts of people at identity providers: links, refused log-ins, managed memberships of teams,
// and the sessions that began with an account. The log-in, /v1 and the operator's commands use it. It decides nothing:
// package sso does.

package pg

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

// Identities stores accounts. Every change has an entry in the audit log, in the same transaction. It is safe for
// concurrent use.
type Identities struct{ db *postgres.DB }

var _ sso.Store = (*Identities)(nil)

// New returns the adapter over d.
func New(d *postgres.DB) *Identities { return &Identities{db: d} }

// Facts implements sso.Store.
func (i *Identities) Facts(ctx context.Context, id sso.Identity) (f sso.Facts, err error) {
	err = i.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		f, err = facts(ctx, q, id)
		return err
	})
	return f, err
}

func facts(ctx context.Context, q *postgresdb.Queries, id sso.Identity) (f sso.Facts, err error) {
	r, err := q.LinkedUser(ctx, postgresdb.LinkedUserParams{Issuer: id.Issuer, Subject: id.Subject})
	if err == nil {
		f.Granted = sso.Role(r.GrantedRole)
		f.Linked = pgusers.UserOf(postgresdb.UserByNameRow{ID: r.ID, TargetID: r.TargetID, OncallID: r.OncallID,
			Name: r.Name, FullName: r.FullName,
			TimeZone: r.TimeZone, Admin: r.Admin, ReadOnly: r.ReadOnly, Active: r.Active, LoginEpoch: r.LoginEpoch})
		return f, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return f, err
	}
	if name := postgres.Storable(id.Name); name != "" {
		n, err := q.UserByCanonicalName(ctx, postgresdb.UserByCanonicalNameParams{Name: name,
			CanonicalName: users.CanonicalName(name)})
		if err == nil {
			f.Named = pgusers.UserOf(postgresdb.UserByNameRow(n))
		} else if !errors.Is(err, pgx.ErrNoRows) {
			return f, err
		}
	}
	if id.Email == "" {
		return f, nil
	}
	m, err := q.UserByVerifiedEmail(ctx, postgres.Storable(id.Email))
	if errors.Is(err, pgx.ErrNoRows) {
		return f, nil
	}
	f.MailedLinked = m.Linked
	f.Mailed = pgusers.UserOf(postgresdb.UserByNameRow{ID: m.ID, TargetID: m.TargetID, OncallID: m.OncallID,
		Name: m.Name, FullName: m.FullName,
		TimeZone: m.TimeZone, Admin: m.Admin, ReadOnly: m.ReadOnly, Active: m.Active, LoginEpoch: m.LoginEpoch})
	return f, err
}

// Apply implements sso.Store. The last active administrator stays an administrator. Teams that do not exist are left
// out.
func (i *Identities) Apply(ctx context.Context, d sso.Decision) (users.User, error) {
	by := actor("single sign-on: " + d.Identity.Provider)
	ctx = audit.As(ctx, audit.Provider, 0, string(by))
	return postgres.GetInTx(ctx, i.db, func(ctx context.Context, q *postgresdb.Queries) (out users.User, err error) {
		user, id := d.User, d.Identity
		if d.Kind == sso.Create {
			if user, err = create(ctx, q, d); err != nil {
				return out, err
			}
		}
		if d.Kind != sso.Use {
			if err := link(ctx, q, user, sso.Linked{Provider: id.Provider, Issuer: id.Issuer, Subject: id.Subject}, by); err != nil {
				return out, err
			}
		}
		if err := applyRights(ctx, q, user, d, by); err != nil {
			return out, err
		}
		r, err := q.UserByID(ctx, user.ID)
		return pgusers.UserOf(postgresdb.UserByNameRow(r)), err
	})
}

func create(ctx context.Context, q *postgresdb.Queries, d sso.Decision) (users.User, error) {
	id := d.Identity
	n := pgusers.NewUser{Name: id.Name, FullName: postgres.Storable(id.FullName), Contacts: map[users.Mode]string{}}
	if taken, err := q.ContactIsMailbox(ctx, postgres.Storable(id.Email)); err != nil {
		return users.User{}, err
	} else if users.CheckContact(users.Email, id.Email) == nil && !taken {
		n.Contacts[users.Email] = id.Email
	}
	return pgusers.CreateUser(ctx, q, n, id.EmailVerified)
}

// actor is an author in the audit log.
type actor string

func (a actor) note(ctx context.Context, q *postgresdb.Queries, action audit.Action, user, detail string) error {
	return auditlog.Write(ctx, q, audit.Entry{Actor: string(a), Action: action, Object: "user " + user, Detail: detail})
}

// link stores a new link. A Conflict fault if the account has one.
func link(ctx context.Context, q *postgresdb.Queries, u users.User, l sso.Linked, by actor) error {
	_, err := q.LinkIdentity(ctx, postgresdb.LinkIdentityParams{UserID: u.ID, Provider: l.Provider, Issuer: l.Issuer,
		Subject: l.Subject})
	if postgres.SqlState(err) == "23505" {
		return fault.Newf(fault.Conflict, "the account %s of provider %s is linked already", l.Subject, l.Provider)
	}
	if err != nil {
		return err
	}
	if err := q.ForgetRefusedIdentity(ctx, postgresdb.ForgetRefusedIdentityParams{Issuer: l.Issuer, Subject: l.Subject}); err != nil {
		return err
	}
	return by.note(ctx, q, audit.AccountLinked, u.Name, l.Provider+", subject "+l.Subject)
}

// ApplyRights stores the rights that groups give to a person. source is the issuer of the groups, for the memberships
// that it manages; by is the actor in the audit log. The last active administrator stays one.
func ApplyRights(ctx context.Context, q *postgresdb.Queries, u users.User, r sso.Rights, source, by string) error {
	if err := applyRole(ctx, q, u, r, actor(by)); err != nil {
		return err
	}
	return applyTeams(ctx, q, u, r, source, actor(by))
}

// Link stores a new link of an account in a transaction. A Conflict fault if the account has one.
func Link(ctx context.Context, q *postgresdb.Queries, u users.User, l sso.Linked, by string) error {
	return link(ctx, q, u, l, actor(by))
}

func applyRole(ctx context.Context, q *postgresdb.Queries, u users.User, r sso.Rights, by actor) error {
	if err := q.LockAdmins(ctx); err != nil {
		return err
	}
	changed, err := q.SetRole(ctx, postgresdb.SetRoleParams{ID: u.ID, Admin: r.Admin, ReadOnly: r.ReadOnly})
	if err != nil || changed == 0 {
		return err
	}
	return by.note(ctx, q, audit.RoleChanged, u.Name, fmt.Sprintf("by groups: administrator %t, read-only %t", r.Admin,
		r.ReadOnly))
}

func applyRights(ctx context.Context, q *postgresdb.Queries, u users.User, d sso.Decision, by actor) error {
	r, id := d.Rights, d.Identity
	if err := applyRole(ctx, q, u, r, by); err != nil {
		return err
	}
	err := q.LoggedInWith(ctx, postgresdb.LoggedInWithParams{Issuer: id.Issuer, Subject: id.Subject,
		GrantedRole: string(r.Granted)})
	if err != nil {
		return err
	}
	return applyTeams(ctx, q, u, r, id.Issuer, by)
}

// applyTeams makes the memberships that groups give those of the rights. A membership that was made by hand stays so.
func applyTeams(ctx context.Context, q *postgresdb.Queries, u users.User, r sso.Rights, issuer string, by actor) error {
	had, err := q.ManagedTeams(ctx, postgresdb.ManagedTeamsParams{UserID: u.ID, Issuer: issuer})
	if err != nil {
		return err
	}
	wanted, err := q.TeamsByName(ctx, postgres.NonNil(r.Teams))
	if err != nil {
		return err
	}
	gone := map[int64]string{}
	for _, t := range had {
		gone[t.TeamID] = t.Name
	}
	for _, t := range wanted {
		if _, has := gone[t.ID]; has {
			delete(gone, t.ID)
			continue
		}
		if _, err := q.LockTeam(ctx, t.ID); err != nil {
			return err
		}
		joined, err := q.JoinTeam(ctx, postgresdb.JoinTeamParams{TeamID: t.ID, UserID: u.ID})
		if err != nil {
			return err
		}
		managed, err := q.IsManagedMember(ctx, postgresdb.IsManagedMemberParams{TeamID: t.ID, UserID: u.ID})
		if err != nil {
			return err
		}
		if joined == 0 && !managed {
			continue // by hand
		}
		if err := q.ManageMember(ctx, postgresdb.ManageMemberParams{TeamID: t.ID, UserID: u.ID, Issuer: issuer}); err != nil {
			return err
		}
		if err := by.note(ctx, q, audit.TeamMemberAdded, u.Name, "to team "+t.Name+" by groups"); err != nil {
			return err
		}
	}
	if r.KeepTeams {
		return nil
	}
	for team, name := range gone {
		if err := leave(ctx, q, team, u, issuer); err != nil {
			return err
		}
		if err := by.note(ctx, q, audit.TeamMemberRemoved, u.Name, "from team "+name+" by groups"); err != nil {
			return err
		}
	}
	return nil
}

// leave ends a managed membership, unless the groups of an account at another provider give it too. Rosters and
// administrators stay.
func leave(ctx context.Context, q *postgresdb.Queries, team int64, u users.User, issuer string) error {
	if _, err := q.LockTeam(ctx, team); err != nil {
		return err
	}
	if err := q.UnmanageMember(ctx, postgresdb.UnmanageMemberParams{TeamID: team, UserID: u.ID, Issuer: issuer}); err != nil {
		return err
	}
	still, err := q.IsManagedMember(ctx, postgresdb.IsManagedMemberParams{TeamID: team, UserID: u.ID})
	if err != nil || still {
		return err
	}
	if _, err := q.LeaveTeam(ctx, postgresdb.LeaveTeamParams{TeamID: team, UserID: u.ID}); err != nil {
		return err
	}
	return q.TidyTeamMembers(ctx, team)
}

// maxRefusedText is the maximum length of a value of a refused account, in bytes.
const maxRefusedText = 500

// Refused implements sso.Store. Refusals are kept for 30 days after the last attempt.
func (i *Identities) Refused(ctx context.Context, d sso.Decision) error {
	short := func(s string) string { return postgres.Storable(s[:min(len(s), maxRefusedText)]) }
	return i.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if err := q.ForgetOldRefusedIdentities(ctx); err != nil {
			return err
		}
		id := d.Identity
		err := q.RefuseIdentity(ctx, postgresdb.RefuseIdentityParams{Provider: id.Provider, Issuer: id.Issuer,
			Subject: id.Subject, Name: short(id.Name),
			Email: short(id.Email), Reason: short(d.Reason)})
		if err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Actor: "single sign-on: " + id.Provider, Action: audit.LogInRefused,
			Object: "account " + short(id.Subject),
			Detail: short(d.Reason)})
	})
}

// Link links an account to a person. An unknown person is a NotFound fault, an account that has a link a Conflict.
func (i *Identities) Link(ctx context.Context, by string, links ...sso.Linked) error {
	return i.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		for _, l := range links {
			r, err := q.UserByName(ctx, postgres.Storable(l.User))
			if errors.Is(err, pgx.ErrNoRows) {
				return fault.Newf(fault.NotFound, "there is no user %s", l.User)
			}
			if err != nil {
				return err
			}
			if err := link(ctx, q, pgusers.UserOf(r), l, actor(by)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Unlink deletes a link and the memberships that its groups gave, and ends the sessions that began with it. A NotFound
// fault if there is no such link.
func (i *Identities) Unlink(ctx context.Context, by string, id int64) error {
	return i.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error { return unlink(ctx, q, id, by) })
}

// UnlinkAccount removes the link of a person to an account in a transaction, as Unlink does. Without such a link it
// does nothing.
func UnlinkAccount(ctx context.Context, q *postgresdb.Queries, u users.User, issuer, subject, by string) error {
	id, err := q.IdentityOf(ctx, postgresdb.IdentityOfParams{UserID: u.ID, Issuer: issuer, Subject: subject})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return unlink(ctx, q, id, by)
}

func unlink(ctx context.Context, q *postgresdb.Queries, id int64, by string) error {
	l, err := q.UnlinkIdentity(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return fault.Newf(fault.NotFound, "there is no link %d", id)
	}
	if err != nil {
		return err
	}
	if _, err := q.EndSessionsOf(ctx, postgresdb.EndSessionsOfParams{Issuer: l.Issuer, Subject: l.Subject}); err != nil {
		return err
	}
	had, err := q.ManagedTeams(ctx, postgresdb.ManagedTeamsParams{UserID: l.UserID, Issuer: l.Issuer})
	if err != nil {
		return err
	}
	for _, t := range had {
		if err := leave(ctx, q, t.TeamID, users.User{ID: l.UserID}, l.Issuer); err != nil {
			return err
		}
	}
	return actor(by).note(ctx, q, audit.AccountUnlinked, l.Name, l.Provider+", subject "+l.Subject)
}

// List returns at most so many links with a greater number than after, of a person ("" = all).
func (i *Identities) List(ctx context.Context, user string, after int64, most int) ([]sso.Linked, error) {
	rows, err := postgres.Query(ctx, i.db, (*postgresdb.Queries).Identities,
		postgresdb.IdentitiesParams{After: after, UserName: postgres.Storable(user), Most: most})
	return postgres.Convert(rows, func(r postgresdb.IdentitiesRow) sso.Linked {
		return sso.Linked{ID: r.ID, Provider: r.Provider, Issuer: r.Issuer, Subject: r.Subject, User: r.UserName,
			CreatedAt: r.CreatedAt.UTC(), LastLoginAt: postgres.UTC(r.LastLoginAt)}
	}), err
}

// Refusals returns at most so many refusals with a greater number than after.
func (i *Identities) Refusals(ctx context.Context, after int64, most int) ([]sso.Refusal, error) {
	rows, err := postgres.Query(ctx, i.db, (*postgresdb.Queries).RefusedIdentities,
		postgresdb.RefusedIdentitiesParams{After: after, Most: min(most, math.MaxInt32)})
	return postgres.Convert(rows, func(r postgresdb.RefusedIdentity) sso.Refusal {
		return sso.Refusal{ID: r.ID, Provider: r.Provider, Issuer: r.Issuer, Subject: r.Subject,
			Name: operation.Text(r.Name), Email: operation.Text(r.Email), Reason: r.Reason, Attempts: r.Attempts,
			LastAt: r.LastAt.UTC()}
	}), err
}
