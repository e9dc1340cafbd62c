package pg

import (
	"context"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/users"
)

// OncallTeams stores teams as the on-call API shows them: settings, members, administrators, subscriptions. Every
// change is one transaction. Changes of teams and administrators have an entry in the audit log of on-call, those of
// members in that of the installation; those of subscriptions have none. It is safe for concurrent use.
type OncallTeams struct {
	db *postgres.DB
	// defaults are the notice settings of people who join a team.
	defaults []oncall.NoticeSetting
}

// NewOncallTeams returns the adapter over d. A person who joins a team and has no settings for it gets the defaults, of
// which only Mode, Type, Before, OnlyMine and Roles are used. Roles that do not exist are left out.
func NewOncallTeams(d *postgres.DB, defaults []oncall.NoticeSetting) *OncallTeams {
	return &OncallTeams{db: d, defaults: defaults}
}

// Names lists the active teams, or the deleted ones when active is false, by number.
func (t *OncallTeams) Names(ctx context.Context, active bool) ([]oncall.TeamName, error) {
	rows, err := postgres.Query(ctx, t.db, (*postgresdb.Queries).OncallTeams, active)
	return postgres.Convert(rows, func(r postgresdb.OncallTeamsRow) oncall.TeamName { return oncall.TeamName(r) }), err
}

// ByName finds a team, active or not, ignoring case; a NotFound fault when there is none.
func (t *OncallTeams) ByName(ctx context.Context, name string) (oncall.Profile, error) {
	r, err := postgres.Query(ctx, t.db, (*postgresdb.Queries).OncallTeamByName, postgres.Storable(name))
	return profileOf(r), err
}

// ByID finds a team, active or not, by its internal id; a NotFound fault when there is none.
func (t *OncallTeams) ByID(ctx context.Context, id int64) (oncall.Profile, error) {
	r, err := postgres.Query(ctx, t.db, (*postgresdb.Queries).OncallTeamByID, id)
	return profileOf(postgresdb.OncallTeamByNameRow(r)), err
}

// People returns the members and administrators of a team, in the team's order.
func (t *OncallTeams) People(ctx context.Context, team int64) ([]oncall.TeamPerson, error) {
	rows, err := postgres.Query(ctx, t.db, (*postgresdb.Queries).TeamPeople, team)
	return postgres.Convert(rows, func(r postgresdb.TeamPeopleRow) oncall.TeamPerson { return oncall.TeamPerson(r) }), err
}

// Rows lists the active teams by number.
func (t *OncallTeams) Rows(ctx context.Context) ([]teams.TeamRow, error) {
	found, err := t.Names(ctx, true)
	return postgres.Convert(found, func(one oncall.TeamName) teams.TeamRow {
		return teams.TeamRow{Name: one.Name, Email: operation.Text(one.Email)}
	}), err
}

// Team finds an active team with its people, ignoring case; a NotFound fault when there is none.
func (t *OncallTeams) Team(ctx context.Context, name string) (teams.ShownTeam, error) {
	p, err := t.ByName(ctx, name)
	if err == nil && !p.Active {
		err = fault.New(fault.NotFound, "it was deleted")
	}
	if err != nil {
		return teams.ShownTeam{}, err
	}
	out := teams.ShownTeam{TeamRow: teams.TeamRow{Name: p.Name, Email: operation.Text(p.Email)},
		Description: operation.Text(p.Description), TimeZone: p.TimeZone, SlackChannel: operation.Text(p.SlackChannel),
		Plan: operation.Text(p.IrisPlan), Members: []string{}, Managed: []string{}, Admins: []string{}}
	people, err := t.People(ctx, p.ID)
	for _, one := range people {
		if one.Member {
			out.Members = append(out.Members, one.Name)
		}
		if one.Managed {
			out.Managed = append(out.Managed, one.Name)
		}
		if one.Admin {
			out.Admins = append(out.Admins, one.Name)
		}
	}
	return out, err
}

// Memberships returns the names of team and user for each member of each team, deleted teams included.
func (t *OncallTeams) Memberships(ctx context.Context) ([][2]string, error) {
	rows, err := postgres.Read(ctx, t.db, (*postgresdb.Queries).AllTeamUsers)
	return postgres.Convert(rows, func(r postgresdb.AllTeamUsersRow) [2]string {
		return [2]string{r.Team, r.UserName}
	}), err
}

