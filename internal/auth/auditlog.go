package auth

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// AuditFilter selects entries of the audit log. Texts are whole values, in any case.
type AuditFilter struct {
	operation.Paging
	Actor     string `query:"actor" json:"actor,omitempty" doc:"Who made the change."`
	ActorKind string `query:"actor_kind" json:"actor_kind,omitempty" doc:"Who made the change: person, application, service_token, operator, directory, provider, program, nobody."`
	Action    string `query:"action" json:"action,omitempty" doc:"Such as: token created."`
	Object    string `query:"object" json:"object,omitempty" doc:"Such as: user ann."`
	Address   string `query:"address" json:"address,omitempty" doc:"The address of the client."`
	RequestID string `query:"request_id" json:"request_id,omitempty" doc:"The header X-Iris-Request-Id of the answer."`
	operation.Period
}

// query returns the filter for storage.
func (f AuditFilter) query() (q filters.Query, err error) {
	q.Add("actor", filters.Eq, f.Actor)
	q.Add("actor_kind", filters.Eq, f.ActorKind)
	q.Add("action", filters.Eq, f.Action)
	q.Add("object", filters.Eq, f.Object)
	q.Add("address", filters.Eq, f.Address)
	q.Add("request_id", filters.Eq, f.RequestID)
	f.Add(&q)
	return q, f.Newest(&q)
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
	return AuditEntry{ID: r.ID, At: r.At.UTC(), Actor: r.Actor, ActorKind: operation.Text(r.From.Kind),
		ActorID: operation.OrNull(r.From.ActorID), Through: operation.Text(r.From.Through), TokenID: operation.OrNull(r.From.TokenID),
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
		return operation.PageTo(found, next, AuditEntryOf), err
	})
}
