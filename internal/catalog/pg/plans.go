package pg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/cache"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// planTTL is how long an active plan is cached, and so how late a change by another process is seen.
const planTTL = time.Second

// Plans stores versions of escalation plans. It is safe for concurrent use.
type Plans struct {
	db     *postgres.DB
	active *cache.Cache[string, escalation.PlanSteps]
	texts  *cache.Cache[planApplication, bool]
}

type planApplication struct{ plan, application int64 }

// NewPlans returns the adapter over d.
func NewPlans(d *postgres.DB) *Plans {
	return &Plans{db: d, active: cache.New(cache.Config[string, escalation.PlanSteps]{TTL: planTTL}),
		texts: cache.New(cache.Config[planApplication, bool]{TTL: planTTL})}
}

// ByID returns a version of a plan, active or not, with its steps. Unknown: NotFound.
func (p *Plans) ByID(ctx context.Context, id escalation.PlanID) (plan escalation.PlanSteps, err error) {
	return postgres.Get(ctx, p.db, func(ctx context.Context, q *postgresdb.Queries) (plan escalation.PlanSteps, err error) {
		row, err := q.PlanByID(ctx, int64(id))
		if err != nil {
			return plan, err
		}
		return loadPlan(ctx, q, row)
	})
}

// ByName returns the active version of a plan with its steps. Unknown or without an active version: NotFound.
func (p *Plans) ByName(ctx context.Context, name string) (escalation.PlanSteps, error) {
	return planByName(ctx, p.db, name)
}

func planByName(ctx context.Context, d *postgres.DB, name string) (plan escalation.PlanSteps, err error) {
	return postgres.Get(ctx, d, func(ctx context.Context, q *postgresdb.Queries) (plan escalation.PlanSteps, err error) {
		row, err := q.PlanByName(ctx, name)
		if err != nil {
			return plan, err
		}
		return loadPlan(ctx, q, postgresdb.PlanByIDRow(row))
	})
}

// StepCount returns how many steps a version of a plan has, those of its repeats too; 0 when it cannot be read.
func (p *Plans) StepCount(ctx context.Context, id int64) int {
	plan, err := p.ByID(ctx, escalation.PlanID(id))
	if err != nil {
		return 0
	}
	return len(plan.Steps) * (1 + plan.Repeat)
}

// Recent is ByName for opening incidents: the result may be up to a second old. Callers must not change it.
func (p *Plans) Recent(ctx context.Context, name string) (escalation.PlanSteps, error) {
	return p.active.Get(ctx, strings.TrimRight(name, " "), func(ctx context.Context) (escalation.PlanSteps, error) {
		return planByName(ctx, p.db, name)
	})
}

// HasText reports whether any version of any template of the plan has a text for the application. A true answer may be
// up to a second old.
func (p *Plans) HasText(ctx context.Context, plan escalation.PlanID, applicationID int64) (bool, error) {
	key := planApplication{int64(plan), applicationID}
	has, err := p.texts.Get(ctx, key, func(ctx context.Context) (has bool, err error) {
		has, err = postgres.Query(ctx, p.db, (*postgresdb.Queries).PlanHasText, postgresdb.PlanHasTextParams{
			PlanID: key.plan, ApplicationID: key.application,
		})
		if err == nil && !has {
			err = errNoText // false is not cached
		}
		return has, err
	})
	if errors.Is(err, errNoText) {
		return false, nil
	}
	return has, err
}

var errNoText = fault.New(fault.NotFound, "the plan has no text for the application")

const planList = `select p.id, p.name, p.creator_id, p.description, p.threshold_window, p.threshold_count,
	p.aggregation_window, p.aggregation_reset, p.tracking_type, p.tracking_key, p.tracking_template, p.fallback_role,
	p.fallback_target_id, p.paused, p.created_at, p.repage_after, p.acknowledgement_timeout, p.settings, p.conditions, u.name as creator, (pa.plan_id is not null) as active,
	coalesce(o.id, 0) as team_id, coalesce(o.name, '') as team,
	coalesce(o.members, '{}') as members, coalesce(o.managers, '{}') as managers
from plans p
join users u on u.id = p.creator_id
left join (plan_owners po join owning_teams o on o.id = po.team_id) on po.name_key = lower(p.name)
left join plan_active pa on pa.plan_id = p.id
where true`