// MembershipsOf returns the teams of a person, and whether they administer them.
func (t *OncallTeams) MembershipsOf(ctx context.Context, id users.ID) ([]users.Membership, error) {
	rows, err := postgres.Query(ctx, t.db, (*postgresdb.Queries).Memberships, id)
	return postgres.Convert(rows, func(r postgresdb.MembershipsRow) users.Membership { return users.Membership(r) }), err
}

// Create adds a team with its first administrator. A name that exists is a Conflict fault.
func (t *OncallTeams) Create(ctx context.Context, s oncall.TeamSettings, admin users.ID, by oncall.By) (int64, error) {
	if err := oncall.CheckTeamName(s.Name); err != nil {
		return 0, err
	}
	return postgres.GetInTx(ctx, t.db, func(ctx context.Context, q *postgresdb.Queries) (number int64, err error) {
		row, err := q.CreateOncallTeam(ctx, postgresdb.CreateOncallTeamParams{
			Name: s.Name, Description: s.Description, TimeZone: s.TimeZone, Email: postgres.NullText(s.Email),
			SlackChannel: postgres.NullText(s.SlackChannel), SlackChannelNotifications: postgres.NullText(s.SlackNotifications),
			IrisPlan: postgres.NullText(s.IrisPlan), IrisEnabled: s.IrisEnabled, OverridePhone: postgres.NullText(s.OverridePhone),
			ApiManaged: s.APIManaged,
		})
		if err != nil {
			return number, err
		}
		number = row.OncallID
		if _, err := q.MakeTeamAdmin(ctx, postgresdb.MakeTeamAdminParams{TeamID: row.ID, UserID: admin}); err != nil {
			return number, err
		}
		if err := t.subscribe(ctx, q, row.ID, admin); err != nil {
			return number, err
		}
		return number, auditlog.WriteOncall(ctx, q, by.Owner, s.Name, "team_created",
			map[string]any{"team_id": row.OncallID})
	})
}

// Update locks a team and changes its settings. A name that another team has is a Conflict fault.
func (t *OncallTeams) Update(ctx context.Context, id int64, p oncall.TeamPatch, by oncall.By) error {
	return t.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if _, err := q.LockTeam(ctx, id); err != nil {
			return err
		}
		row, err := q.OncallTeamByID(ctx, id)
		if err != nil {
			return err
		}
		before := profileOf(postgresdb.OncallTeamByNameRow(row)).TeamSettings
		s := p.Apply(before)
		if s.Name != before.Name {
			if err := oncall.CheckTeamName(s.Name); err != nil {
				return err
			}
		}
		err = postgres.RequireRow(q.UpdateOncallTeam(ctx, postgresdb.UpdateOncallTeamParams{
			ID: id, Name: s.Name, Description: s.Description, TimeZone: s.TimeZone, Email: postgres.NullText(s.Email),
			SlackChannel: postgres.NullText(s.SlackChannel), SlackChannelNotifications: postgres.NullText(s.SlackNotifications),
			IrisPlan: postgres.NullText(s.IrisPlan), IrisEnabled: s.IrisEnabled, OverridePhone: postgres.NullText(s.OverridePhone),
			ApiManaged: s.APIManaged,
		}))
		if err != nil {
			return err
		}
		return auditlog.WriteOncall(ctx, q, by.Owner, s.Name, "team_edited", map[string]any{"request_body": by.Body},
			audit.Diff(before, s)...)
	})
}

// Delete deactivates a team and deletes its future shifts. The past stays under a random name, so the name is free at
// once.
func (t *OncallTeams) Delete(ctx context.Context, team oncall.Profile, by oncall.By) error {
	name := postgres.NewUUID()
	return t.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if err := postgres.RequireRow(q.RetireTeam(ctx, postgresdb.RetireTeamParams{ID: team.ID, NewName: name})); err != nil {
			return err
		}
		if err := q.DeleteFutureShifts(ctx, team.ID); err != nil {
			return err
		}
		if _, err := q.TellIncidentsOfTarget(ctx, postgresdb.TellIncidentsOfTargetParams{Actor: postgres.Storable(by.Owner), TargetID: team.TargetID,
			Text: postgres.CleanText("team " + team.Name + " was deleted; steps that name it page the fallback instead")}); err != nil {
			return err
		}
		err := q.RememberDeletedTeam(ctx, postgresdb.RememberDeletedTeamParams{TeamID: team.ID, OldName: team.Name,
			NewName: name})
		if err != nil {
			return err
		}
		return auditlog.WriteOncall(ctx, q, by.Owner, team.Name, "team_deleted", map[string]any{})
	})
}

