package postgres

import (
	"context"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

const TimerLate = "late firing"

const TimerNews = "new alert"

func BucketOf(incident int64) int { return int(incident & 255) }

func AddLine(ctx context.Context, q *db.Queries, id incidents.ID, kind incidents.EntryKind, actor, text string) error {
	return q.AddEntries(ctx, db.AddEntriesParams{IncidentIds: []int64{int64(id)}, Kind: string(kind), Actor: actor, Texts: []string{Storable(text)}})
}
