// This file stores notices: messages about incidents that page nobody. Package escalation decides about them. Changes
// of the state of incidents call it within their transactions, after they have locked the incidents.

package pg

import (
	"context"
	"fmt"
	"strings"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Resolved makes the notices of incidents that by resolved. Their entries on the timeline exist already.
func Resolved(ctx context.Context, q *db.Queries, ids []int64, by string) error {
	pasts, err := read(ctx, q, ids)
	if err != nil {
		return err
	}
	p := db.MakeNoticesParams{Purpose: string(messages.ResolvedNotice), LifeSeconds: escalation.Life.Seconds()}
	entries := db.AddEntriesParams{Kind: incidents.EntryNotice}
	for _, past := range pasts {
		made := escalation.Resolved(past.messages, past.settings, by)
		if line := escalation.Line(made); line != "" {
			entries.IncidentIds, entries.Texts = append(entries.IncidentIds, past.incident), append(entries.Texts,
				postgres.Storable(line))
		}
		for _, n := range made {
			add(&p, past.incident, n)
		}
	}
	if len(p.IncidentIds) == 0 {
		return nil
	}
	return store(ctx, q, p, entries)
}

// News makes the notice to the owner of an acknowledged incident that has news, at most one for each notices.Pause. The
// entry about the news is the last one on the timeline.
func News(ctx context.Context, q *db.Queries, id int64) error {
	pasts, err := read(ctx, q, []int64{id})
	if err != nil || len(pasts) == 0 || pasts[0].owner == 0 {
		return err
	}
	now, err := q.ServerClock(ctx)
	if err != nil {
		return err
	}
	n, ok := escalation.Owner(pasts[0].messages, pasts[0].settings, pasts[0].owner, pasts[0].ownerName, now)
	if !ok {
		return nil
	}
	p := db.MakeNoticesParams{Purpose: string(messages.OwnerNotice), LifeSeconds: escalation.Life.Seconds()}
	add(&p, id, n)
	return store(ctx, q, p, db.AddEntriesParams{IncidentIds: []int64{id}, Kind: incidents.EntryNotice,
		Texts: []string{escalation.OwnerLine(n)}})
}

// Changed cancels the notices that are not sent yet and that the new state of incidents forbids.
func Changed(ctx context.Context, q *db.Queries, ids []int64, t incidents.Transition) error {
	purpose, cancels := escalation.Cancels(t)
	if !cancels {
		return nil
	}
	if err := q.CancelNotices(ctx, db.CancelNoticesParams{Ids: ids, Purpose: string(purpose)}); err != nil {
		return fmt.Errorf("cancel notices: %w", err)
	}
	return nil
}

// past is what happened to an incident.
type past struct {
	incident  int64
	settings  escalation.Settings
	owner     users.ID // 0 = none
	ownerName string
	messages  []escalation.PastMessage
}

// read reads the past of incidents.
func read(ctx context.Context, q *db.Queries, ids []int64) ([]past, error) {
	rows, err := q.PastOfIncidents(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read the messages of incidents: %w", err)
	}
	var out []past
	for _, r := range rows { // ordered by incident
		if len(out) == 0 || out[len(out)-1].incident != int64(r.IncidentID) {
			out = append(out, past{incident: int64(r.IncidentID), settings: escalation.DecodeSettings(r.Settings),
				owner: users.ID(r.OwnerID), ownerName: r.Owner})
		}
		if r.Recipient == "" {
			continue // it has no messages
		}
		last := &out[len(out)-1]
		last.messages = append(last.messages, escalation.PastMessage{Recipient: messages.Recipient(r.Recipient),
			Target: r.Target, Mode: users.Mode(r.Mode),
			Purpose: messages.Purpose(r.Purpose), State: messages.State(r.State), At: r.At})
	}
	return out, nil
}

func add(p *db.MakeNoticesParams, incident int64, n escalation.Notice) {
	user, _ := n.Recipient.User()
	literal, isLiteral := strings.CutPrefix(string(n.Recipient), string(messages.ToLiteral("")))
	if !isLiteral {
		literal = ""
	}
	p.IncidentIds, p.Repeats = append(p.IncidentIds, incident), append(p.Repeats, n.Number)
	p.Recipients, p.UserIds = append(p.Recipients, string(n.Recipient)), append(p.UserIds, int64(user))
	p.Targets, p.Modes = append(p.Targets, n.Target), append(p.Modes, string(n.Mode))
	p.Literals, p.Seconds = append(p.Literals, literal), append(p.Seconds, n.After.Seconds())
}

func store(ctx context.Context, q *db.Queries, p db.MakeNoticesParams, entries db.AddEntriesParams) error {
	if err := q.MakeNotices(ctx, p); err != nil {
		return fmt.Errorf("make notices: %w", err)
	}
	return q.AddEntries(ctx, entries)
}