var planColumns = map[string]postgres.Column{
	"id":                 {Expr: "p.id", Kind: filters.Int},
	"name":               {Expr: "p.name", Kind: filters.Text},
	"threshold_window":   {Expr: "p.threshold_window", Kind: filters.Int},
	"threshold_count":    {Expr: "p.threshold_count", Kind: filters.Int},
	"aggregation_window": {Expr: "p.aggregation_window", Kind: filters.Int},
	"aggregation_reset":  {Expr: "p.aggregation_reset", Kind: filters.Int},
	"description":        {Expr: "p.description", Kind: filters.Text},
	"created":            {Expr: "p.created_at", Kind: filters.Time},
	"creator":            {Expr: "u.name", Kind: filters.Text},
	"team":               {Expr: "o.name", Kind: filters.Text},
	// The person who wrote the version, or a member of the team that owns the plan.
	"member": {Expr: "w.name", Kind: filters.Text,
		Within: "exists (select from users w where (w.id = p.creator_id or w.id = any(o.members)) and %)"},
	"active": {Expr: "(pa.plan_id is not null)", Kind: filters.Bool},
	"target": {Expr: "t.name", Kind: filters.Text, Within: "exists (select from plan_notifications n " +
		"join target_roles r on r.name = n.role join targets t on t.target_id = n.target_id and t.kind = r.target_kind " +
		"where n.plan_id = p.id and %)"},
	// The plan has an active template with a text for the application.
	"application": {Expr: "a.name", Kind: filters.Text, Within: "exists (select from plan_notifications n " +
		"join template_active ta on ta.name_key = lower(n.template) join template_contents c on c.template_id = ta.template_id " +
		"join applications a on a.id = c.application_id where n.plan_id = p.id and %)"},
}

// List returns plan versions without their steps: newest first with a limit, else by id.
func (p *Plans) List(ctx context.Context, q filters.Query) ([]escalation.Plan, error) {
	l := postgres.NewListQuery("PlanList", planList).Tagged("plan", "p.id")
	if err := l.Filter(q, planColumns); err != nil {
		return nil, err
	}
	sql, args := l.Order(q.Limit, "p.created_at", "p.id")
	found, err := postgres.List(ctx, p.db, sql, args, pgx.RowToStructByPos[postgresdb.PlanByIDRow])
	if err != nil {
		return nil, err
	}
	return postgres.Convert(found, planHead), nil
}

// Roles returns all roles that plans can name, in a fixed order.
func (p *Plans) Roles(ctx context.Context) ([]escalation.TargetRole, error) {
	rows, err := postgres.Query(ctx, p.db, (*postgresdb.Queries).TargetRoles, false)
	return postgres.Convert(rows, roleOf), err
}

func roleOf(r postgresdb.TargetRolesRow) escalation.TargetRole {
	return escalation.TargetRole{Name: r.Name, Kind: r.TargetKind}
}

// Reach returns what exists of the named targets and templates, and the roles there are.
func (p *Plans) Reach(ctx context.Context, targets, templates []string) (escalation.Reach, error) {
	return postgres.Get(ctx, p.db, func(ctx context.Context, q *postgresdb.Queries) (r escalation.Reach, err error) {
		r = escalation.Reach{Roles: map[string]string{}, Targets: map[string][]escalation.ReachTarget{},
			Templates: map[string]escalation.ReachTemplate{}}
		roles, err := q.TargetRoles(ctx, false)
		if err != nil {
			return r, err
		}
		for _, row := range roles {
			r.Roles[row.Name] = row.TargetKind
		}
		found, err := q.ReachOfTargets(ctx, targets)
		if err != nil {
			return r, err
		}
		for _, row := range found {
			r.Targets[row.Asked] = append(r.Targets[row.Asked],
				escalation.ReachTarget{Kind: row.Kind, TargetID: row.TargetID,
					Name: row.Name, Active: row.Active, People: row.People, Reachable: row.Reachable, Zone: row.Zone, Size: int(row.Size)})
		}
		contents, err := q.ReachOfTemplates(ctx, templates)
		if err != nil {
			return r, err
		}
		for _, row := range contents {
			r.Templates[row.Asked] = escalation.ReachTemplate{Applications: row.Applications}
		}
		return r, nil
	})
}

