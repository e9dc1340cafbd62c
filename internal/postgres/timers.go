package postgres

import (
	"context"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

const timerLate = "late firing"

const timerNews = "new alert"

func bucketOf(incident int64) int { return int(incident & 255) }

func addLine(ctx context.Context, q *db.Queries, id incidents.ID, kind incidents.EntryKind, actor, text string) error {
	return q.AddEntries(ctx, db.AddEntriesParams{IncidentIds: []int64{int64(id)}, Kind: string(kind), Actor: actor, Texts: []string{storable(text)}})
}
