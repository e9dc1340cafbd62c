package auth

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// AuditSelection selects entries of the audit log. Texts are whole values, in any case.
type AuditSelection struct {
	Actor     string `query:"actor" json:"actor,omitempty" doc:"Who made the change."`
	ActorKind string `query:"actor_kind" json:"actor_kind,omitempty" doc:"Who made the change: person, application, service_token, operator, directory, provider, program, nobody."`
	Action    string `query:"action" json:"action,omitempty" doc:"Such as: token created."`
	Object    string `query:"object" json:"object,omitempty" doc:"Such as: user ann."`
	Address   string `query:"address" json:"address,omitempty" doc:"The address of the client."`
	RequestID string `query:"request_id" json:"request_id,omitempty" doc:"The header X-Iris-Request-Id of the answer."`
	operation.Period
}

// AuditFilter selects a page of entries.
type AuditFilter struct {
	operation.Paging
	AuditSelection
}

// query returns the filter for storage.
func (f AuditSelection) query() (q filters.Query) {
	q.Add("actor", filters.Eq, f.Actor)
	q.Add("actor_kind", filters.Eq, f.ActorKind)
	q.Add("action", filters.Eq, f.Action)
	q.Add("object", filters.Eq, f.Object)
	q.Add("address", filters.Eq, f.Address)
	q.Add("request_id", filters.Eq, f.RequestID)
	f.Add(&q)
	return q
}

func placeOfEntry(r audit.Record) filters.Place { return filters.Place{At: r.At, ID: r.ID} }

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

// The operations on the audit log.
var (
	ListAudit = operation.Define[AuditFilter, operation.Page[AuditEntry]](operation.Doc{Name: "audit.list",
		Method: http.MethodGet, Path: "/v1/audit", Needs: operation.Admin, Summary: "Who changed what, newest first",
		Note: "A filter matches whole values and ignores case."})
	ExportAudit = operation.Define[AuditSelection, operation.Lines](operation.Doc{Name: "audit.export",
		Method: http.MethodGet, Path: "/v1/audit/export", Needs: operation.Admin,
		Summary: "The same as JSON lines, all of them", Note: "If it fails on the way, the connection breaks off."})
)

// AuditLog are the operations on the audit log. They are safe for concurrent use.
type AuditLog struct {
	List   operation.Op[AuditFilter, operation.Page[AuditEntry]]
	Export operation.Op[AuditSelection, operation.Lines]

	read filters.Reader[audit.Record]
}

// NewAuditLog returns the operations on the entries that read reads.
func NewAuditLog(read filters.Reader[audit.Record]) *AuditLog {
	l := &AuditLog{read: read}
	l.List, l.Export = ListAudit.By(l.list), ExportAudit.By(l.export)
	return l
}

// list ends a search for a rare value after about a second. Its page may then have few rows, or none, and a next page
// all the same.
func (l *AuditLog) list(ctx context.Context, _ operation.Actor, f AuditFilter) (out operation.Page[AuditEntry], err error) {
	q := f.query()
	if err := f.Newest(&q); err != nil {
		return out, err
	}
	found, next, err := l.read.Search(ctx, q, placeOfEntry)
	return operation.PageTo(found, next, AuditEntryOf), err
}

// exported is how many entries an export reads at once.
const exported = 1000

// export holds few entries in memory.
func (l *AuditLog) export(_ context.Context, _ operation.Actor, f AuditSelection) (operation.Lines, error) {
	return operation.Lines{File: "iris-audit.jsonl", Each: func(ctx context.Context, write func(row any) error) error {
		q := f.query()
		q.Limit = exported
		for {
			found, next, err := l.read.Page(ctx, q, placeOfEntry)
			if err != nil {
				return err
			}
			for _, one := range found {
				if err := write(AuditEntryOf(one)); err != nil {
					return err
				}
			}
			if next == nil {
				return nil
			}
			q.After = next
		}
	}}, nil
}