// Create saves a new version of a plan and makes it the active one of its name. A template, role or creator that no
// longer exists is an Invalid fault. d.Replaces names the active version that d may replace: if another version is
// active, Create returns a Stale fault, or a Conflict fault if none may be active.
func (p *Plans) Create(ctx context.Context, d escalation.PlanContent) (id escalation.PlanID, err error) {
	defer p.active.Clear()
	err = p.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		return auditedPlan.changing(ctx, q, audit.PlanSaved, d.Name, "", func() error {
			id, err = savePlan(ctx, q, d)
			return err
		})
	})
	return id, err
}

// savePlan stores a new version of a plan and makes it the active one.
func savePlan(ctx context.Context, q *postgresdb.Queries, d escalation.PlanContent) (id escalation.PlanID, err error) {
	row := postgresdb.InsertPlanParams{Name: d.Name, CreatorID: d.CreatorID, Description: d.Description,
		ThresholdWindow: postgres.ToSeconds(d.ThresholdWindow), ThresholdCount: d.ThresholdCount,
		AggregationWindow: postgres.ToSeconds(d.AggregationWindow), AggregationReset: postgres.ToSeconds(d.AggregationReset)}
	if d.Tracking != nil {
		mode := string(d.Tracking.Mode)
		row.TrackingType, row.TrackingKey, row.TrackingTemplate = &mode, &d.Tracking.Key, d.Tracking.Template
	}
	if row.Steps = len(d.Steps); d.WithConditions {
		if row.Conditions, err = escalation.EncodeConditions(d.Steps); err != nil {
			return id, err
		}
	}
	n, err := q.InsertPlan(ctx, row)
	if err != nil {
		return id, fmt.Errorf("insert plan: %w", err)
	}
	id = escalation.PlanID(n)
	q.InsertPlanNotification(ctx, notificationRows(n, d.Steps)).Exec(func(_ int, e error) {
		if err == nil {
			err = e
		}
	})
	if err != nil {
		return id, fmt.Errorf("insert plan notifications: %w", err)
	}
	if d.Team != 0 {
		if err := q.OwnNewPlan(ctx, postgresdb.OwnNewPlanParams{Name: d.Name, TeamID: d.Team}); err != nil {
			return id, err
		}
	}
	if d.Replaces == nil {
		return id, q.ActivateNewestPlan(ctx, n)
	}
	return id, activate(planActivation(ctx, q), int64(*d.Replaces), n, "plan "+d.Name)
}

// planActivation returns the statements that change the active version of a plan.
func planActivation(ctx context.Context, q *postgresdb.Queries) activation {
	return activation{
		first: func(id int64) (int64, error) { return q.ActivateFirstPlan(ctx, id) },
		instead: func(replaced, id int64) (int64, error) {
			return q.ReplaceActivePlan(ctx, postgresdb.ReplaceActivePlanParams{ID: id, Replaced: replaced})
		},
		none: func(replaced int64) (int64, error) { return q.DeactivatePlan(ctx, replaced) },
	}
}

