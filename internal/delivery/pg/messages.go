package pg

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/iris-oncall/iris/internal/escalation/floods"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// AddEntries adds lines to timelines.
func AddEntries(ctx context.Context, q *db.Queries, entries []floods.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	var p db.AddTimelineParams
	for _, e := range entries {
		p.IncidentIds = append(p.IncidentIds, int64(e.Incident))
		p.Ats = append(p.Ats, postgres.OrEpoch(e.At))
		p.Kinds = append(p.Kinds, string(e.Kind))
		p.Texts = append(p.Texts, postgres.CleanText(e.Text))
		p.Details = append(p.Details, string(e.Detail))
	}
	if err := q.AddTimeline(ctx, p); err != nil {
		return fmt.Errorf("write timelines: %w", err)
	}
	return nil
}

// MakeMessages inserts messages, and the audit lines of those that did not exist yet.
func MakeMessages(ctx context.Context, q *db.Queries, news []floods.Message) error {
	if len(news) == 0 {
		return nil
	}
	var p db.MakeMessagesParams
	for i, m := range news {
		user, _ := m.Recipient.User()
		changed := false
		for _, c := range m.Changes {
			changed = changed || c.Type == "mode-change"
			p.ChangeOrds = append(p.ChangeOrds, i)
			p.ChangeTypes = append(p.ChangeTypes, c.Type)
			p.ChangeOlds = append(p.ChangeOlds, c.Old)
			p.ChangeNews = append(p.ChangeNews, c.New)
			p.ChangeDescriptions = append(p.ChangeDescriptions, c.Description)
		}
		p.Ords = append(p.Ords, i)
		p.Buckets = append(p.Buckets, m.Bucket)
		p.IncidentIds = append(p.IncidentIds, int64(m.IncidentID))
		p.RequestIds = append(p.RequestIds, m.RequestID)
		p.ApplicationIds = append(p.ApplicationIds, m.ApplicationID)
		p.PlanIds = append(p.PlanIds, m.PlanID)
		p.ReopenCounts = append(p.ReopenCounts, m.Reopen)
		p.Steps = append(p.Steps, m.Step)
		p.Positions = append(p.Positions, m.Position)
		p.Repeats = append(p.Repeats, m.Repeat)
		p.Recipients = append(p.Recipients, string(m.Recipient))
		p.Purposes = append(p.Purposes, string(m.Purpose))
		p.UserIds = append(p.UserIds, int64(user))
		p.Targets = append(p.Targets, m.Target)
		p.Priorities = append(p.Priorities, string(m.Priority))
		p.Classes = append(p.Classes, int(m.Class))
		p.Modes = append(p.Modes, string(m.Mode))
		p.Literals = append(p.Literals, m.Literal)
		p.Templates = append(p.Templates, m.Template)
		p.FallbackOfs = append(p.FallbackOfs, int64(m.FallbackOf))
		p.ExpiresAts = append(p.ExpiresAts, postgres.OrEpoch(m.ExpiresAt))
		p.Waits = append(p.Waits, int(min(m.Wait/time.Second, math.MaxInt32)))
		p.ModeChangeds = append(p.ModeChangeds, changed)
		p.HeldAts = append(p.HeldAts, postgres.OrEpoch(m.Held))
		p.Batches = append(p.Batches, m.Batch)
		p.BatchSizes = append(p.BatchSizes, m.BatchSize)
		p.Delays = append(p.Delays, int(m.After/time.Second))
		p.QuietUntils = append(p.QuietUntils, postgres.OrEpoch(m.QuietUntil))
	}
	p.ChangeOrds, p.ChangeTypes = postgres.NonNil(p.ChangeOrds), postgres.NonNil(p.ChangeTypes)
	p.ChangeOlds, p.ChangeNews, p.ChangeDescriptions = postgres.NonNil(p.ChangeOlds), postgres.NonNil(p.ChangeNews), postgres.NonNil(p.ChangeDescriptions)
	if _, err := q.MakeMessages(ctx, p); err != nil {
		return fmt.Errorf("make messages: %w", err)
	}
	return nil
}
