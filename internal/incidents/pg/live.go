package pg

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// AlertCounts returns how many alerts incidents have. Incidents without alerts are left out.
func (i *Incidents) AlertCounts(ctx context.Context, ids []incidents.ID) (map[incidents.ID]incidents.AlertCount, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := postgres.Query(ctx, i.db, (*db.Queries).AlertCounts, postgres.Numbers(ids))
	out := make(map[incidents.ID]incidents.AlertCount, len(rows))
	for _, r := range rows {
		out[r.IncidentID] = incidents.AlertCount{Alerts: int(r.Known), Firing: int(r.Firing)}
	}
	return out, err
}

// OpenCounts returns how many incidents are open, and how many of them a person owns, both up to a limit.
func (i *Incidents) OpenCounts(ctx context.Context, owner users.ID, limit int) (all, mine int, err error) {
	found, err := postgres.Query(ctx, i.db, (*db.Queries).OpenCounts, db.OpenCountsParams{Owner: int64(owner), Most: limit})
	return found.Everyone, found.Mine, err
}

// Version returns a text that changes at most a moment after something changed that pages of incidents show: incidents,
// their timelines, and messages with their receipts. A change that is not committed may already have another version.
// It reads three sequences and an index.
func (i *Incidents) Version(ctx context.Context) (string, error) {
	return i.version(ctx, `-- name: LiveVersion :one
select concat_ws(' ', (select last_value + is_called::int from incidents_id_seq), (select last_value + is_called::int from timeline_entries_id_seq),
    (select last_value + is_called::int from receipts_id_seq),
    (select max(settled_at) from messages where settled_at is not null))`)
}

// VersionOf is Version for the page of one incident. It does not cover changes of the page that come from other
// incidents and from plans.
func (i *Incidents) VersionOf(ctx context.Context, id incidents.ID) (string, error) {
	return i.version(ctx, `-- name: LiveVersionOf :one
select concat_ws(' ', (select i.xmin from incidents i where i.id = $1), (select max(e.id) from timeline_entries e where e.incident_id = $1),
    (select concat(count(*), ' ', sum(m.xmin::text::bigint)) from messages m where m.incident_id = $1),
    (select max(r.id) from receipts r join messages m on m.id = r.message_id where m.incident_id = $1))`, int64(id))
}

func (i *Incidents) version(ctx context.Context, sql string, args ...any) (string, error) {
	return postgres.First(postgres.List(ctx, i.db, sql, args, pgx.RowTo[string]))
}