// AddMember makes a person a member, at the end of the team's order; a Conflict fault when they are one.
func (t *OncallTeams) AddMember(ctx context.Context, team oncall.Profile, user oncall.Person, by oncall.By) error {
	return t.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if _, err := q.LockTeam(ctx, team.ID); err != nil {
			return err
		}
		n, err := q.JoinTeam(ctx, postgresdb.JoinTeamParams{TeamID: team.ID, UserID: user.ID})
		if err := postgres.RequireNew(n, err); err != nil {
			return err
		}
		return teamChanged(ctx, q, by, audit.TeamMemberAdded, team, "user "+user.Name)
	})
}

// RemoveMember removes a person from the members of a team. Rosters and administrators stay as they are. A NotFound
// fault when they are no member, a Conflict when groups of single sign-on give the membership.
func (t *OncallTeams) RemoveMember(ctx context.Context, team oncall.Profile, user oncall.Person, by oncall.By) error {
	return t.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if _, err := q.LockTeam(ctx, team.ID); err != nil {
			return err
		}
		managed, err := q.IsManagedMember(ctx, postgresdb.IsManagedMemberParams{TeamID: team.ID, UserID: user.ID})
		if err != nil {
			return err
		}
		if managed {
			return fault.New(fault.Conflict,
				"groups of single sign-on give this membership: change the groups at the identity provider")
		}
		if err := postgres.RequireRow(q.LeaveTeam(ctx, postgresdb.LeaveTeamParams{TeamID: team.ID, UserID: user.ID})); err != nil {
			return err
		}
		if err := q.TidyTeamMembers(ctx, team.ID); err != nil {
			return err
		}
		return teamChanged(ctx, q, by, audit.TeamMemberRemoved, team, "user "+user.Name)
	})
}

// teamChanged adds an entry about a team to the audit log of the installation. The one of on-call has only the actions
// of Oncall.
func teamChanged(ctx context.Context, q *postgresdb.Queries, by oncall.By, action audit.Action, team oncall.Profile, detail string) error {
	return auditlog.Write(ctx, q, audit.Entry{Actor: by.Owner, Action: action, Object: "team " + team.Name,
		Detail: detail})
}

// AddAdmin makes a person an administrator and member; a Conflict fault when they are one.
func (t *OncallTeams) AddAdmin(ctx context.Context, team oncall.Profile, user oncall.Person, by oncall.By) error {
	return t.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if _, err := q.LockTeam(ctx, team.ID); err != nil {
			return err
		}
		n, err := q.MakeTeamAdmin(ctx, postgresdb.MakeTeamAdminParams{TeamID: team.ID, UserID: user.ID})
		if err := postgres.RequireNew(n, err); err != nil {
			return err
		}
		if err := t.subscribe(ctx, q, team.ID, user.ID); err != nil {
			return err
		}
		return auditlog.WriteOncall(ctx, q, by.Owner, team.Name, "admin_created", map[string]any{"user": user.Name})
	})
}

// RemoveAdmin removes a person from the administrators of a team; a NotFound fault when they are none. A person who is
// in no roster of the team leaves it.
func (t *OncallTeams) RemoveAdmin(ctx context.Context, team oncall.Profile, user oncall.Person, by oncall.By) error {
	return t.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if _, err := q.LockTeam(ctx, team.ID); err != nil {
			return err
		}
		if err := postgres.RequireRow(q.UnmakeTeamAdmin(ctx, postgresdb.UnmakeTeamAdminParams{TeamID: team.ID, UserID: user.ID})); err != nil {
			return err
		}
		if err := leaveIfNothing(ctx, q, team.ID, int64(user.ID)); err != nil {
			return err
		}
		return auditlog.WriteOncall(ctx, q, by.Owner, team.Name, "admin_deleted", map[string]any{"user": user.Name})
	})
}

