package pg

import (
	"context"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/floods"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

// Directory is escalation.Reader and oncall.TargetReader: people, teams, applications and plans, read in batches by
// number. It is safe for concurrent use and remembers nothing.
type Directory struct {
	db     *postgres.DB
	perDay int // calls and texts of people without a limit of their own; 0 = no limit
}

var (
	_ escalation.Reader   = (*Directory)(nil)
	_ oncall.TargetReader = (*Directory)(nil)
)

// NewDirectory returns a directory over the database.
func NewDirectory(d *postgres.DB) *Directory { return &Directory{db: d} }

// WithDailyLimit sets how many calls and texts a person without a limit of their own gets on one day; 0 = no limit.
func (d *Directory) WithDailyLimit(n int) *Directory {
	d.perDay = n
	return d
}

// Teams implements oncall.TargetReader.
func (d *Directory) Teams(ctx context.Context, targetIDs []int64) (map[int64]oncall.Team, error) {
	out := make(map[int64]oncall.Team, len(targetIDs))
	err := d.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		rows, err := q.DirectoryTeams(ctx, postgres.NonNil(targetIDs))
		if err != nil {
			return fmt.Errorf("read teams: %w", err)
		}
		for _, row := range rows {
			t := oncall.Team{
				ID: row.ID, TargetID: row.TargetID, OncallID: row.OncallID, Name: row.Name, TimeZone: row.TimeZone,
				Active: row.Active, ManagerID: users.ID(row.ManagerID), DirectorID: users.ID(row.DirectorID),
				Members: make([]users.ID, len(row.Members)),
			}
			for i, id := range row.Members {
				t.Members[i] = users.ID(id)
			}
			out[row.TargetID] = t
		}
		return nil
	})
	return out, err
}

// UsersByTarget implements oncall.TargetReader.
func (d *Directory) UsersByTarget(ctx context.Context, targetIDs []int64) (map[int64]users.User, error) {
	out := make(map[int64]users.User, len(targetIDs))
	err := d.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		rows, err := q.DirectoryUsersByTarget(ctx, postgres.NonNil(targetIDs))
		if err != nil {
			return fmt.Errorf("read users: %w", err)
		}
		for _, row := range rows {
			out[row.TargetID] = userOf(postgresdb.DirectoryUsersRow(row))
		}
		return nil
	})
	return out, err
}

// Lists implements oncall.TargetReader.
func (d *Directory) Lists(ctx context.Context, targetIDs []int64) (map[int64]oncall.List, error) {
	out := make(map[int64]oncall.List, len(targetIDs))
	err := d.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		rows, err := q.DirectoryLists(ctx, postgres.NonNil(targetIDs))
		if err != nil {
			return fmt.Errorf("read mailing lists: %w", err)
		}
		for _, row := range rows {
			l := oncall.List{
				TargetID: row.TargetID, Name: row.Name, Active: row.Active, Size: int(row.MemberCount),
				Members: make([]users.ID, len(row.Members)),
			}
			for i, id := range row.Members {
				l.Members[i] = users.ID(id)
			}
			out[row.TargetID] = l
		}
		return nil
	})
	return out, err
}

// UsersByID implements oncall.TargetReader.
func (d *Directory) UsersByID(ctx context.Context, ids []users.ID) (map[users.ID]users.User, error) {
	raw := make([]int64, len(ids))
	for i, id := range ids {
		raw[i] = int64(id)
	}
	out := make(map[users.ID]users.User, len(ids))
	err := d.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		rows, err := q.DirectoryUsers(ctx, raw)
		if err != nil {
			return fmt.Errorf("read users: %w", err)
		}
		for _, row := range rows {
			out[row.ID] = userOf(row)
		}
		return nil
	})
	return out, err
}

func userOf(row postgresdb.DirectoryUsersRow) users.User {
	return users.User{
		ID: row.ID, TargetID: row.TargetID, OncallID: row.OncallID, Name: row.Name, FullName: row.FullName,
		TimeZone: row.TimeZone, Admin: row.Admin, Active: row.Active,
	}
}

