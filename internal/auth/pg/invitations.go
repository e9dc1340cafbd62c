package pg

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/auth/accounts"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/users/pg"
)

// errNoInvitation means that there is no such invitation.
var errNoInvitation = fault.New(fault.NotFound, "there is no such invitation")

// Invitations stores invitations. It is safe for concurrent use.
type Invitations struct{ db *postgres.DB }

var (
	_ accounts.InvitationStore = (*Invitations)(nil)
	_ accounts.InvitationLinks = (*Invitations)(nil)
)

// NewInvitations returns the adapter over d.
func NewInvitations(d *postgres.DB) *Invitations { return &Invitations{db: d} }

func invitation(r postgresdb.Invitation) accounts.Invitation {
	return accounts.Invitation{ID: r.ID, Name: r.Name, FullName: operation.Text(r.FullName), Email: r.Email,
		Role: operation.Text(r.Role), Teams: postgres.NonNil(r.Teams), InvitedBy: r.InvitedBy,
		CreatedAt: r.CreatedAt.UTC(), ExpiresAt: r.ExpiresAt.UTC()}
}

// Add implements accounts.InvitationStore.
func (s *Invitations) Add(ctx context.Context, i accounts.Invitation, hash []byte, life time.Duration) (out accounts.Invitation, err error) {
	name, err := postgres.CleanName(i.Name)
	if err != nil {
		return out, err
	}
	err = s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if err := q.DeleteExpiredInvitations(ctx); err != nil {
			return err
		}
		switch taken, err := q.UserHasName(ctx, users.CanonicalName(name)); {
		case err != nil:
			return err
		case taken:
			return fault.Newf(fault.Conflict, "a user named %s exists already", name)
		}
		teams, err := q.TeamsByName(ctx, postgres.NonNil(i.Teams))
		if err != nil {
			return err
		}
		for _, wanted := range i.Teams {
			if !slices.ContainsFunc(teams, func(t postgresdb.TeamsByNameRow) bool { return strings.EqualFold(t.Name, wanted) }) {
				return fault.Invalidf("teams", "there is no active team %q", wanted)
			}
		}
		row, err := q.AddInvitation(ctx, postgresdb.AddInvitationParams{
			Name: name, CanonicalName: users.CanonicalName(name), FullName: postgres.Storable(string(i.FullName)), Email: postgres.Storable(i.Email), Role: string(i.Role),
			Teams: postgres.Convert(teams,
				func(t postgresdb.TeamsByNameRow) string { return t.Name }), InvitedBy: postgres.Storable(i.InvitedBy), Hash: hash,
			LifeSeconds: int64(life / time.Second),
		})
		if postgres.SqlState(err) == "23505" {
			return fault.Newf(fault.Conflict, "%s is invited already: send the invitation again, or revoke it", name)
		}
		if err != nil {
			return err
		}
		out = invitation(row)
		detail := strings.TrimSpace(string(out.Role) + " " + strings.Join(out.Teams, ", "))
		return noteInvitation(ctx, q, i.InvitedBy, audit.InvitationAdded, out.Name, detail)
	})
	return out, err
}

func noteInvitation(ctx context.Context, q *postgresdb.Queries, by string, action audit.Action, name, detail string) error {
	return auditlog.Write(ctx, q, audit.Entry{Actor: by, Action: action, Object: "invitation of " + name,
		Detail: detail})
}

// Renew implements accounts.InvitationStore.
func (s *Invitations) Renew(ctx context.Context, id int64, hash []byte, life time.Duration, by string) (out accounts.Invitation, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		row, err := q.RenewInvitation(ctx, postgresdb.RenewInvitationParams{ID: id, Hash: hash,
			LifeSeconds: int64(life / time.Second)})
		if errors.Is(err, pgx.ErrNoRows) {
			return errNoInvitation
		}
		if err != nil {
			return err
		}
		out = invitation(row)
		return noteInvitation(ctx, q, by, audit.InvitationSentAgain, out.Name, "")
	})
	return out, err
}

// Page implements accounts.InvitationStore.
func (s *Invitations) Page(ctx context.Context, after int64, most int) ([]accounts.Invitation, error) {
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).Invitations,
		postgresdb.InvitationsParams{After: after, Most: most})
	return postgres.Convert(rows, invitation), err
}

// Revoke implements accounts.InvitationStore.
func (s *Invitations) Revoke(ctx context.Context, id int64, by string) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		name, err := q.RevokeInvitation(ctx, id)
		if errors.Is(err, pgx.ErrNoRows) {
			return errNoInvitation
		}
		if err != nil {
			return err
		}
		return noteInvitation(ctx, q, by, audit.InvitationRevoked, name, "")
	})
}

// Find implements accounts.InvitationLinks.
func (s *Invitations) Find(ctx context.Context, hash []byte) (accounts.Invitation, error) {
	row, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).FindInvitation, hash)
	return invitation(row), fault.When(err, fault.NotFound, accounts.ErrLink)
}

// Accept implements accounts.InvitationLinks. Teams that are gone are left out.
func (s *Invitations) Accept(ctx context.Context, hash []byte, passwordHash string) (out users.User, err error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) (users.User, error) {
		row, err := q.TakeInvitation(ctx, hash)
		if errors.Is(err, pgx.ErrNoRows) {
			return users.User{}, accounts.ErrLink
		}
		if err != nil {
			return users.User{}, err
		}
		ctx = audit.As(ctx, audit.Person, 0, row.Name)
		u, err := pg.CreateUser(ctx, q, pg.NewUser{Name: row.Name, FullName: row.FullName, Admin: row.Role == "admin",
			ReadOnly:     row.Role == "read_only",
			PasswordHash: passwordHash, Contacts: map[users.Mode]string{users.Email: row.Email}}, true)
		if err != nil {
			return u, err
		}
		if err := q.ProveAddress(ctx, u.ID); err != nil {
			return u, err
		}
		if err := joinTeams(ctx, q, u, row.Teams); err != nil {
			return u, err
		}
		return u, noteInvitation(ctx, q, u.Name, audit.InvitationAccepted, u.Name, "invited by "+row.InvitedBy)
	})
}

func joinTeams(ctx context.Context, q *postgresdb.Queries, u users.User, names []string) error {
	teams, err := q.TeamsByName(ctx, names)
	if err != nil {
		return err
	}
	for _, t := range teams {
		if _, err := q.LockTeam(ctx, t.ID); err != nil {
			return err
		}
		if _, err := q.JoinTeam(ctx, postgresdb.JoinTeamParams{TeamID: t.ID, UserID: u.ID}); err != nil {
			return err
		}
	}
	return nil
}