// Subscriptions returns what a team subscribes to.
func (t *OncallTeams) Subscriptions(ctx context.Context, team int64) ([]oncall.Subscription, error) {
	rows, err := postgres.Query(ctx, t.db, (*postgresdb.Queries).TeamSubscriptions, []int64{team})
	return postgres.Convert(rows, func(r postgresdb.TeamSubscriptionsRow) oncall.Subscription {
		return oncall.Subscription{TeamID: r.SubscriptionID, Team: r.Subscription, Role: r.Role}
	}), err
}

// Subscribe shows another team's role on a team's calendar; a Conflict fault when the subscription exists.
func (t *OncallTeams) Subscribe(ctx context.Context, team, other, role int64) error {
	return t.subscription(ctx, audit.TeamSubscribed, team, other, func(ctx context.Context, q *postgresdb.Queries) error {
		return postgres.RequireNew(q.Subscribe(ctx, postgresdb.SubscribeParams{TeamID: team, SubscriptionID: other,
			RoleID: role}))
	})
}

// Unsubscribe removes another team's role from a team's calendar; a NotFound fault when there is no such subscription.
func (t *OncallTeams) Unsubscribe(ctx context.Context, team, other, role int64) error {
	return t.subscription(ctx, audit.TeamUnsubscribed, team, other, func(ctx context.Context, q *postgresdb.Queries) error {
		return postgres.RequireRow(q.Unsubscribe(ctx, postgresdb.UnsubscribeParams{TeamID: team, SubscriptionID: other,
			RoleID: role}))
	})
}

// subscription changes a subscription and adds an entry to the audit log.
func (t *OncallTeams) subscription(ctx context.Context, action audit.Action, team, other int64, change func(context.Context, *postgresdb.Queries) error) error {
	return t.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if err := change(ctx, q); err != nil {
			return err
		}
		subscriber, err := q.OncallTeamByID(ctx, team)
		if err != nil {
			return err
		}
		subscribed, err := q.OncallTeamByID(ctx, other)
		if err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Action: action, Object: "team " + subscriber.Name,
			Detail: "to team " + subscribed.Name})
	})
}

// subscribe gives a person the default notices of a team unless they have settings for it.
func (t *OncallTeams) subscribe(ctx context.Context, q *postgresdb.Queries, team int64, user users.ID) error {
	has, err := q.HasNoticeSettings(ctx, postgresdb.HasNoticeSettingsParams{TeamID: team, UserID: user})
	if err != nil || has {
		return err
	}
	known, err := q.OncallRoles(ctx)
	if err != nil {
		return err
	}
	for _, s := range t.defaults {
		s.User, s.TeamID = user, team
		s.Roles = slices.DeleteFunc(slices.Clone(s.Roles), func(role string) bool { // administrators may have deleted it
			return !slices.ContainsFunc(known,
				func(r postgresdb.OncallRole) bool { return strings.EqualFold(r.Name, role) })
		})
		if len(s.Roles) == 0 {
			continue
		}
		if _, err := AddNoticeSetting(ctx, q, s); err != nil {
			return err
		}
	}
	return nil
}

// leaveIfNothing applies the membership rule: people who are in no roster and do not administer the team leave it, and
// get no more notices of its shifts.
func leaveIfNothing(ctx context.Context, q *postgresdb.Queries, team int64, people ...int64) error {
	left, err := q.LeaveTeamIfNothing(ctx, postgresdb.LeaveTeamIfNothingParams{TeamID: team,
		UserIds: postgres.NonNil(people)})
	if err != nil || len(left) == 0 {
		return err
	}
	return q.DropNoticeSettings(ctx, postgresdb.DropNoticeSettingsParams{TeamID: team, UserIds: postgres.Numbers(left)})
}

func profileOf(r postgresdb.OncallTeamByNameRow) oncall.Profile {
	return oncall.Profile{
		ID: r.ID, OncallID: r.OncallID, TargetID: r.TargetID, Active: r.Active,
		TeamSettings: oncall.TeamSettings{
			Name: r.Name, Description: r.Description, TimeZone: r.TimeZone, Email: postgres.Deref(r.Email), SlackChannel: postgres.Deref(r.SlackChannel),
			SlackNotifications: postgres.Deref(r.SlackChannelNotifications), IrisPlan: postgres.Deref(r.IrisPlan), IrisEnabled: r.IrisEnabled,
			OverridePhone: postgres.Deref(r.OverridePhone), APIManaged: r.ApiManaged,
		},
	}
}
