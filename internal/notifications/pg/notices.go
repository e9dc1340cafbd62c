package pg

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/users/pg"
)

// Notices stores the notice settings of people and the keys of calendar feeds, and reads the audit log of calendars. It
// is safe for concurrent use.
type Notices struct {
	db   *postgres.DB
	keys *auth.Keys
}

// NewNotices returns the adapter over d; keys seal and unseal the keys of calendar feeds.
func NewNotices(d *postgres.DB, keys *auth.Keys) *Notices {
	return &Notices{db: d, keys: keys}
}

// Types lists the kinds of notices.
func (n *Notices) Types(ctx context.Context) ([]oncall.NoticeType, error) {
	rows, err := postgres.Read(ctx, n.db, (*postgresdb.Queries).NoticeTypes)
	return postgres.Convert(rows, func(r postgresdb.NoticeTypesRow) oncall.NoticeType { return oncall.NoticeType(r) }), err
}

// ByUser lists a person's settings.
func (n *Notices) ByUser(ctx context.Context, user users.ID) ([]oncall.NoticeSetting, error) {
	id := int64(user)
	return n.settings(ctx, postgresdb.NoticeSettingsParams{UserID: &id})
}

// ByID finds one setting; a NotFound fault when there is none.
func (n *Notices) ByID(ctx context.Context, id int64) (oncall.NoticeSetting, error) {
	return postgres.First(n.settings(ctx, postgresdb.NoticeSettingsParams{ID: &id}))
}

func (n *Notices) settings(ctx context.Context, by postgresdb.NoticeSettingsParams) ([]oncall.NoticeSetting, error) {
	return postgres.Get(ctx, n.db, func(ctx context.Context, q *postgresdb.Queries) ([]oncall.NoticeSetting, error) {
		return noticeSettings(ctx, q, by)
	})
}

func noticeSettings(ctx context.Context, q *postgresdb.Queries, by postgresdb.NoticeSettingsParams) ([]oncall.NoticeSetting, error) {
	rows, err := q.NoticeSettings(ctx, by)
	return postgres.Convert(rows, func(r postgresdb.NoticeSettingsRow) oncall.NoticeSetting {
		s := oncall.NoticeSetting{
			ID: r.ID, User: r.UserID, UserName: r.UserName, TeamID: r.TeamID, Team: r.Team, Mode: r.Mode,
			Type: r.Type, IsReminder: r.IsReminder, OnlyMine: r.OnlyIfInvolved, Roles: r.Roles,
		}
		if r.TimeBefore != nil {
			before := time.Duration(*r.TimeBefore) * time.Second
			s.Before = &before
		}
		return s
	}), err
}

// Create adds a setting. Roles that do not exist are an Invalid fault for the field "roles".
func (n *Notices) Create(ctx context.Context, s oncall.NoticeSetting) (int64, error) {
	var id int64
	err := n.reminders(ctx, s.User, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		id, err = pg.AddNoticeSetting(ctx, q, s)
		return err
	})
	return id, err
}

// Update locks a setting and stores what p decides. Roles that do not exist are an Invalid fault for the field "roles";
// a NotFound fault when there is no such setting.
func (n *Notices) Update(ctx context.Context, id int64, p oncall.NoticePatch) error {
	now, err := n.ByID(ctx, id)
	if err != nil {
		return err
	}
	return n.reminders(ctx, now.User, func(ctx context.Context, q *postgresdb.Queries) error {
		if _, err := q.LockNoticeSetting(ctx, id); err != nil {
			return err
		}
		is, err := postgres.First(noticeSettings(ctx, q, postgresdb.NoticeSettingsParams{ID: &id}))
		if err != nil {
			return err
		}
		s, err := p.Decide(is)
		if err != nil {
			return err
		}
		err = postgres.RequireRow(q.UpdateNoticeSetting(ctx, postgresdb.UpdateNoticeSettingParams{
			ID: s.ID, TeamID: s.TeamID, Mode: s.Mode, Type: s.Type, TimeBefore: pg.OptionalSeconds(s.Before), OnlyIfInvolved: s.OnlyMine,
		}))
		if err != nil {
			return err
		}
		if err := q.ClearNoticeRoles(ctx, s.ID); err != nil {
			return err
		}
		return pg.SetNoticeRoles(ctx, q, s.ID, s.Roles)
	})
}

// Delete deletes a setting; a NotFound fault when there is none.
func (n *Notices) Delete(ctx context.Context, id int64) error {
	now, err := n.ByID(ctx, id)
	if err != nil {
		return err
	}
	return n.reminders(ctx, now.User, func(ctx context.Context, q *postgresdb.Queries) error {
		return postgres.RequireRow(q.DeleteNoticeSetting(ctx, id))
	})
}

// reminders changes the settings of a person and adds an entry to the audit log.
func (n *Notices) reminders(ctx context.Context, user users.ID, change func(context.Context, *postgresdb.Queries) error) error {
	return auditlog.Change(ctx, n.db, auditlog.User(user), audit.Entry{Action: audit.RemindersSet}, change)
}

// Audit reads the audit log of calendars, oldest first. More entries than one list may have are an Invalid fault.
func (n *Notices) Audit(ctx context.Context, by oncall.AuditQuery) ([]oncall.AuditEntry, error) {
	rows, err := postgres.Query(ctx, n.db, (*postgresdb.Queries).OncallAudit, postgresdb.OncallAuditParams{
		Teams: by.Teams, Owners: by.Owners, Actions: by.Actions, Since: by.Since, Until: by.Until, MaxRows: postgres.MaxListRows + 1,
	})
	if err != nil {
		return nil, err
	}
	return postgres.Convert(rows, func(r postgresdb.OncallAuditRow) oncall.AuditEntry {
		return oncall.AuditEntry{Owner: r.Owner, Team: r.Team, Action: r.Action, At: r.At, Context: r.Context}
	}), postgres.TooBroad(len(rows))
}