// Switch makes version to the active one in place of version from, and adds an entry to the audit log. from 0 requires
// a name without an active version; to 0 leaves the name without one. It returns a Stale fault if from is not the
// active version.
func (p *Plans) Switch(ctx context.Context, from, to escalation.PlanID, by string) error {
	defer p.active.Clear()
	return p.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		plan, err := q.PlanByID(ctx, int64(cmp.Or(to, from)))
		if err != nil {
			return err
		}
		return auditedPlan.changing(ctx, q, auditedPlan.switching(int64(to), audit.PlanDeleted), plan.Name, by, func() error {
			if err := planActivation(ctx, q).change(int64(from), int64(to)); err != nil || to != 0 {
				return err
			}
			return forgetPlan(ctx, q, plan.Name)
		})
	})
}

func notificationRows(plan int64, steps []escalation.Step) []postgresdb.InsertPlanNotificationParams {
	var rows []postgresdb.InsertPlanNotificationParams
	for s, step := range steps {
		for pos, n := range step.Notifications {
			row := postgresdb.InsertPlanNotificationParams{PlanID: plan, Step: s + 1, Position: pos,
				Priority: n.Priority, Template: n.Template, WaitSeconds: postgres.ToSeconds(n.Wait), Repeat: n.Repeat,
				Optional: n.Optional}
			if n.Target != nil {
				row.Role, row.TargetID = &n.Target.Role, &n.Target.TargetID
			} else if n.DynamicIndex != nil {
				index := *n.DynamicIndex
				row.DynamicIndex = &index
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// SetActive makes a version the active one of its name, or inactive. Deactivating a version that is not active changes
// nothing. Unknown: NotFound.
func (p *Plans) SetActive(ctx context.Context, id escalation.PlanID, active bool) error {
	defer p.active.Clear()
	return p.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		plan, err := q.PlanByID(ctx, int64(id))
		if err != nil {
			return err
		}
		if active {
			return auditedPlan.changing(ctx, q, audit.PlanVersionActivated, plan.Name, "", func() error {
				_, err := q.ActivatePlan(ctx, int64(id))
				return err
			})
		}
		if !plan.Active {
			return nil
		}
		return auditedPlan.changing(ctx, q, audit.PlanSwitchedOff, plan.Name, "", func() error {
			if n, err := q.DeactivatePlan(ctx, int64(id)); n == 0 || err != nil {
				return err
			}
			return forgetPlan(ctx, q, plan.Name)
		})
	})
}

// forgetPlan removes a plan that is no longer active from quotas, and deletes the addresses whose mail opened its
// incidents.
func forgetPlan(ctx context.Context, q *postgresdb.Queries, name string) error {
	if err := q.ForgetPlanOfQuotas(ctx, name); err != nil {
		return err
	}
	return q.ForgetPlanOfEmails(ctx, name)
}

// Delete removes every version of a plan. A plan that a quota names, or that has incidents, stays and is an Invalid
// fault. Unknown: NotFound.
func (p *Plans) Delete(ctx context.Context, name string) error {
	defer p.active.Clear()
	return p.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		ids, err := q.PlanVersions(ctx, name)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			return fault.New(fault.NotFound, "no such plan")
		}
		switch app, err := q.QuotaOfPlan(ctx, name); {
		case err == nil:
			return fault.Invalidf("", "Cannot delete this plan as the application %s is using it for quota", app)
		case !errors.Is(err, pgx.ErrNoRows):
			return err
		}
		// The lock on the versions blocks the opening of incidents with one of them.
		n, err := q.CountIncidentsOfPlans(ctx, ids)
		if err != nil {
			return err
		}
		if n > 0 {
			return fault.Invalidf("", "Cannot delete this plan as %d incidents have been created using it", n)
		}
		name := strings.TrimRight(name, " ")
		return auditedPlan.changing(ctx, q, audit.PlanDeleted, name, "",
			func() error { return deletePlan(ctx, q, name, ids) })
	})
}

func deletePlan(ctx context.Context, q *postgresdb.Queries, name string, versions []int64) error {
	if err := q.DeletePlans(ctx, versions); err != nil {
		return err
	}
	for _, id := range versions {
		if err := q.DeleteTagsOf(ctx, postgresdb.DeleteTagsOfParams{Kind: "plan", ObjectID: id}); err != nil {
			return err
		}
	}
	if err := q.DisownPlan(ctx, name); err != nil {
		return err
	}
	return forgetPlan(ctx, q, name)
}

