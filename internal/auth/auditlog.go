package auth

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// AuditFilter selects entries of the audit log. Texts are whole values, in any case.
type AuditFilter struct {
	operation.Paging
	Actor     string    `query:"actor" json:"actor,omitempty" doc:"Who made the change."`
	ActorKind string    `query:"actor_kind" json:"actor_kind,omitempty" doc:"Who made the change: person, application, service_token, operator, directory, provider, program, nobody."`
	Action    string    `query:"action" json:"action,omitempty" doc:"Such as: token created."`
	Object    string    `query:"object" json:"object,omitempty" doc:"Such as: user ann."`
	Address   string    `query:"address" json:"address,omitempty" doc:"The address of the client."`
	RequestID string    `query:"request_id" json:"request_id,omitempty" doc:"The header X-Iris-Request-Id of the answer."`
	After     time.Time `query:"created_after" json:"created_after,omitzero" doc:"Only entries of then or later."`
	Before    time.Time `query:"created_before" json:"created_before,omitzero" doc:"Only earlier entries."`
}

// query returns the filter for storage.
func (f AuditFilter) query() (filters.Query, error) {
	q := filters.Query{Limit: f.Size()}
	for _, c := range []struct{ field, value string }{
		{"actor", f.Actor}, {"actor_kind", f.ActorKind}, {"action", f.Action}, {"object", f.Object},
		{"address", f.Address}, {"request_id", f.RequestID},
	} {
		if c.value != "" {
			q.Conditions = append(q.Conditions, filters.Condition{Field: c.field, Op: filters.Eq,
				Values: []any{c.value}})
		}
	}
	if !f.After.IsZero() {
		q.Conditions = append(q.Conditions, filters.Condition{Field: "created", Op: filters.Ge, Values: []any{f.After}})
	}
	if !f.Before.IsZero() {
		q.Conditions = append(q.Conditions, filters.Condition{Field: "created", Op: filters.Lt, Values: []any{f.Before}})
	}
	place, err := f.Place()
	if err != nil || place == "" {
		return q, err
	}
	after, err := filters.ParsePlace(place)
	if err != nil {
		return q, fault.Invalidf("cursor", "cursor must be the next of an earlier answer")
	}
	q.After = &after
	return q, nil
}

// AuditEntry is an entry of the audit log.
type AuditEntry struct {
	ID        int64          `json:"id"`
	At        time.Time      `json:"at"`
	Actor     string         `json:"actor"`
	ActorKind operation.Text `json:"actor_kind"`
	ActorID   *int64         `json:"actor_id"`
	Through   operation.Text `json:"through" doc:"The application that acted for the person."`
	TokenID   *int64         `json:"token_id"`
	Address   operation.Text `json:"address"`
	RequestID operation.Text `json:"request_id"`
	Action    audit.Action   `json:"action"`
	Object    operation.Text `json:"object"`
	Detail    operation.Text `json:"detail"`
	Changes   []audit.Change `json:"changes"`
}

// AuditEntryOf returns a stored entry as /v1 shows it.
func AuditEntryOf(r audit.Record) AuditEntry {
	number := func(n int64) *int64 {
		if n == 0 {
			return nil
		}
		return &n
	}
	return AuditEntry{ID: r.ID, At: r.At.UTC(), Actor: r.Actor, ActorKind: operation.Text(r.From.Kind),
		ActorID: number(r.From.ActorID), Through: operation.Text(r.From.Through), TokenID: number(r.From.TokenID),
		Address: operation.Text(r.From.Address), RequestID: operation.Text(r.From.Request), Action: r.Action,
		Object: operation.Text(r.Object), Detail: operation.Text(r.Detail),
		Changes: append([]audit.Change{}, r.Changes...)}
}

// ListAudit lists the audit log.
var ListAudit = operation.Define[AuditFilter, operation.Page[AuditEntry]](operation.Doc{Name: "audit.list",
	Method: http.MethodGet, Path: "/v1/audit", Needs: operation.Admin, Summary: "Who changed what, newest first",
	Note: "Each filter is a whole value, in any case."})

// NewAuditLog returns the operation that lists the audit log. A search for a rare value ends after about a second: its
// page may then have few rows, or none, and a next page all the same.
func NewAuditLog(read filters.Reader[audit.Record]) operation.Op[AuditFilter, operation.Page[AuditEntry]] {
	return ListAudit.By(func(ctx context.Context, _ operation.Actor, f AuditFilter) (out operation.Page[AuditEntry], err error) {
		q, err := f.query()
		if err != nil {
			return out, err
		}
		found, next, err := read.Search(ctx, q,
			func(r audit.Record) filters.Place { return filters.Place{At: r.At, ID: r.ID} })
		out.Items = make([]AuditEntry, len(found))
		for i, r := range found {
			out.Items[i] = AuditEntryOf(r)
		}
		if next != nil {
			out.Next = operation.NextOf(next.String())
		}
		return out, err
	})
}
