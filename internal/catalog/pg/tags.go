package pg

import (
	"context"
	"fmt"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Tags stores the tags of incidents, applications, plans, templates and targets. It is safe for concurrent use.
type Tags struct{ db *postgres.DB }

// NewTags returns the adapter over d.
func NewTags(d *postgres.DB) *Tags { return &Tags{db: d} }

// Of returns the tags of objects of one kind: by number, then by name. Objects without tags are missing.
func (t *Tags) Of(ctx context.Context, kind string, ids []int64) (map[int64]map[string][]string, error) {
	out := map[int64]map[string][]string{}
	rows, err := postgres.Query(ctx, t.db, (*postgresdb.Queries).TagsOf, postgresdb.TagsOfParams{Kind: kind, Ids: ids})
	for _, r := range rows {
		if out[r.ObjectID] == nil {
			out[r.ObjectID] = map[string][]string{}
		}
		out[r.ObjectID][r.Name] = r.Values
	}
	return out, err
}

// Set replaces the values of one tag of an object; no values delete the tag. NotFound when there is no such object.
func (t *Tags) Set(ctx context.Context, kind string, id int64, name string, values []string) error {
	return t.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		there, err := q.TagObjectExists(ctx, postgresdb.TagObjectExistsParams{Kind: kind, ID: id})
		if err != nil {
			return err
		}
		if !there {
			return fault.Newf(fault.NotFound, "there is no %s with the number %d", kind, id)
		}
		if err := q.ClearTag(ctx, postgresdb.ClearTagParams{Kind: kind, ObjectID: id, Name: name}); err != nil {
			return err
		}
		if err := q.AddTag(ctx, postgresdb.AddTagParams{Kind: kind, ObjectID: id, Name: name, Values: append([]string{}, values...)}); err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Action: audit.TagSet, Object: fmt.Sprintf("%s %d", kind, id),
			Changes: []audit.Change{{Field: name, After: strings.Join(values, ", ")}}})
	})
}
