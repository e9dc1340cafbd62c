// Package incidents does what operators do with running incidents: it snoozes and merges them, pages further people and changes owners.
// Every change is on the timelines. cmd/iris calls it. It knows neither HTTP nor flags. The processors see a change within a second.
package incidents

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/notifications/responders"
	"github.com/iris-oncall/iris/internal/postgres"
	pgincidents "github.com/iris-oncall/iris/internal/postgres/incidents"
	"github.com/iris-oncall/iris/internal/postgres/notifications"
	"github.com/iris-oncall/iris/internal/postgres/people"
)

// Incidents performs the operations. An incident that does not exist is a NotFound fault; a change that its state does not permit is a
// Conflict. It is safe for concurrent use.
type Incidents struct {
	store      *pgincidents.Incidents
	responders responders.Responders
}

// New returns the operations on a database.
func New(db *postgres.DB) Incidents {
	store := pgincidents.New(db)
	return Incidents{store, responders.Responders{Store: store, Lookups: notifications.New(db), People: people.NewUsers(db)}}
}

// change returns a change of incidents by the operator.
func change(ids ...int64) incidents.Change {
	return incidents.Change{IDs: postgres.IDs[incidents.ID](ids), Actor: "iris command"}
}

// Snooze ends the escalation of an incident for some time, and returns when the plan begins again.
func (i Incidents) Snooze(ctx context.Context, id int64, d time.Duration) (time.Time, error) {
	until := time.Now().Add(d).Truncate(time.Second)
	return until, pgincidents.Found(i.store.Snooze(ctx, change(id), until))
}

// EndSnooze ends a snooze now.
func (i Incidents) EndSnooze(ctx context.Context, id int64) error {
	return pgincidents.Found(i.store.EndSnooze(ctx, change(id)))
}

// Merge merges incidents into another one. If one of them does not permit it, nothing is changed.
func (i Incidents) Merge(ctx context.Context, ids []int64, into int64, comment string) error {
	_, err := i.store.Merge(ctx, change(ids...), incidents.ID(into), comment)
	return err
}

// Unmerge undoes the merge of an incident.
func (i Incidents) Unmerge(ctx context.Context, id int64) error {
	return pgincidents.Found(i.store.Unmerge(ctx, change(id)))
}
