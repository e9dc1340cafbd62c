package pgtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/users"
)

// Catalog is a database with a few people, a team and two applications, for the adapters of plans and messages.
type Catalog struct {
	*postgres.DB
	Ann, bob  users.ID
	AnnTarget int64
	ops       int64 // target number of the team
	Demo      int64 // application
}

// NewCatalog returns a new database with that content.
func NewCatalog(t *testing.T) Catalog {
	t.Helper()
	c := Catalog{DB: New(t)}
	err := c.Pool().QueryRow(t.Context(), `
		with u as (insert into users (name) values ('ann'), ('Bob') returning id, name, target_id),
		     t as (insert into teams (name) values ('ops') returning id, target_id),
		     m as (insert into team_members (team_id, user_id, position) select t.id, u.id, 0 from t, u),
		     k as (insert into user_contacts (user_id, mode, destination) select id, 'email', 'ann@example.com' from u where name = 'ann'),
		     a as (insert into applications (name) values ('demo'), ('other') returning id, name)
		select (select id from u where name = 'ann'), (select id from u where name = 'Bob'),
		       (select target_id from u where name = 'ann'), (select target_id from t), (select id from a where name = 'demo')`).
		Scan(&c.Ann, &c.bob, &c.AnnTarget, &c.ops, &c.Demo)
	require.NoError(t, err)
	return c
}

// Draft returns a plan of two steps, which is not stored.
func (c Catalog) Draft(name string) escalation.PlanContent {
	zero := 0
	return escalation.PlanContent{Name: name, CreatorID: c.Ann, Description: "d", ThresholdWindow: 10 * time.Second,
		ThresholdCount:    1,
		AggregationWindow: 20 * time.Second, AggregationReset: 30 * time.Second,
		Tracking: &escalation.Tracking{Mode: users.Email, Key: "a@b",
			Template: []byte(`{"demo":{"email_subject":"s"}}`)},
		Steps: []escalation.Step{
			{Notifications: []escalation.Notification{
				{Priority: users.High, Target: &escalation.Target{Role: "user", Name: "ann", TargetID: c.AnnTarget},
					Template: "words", Wait: time.Minute, Repeat: 2},
				{Priority: users.Low, DynamicIndex: &zero, Template: "words", Optional: true},
			}},
			{Notifications: []escalation.Notification{
				{Priority: users.Urgent, Target: &escalation.Target{Role: "team", Name: "ops", TargetID: c.ops},
					Template: "gone"},
			}},
		}}
}