// Responders returns users with their contacts and choices as seen by an application.
func (d *Directory) Responders(ctx context.Context, keys []users.ResponderKey) (map[users.ResponderKey]users.Responder, error) {
	var out map[users.ResponderKey]users.Responder
	err := d.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		out, err = RespondersOf(ctx, q, keys)
		return err
	})
	return out, err
}

// RespondersOf reads how people can be reached for applications.
func RespondersOf(ctx context.Context, q *postgresdb.Queries, keys []users.ResponderKey) (map[users.ResponderKey]users.Responder, error) {
	params := postgresdb.DirectoryRespondersParams{UserIds: make([]int64, len(keys)),
		ApplicationIds: make([]int64, len(keys))}
	for i, k := range keys {
		params.UserIds[i], params.ApplicationIds[i] = int64(k.User), k.Application
	}
	out := make(map[users.ResponderKey]users.Responder, len(keys))
	rows, err := q.DirectoryResponders(ctx, params)
	if err != nil {
		return nil, fmt.Errorf("read responders: %w", err)
	}
	for _, row := range rows {
		out[users.ResponderKey{User: row.ID, Application: row.ApplicationID}] = users.Responder{
			User: userOf(postgresdb.DirectoryUsersRow{
				ID: row.ID, TargetID: row.TargetID, OncallID: row.OncallID, Name: row.Name, FullName: row.FullName,
				TimeZone: row.TimeZone, Admin: row.Admin, Active: row.Active,
			}),
			Contacts: postgres.Zip[users.Mode, string](row.ContactModes, row.Destinations),
			Modes:    postgres.Zip[users.Priority, users.Mode](row.OwnPriorities, row.OwnModes),
			AppModes: postgres.Zip[users.Priority, users.Mode](row.AppPriorities,
				row.AppModes), FollowUps: followUpsOf(row),
		}
	}
	return out, nil
}

func followUpsOf(row postgresdb.DirectoryRespondersRow) map[users.Priority][]users.FollowUp {
	if len(row.FollowUpPriorities) == 0 {
		return nil
	}
	out := map[users.Priority][]users.FollowUp{}
	for i, p := range row.FollowUpPriorities {
		out[users.Priority(p)] = append(out[users.Priority(p)], users.FollowUp{
			Mode: users.Mode(row.FollowUpModes[i]), After: postgres.FromSeconds(row.FollowUpDelays[i]),
		})
	}
	return out
}

// Applications returns what escalation must know of applications.
func (d *Directory) Applications(ctx context.Context, ids []int64) (map[int64]escalation.Application, error) {
	var out map[int64]escalation.Application
	err := d.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		out, err = ApplicationsOf(ctx, q, ids)
		return err
	})
	return out, err
}

// ApplicationsOf reads what escalation must know of applications. Those that do not exist are absent.
func ApplicationsOf(ctx context.Context, q *postgresdb.Queries, ids []int64) (map[int64]escalation.Application, error) {
	out := make(map[int64]escalation.Application, len(ids))
	rows, err := q.DirectoryApplications(ctx, postgres.NonNil(ids))
	if err != nil {
		return nil, fmt.Errorf("read applications: %w", err)
	}
	for _, row := range rows {
		app := escalation.Application{
			ID: row.ID, Name: row.Name, Fallback: targetOf(row.FallbackRole, row.FallbackTargetID, row.FallbackName),
			Modes: users.AppModes{
				Supported:  make(map[users.Mode]bool, len(row.Modes)),
				Defaults:   postgres.Zip[users.Priority, users.Mode](row.DefaultPriorities, row.DefaultModes),
				Priorities: postgres.Zip[users.Priority, users.Mode](row.Priorities, row.PriorityModes),
			},
		}
		for _, m := range row.Modes {
			app.Modes.Supported[users.Mode(m)] = true
		}
		out[row.ID] = app
	}
	return out, nil
}

func targetOf(role *string, id *int64, name string) *escalation.Target {
	if role == nil || id == nil {
		return nil
	}
	return &escalation.Target{Role: *role, TargetID: *id, Name: name}
}

