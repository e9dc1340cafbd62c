package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Reasons of timers of incidents, as stored.
const (
	TimerLate            = "late firing"     // a firing alert that arrived late waits for the resolve that may follow it
	TimerNews            = "new alert"       // the escalation starts again when the pause between restarts is over
	TimerSnooze          = "snooze"          // the escalation starts again when the snooze is over
	TimerAcknowledgement = "acknowledgement" // the escalation starts again if the incident is not resolved until then
)

// BucketOf returns the bucket of an incident.
func BucketOf(incident int64) int { return int(incident & 255) }

// AddEntry adds a line to the timeline of an incident.
func AddEntry[ID ~int64, Kind ~string](ctx context.Context, q *db.Queries, incident ID, kind Kind, actor, text string) error {
	return q.AddEntries(ctx, db.AddEntriesParams{IncidentIds: []int64{int64(incident)},
		Kind: incidents.EntryKind(kind), Actor: actor, Texts: []string{postgres.Storable(text)}})
}
