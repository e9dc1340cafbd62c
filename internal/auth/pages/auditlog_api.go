package pages

import (
	"net/http"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// AuditExport returns the route of the audit log as a file: all matching entries as JSON lines, newest first, for
// administrators. It is no operation, because it sends its answer while it reads.
func AuditExport(read listing.Reader[audit.Record]) routing.Route {
	entries := listing.List[audit.Record]{Read: read, Texts: []string{"actor", "actor_kind", "action", "object",
		"address", "request_id"}, Show: func(e audit.Record) any { return auth.AuditEntryOf(e) },
		Place: func(e audit.Record) listing.Place { return listing.Place{At: e.At, ID: e.ID} }}
	return routing.Get("/v1/audit/export", routing.Someone, func(w http.ResponseWriter, r *http.Request) error {
		if err := wire.Actor(r.Context()).MayAdminister(); err != nil {
			return err
		}
		return entries.Export(w, r, "iris-audit.jsonl")
	})
}