// Plans returns versions of plans with their steps. Steps without notifications keep their place.
func (d *Directory) Plans(ctx context.Context, ids []escalation.PlanID) (map[escalation.PlanID]escalation.Plan, error) {
	raw := make([]int64, len(ids))
	for i, id := range ids {
		raw[i] = int64(id)
	}
	out := make(map[escalation.PlanID]escalation.Plan, len(ids))
	err := d.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		rows, err := q.DirectoryPlans(ctx, raw)
		if err != nil {
			return fmt.Errorf("read plans: %w", err)
		}
		notifications, err := q.DirectoryPlanNotifications(ctx, raw)
		if err != nil {
			return fmt.Errorf("read plan notifications: %w", err)
		}
		steps := map[int64][]escalation.Step{}
		for _, n := range notifications {
			s := steps[n.PlanID]
			for len(s) < n.Step {
				s = append(s, escalation.Step{})
			}
			s[n.Step-1].Notifications = append(s[n.Step-1].Notifications, notificationOf(n))
			steps[n.PlanID] = s
		}
		var conditional []int64
		for _, row := range rows {
			p := planOf(row)
			p.Steps = steps[row.ID]
			out[p.ID] = p
			if row.HasConditions {
				conditional = append(conditional, row.ID)
			}
		}
		if len(conditional) == 0 {
			return nil
		}
		conditions, err := q.PlanConditions(ctx, conditional)
		if err != nil {
			return fmt.Errorf("read conditions of plans: %w", err)
		}
		for _, c := range conditions {
			escalation.DecodeCondition(c.Condition, c.Team, c.TimeZone, out[escalation.PlanID(c.PlanID)].Steps)
		}
		return nil
	})
	return out, err
}

func planOf(row postgresdb.DirectoryPlansRow) escalation.Plan {
	p := escalation.Plan{
		ID: escalation.PlanID(row.ID), Name: row.Name, Description: row.Description, Creator: row.Creator,
		CreatorID: row.CreatorID, CreatedAt: row.CreatedAt, Active: row.Active, Paused: row.Paused,
		ThresholdWindow:   time.Duration(row.ThresholdWindow) * time.Second,
		ThresholdCount:    row.ThresholdCount,
		AggregationWindow: time.Duration(row.AggregationWindow) * time.Second,
		AggregationReset:  time.Duration(row.AggregationReset) * time.Second,
		Settings:          escalation.DecodeSettings(row.Settings),
		Fallback:          targetOf(row.FallbackRole, row.FallbackTargetID, row.FallbackName),
	}
	if row.TrackingType != nil && row.TrackingKey != nil {
		p.Tracking = &escalation.Tracking{Mode: users.Mode(*row.TrackingType), Key: *row.TrackingKey,
			Template: row.TrackingTemplate}
	}
	return p
}

func notificationOf(row postgresdb.DirectoryPlanNotificationsRow) escalation.Notification {
	n := escalation.Notification{
		ID: row.ID, Priority: row.Priority, Target: targetOf(row.Role, row.TargetID, row.TargetName),
		Template: row.Template, Wait: time.Duration(row.WaitSeconds) * time.Second, Repeat: row.Repeat, Optional: row.Optional,
	}
	if row.DynamicIndex != nil {
		i := *row.DynamicIndex
		n.DynamicIndex = &i
	}
	return n
}

// Rules implements escalation.Rules.
func (d *Directory) Rules(ctx context.Context, keys []users.ResponderKey) (map[users.ResponderKey][]messages.Reprioritisation, error) {
	var out floods.Rules
	err := d.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		out, err = pg.ReadRules(ctx, q, keys)
		return err
	})
	return out, err
}

// Quiet implements simulation.Rules.
func (d *Directory) Quiet(ctx context.Context, id users.ID, at time.Time) (q floods.QuietLimits, ok bool, err error) {
	err = d.db.Do(ctx, func(ctx context.Context, queries *postgresdb.Queries) error {
		found, err := pg.ReadQuiet(ctx, queries, []users.ID{id}, d.perDay, at)
		q, ok = found[id]
		return err
	})
	return q, ok, err
}

// DefaultModes returns the default mode of every priority.
func (d *Directory) DefaultModes(ctx context.Context) (map[users.Priority]users.Mode, error) {
	return pgusers.PriorityModes(ctx, d.db)
}
