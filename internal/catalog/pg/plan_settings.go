package pg

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// SetSettings stores the settings of a plan that are given, and adds an entry to the audit log. They apply to every
// version of the plan, later ones included. by is the actor of the audit log. Unknown: NotFound. If the settings have
// none of the tags of ifMatch, it returns etag.ErrStale; nil = any state is changed.
func (p *Plans) SetSettings(ctx context.Context, name string, patch escalation.SettingsPatch, ifMatch []string, by string) error {
	defer p.active.Clear()
	name = strings.TrimRight(postgres.Storable(name), " ")
	// Statements use the two times, so each has its own column.
	stored := patch
	stored.RepageAfterSeconds, stored.AcknowledgementTimeoutSeconds = nil, nil
	return p.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if err := matchSettings(ctx, q, name, ifMatch); err != nil {
			return err
		}
		return auditedPlan.changing(ctx, q, audit.PlanSettingsChanged, name, by, func() error {
			n, err := q.SetPlanSettings(ctx, db.SetPlanSettingsParams{Name: name,
				Settings:    json.RawMessage(stored.String()),
				RepageAfter: int32Of(patch.RepageAfterSeconds), AcknowledgementTimeout: int32Of(patch.AcknowledgementTimeoutSeconds)})
			return postgres.Named(postgres.RequireRow(n, err), "there is no plan "+name)
		})
	})
}

// matchSettings returns etag.ErrStale unless the settings of a plan have one of the wanted tags. It locks the versions
// of the plan. A nil wanted allows every state.
func matchSettings(ctx context.Context, q *db.Queries, name string, wanted []string) error {
	if wanted == nil {
		return nil
	}
	versions, err := q.PlanVersions(ctx, name)
	if err != nil || len(versions) == 0 {
		return err
	}
	row, err := q.PlanByID(ctx, versions[0])
	if err != nil {
		return err
	}
	return etag.Match(wanted, settingsOf(row).Patch().Tag())
}

// SetPaused pauses a plan, or lets it go on, and adds an entry to the audit log. It applies to every version of the
// plan, later ones included. by is the actor of the audit log. Unknown: NotFound.
func (p *Plans) SetPaused(ctx context.Context, name string, paused bool, by string) error {
	defer p.active.Clear()
	name = strings.TrimRight(postgres.Storable(name), " ")
	action := audit.PlanPaused
	if !paused {
		action = audit.PlanResumed
	}
	return p.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		return auditedPlan.changing(ctx, q, action, name, by, func() error {
			n, err := q.SetPlanPaused(ctx, db.SetPlanPausedParams{Name: name, Paused: paused})
			return postgres.Named(postgres.RequireRow(n, err), "there is no plan "+name)
		})
	})
}

func int32Of(n *int64) *int {
	if n == nil {
		return nil
	}
	out := int(*n)
	return &out
}

func settingsOf(row db.PlanByIDRow) escalation.Settings {
	s := escalation.DecodeSettings(row.Settings)
	s.RepageAfter, s.AcknowledgementTimeout = postgres.FromSeconds(row.RepageAfter), postgres.FromSeconds(row.AcknowledgementTimeout)
	return s
}
