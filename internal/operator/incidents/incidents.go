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

// Paged are the people and teams that are paged on a running incident.
type Paged struct {
	People   []string
	Teams    []string // everybody of the team
	OnCall   []string // teams: who is on call as primary
	Priority string   // "" = high
	Template string   // "" = that of the incident's step
}

// Page pages further people, in addition to those of the plan. Somebody who does not exist is an Invalid fault.
func (i Incidents) Page(ctx context.Context, id int64, p Paged) error {
	added := incidents.AddedPage{Priority: p.Priority, Template: p.Template}
	for _, of := range []struct {
		role  string
		names []string
	}{{"user", p.People}, {"team", p.Teams}, {"oncall-primary", p.OnCall}} {
		for _, name := range of.names {
			added.Targets = append(added.Targets, incidents.Target{Role: of.role, Name: name})
		}
	}
	return i.responders.PageAlso(ctx, change(id), added)
}

// Reassign gives an acknowledged incident another owner, who is paged.
func (i Incidents) Reassign(ctx context.Context, id int64, owner string) error {
	return i.responders.Reassign(ctx, change(id), owner)
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
