package auditlog

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// State reads the settings of one object.
type State struct {
	kind string
	read func(ctx context.Context, q *db.Queries) (json.RawMessage, error)
}

// User is the state of a person.
func User[ID ~int64](id ID) State {
	return State{"user", func(ctx context.Context, q *db.Queries) (json.RawMessage, error) {
		return q.AuditedUser(ctx, int64(id))
	}}
}

// Application is the state of an application.
func Application(id int64) State {
	return State{"application", func(ctx context.Context, q *db.Queries) (json.RawMessage, error) {
		return q.AuditedApplication(ctx, id)
	}}
}

// Plan is the state of the active version of a plan.
func Plan(name string) State {
	return State{"plan", func(ctx context.Context, q *db.Queries) (json.RawMessage, error) {
		return q.AuditedPlan(ctx,
			name)
	}}
}

// Template is the state of the active version of a template.
func Template(name string) State {
	return State{"template", func(ctx context.Context, q *db.Queries) (json.RawMessage, error) { return q.AuditedTemplate(ctx, name) }}
}

// Change makes a change of an object in a transaction and writes its entry with the fields before and after. An object
// that does not exist before the change is a NotFound fault.
func Change(ctx context.Context, d *postgres.DB, of State, e audit.Entry, change func(context.Context, *db.Queries) error) error {
	return d.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		before, err := of.load(ctx, q)
		if err != nil {
			return err
		}
		if before == nil {
			return fault.New(fault.NotFound, "there is no such "+of.kind)
		}
		return Changing(ctx, q, of, e, func() error { return change(ctx, q) })
	})
}

// Changing makes a change and writes its entry with the fields before and after, in the transaction of q. The object
// may be created or deleted by the change. Without Object, the entry names the object as the state does.
func Changing(ctx context.Context, q *db.Queries, of State, e audit.Entry, change func() error) error {
	before, err := of.load(ctx, q)
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	after, err := of.load(ctx, q)
	if err != nil {
		return err
	}
	if e.Object == "" {
		e.Object = of.kind + " " + name(after, before)
	}
	e.Changes = audit.Diff(before, after)
	return Write(ctx, q, e)
}

// Created writes the entry of an object that the transaction of q has created.
func Created(ctx context.Context, q *db.Queries, of State, e audit.Entry) error {
	state, err := of.load(ctx, q)
	if err != nil {
		return err
	}
	e.Object, e.Changes = of.kind+" "+name(state), audit.Diff(nil, state)
	return Write(ctx, q, e)
}

// load returns nil for an object that does not exist.
func (s State) load(ctx context.Context, q *db.Queries) (json.RawMessage, error) {
	state, err := s.read(ctx, q)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return state, err
}

// name returns the name in the first state that has one.
func name(states ...json.RawMessage) string {
	for _, state := range states {
		var named struct{ Name string }
		if json.Unmarshal(state, &named) == nil && named.Name != "" {
			return named.Name
		}
	}
	return ""
}