func loadPlan(ctx context.Context, q *postgresdb.Queries, row postgresdb.PlanByIDRow) (escalation.PlanSteps, error) {
	p := escalation.PlanSteps{Plan: planHead(row), Lost: map[string]bool{}}
	if row.FallbackRole != nil && row.FallbackTargetID != nil {
		name, err := q.PlanFallback(ctx, postgresdb.PlanFallbackParams{Role: *row.FallbackRole,
			TargetID: *row.FallbackTargetID})
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return p, fmt.Errorf("read fallback of plan: %w", err)
		}
		p.Fallback = &escalation.Target{Role: *row.FallbackRole, Name: name, TargetID: *row.FallbackTargetID}
	}
	rows, err := q.PlanNotifications(ctx, row.ID)
	if err != nil {
		return p, fmt.Errorf("read plan notifications: %w", err)
	}
	for _, r := range rows {
		for len(p.Steps) < r.Step {
			p.Steps = append(p.Steps, escalation.Step{})
		}
		step := &p.Steps[r.Step-1]
		step.Notifications = append(step.Notifications, planNotification(r))
		if !r.TemplateActive {
			p.Lost[r.Template] = true
		}
	}
	conditions, err := q.PlanConditions(ctx, []int64{row.ID})
	if err != nil {
		return p, fmt.Errorf("read conditions of plan: %w", err)
	}
	for _, c := range conditions {
		escalation.DecodeCondition(c.Condition, c.Team, c.TimeZone, p.Steps)
	}
	return p, nil
}

func planHead(row postgresdb.PlanByIDRow) escalation.Plan {
	p := escalation.Plan{ID: escalation.PlanID(row.ID), Name: row.Name, Description: row.Description,
		Creator:   row.Creator,
		CreatorID: row.CreatorID, CreatedAt: row.CreatedAt, Active: row.Active, Paused: row.Paused, Settings: settingsOf(row),
		Team:            owningTeam(row.TeamID, row.Team, row.Members, row.Managers),
		ThresholdWindow: postgres.FromSeconds(row.ThresholdWindow), ThresholdCount: row.ThresholdCount,
		AggregationWindow: postgres.FromSeconds(row.AggregationWindow), AggregationReset: postgres.FromSeconds(row.AggregationReset)}
	if row.TrackingType != nil {
		p.Tracking = &escalation.Tracking{
			Mode: users.Mode(*row.TrackingType), Key: postgres.Deref(row.TrackingKey), Template: row.TrackingTemplate,
		}
	}
	return p
}

func planNotification(r postgresdb.PlanNotificationsRow) escalation.Notification {
	n := escalation.Notification{ID: r.ID, Priority: r.Priority, Template: r.Template,
		Wait: postgres.FromSeconds(r.WaitSeconds), Repeat: r.Repeat, Optional: r.Optional}
	if r.DynamicIndex != nil {
		index := *r.DynamicIndex
		n.DynamicIndex = &index
	} else if r.Role != nil && r.TargetID != nil {
		n.Target = &escalation.Target{Role: *r.Role, Name: r.Target, TargetID: *r.TargetID}
	}
	return n
}

// Aggregation lists the settings of aggregation of every active plan, by number.
func (p *Plans) Aggregation(ctx context.Context) ([]escalation.Plan, error) {
	rows, err := postgres.Read(ctx, p.db, (*postgresdb.Queries).PlanAggregation)
	return postgres.Convert(rows, func(r postgresdb.PlanAggregationRow) escalation.Plan {
		return escalation.Plan{ID: escalation.PlanID(r.ID), Name: r.Name,
			ThresholdWindow: postgres.FromSeconds(r.ThresholdWindow),
			ThresholdCount:  r.ThresholdCount, AggregationWindow: postgres.FromSeconds(r.AggregationWindow),
			AggregationReset: postgres.FromSeconds(r.AggregationReset)}
	}), err
}
